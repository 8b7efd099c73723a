"""From what the engine says to what a person sees: fills the plain values that the screens render.

The wording stands in `plan/summary.py`, `plan/text.py` and `plan/text_outcome.py`; nothing is worded here twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from fullcount.runtime import format as fmt
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.approve.approvals import ApprovalStatus
from fullcount.runtime.approve.identity import Person, name_of, uid_of
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.engine import ApplyEnd, PlanEnd
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.review import AppliedView, QuorumView, ReviewStatus
from fullcount.runtime.plan.text import render_plan
from fullcount.runtime.plan.text_outcome import render_applied, render_refusal
from fullcount.runtime.store.views import StoredPlan

ATTENTION = 12
"""How many objects that went another way than planned are listed one by one."""

UNDONE_BEFORE = "everything that could be taken back was; nothing was done again"

_STANDING_WORDS = {"changed": "changed since the plan", "recreated": "recreated under the same key"}


def plan_report(end: PlanEnd, person: Person, *, workflow: str, proposal: str, base: str) -> RenderableType:
    """Return what a planning run came to: the plan for its reviewer, or the refusal."""
    if end.plan is None:
        refusals = [r.model_copy(update={"prevented": end.prevented}) for r in end.refusals]
        return render_refusal(
            workflow,
            refusals,
            list(end.envelopes.values()),
            at=datetime.now(UTC),
            proposal=proposal,
            base=base,
            exit_code=int(end.exit),
        )
    return render_plan(end.plan.document, review_status(end.plan, end.approval, person), exit_code=int(end.exit))


def stored_plan_report(
    plan: StoredPlan,
    approval: ApprovalStatus | None,
    person: Person,
    *,
    all_rows: bool = False,
    resumes_at: datetime | None = None,
) -> RenderableType:
    """Return a stored plan as its reviewer sees it now."""
    status = replace(review_status(plan, approval, person), resumes_at=resumes_at)
    return render_plan(plan.document, status, rows=None) if all_rows else render_plan(plan.document, status)


def review_status(plan: StoredPlan, approval: ApprovalStatus | None, person: Person) -> ReviewStatus:
    """Return where a plan stands, for the person who looks at it."""
    authors = tuple(sorted({*plan.document.authors, plan.document.created_by}))
    names = tuple(_name(author) for author in authors)
    if approval is None:
        return ReviewStatus(state="report", authors=names)
    return ReviewStatus(
        state=str(plan.state) if not (approval.approved and plan.state == "waiting") else "approved",
        quorums=tuple(
            QuorumView(
                needed=quorum.needed,
                role=quorum.role,
                given=tuple(vote.person.name for vote in approval.votes if not vote.lapsed)[: quorum.have],
                may=tuple(may.name for may in quorum.eligible),
                not_by_author=quorum.not_by_author,
            )
            for quorum in approval.quorums
        ),
        authors=names,
        viewer_is_author=person.principal in authors,
        expires_at=approval.expires_at,
        automatic=None if approval.automatic is None or not approval.approved else approval.automatic.words,
        asked_because=approval.asked_because,
    )


def _name(principal: str) -> str:
    uid = uid_of(principal)
    return principal if uid is None else name_of(uid)


def approval_report(plan: StoredPlan, approval: ApprovalStatus | None) -> RenderableType:
    """Return how far an approval has come, after a yes or its withdrawal."""
    document = plan.document
    lines = []
    if approval is None:
        lines.append("nothing to approve")
    elif approval.approved:
        until = "" if approval.expires_at is None else f" until {fmt.weekday_moment(approval.expires_at)}"
        lines.append(
            f"APPROVED  {document.workflow}.{document.proposal}, {fmt.counted(len(document.rows), 'object')}{until}"
        )
        if approval.automatic is not None:
            lines.append(f"  approved automatically: {approval.automatic.words}")
        lines.append(f"  digest {short_digest(document.digest)}   next: fullcount apply {document.plan_id}")
    else:
        lines.append(f"NOT YET APPROVED  {fmt.counted(approval.missing, 'person', 'people')} must still agree")
        lines.extend(
            f"  {quorum.have} of {quorum.needed} of role {quorum.role}"
            f"   may: {', '.join(may.name for may in quorum.eligible) or 'nobody left'}"
            for quorum in approval.quorums
        )
        if approval.ended_because is not None:
            lines.append(f"  {approval.ended_because}")
    return Text("\n".join(lines))


def apply_report(end: ApplyEnd, head: Head) -> RenderableType:
    """Return what an apply came to."""
    return _acted(end, head, verb="done", again="this plan was applied to its end before; nothing was done again")


def undo_report(end: ApplyEnd, head: Head) -> RenderableType:
    """Return what an undo came to."""
    nothing = end.report is not None and end.report.candidates == 0
    again = "nothing was done under this plan, so there is nothing to take back" if nothing else UNDONE_BEFORE
    return _acted(end, head, verb="undone", again=again)


def _acted(end: ApplyEnd, head: Head, *, verb: str, again: str) -> RenderableType:
    document = end.plan.document
    if end.report is None:
        return render_refusal(
            document.workflow,
            list(end.refusals),
            [],
            at=datetime.now(UTC),
            proposal=document.proposal,
            exit_code=int(end.exit),
        )
    view = render_applied(applied_view(end.report, end.plan, head, verb), exit_code=int(end.exit))
    return Group(Text(again, style="bold"), view) if end.report.repeated else view


def _with_ways(finding: Finding) -> str:
    return "; ".join((finding.message, *finding.ways_on))


def applied_view(report: ApplyReport, plan: StoredPlan, head: Head, verb: str) -> AppliedView:
    """Return the plain values of a report."""
    changed = Counter(
        _STANDING_WORDS.get(row.reason or "", "changed since the plan")
        for row in report.rows
        if row.outcome is Outcome.CHANGED
    )
    otherwise = [row for row in report.rows if row.outcome not in {Outcome.DONE, Outcome.NOT_STARTED}]
    act = plan.document.act
    undoable = verb == "done" and act is not None and act["undo"] is not None
    return AppliedView(
        verb=verb,
        plan_id=report.plan_id,
        planned=report.candidates,
        counts=report.counts,
        changed=dict(changed),
        stopped_by=None if report.stopped_by is None else _with_ways(report.stopped_by),
        resumes=None if report.resumes_at is None else f"from {fmt.weekday_moment(report.resumes_at)} on",
        undo_command=f"fullcount undo {report.plan_id}" if undoable and report.counts.get(Outcome.DONE, 0) else None,
        journal_head=f"{short_digest(head.hash)} (entry {fmt.count(head.seq)})",
        attention=tuple(
            (fmt.key(row.key), row.outcome, row.detail or row.reason or "") for row in otherwise[:ATTENTION]
        ),
    )
