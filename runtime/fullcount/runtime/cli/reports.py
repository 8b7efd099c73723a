"""From what the engine says to what a person sees: fills the plain values that the screens render.

The wording stands in `plan/summary.py`, `plan/text.py` and `plan/text_outcome.py`; nothing is worded here twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fullcount.runtime import format as fmt
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.act.earlier import GONE_UNDER_WAY
from fullcount.runtime.approve.approvals import ApprovalStatus
from fullcount.runtime.approve.identity import Person, name_of, uid_of
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.ends import ApplyEnd, PlanEnd
from fullcount.runtime.evidence.refusal import Ground
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.next_steps import next_steps
from fullcount.runtime.plan.review import AppliedView, QuorumView, ReviewStatus, Standstill
from fullcount.runtime.plan.summary import NAMED
from fullcount.runtime.plan.text import render_plan
from fullcount.runtime.plan.text_outcome import NOT_DONE, NOT_UNDONE, render_applied, render_refusal
from fullcount.runtime.store.elsewhere import ActElsewhere
from fullcount.runtime.store.settling import BY_HAND
from fullcount.runtime.store.views import LedgerEntry, NoticeRow, NoticeState, PlanBrief, StoredPlan
from fullcount.runtime.text import plain, wrapped

ATTENTION = 12
"""How many objects that went another way than planned, or had changed, are listed one by one."""

_DONE_AND_TOLD = frozenset({GONE_UNDER_WAY, BY_HAND})
"""Reasons of objects that count as done without an answer that says so."""

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
    still: Standstill | None = None,
    taken_back: int = 0,
) -> RenderableType:
    """Return a stored plan as its reviewer sees it now."""
    status = review_status(plan, approval, person)
    status = replace(status, resumes_at=resumes_at, standstill=still, taken_back=taken_back)
    return render_plan(plan.document, status, rows=None) if all_rows else render_plan(plan.document, status)


def review_status(plan: StoredPlan, approval: ApprovalStatus | None, person: Person) -> ReviewStatus:
    """Return where a plan stands, for the person who looks at it."""
    authors = tuple(sorted({*plan.document.authors, plan.document.created_by}))
    names = tuple(_name(author) for author in authors)
    if approval is None:
        return ReviewStatus(state="report", authors=names)
    state = str(plan.state)
    if state in {"waiting", "approved"}:  # the store does not know the roles
        state = "approved" if approval.approved else "waiting"
    return ReviewStatus(
        state=state,
        broken=approval.broken,
        unreachable=approval.unreachable,
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


def _what(document: PlanDocument, name: str) -> str:
    """Return what a plan is called: who approves an undo knows that it is one."""
    return name if document.undo is None else f"the undo of {name}"


def approval_report(plan: StoredPlan, approval: ApprovalStatus | None) -> RenderableType:
    """Return how far an approval has come, after a yes or its withdrawal."""
    document = plan.document
    lines = []
    if approval is None:
        lines.append("nothing to approve")
    elif approval.approved:
        until = "" if approval.expires_at is None else f" until {fmt.weekday_moment(approval.expires_at)}"
        lines.append(
            f"APPROVED  {_what(document, f'{document.workflow}.{document.proposal}')}, "
            f"{fmt.counted(len(document.rows), 'object')}{until}"
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
        if approval.broken is not None:
            lines.append(f"  the approval no longer holds: {approval.broken}")
        if approval.unreachable is not None:
            lines.append(f"  it can't be completed as the roles are: {approval.unreachable}")
        if approval.ended_because is not None:
            at = "" if approval.ended_at is None else f", {fmt.moment(approval.ended_at)}"
            lines.append(f"  taken back: {approval.ended_because}{at}")
    return Text("\n".join(lines))


def strike_report(old: StoredPlan, new: StoredPlan, asked: Sequence[tuple[Any, ...]]) -> RenderableType:
    """Return what a strike came to: who is left alone, and that the rest is a new plan. `asked`: whom it named."""
    document = new.document
    left = {row.key for row in document.rows}
    struck = [row.key for row in old.document.rows if row.key not in left]
    named = ", ".join(fmt.key(key, 60) for key in struck[:NAMED])
    more = "" if len(struck) <= NAMED else f", {fmt.count(len(struck) - NAMED)} more"
    of = f"{fmt.count(len(struck))} of {fmt.counted(len(old.document.rows), 'object')}"
    lines = [
        f"STRUCK  {of}; {fmt.count(len(left))} left in the new plan, which nobody has approved yet",
        wrapped("  struck    ", f"{named}{more}"),
        f"  digest    {short_digest(document.digest)}   plan {document.plan_id}",
        f"  replaces  {old.document.plan_id}, with every approval that was given to it",
        f"  look      fullcount show {document.plan_id}",
    ]
    waited = [key for key in struck if key not in set(asked)]
    if len(waited) > 0:
        said = ", ".join(fmt.key(key, 60) for key in waited[:NAMED]) + (", …" if len(waited) > NAMED else "")
        lines.insert(2, wrapped("  along     ", f"{said}: can't go while what refers to it stays"))
    if len(left) > 0:
        lines.append(f"  next      fullcount approve {document.plan_id}")
    lines.append("  note      the next run selects them again; to keep them, put them on an exemption list")
    return Text("\n".join(lines))


def undo_plan_report(end: PlanEnd, person: Person, acted: PlanBrief) -> RenderableType:
    """Return what planning an undo came to. `acted`: the plan that was to be taken back."""
    if end.plan is None and len(end.refusals) == 0:
        said = "nothing that this is about was done, or all of it was taken back before"
        return Text(f"NOTHING TO TAKE BACK  {said}; nothing was planned")
    if end.plan is None:
        return render_refusal(
            acted.workflow,
            list(end.refusals),
            [],
            at=datetime.now(UTC),
            proposal=acted.proposal,
            exit_code=int(end.exit),
            meaning=NOT_UNDONE,
        )
    return plan_report(end, person, workflow=acted.workflow, proposal=acted.proposal, base="")


def replaced_report(plan_ids: Sequence[str]) -> RenderableType:
    """Return which older undos an undo takes the place of."""
    lines = (
        wrapped("  replaces    ", f"the undo {plan_id}, of which it takes back every object") for plan_id in plan_ids
    )
    return Text("\n".join(lines))


def elsewhere_report(acts: Sequence[ActElsewhere]) -> RenderableType:
    """Return which objects of a plan can't be acted on before somebody knows what came of other plans' acts on them."""
    named = ", ".join(fmt.key(act.object_key, 60) for act in acts[:NAMED])
    more = "" if len(acts) <= NAMED else f", {fmt.count(len(acts) - NAMED)} more"
    lines = [
        f"UNSETTLED  {fmt.counted(len(acts), 'object')} of the plan with an earlier act of unknown outcome (FC738)",
        wrapped("  objects   ", f"{named}{more}"),
        *dict.fromkeys(f"  settle    {_settling(act)}" for act in acts),
        "  note      an apply finds out by reading what it can, and leaves the others alone",
    ]
    return Text("\n".join(lines))


def _settling(act: ActElsewhere) -> str:
    if act.by_hand:
        return f"fullcount settle {act.plan_id} KEY --took-effect --because WHY (or --no-effect)"
    return f"fullcount apply {act.plan_id}"


def elsewhere_document(act: ActElsewhere) -> dict[str, Any]:
    """Return an act of another plan as JSON."""
    return {
        "key": list(act.object_key),
        "plan_id": act.plan_id,
        "workflow": act.workflow,
        "act": act.kind,
        "meant_at": act.meant_at.isoformat(),
    }


def settle_report(plan: StoredPlan, settled: Sequence[LedgerEntry]) -> RenderableType:
    """Return what was said of acts whose outcome nobody knew."""
    named = ", ".join(fmt.key(entry.object_key, 60) for entry in settled[:NAMED])
    more = "" if len(settled) <= NAMED else f", {fmt.count(len(settled) - NAMED)} more"
    outcome = "done" if settled[0].outcome is Outcome.DONE else "failed: it took no effect"
    lines = [
        f"SETTLED  {fmt.counted(len(settled), 'act')}, {outcome}",
        wrapped("  settled   ", f"{named}{more}"),
        wrapped("  said      ", plain(settled[0].detail)),
        f"  look      fullcount report {plan.document.plan_id} --format csv",
        "  next      plan again: the new plan has what is still due",
    ]
    return Text("\n".join(lines))


def apply_report(end: ApplyEnd, head: Head, taken_back: int = 0, *, too_late: bool = False) -> RenderableType:
    """Return what an apply came to. `taken_back`: how many of its objects undos took back.

    `too_late`: nothing of it can be taken back any more.
    """
    document = end.plan.document
    verb = "done" if document.undo is None else "undone"
    if end.report is None:
        return render_refusal(
            _what(document, document.workflow),
            list(end.refusals),
            [],
            at=datetime.now(UTC),
            proposal=document.proposal,
            exit_code=int(end.exit),
            meaning=NOT_DONE,
            next_step=_after_refusal(end),
        )
    view = render_applied(
        applied_view(end.report, end.plan, head, verb, taken_back, too_late=too_late), exit_code=int(end.exit)
    )
    again = "this plan was applied to its end before; nothing was done again"
    if taken_back > 0:
        again += "; to act again on what was taken back, plan again"
    return Group(Text(again, style="bold"), view) if end.report.repeated else view


def _after_refusal(end: ApplyEnd) -> str | None:
    """Return what is to be known of the approval that the plan has, where its evidence no longer carries it."""
    if all(refusal.ground is not Ground.EVIDENCE for refusal in end.refusals):
        return None
    return "plan again: if the new plan is the same in every row, it keeps this plan's approval until that expires"


def steps_of(report: ApplyReport, plan: StoredPlan) -> tuple[str, ...]:
    """Return what to do about a run that did not come to its end."""
    from fullcount.runtime.act.backing_up import LOST

    lost = sum(row.outcome is Outcome.NOT_STARTED and row.detail.endswith(f"({LOST})") for row in report.rows)
    return next_steps(
        report.plan_id,
        lost=lost,
        undoes=None if plan.document.undo is None else plan.document.undo.plan_id,
        untold=0 if plan.document.undo is None else plan.document.sums.undecided,
        stopped_by=report.stopped_by,
        not_started=report.counts[Outcome.NOT_STARTED],
        unknown=report.counts[Outcome.UNKNOWN],
        planned=report.candidates,
        resumes=None if report.resumes_at is None else f"from {fmt.weekday_moment(report.resumes_at)} on",
        left_alone=report.counts[Outcome.REFUSED] + report.counts[Outcome.FAILED],
    )


def applied_view(
    report: ApplyReport, plan: StoredPlan, head: Head, verb: str, taken_back: int = 0, *, too_late: bool = False
) -> AppliedView:
    """Return the plain values of a report."""
    changed = Counter(
        _STANDING_WORDS.get(row.reason or "", "changed since the plan")
        for row in report.rows
        if row.outcome is Outcome.CHANGED
    )
    otherwise = [
        row
        for row in report.rows
        if row.outcome not in {Outcome.DONE, Outcome.NOT_STARTED}
        or (row.outcome is Outcome.DONE and row.reason in _DONE_AND_TOLD)
        or (row.outcome is Outcome.NOT_STARTED and row.detail != "")
    ]
    act = plan.document.act
    undoable = verb == "done" and not too_late and act is not None and act["undo"] is not None
    return AppliedView(
        verb=verb,
        plan_id=report.plan_id,
        planned=report.candidates,
        counts=report.counts,
        changed=dict(changed),
        stopped_by=None if report.stopped_by is None else report.stopped_by.message,
        stopped_code=None if report.stopped_by is None else report.stopped_by.code,
        next_steps=steps_of(report, plan),
        resumes=None if report.resumes_at is None else f"from {fmt.weekday_moment(report.resumes_at)} on",
        undo_command=f"fullcount undo {report.plan_id}"
        if undoable and report.counts.get(Outcome.DONE, 0) > taken_back
        else None,
        taken_back=taken_back,
        journal_head=f"{short_digest(head.hash)} (entry {fmt.count(head.seq)})",
        attention=tuple(
            (fmt.key(row.key), row.outcome, row.detail or row.reason or "") for row in otherwise[:ATTENTION]
        ),
        moved=tuple(
            (fmt.key(row.key), ", ".join(each.text() for each in row.moved)) for row in report.moved[:ATTENTION]
        ),
        moved_in_all=len(report.moved),
    )


def told_report(told: Sequence[NoticeRow]) -> RenderableType:
    """Return who was told of a run, and what came of that."""
    lines = [Text("")]
    for notice in told:
        sent = notice.state is NoticeState.DELIVERED
        lines.append(Text(f"{'told' if sent else 'NOT TOLD':<10}{notice_text(notice)}", style="" if sent else "yellow"))
    return Group(*lines)


def notice_text(notice: NoticeRow) -> str:
    """Return who is told of what, and how far that has come."""
    what = {
        NoticeState.DELIVERED: "delivered",
        NoticeState.PENDING: "not sent yet",
        NoticeState.SENDING: "being sent",
        NoticeState.FAILED: "failed, not tried again",
        NoticeState.UNKNOWN: "it is not known whether it was taken; not sent again",
    }[notice.state]
    why = "" if notice.detail == "" else f": {plain(notice.detail)}"
    again = ""
    if notice.state is NoticeState.PENDING and notice.attempts > 0 and notice.next_at is not None:
        again = f"; tried again from {fmt.weekday_moment(notice.next_at)} on"
    return f"{plain(notice.target, 40)} of `{notice.event}`: {what}{why}{again}"


def notice_document(notice: NoticeRow) -> dict[str, Any]:
    """Return a notice as JSON."""
    return {
        "notice_id": notice.notice_id,
        "run_id": notice.run_id,
        "event": notice.event,
        "target": notice.target,
        "title": notice.title,
        "state": notice.state,
        "attempts": notice.attempts,
        "next_at": None if notice.next_at is None else notice.next_at.isoformat(),
        "detail": notice.detail,
    }
