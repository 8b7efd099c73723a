"""What older versions of the program wrote, as they wrote it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import plans, rounds, tables
from fullcount.runtime.store.ledger_rows import (
    idempotency_key,
    intents_payload,
    outcome_values,
    outcomes_payload,
    seal,
)
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import ActKind, Fence, OutcomeEntry


def undone_at_once(store: Store, plan_id: str, run_id: str, fence: Fence, key: str, *, ended: bool = True) -> None:
    """Write to the ledger what older versions wrote that took back under the approval of the act.

    `ended` False: such a version was cut off before it knew what came of it.
    """
    with store.writing() as tx:
        round_ = rounds.current_round(tx.session, plans.get(tx.session, plan_id))
        of, parameters = f'["{key}"]', canonical_text({})
        assert round_ is not None
        assert round_.key is not None
        row: dict[str, Any] = {
            "act_id": new_id(), "plan_id": plan_id, "object_key": of, "kind": "undo", "step": None,
            "operation": "directory.update", "parameters": parameters, "round_id": round_.round_id,
            "parameters_sha256": sha256_text(parameters.encode()), "intent_run_id": run_id, "intent_at": tx.now,
            "idempotency_key": idempotency_key(round_.key, [key], "directory.update", ActKind.UNDO),
        }  # fmt: skip
        sealed = seal(round_.key, row["idempotency_key"], row["parameters_sha256"])
        done = outcome_values(tx, run_id, OutcomeEntry((key,), Outcome.DONE)) if ended else {}
        tx.session.execute(insert(tables.Act).values(**row, **done))
        tx.record(intents_payload(plan_id, ActKind.UNDO, fence, [row], {of: sealed}), run_id=run_id)
        if ended:
            tx.record(outcomes_payload(plan_id, ActKind.UNDO, [(str(row["act_id"]), of, done)]), run_id=run_id)
