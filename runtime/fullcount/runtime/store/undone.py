"""What undos took back of the acts of a plan, and what they have under way: in the ledger, each under its own plan.

Guarantees: an object is taken back only of a plan that did it, and not while another undo of it is under way or after
one. What older versions took back at once stands under the plan itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import parse_canonical
from fullcount.runtime.store import rehearsals, tables
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.ledger_rows import named
from fullcount.runtime.store.views import ActKind
from fullcount.runtime.typed import object_argument

_SURELY_NOT: Final = (Outcome.CHANGED, Outcome.ALREADY_GONE, Outcome.REFUSED, Outcome.FAILED)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """One object that an undo took back, or may have: `done` is False while that is open. `by`: the undo's plan.

    `by` None: an older version did it, without a plan of its own, so that no apply finds out what came of it.
    """

    object_key: tuple[Any, ...]
    done: bool
    by: str | None

    def why_open(self, done_by: str) -> str:
        """Why it can't be taken back while that is open, and what to do. `done_by`: the plan that did it."""
        if self.by is not None:
            return f"the undo `{self.by}` may have taken it back: apply that one first"
        settle = f"fullcount settle {done_by} {object_argument(self.object_key)} --took-effect --because WHY"
        return (
            "an older version was taking it back and was cut off, and nobody knows whether that took effect: look at"
            f" it, and say so: {settle} (or --no-effect)"
        )


def of_plan(session: Session, plan_id: str) -> tuple[TakenBack, ...]:
    """Return what was taken back of a plan, or may have been."""
    return tuple(_acts(session, [plan_id]).values())


def done_of(session: Session, plan_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return what was taken back of these plans, by plan and key as it is stored."""
    return frozenset(place for place, found in _acts(session, list(plan_ids)).items() if found.done)


def open_of(session: Session, plan_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return what may have been taken back of these plans, by plan and key as it is stored: nobody knows yet."""
    return frozenset(place for place, found in _acts(session, list(plan_ids)).items() if not found.done)


def check_may_be(session: Session, undo: tables.Plan, keys: Sequence[str], *, left_alone: bool = False) -> None:
    """Raise `LedgerRefused` for an object that the undo of a plan may not take back, or leave alone."""
    plan_id = str(undo.undoes)
    act = tables.Act
    query = select(act.object_key).where(
        act.plan_id == plan_id, act.kind == ActKind.ACT.value, act.outcome == Outcome.DONE.value
    )
    done = set(session.scalars(query.where(act.object_key.in_(keys)))) - rehearsals.restored(session, plan_id)
    taken = {key: found for (_, key), found in _acts(session, [plan_id], besides=undo.plan_id, keys=keys).items()}
    for key in keys:
        if key not in done:
            what = f"was not acted upon by the plan `{plan_id}`, so there is nothing to undo"
        elif not left_alone and key in taken and not taken[key].done:
            what = f"may have been taken back: {taken[key].why_open(plan_id)}"
        elif not left_alone and key in taken:
            what = f"was taken back {'before' if taken[key].by is None else f'by the undo `{taken[key].by}`'}"
        else:
            continue
        raise LedgerRefused(
            "FC727", f"{named(key)} {what}", help=f"see what can be taken back: fullcount undo {plan_id}"
        )


def _acts(
    session: Session, plan_ids: Sequence[str], *, besides: str = "", keys: Sequence[str] | None = None
) -> dict[tuple[str, str], TakenBack]:
    """Return the undos that took effect, or may have, by the plan that did it and the object; one that did counts."""
    act, plan = tables.Act, tables.Plan
    query = (
        select(act.plan_id, act.object_key, act.outcome, plan.undoes)
        .join(plan, plan.plan_id == act.plan_id)
        .where(
            or_(plan.plan_id.in_(plan_ids), plan.undoes.in_(plan_ids)),
            plan.plan_id != besides,
            act.kind == ActKind.UNDO.value,
            act.intent_at.is_not(None),
            or_(act.outcome.is_(None), act.outcome.not_in([outcome.value for outcome in _SURELY_NOT])),
        )
        .order_by(plan.position)
    )
    if keys is not None:
        query = query.where(act.object_key.in_(keys))
    found: dict[tuple[str, str], TakenBack] = {}
    for row in session.execute(query):
        of = (row.plan_id if row.undoes is None else row.undoes, row.object_key)
        if of in found and found[of].done:
            continue
        found[of] = TakenBack(
            object_key=tuple(parse_canonical(row.object_key)),
            done=row.outcome == Outcome.DONE.value,
            by=None if row.undoes is None else row.plan_id,
        )
    return found
