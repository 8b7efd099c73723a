"""A store in which everything has happened once, and hands that reach around its rules."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.plans import certificate
from tests.support.stores import ANA, BO, CHEN, ROLES, WORKFLOW, Office, approval, lock

from fullcount.runtime.approve.approvals import strike
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.views import ActKind, OutcomeEntry


def full_history(office: Office) -> str:
    """Let everything happen that the journal knows of, and return the id of the applied plan."""
    store = office.store
    slot = store.claim_slot(WORKFLOW, office.clock(), "host-1", local_day="2026-11-30")
    store.skip_slot(WORKFLOW, office.clock.later(days=1), "host-1", "missed")
    run_id = store.begin_run(WORKFLOW, "plan", ANA, slot_id=slot)
    store.record_certificate(run_id, WORKFLOW, certificate("people", "hr", "employees", 4212), office.clock())
    store.record_envelope(run_id, WORKFLOW, office.cut_short("people"))
    store.finish_run(run_id, "refused", Exit.REFUSED_BY_EVIDENCE, {"findings": ["RESULT_LIMIT_REACHED"]})
    store.finish_slot(slot, "refused")
    office.clock.forward(minutes=1)
    office.approve(office.plan("a", "b"), ANA)
    plan = office.plan("a", "b", "c", "d")
    office.approve(plan)
    store.revoke_approval(plan.document.plan_id, CHEN, "let me look")
    plan, run_id, fence = office.applying("a", "b", "c", "d", "e")
    plan_id = plan.document.plan_id
    office.clock.forward(seconds=1)
    store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b"), lock("c")])
    left = OutcomeEntry(("d",), Outcome.CHANGED, detail="last_login is newer")
    done = OutcomeEntry(("a",), Outcome.DONE, before={"locked": False})
    store.record_outcomes(plan_id, run_id, fence, [done, OutcomeEntry(("b",), Outcome.UNKNOWN), left])
    store.halt("smoke", ANA)
    store.resume(BO)
    rest = [OutcomeEntry((key,), Outcome.DONE, before={"locked": False}) for key in ("b", "c", "e")]
    store.record_outcomes(plan_id, run_id, fence, rest[:2])
    store.begin_canary_wait(plan_id, run_id, fence, timedelta(seconds=1))
    office.clock.forward(seconds=1)
    store.pass_canary(plan_id, run_id, fence)
    store.record_intents(plan_id, run_id, fence, [lock("e")])
    store.record_outcomes(plan_id, run_id, fence, rest[2:])
    store.finish_apply(plan_id, run_id, fence)
    store.release(fence)
    store.finish_run(run_id, "done", Exit.DONE, {"done": 4})
    undo, fence = office.begin(plan, "undo")
    store.record_intents(plan_id, undo, fence, [lock("a", locked=False)], kind=ActKind.UNDO)
    store.record_outcomes(plan_id, undo, fence, [OutcomeEntry(("a",), Outcome.DONE)], kind=ActKind.UNDO)
    store.finish_run(undo, "done", Exit.DONE, {})
    store.halt("until the review", BO)
    strike(store, office.plan("y", "z"), approval(), ROLES, ANA, [("y",)], "in use")
    return plan_id


def raw(file: Path) -> sqlite3.Connection:
    """Open the database as someone would who owns the file: no triggers, no constraints."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def tamper(file: Path, statement: str, *values: Any) -> None:
    """Run one statement around every rule; it must change something."""
    connection = raw(file)
    changed = connection.execute(statement, values).rowcount
    connection.close()
    assert changed > 0, statement
