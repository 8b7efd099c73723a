"""`fullcount show`: a stored plan, as its reviewer needs it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command()
@options.plan_id
@click.option("--all", "all_rows", is_flag=True, help="Every row, not only the riskiest.")
@click.option("--undecided", is_flag=True, help="The objects that could not be decided.")
@click.option("--waiting", is_flag=True, help="The objects whose next step is not due yet.")
@click.option("--html", type=options.PATH, help="Write the review as one offline file.")
@options.force
@click.option("--csv", is_flag=True, help="Print the rows as CSV.")
@options.as_json
def show(
    plan: str,
    all_rows: bool,
    undecided: bool,
    waiting: bool,
    html: Path | None,
    force: bool,
    csv: bool,
    as_json: bool,
) -> None:
    """Show a plan as its reviewer needs it. Verdict, evidence, caps, rows, near misses, undecided, digest."""
    from fullcount.runtime.cli import screen
    from fullcount.runtime.cli.reports import elsewhere_document, elsewhere_report, review_status, stored_plan_report
    from fullcount.runtime.cli.session import reading_session

    with reading_session() as here:
        stored = here.store.load_plan(plan)
        approval = here.engine.approval_status(stored)
        resumes_at = here.engine.resumes_at(stored)
        still = here.engine.standstill(stored)
        taken_back = sum(each.done for each in here.store.taken_back(stored.document.plan_id))
        stands = stored.state in {"waiting", "approved", "applying"}
        elsewhere = here.store.open_elsewhere(stored.document.plan_id) if stands else ()
    if html is not None:
        from fullcount.compiler.document import workflow_from_document
        from fullcount.compiler.graph_render import to_svg
        from fullcount.runtime.graphs import graph_of, proposal_of
        from fullcount.runtime.plan.html import is_page, render_html

        workflow = workflow_from_document(stored.document.program)
        graph = graph_of(workflow, proposal_of(workflow, stored.document.proposal))
        picture = None if stored.document.undo is not None else to_svg(graph)
        status = replace(
            review_status(stored, approval, here.person), resumes_at=resumes_at, standstill=still, taken_back=taken_back
        )
        page = render_html(stored.document, status, graph_svg=picture)
        screen.write_file(html, page, ours=is_page, force=force, as_json=as_json)
    elif as_json:
        until = None if resumes_at is None else resumes_at.isoformat()
        screen.show_json(
            {
                "state": stored.state,
                "resumes_at": until,
                "taken_back": taken_back,
                "standstill": None if still is None else {"cut_off": still.cut_off, "why": still.why},
                "elsewhere": [elsewhere_document(act) for act in elsewhere],
                "plan": stored.document.model_dump(mode="json"),
            }
        )
    elif csv:
        from fullcount.runtime.plan.csv import render_csv

        sys.stdout.write(render_csv(stored.document))
    elif undecided:
        from fullcount.runtime.plan.text import render_undecided

        screen.show(render_undecided(stored.document))
    elif waiting:
        from fullcount.runtime.plan.text import render_waiting

        screen.show(render_waiting(stored.document, review_status(stored, approval, here.person)))
    else:
        report = stored_plan_report(
            stored, approval, here.person, all_rows=all_rows, resumes_at=resumes_at, still=still, taken_back=taken_back
        )
        screen.show(report)
        if elsewhere:
            screen.show(elsewhere_report(elsewhere))
