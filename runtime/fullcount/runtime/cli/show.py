"""`fullcount show`: a stored plan, as its reviewer needs it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fullcount.runtime.cli.options import AsJson, PlanId


def show(
    plan: PlanId,
    all_rows: Annotated[bool, typer.Option("--all", help="Every row, not only the riskiest.")] = False,
    undecided: Annotated[bool, typer.Option("--undecided", help="The objects that could not be decided.")] = False,
    waiting: Annotated[bool, typer.Option("--waiting", help="The objects whose next step is not due yet.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the review as one offline file.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a plan: verdict, evidence, caps, rows, near misses, undecided, digest."""
    from fullcount.runtime.cli import screen
    from fullcount.runtime.cli.reports import review_status, stored_plan_report
    from fullcount.runtime.cli.session import session

    with session() as here:
        stored = here.store.load_plan(plan)
        approval = here.engine.approval_status(stored)
        resumes_at = here.engine.resumes_at(stored)
    if html is not None:
        from fullcount.compiler.document import workflow_from_document
        from fullcount.compiler.graph_render import to_svg
        from fullcount.runtime.engine import graph_of, proposal_of
        from fullcount.runtime.plan.html import render_html

        workflow = workflow_from_document(stored.document.program)
        picture = to_svg(graph_of(workflow, proposal_of(workflow, stored.document.proposal)))
        status = replace(review_status(stored, approval, here.person), resumes_at=resumes_at)
        screen.write_file(html, render_html(stored.document, status, graph_svg=picture), as_json=as_json)
    elif as_json:
        until = None if resumes_at is None else resumes_at.isoformat()
        screen.show_json({"state": stored.state, "resumes_at": until, "plan": stored.document.model_dump(mode="json")})
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
        screen.show(stored_plan_report(stored, approval, here.person, all_rows=all_rows, resumes_at=resumes_at))
