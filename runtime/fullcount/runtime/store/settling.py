"""Settling by hand: a person says what came of an act of which nobody knows whether it took effect.

Guarantees: only an open act gets an outcome so, never one whose outcome is known; never while a run is at work on its
plan; who said it and on what ground stands in the outcome and in the journal, in one transaction, or none of it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import or_, select

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.store import leases, ledger, plans, runs, tables
from fullcount.runtime.store.applying import acted_plan_id
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.ledger_rows import named
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import ActKind, LedgerEntry, OutcomeEntry, RunKind

BY_HAND: Final = "FC763"
"""The reason of an outcome that a person told."""


class NothingToSettle(LedgerRefused):
    """FC739: an object that was named has no act of unknown outcome under the plan."""

    exit = Exit.USAGE


def settle(
    tx: Transaction, plan_id: str, keys: Sequence[tuple[Any, ...]], *, took_effect: bool, by: Person, because: str
) -> tuple[LedgerEntry, ...]:
    """Record what a person says of these acts, and return them.

    Raises `NothingToSettle`, `LeaseHeld`, `PlanNotFound`.
    """
    plan = plans.find(tx.session, plan_id)
    kinds = _open(tx, plan, keys)
    outcome = Outcome.DONE if took_effect else Outcome.FAILED
    detail = f"{'it took effect' if took_effect else 'it took no effect'}, says {by.name}: {because}"
    fence = leases.claim(
        tx,
        leases.plan_lease(acted_plan_id(plan)),
        f"settle/{by.principal}",
        timedelta(minutes=1),
    )
    entries: list[LedgerEntry] = []
    for kind in dict.fromkeys(kinds.values()):
        of_kind = [key for key in kinds if kinds[key] is kind]
        run_kind = RunKind.UNDO if kind is ActKind.UNDO else RunKind.APPLY
        run_id = runs.begin(tx, plan.workflow, run_kind, by, plan.plan_id, None)
        for at in range(0, len(of_kind), ledger.MAX_BATCH):
            said = [OutcomeEntry(key, outcome, BY_HAND, detail) for key in of_kind[at : at + ledger.MAX_BATCH]]
            entries += ledger.record_outcomes(tx, plan.plan_id, run_id, fence, said, kind)
        runs.finish_settling(tx, run_id, plan.plan_id, len(of_kind))
    leases.release(tx, fence)
    return tuple(entries)


def _open(tx: Transaction, plan: tables.Plan, keys: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], ActKind]:
    """Return the kind of the open act of each object. Raises `NothingToSettle` for one that has none."""
    found: dict[tuple[Any, ...], ActKind] = {}
    for key in dict.fromkeys(keys):
        text = canonical_text(list(key))
        kind = tx.session.scalar(
            select(tables.Act.kind).where(
                tables.Act.plan_id == plan.plan_id,
                tables.Act.object_key == text,
                tables.Act.intent_at.is_not(None),
                or_(tables.Act.outcome.is_(None), tables.Act.outcome == Outcome.UNKNOWN.value),
            )
        )
        if kind is None:
            raise NothingToSettle(
                "FC739",
                f"{named(text)} has no act of unknown outcome under the plan `{plan.plan_id}`; nothing was recorded",
                help=f"see what came of each: fullcount report {plan.plan_id} --format csv",
            )
        found[key] = ActKind(kind)
    return found
