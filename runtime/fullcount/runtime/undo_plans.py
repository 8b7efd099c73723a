"""Planning an undo: what a plan did is looked at in the record and live, and becomes a plan that people can approve.

Guarantees: nothing is acted on, and nothing is approved; an undo says of each object that it is about whether it can be
taken back, and if not, why; where nothing can be, there is no plan, and the reasons are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NoReturn

from ulid import ULID

from fullcount.runtime import format as fmt
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import GONE_UNDER_WAY
from fullcount.runtime.act.foreseen import NO_UNDO, UNKNOWN, Foreseen, Found, foresee
from fullcount.runtime.act.session import the_proposal
from fullcount.runtime.act.taking_back import CHANGED_SINCE, undo_of
from fullcount.runtime.approve.of_plan import approval_of_plan
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.evidence.refusal import UNDOING, Finding, Ground, Refusal
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.plan.document import HeadDoc, PlanDocument, UndoDoc
from fullcount.runtime.plan.undo import UndoInputs, undo_document


@dataclass(frozen=True, slots=True)
class NothingToUndo:
    """Why there is no plan: everything was taken back before, or nothing was done (no refusal), or nothing can be."""

    exit: Exit
    refusal: Refusal | None = None


async def plan_undo(
    context: ApplyContext, run_id: str, only: frozenset[tuple[Any, ...]] | None
) -> PlanDocument | NothingToUndo:
    """Return the plan that takes back what the plan of the context did, or why there is none.

    `only`: of these objects; None: all that it did. Raises `WorkspaceError`, `StoreError`.
    """
    document = context.plan.document
    context = replace(context, open_actor=_no_actor)
    _, act = the_proposal(context)
    if act is None or not any(undo_of(act, row) is not None for row in document.rows):
        return _refused(
            Finding(
                code=NO_UNDO,
                message="what this plan does can't be taken back: its act has no `undo`, or is not reversible",
                ways_on=(f"see what each object was: fullcount show {document.plan_id} --all",),
            )
        )
    head = context.store.head()
    taken = context.store.taken_back(document.plan_id)
    try:
        seen = await foresee(context, act, taken, only)
    except SourceError as error:
        return _refused(_unanswered(error), ground=Ground.EVIDENCE, exit_code=Exit.ERROR)
    if isinstance(seen, Finding):
        return _refused(seen)
    if all(found.due is None for found in seen.found):
        return _nothing(document.plan_id, seen.found)
    return undo_document(_inputs(context, run_id, head, seen))


def _inputs(context: ApplyContext, run_id: str, head: Head, seen: Foreseen) -> UndoInputs:
    document = context.plan.document
    approval = approval_of_plan(context.workflow, document, None)
    lifetime = timedelta(microseconds=0 if approval is None else approval.expires)
    read_at, by = context.store.now(), context.person.principal
    due = [(found.entry, found.due) for found in seen.found if found.due is not None]
    meant_by = context.store.runs_of([entry.act_id for entry, _ in due])
    return UndoInputs(
        acted=document,
        undo=UndoDoc(
            plan_id=document.plan_id,
            plan_digest=document.digest,
            runs=meant_by,
            head=HeadDoc(seq=head.seq, hash=head.hash),
            by=by,
            read_at=read_at,
            valid_until=read_at + lifetime,
        ),
        taken=[
            (entry.object_key, seen.judge.taken_back(each, entry, each.item.row.fields), seen.judge.arguments_of(each))
            for entry, each in due
        ],
        doubtful={entry.object_key for entry, _ in due if entry.reason == GONE_UNDER_WAY},
        left=[(f.entry.object_key, f.why) for f in seen.found if f.due is None and f.code != UNKNOWN],
        unknown=[(f.entry.object_key, f.why) for f in seen.found if f.code == UNKNOWN],
        plan_id=str(ULID()),
        run_id=run_id,
        created_at=context.clock(),
        created_by=by,
        engine_version=context.versions["engine"],
        connector_versions={name: version for name, version in context.versions.items() if name != "engine"},
    )


def _nothing(plan_id: str, found: Sequence[Found]) -> NothingToUndo:
    """Return why nothing can be taken back: an object is worth a word as long as no undo took it back."""
    kept = [each for each in found if each.code is not None]
    left = Counter((each.code, each.why, _told_by(plan_id, each), each.by_hand) for each in kept)
    if len(left) == 0:
        return NothingToUndo(Exit.DONE)
    findings = [
        Finding(
            code=str(code),
            message=f"{fmt.counted(number, 'object')}: {why}",
            ways_on=_ways_on(plan_id, code, told_by, by_hand),
        )
        for (code, why, told_by, by_hand), number in sorted(left.items(), key=lambda each: str(each))
    ]
    if any(code == UNKNOWN for code, *_ in left):  # no rule forbids it: it could not be told
        return _refused(*findings, ground=Ground.EVIDENCE, exit_code=Exit.ERROR)
    return _refused(*findings)


def _told_by(plan_id: str, found: Found) -> str | None:
    """Return the plan whose apply finds out what nobody knows yet: of the act itself, or of an undo before; or None."""
    return plan_id if found.entry.outcome in (None, Outcome.UNKNOWN) else found.told_by


def _ways_on(plan_id: str, code: str | None, told_by: str | None, by_hand: bool) -> tuple[str, ...]:
    if by_hand:
        return (f"settle each as said, then look again   fullcount undo {plan_id}",)
    if code == CHANGED_SINCE:
        return ("look at the objects, and decide by hand",)
    if code != UNKNOWN:
        return (f"see what each object was: fullcount show {plan_id} --all",)
    if told_by is not None:
        return (f"see what reading tells, then look again   fullcount apply {told_by}; fullcount undo {plan_id}",)
    return (
        f"look at the objects at the source, by hand; which they are   fullcount show {plan_id} --all",
        f"once it can be told, look again, at one of them by its key   fullcount undo {plan_id} OBJECT",
    )


def _refused(
    *findings: Finding, ground: Ground = Ground.POLICY, exit_code: Exit = Exit.REFUSED_BY_POLICY
) -> NothingToUndo:
    return NothingToUndo(exit_code, Refusal(stage=UNDOING, ground=ground, findings=findings))


def _unanswered(error: SourceError) -> Finding:
    return Finding(
        code=str(error.reason.code),
        message=f"a source does not answer: {error.reason.detail}",
        ways_on=("undo it again when it answers",),
    )


async def _no_actor(source: str) -> NoReturn:
    msg = f"an undo is planned without any way to act, and `{source}` was to be opened for acting"
    raise AssertionError(msg)
