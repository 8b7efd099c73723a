"""A store in which everything has happened once, and hands that reach around its rules."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.plans import certificate, document, plan_row
from tests.support.stores import ANA, BO, CHEN, ROLES, WORKFLOW, Office, approval, lock

from fullcount.runtime.approve.approvals import strike
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.events import Notice
from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.envelope import Notice as Warned
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.offline.canonical import canonical, sha256
from fullcount.runtime.offline.journal import GENESIS
from fullcount.runtime.plan.document import WAITS, ClockBegan, ClocksDoc, KeptGroup, StepDoc, StepsDoc, WaitingRow
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import ActKind, NoticeState, OutcomeEntry


def full_history(office: Office) -> str:
    """Let everything happen that the journal knows of, and return the id of the applied plan."""
    store = office.store
    slot = store.claim_slot(WORKFLOW, office.clock(), "host-1", local_day="2026-11-30")
    store.skip_slot(WORKFLOW, office.clock.later(days=1), "host-1", "missed")
    run_id = store.begin_run(WORKFLOW, "plan", ANA, slot_id=slot)
    people, question = certificate("people", "hr", "employees", 4212), "sha256:" + "5" * 64
    store.record_certificate(run_id, WORKFLOW, people, office.clock(), question)
    warned = (Warned(code=WarningCode.DUPLICATE_ITEMS), Warned(code=WarningCode.STALE_READ))
    store.record_envelope(run_id, WORKFLOW, office.cut_short("people").model_copy(update={"warnings": warned}), "iam")
    store.finish_run(run_id, "refused", Exit.REFUSED_BY_EVIDENCE, {"findings": ["RESULT_LIMIT_REACHED"]})
    store.finish_slot(slot, "refused")
    office.clock.forward(minutes=1)
    office.approve(office.plan("a", "b"), ANA)
    plan = office.plan("a", "b", "c", "d")
    office.approve(plan)
    store.revoke_approval(plan.document.plan_id, CHEN, "let me look")
    plan, run_id, fence = office.applying("a", "b", "c", "d", "e")
    plan_id = office.certified(plan).document.plan_id
    office.clock.forward(seconds=1)
    store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b"), lock("c")])
    left = OutcomeEntry(("d",), Outcome.CHANGED, detail="last_login is newer")
    done = OutcomeEntry(("a",), Outcome.DONE, before={"locked": False})
    store.record_outcomes(plan_id, run_id, fence, [done, OutcomeEntry(("b",), Outcome.UNKNOWN), left])
    store.record_intents(plan_id, run_id, fence, [lock("b")])  # it is gone on with
    store.halt("smoke", ANA)
    store.resume(BO)
    store.pause(WORKFLOW, "the directory moves", ANA)
    store.unpause(WORKFLOW, BO)
    rest = [OutcomeEntry((key,), Outcome.DONE, before={"locked": False}) for key in ("b", "c", "e")]
    store.record_outcomes(plan_id, run_id, fence, rest[:2])
    store.begin_canary_wait(plan_id, run_id, fence, timedelta(seconds=1))
    office.clock.forward(seconds=1)
    again = [OutcomeEntry(("b",), Outcome.DONE, before={"locked": False})]
    for kind, locked in ((ActKind.REHEARSE_UNDO, False), (ActKind.REHEARSE_AGAIN, True)):
        store.record_intents(plan_id, run_id, fence, [lock("b", locked=locked)], kind=kind)
        store.record_outcomes(plan_id, run_id, fence, again, kind=kind)
    store.pass_canary(plan_id, run_id, fence)
    store.record_intents(plan_id, run_id, fence, [lock("e")])
    store.record_outcomes(plan_id, run_id, fence, rest[2:])
    store.finish_apply(plan_id, run_id, fence)
    store.release(fence)
    store.finish_run(run_id, "done", Exit.DONE, {"done": 4})
    office.undo(plan, "a", "e")
    undo, run_id, fence = office.undoing(plan, "a", "b")
    undo_id = undo.document.plan_id
    store.record_intents(undo_id, run_id, fence, [lock("a", locked=False)], kind=ActKind.UNDO)
    left = OutcomeEntry(("b",), Outcome.CHANGED, "FC769", "somebody unlocked it")
    store.record_outcomes(undo_id, run_id, fence, [OutcomeEntry(("a",), Outcome.DONE), left], kind=ActKind.UNDO)
    store.finish_apply(undo_id, run_id, fence)
    store.release(fence)
    store.finish_run(run_id, "done", Exit.DONE, {})
    one_step(office)
    store.halt("until the review", BO)
    strike(store, office.plan("y", "z"), approval(), ROLES, ANA, [("y",)], "in use")
    return plan_id


def one_step(office: Office) -> str:
    """Plan, approve and take one step of a graduated act, while another object waits; return the plan's id."""
    store, at = office.store, office.clock()
    run_id = store.begin_run(WORKFLOW, "plan", ANA)
    row = plan_row("s").model_copy(update={"step": StepDoc(label="warn")})
    waiting = WaitingRow(key=("t",), step=StepDoc(label="warn", since=at, due=office.clock.later(days=14)))
    plan = store.save_plan(
        document(
            (row,),
            undecided=(),
            kept=(KeptGroup(reason=f"{WAITS}`warn`", count=1),),
            plan_id=new_id(),
            run_id=run_id,
            proposal="retire",
            steps=StepsDoc(selected=2, waiting=(waiting,), finished=0),
            clocks=ClocksDoc(at=at, began=(ClockBegan(key=("t",), incarnation="uuid-t"),)),
        )
    )
    notice = Notice("waiting", "chat", "NEEDS APPROVAL", {"text": "one object"})
    store.finish_run(run_id, "waiting", Exit.WAITING_FOR_APPROVAL, {}, [notice])
    taken = store.take_notice()
    assert taken is not None
    store.end_notice(taken.notice_id, NoticeState.DELIVERED)
    office.approve(plan)
    run_id, fence = office.begin(plan)
    plan_id = plan.document.plan_id
    store.begin_apply(plan_id, run_id, fence)
    store.record_intents(plan_id, run_id, fence, [replace(lock("s"), operation="fake.accounts.update")])
    store.record_outcomes(plan_id, run_id, fence, [OutcomeEntry(("s",), Outcome.DONE)])
    store.finish_apply(plan_id, run_id, fence)
    store.release(fence)
    store.finish_run(run_id, "done", Exit.DONE, {})
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


def relinked(entries: list[dict[str, Any]]) -> list[str]:
    """Lines with numbers, links and hashes that hold: what somebody can write who knows the rules of the chain."""
    prev, made = GENESIS, []
    for seq, entry in enumerate(entries, start=1):
        whole = {name: part for name, part in entry.items() if name != "hash"} | {"seq": seq, "prev": prev}
        prev = sha256(canonical(whole))
        made.append(canonical(whole | {"hash": prev}))
    return made


def rewrite_journal(file: Path, lines: list[str]) -> None:
    """Put these entries in the place of a store's journal, its head with them."""
    connection = raw(file)
    connection.execute("DELETE FROM journal")
    for line in lines:
        entry = json.loads(line)
        columns = ("seq", "at", "kind", "run_id", "prev", "hash")
        values = (*(entry[name] for name in columns), canonical(entry["payload"]))
        connection.execute(f"INSERT INTO journal ({', '.join(columns)}, payload) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    connection.execute("UPDATE journal_head SET seq = ?, hash = ?", (entry["seq"], entry["hash"]))
    connection.close()
