"""`fullcount plan`: collect, prove, propose. It has no way to act."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullcount.runtime.cli import options

if TYPE_CHECKING:
    from fullcount.compiler.program import Proposal, Workflow
    from fullcount.compiler.values import Value
    from fullcount.runtime.engine import PlanEnd


@options.command()
@options.workflow_file
@options.workflow_name
@options.proposal_name
@options.params
@options.as_json
def plan(file: Path, workflow: str | None, proposal: str | None, param: tuple[str, ...], as_json: bool) -> None:
    """Collect the evidence and propose a plan; act on nothing."""
    import asyncio

    from fullcount.runtime.cli.screen import progress_line, show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.planning import PlanRequest
    from fullcount.runtime.workflow_files import authors_of, compiled_workflow

    with session() as here, progress_line(quiet=as_json) as say:
        chosen, sources = compiled_workflow(file, here.workspace, workflow)
        proposed = one_proposal(chosen, proposal)
        params = bound_params(chosen, given_params(param))
        request = PlanRequest(
            workflow=chosen,
            proposal=proposed,
            params=params,
            person=here.person,
            authors=authors_of(sources),
            sources=sources,
        )
        end = asyncio.run(
            here.engine.plan(request, lambda p: say(f"reading {p.inventory}: {p.rows:,} rows, {p.pages:,} pages"))
        )
    if as_json:
        show_json(end_document(end))
    else:
        from fullcount.runtime.cli.reports import elsewhere_report, plan_report, told_report

        show(plan_report(end, here.person, workflow=chosen.name, proposal=proposed.name, base=proposed.inventory))
        if end.elsewhere:
            show(elsewhere_report(end.elsewhere))
        if end.told:
            show(told_report(end.told))
    raise click.exceptions.Exit(int(end.exit))


def given_params(texts: Iterable[str]) -> dict[str, str]:
    """Split `NAME=VALUE`. Raises `UsageError` for text of another form and for a name given twice."""
    from fullcount.runtime.workflow_files import UsageError

    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError("FC695", f"`--param {text}` is not of the form NAME=VALUE", help="as `--param idle=60d`")
        if name in given:
            raise UsageError("FC695", f"the parameter `{name}` is given twice", help="give it once")
        given[name] = value
    return given


def bound_params(workflow: Workflow, given: Mapping[str, str]) -> Mapping[str, Value]:
    """Return the value of every parameter of a workflow. Raises `UsageError`."""
    from fullcount.compiler.params import ParamError, bind_params
    from fullcount.runtime.workflow_files import UsageError

    try:
        return bind_params(workflow, given)
    except ParamError as error:
        raise UsageError("FC695", str(error), help="as `--param NAME=VALUE`, the value as in a workflow") from error


def one_proposal(workflow: Workflow, name: str | None) -> Proposal:
    """Return the proposal that is meant. Raises `UsageError`."""
    from fullcount.runtime.workflow_files import UsageError

    by_name = {proposal.name: proposal for proposal in workflow.proposals}
    if name is None and len(by_name) == 1:
        return next(iter(by_name.values()))
    if name is not None and name in by_name:
        return by_name[name]
    found = f"there is no proposal `{name}`" if name is not None else f"`{workflow.name}` has {len(by_name)} proposals"
    raise UsageError("FC693", found, help=f"choose with --proposal: {', '.join(by_name) or 'it has none'}")


def end_document(end: PlanEnd) -> dict[str, Any]:
    """Return the end of a planning run as JSON: the same envelope and codes as everywhere."""
    from fullcount.runtime.cli.approve import status_document
    from fullcount.runtime.cli.reports import elsewhere_document, notice_document

    return {
        "run_id": end.run_id,
        "state": end.state,
        "exit": int(end.exit),
        "plan_id": None if end.plan is None else end.plan.document.plan_id,
        "digest": None if end.plan is None else end.plan.document.digest,
        "refusals": [refusal.model_dump(mode="json") for refusal in end.refusals],
        "approval": None if end.approval is None else status_document(end.approval),
        "prevented": None if end.prevented is None else end.prevented.model_dump(mode="json"),
        "envelopes": {name: envelope.model_dump(mode="json") for name, envelope in end.envelopes.items()},
        "plan": None if end.plan is None else end.plan.document.model_dump(mode="json"),
        "elsewhere": [elsewhere_document(act) for act in end.elsewhere],
        "notices": [notice_document(notice) for notice in end.told],
    }
