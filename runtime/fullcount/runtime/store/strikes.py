"""Striking rows from a stored plan: one transaction in which the new plan takes the place of the old one.

Guarantees: only a plan that could still be approved is struck from; the new plan, its run and who struck what and why
are in the journal with the end of the old plan and of its approvals, or none of it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.payloads import Struck
from fullcount.runtime.plan.strike import with_those_that_wait, without
from fullcount.runtime.store import plans, runs
from fullcount.runtime.store.errors import PlanRefused
from fullcount.runtime.store.runs import who
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import RunKind, StoredPlan


def strike(
    tx: Transaction, plan_id: str, keys: Sequence[tuple[Any, ...]], by: Person, because: str | None
) -> StoredPlan:
    """Keep the plan anew without these rows and those that wait for them.

    Raises `NotListed`, `PlanNotFound`, `PlanCorrupt`, `PlanRefused`.
    """
    row = plans.find(tx.session, plan_id)
    plans.check_usable(row)
    if row.undoes is not None:
        raise PlanRefused(
            "FC712",
            f"the plan `{row.plan_id}` is an undo, and nothing is struck from one",
            help=f"name the objects that are to be taken back: `fullcount undo {row.undoes} OBJECT…`",
        )
    if row.state != plans.OPEN:
        raise PlanRefused(
            "FC712",
            f"the plan `{row.plan_id}` is being applied, so nothing can be struck from it any more",
            help='stop acting with `fullcount halt "why"`, or exempt the objects: both are asked before each act',
        )
    old = plans.load(tx.session, row.plan_id, tx.now).document
    run_id = runs.begin(tx, old.workflow, RunKind.PLAN, by, None, None)
    document = without(old, with_those_that_wait(old, keys), by.name, because, plan_id=new_id(), run_id=run_id)
    stored = plans.save(tx, document)
    left = {item.key for item in document.rows}
    struck = tuple(item.key for item in old.rows if item.key not in left)
    tx.record(
        Struck(
            plan_id=document.plan_id, of=old.plan_id, digest=document.digest, keys=struck, by=who(by), because=because
        ),
        run_id=run_id,
    )
    summary = {
        "plan_id": document.plan_id,
        "digest": document.digest,
        "struck_from": old.plan_id,
        "struck": len(struck),
    }
    if len(document.rows) == 0:
        runs.finish(tx, run_id, "nothing", Exit.DONE, summary)
    else:
        runs.finish(tx, run_id, "waiting", Exit.WAITING_FOR_APPROVAL, summary)
    return stored
