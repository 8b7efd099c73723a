"""From the end of a run to the notices of it: the edges into `notify` decide who is told.

The words are made here, from counts, codes and names; what is read of objects has no way into a notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from fullcount.compiler import program
from fullcount.compiler.graph import build_graph, requirement_of, stage_of
from fullcount.dsl.codes import CODES
from fullcount.runtime import format as fmt
from fullcount.runtime.events import Notice, RunEnd, event_of, notice_of
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.satisfy import unmet
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.document import PlanDocument

if TYPE_CHECKING:
    from fullcount.runtime.act.context import ApplyReport


def told_of(workflow: program.Workflow, proposal: str, stage: str, event: str, at: datetime) -> tuple[str, ...]:
    """Return the notifiers that are told of an event of a stage (`propose` or `act`) of a proposal, in order."""
    if len(workflow.notifies) == 0:
        return ()
    graph = build_graph(workflow)
    tail = f"{stage}:{proposal}"
    told = [
        stage_of(graph, head).name
        for head in (graph.successors(tail) if tail in graph else ())
        if stage_of(graph, head).kind == "notify"
        and len(unmet(requirement_of(graph, tail, head), RunEnd(event), at)) == 0
    ]
    return tuple(dict.fromkeys(told))


def of_plan(
    workflow: program.Workflow,
    proposal: str,
    run_id: str,
    state: str,
    exit_code: int,
    at: datetime,
    *,
    document: PlanDocument | None = None,
    findings: Sequence[Finding] = (),
) -> tuple[Notice, ...]:
    """Return the notices of a planning run."""
    event = event_of("plan", state)
    if event is None:
        return ()
    return tuple(
        notice_of(
            event,
            target,
            kind="plan",
            workflow=workflow.name,
            proposal=proposal,
            run_id=run_id,
            exit_code=exit_code,
            what=_planned(state, document),
            plan_id=None if document is None else document.plan_id,
            digest=None if document is None else document.digest,
            lines=tuple(_plan_lines(document, findings)),
        )
        for target in told_of(workflow, proposal, "propose", event, at)
    )


def of_act(
    workflow: program.Workflow, document: PlanDocument, kind: str, state: str, report: ApplyReport, at: datetime
) -> tuple[Notice, ...]:
    """Return the notices of an apply or undo that ended with a report."""
    event = event_of(kind, state)
    if event is None or report.run_id is None:
        return ()
    counts = ", ".join(
        f"{fmt.count(number)} {outcome.replace('_', ' ')}" for outcome, number in report.counts.items() if number > 0
    )
    stopped = report.stopped_by
    return tuple(
        notice_of(
            event,
            target,
            kind=kind,
            workflow=workflow.name,
            proposal=document.proposal,
            run_id=report.run_id,
            exit_code=int(report.exit),
            what=f"{'taken back: ' if kind == 'undo' else ''}{counts or 'nothing was done'}",
            plan_id=document.plan_id,
            digest=document.digest,
            lines=() if stopped is None else (_said(stopped),),
        )
        for target in told_of(workflow, document.proposal, "act", event, at)
    )


def _planned(state: str, document: PlanDocument | None) -> str:
    if document is None:
        return "nothing was proposed, nothing can be approved" if state == "refused" else "the run ended in an error"
    sums = document.sums
    to_be = "" if document.undo is None else "to be taken back: "
    objects = f"{to_be}{fmt.count(sums.candidates)} of {fmt.counted(sums.inventory, 'object')}"
    return f"{objects}, over its cap" if state == "over_cap" else objects


def _plan_lines(document: PlanDocument | None, findings: Sequence[Finding]) -> Iterator[str]:
    yield from map(_said, findings)
    if document is not None:
        yield f"digest {short_digest(document.digest)}"


def _said(finding: Finding) -> str:
    """Return a finding as it may leave the workspace.

    What is said of a whole inventory is counts and names; anything else may name an object, or repeat what a source
    answered, so there only the title of its code is told.
    """
    if finding.inventory is not None:
        return f"{finding.code} {finding.inventory}: {finding.message}"
    known = CODES.get(finding.code)
    return finding.code if known is None else f"{finding.code} {known.title}"
