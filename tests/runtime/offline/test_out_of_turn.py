"""What came out of its turn is found by both verifiers, although every hash and link of the journal holds.

Each tampering is done to an export's journal and to a store's, by somebody who knows the rules of the chain: the links
are made anew, so that nothing but the meaning is wrong.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest
from tests.support.acting import DAY, Orphans
from tests.support.applying import ANA
from tests.support.graduating import Nights, setting, telling, with_mail
from tests.support.records import relinked
from tests.support.tampering import copy_of, found_by_both, in_the_export, in_the_store, nth, put, said

from fullcount.compiler import program
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.offline.bundle import check_bundle
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import NoticeState

pytestmark = pytest.mark.requirement("R34")


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Three owners are told, two weeks later their accounts are locked, one a second; the channel is told of it."""
    place = tmp_path_factory.mktemp("history")
    world = Orphans(accounts=3, rate=Decimal(1))
    with_mail(world)
    steps = (
        program.Step("tell", telling(world), None, 0),
        program.Step("lock", setting(world, locked=True), setting(world, locked=False), 14 * DAY),
    )
    world.workflow = replace(world.workflow, notifies=(program.Notify("chat", ("done",)),))
    nights = Nights(place, world, steps=steps)

    async def all_nights():
        store = nights.store
        slot = store.claim_slot("disable_orphans", world.clock(), "host-1", local_day="2026-11-30")
        run_id = store.begin_run("disable_orphans", "plan", ANA, slot_id=slot)
        store.finish_run(run_id, "nothing", Exit.DONE, {})
        store.finish_slot(slot, "nothing")
        await nights.pass_()
        nights.later(days=14)
        plan = nights.approve(await nights.plan())
        report = await nights.apply(plan)
        assert report.exit is Exit.DONE, report
        notice = store.take_notice()
        store.end_notice(notice.notice_id, NoticeState.DELIVERED)
        return plan.document.plan_id

    plan_id = asyncio.run(all_nights())
    nights.verified()
    export_run(nights.store, run_of(nights.store, plan_id), place / "b", signers=None, person=ANA, sign=None)
    nights.store.close()
    lines = (place / "b" / "journal.jsonl").read_text().splitlines()
    return SimpleNamespace(place=place, entries=[json.loads(line) for line in lines], plan_id=plan_id)


def given_back_before(entries):
    released = entries.pop(nth(entries, "lease_released", -1))
    entries.insert(nth(entries, "intents", -1), released)


def taken_over(entries):
    lease = entries[nth(entries, "lease_claimed", -1)]
    taken = copy_of(lease, holder="another/1/x", token=lease["payload"]["token"] + 1)
    at = nth(entries, "intents", -1)
    entries.insert(at, taken | {"at": entries[at]["at"]})


def never_claimed(entries):
    entries.pop(nth(entries, "lease_claimed", -1))


def slot_again(entries):
    at = nth(entries, "slot_taken")
    entries.insert(at + 1, copy_of(entries[at], slot_id="0" * 26, local_day=None))


def day_again(entries):
    at = nth(entries, "slot_taken")
    entries.insert(
        at + 1, copy_of(entries[at], slot_id="0" * 26, planned_at=said(entries, "slot_taken")["planned_at"] + 1)
    )


def all_at_one_instant(entries):
    """The last run meant everything at once, and so fast that its pace can't have held."""
    first, last = nth(entries, "intents", -3), nth(entries, "intents", -1)
    for at in range(first, last + 1):
        entries[at] = entries[at] | {"at": entries[first]["at"]}


def three_in_one_entry(entries):
    acts = [act for number in (-3, -2, -1) for act in said(entries, "intents", number)["acts"]]
    put("intents", -3, acts=acts)(entries)
    del entries[nth(entries, "intents", -1)]
    del entries[nth(entries, "intents", -1)]


def nobody_told(entries):
    gone = said(entries, "notice_queued", -1)["notice_id"]
    entries[:] = [entry for entry in entries if entry["payload"].get("notice_id") != gone]


def told_twice(entries):
    at = nth(entries, "notice_queued")
    entries.insert(at + 1, copy_of(entries[at], notice_id="0" * 26))


def sent_before_its_time(entries):
    """It failed, and was sent again at once."""
    at = nth(entries, "notice_moved")
    sending = entries[at]
    again = copy_of(sending, state="pending", next_at=sending["at"] + DAY)
    entries[at + 1 : at + 1] = [again, copy_of(sending, attempts=2)]


def too_early(entries):
    """The clock of the second night stood an hour earlier than it did."""
    first = next(n for n, entry in enumerate(entries) if entry["at"] > entries[0]["at"] + DAY)
    for at in range(first, len(entries)):
        entries[at] = entries[at] | {"at": entries[at]["at"] - 3_600 * 10**6}


def a_step_that_was_not_told(entries):
    """The act of the step before, the message to the owner, moved nothing on."""
    at = nth(entries, "steps_moved")
    entries[at] = copy_of(entries[at], moved=[])


def after_a_release(entries):
    (act,) = said(entries, "intents", -1)["acts"]
    seen = next(entry for entry in entries if entry["kind"] == "planned" and entry["payload"]["proposal"] == "disable")
    ended = {
        "plan_id": seen["payload"]["plan_id"], "workflow": "disable_orphans", "proposal": "disable",
        "at": entries[-1]["at"] - DAY, "began": [], "lapsed": [], "ended": [{"key": act["key"], "because": "released"}],
    }  # fmt: skip
    at = nth(entries, "intents", -1)
    entries.insert(at, entries[at] | {"kind": "steps_seen", "payload": ended})


def after_it_lapsed(entries):
    (act,) = said(entries, "intents", -1)["acts"]
    seen = next(entry for entry in entries if entry["kind"] == "planned")
    lapsed = {
        "plan_id": seen["payload"]["plan_id"], "workflow": "disable_orphans", "proposal": "disable",
        "at": entries[-1]["at"] - DAY, "began": [], "lapsed": [act["key"]], "ended": [],
    }  # fmt: skip
    at = nth(entries, "intents", -1)
    entries.insert(at, entries[at] | {"kind": "steps_seen", "payload": lapsed})


TAMPERINGS = {
    "an act of a run that gave its lease back": (given_back_before, "intents", "had given the lease on the plan"),
    "an act of a run that was overtaken": (taken_over, "intents", "its run had lost the lease on the plan"),
    "a lease given to another while it was held": (taken_over, "lease_claimed", "was given to another while"),
    "an act without a lease": (never_claimed, "apply_began", "nobody had the lease on the plan"),
    "an act by another token": (put("intents", -1, fence=7), "intents", "its token is 7, and 1 is the newest"),
    "a lease given back by somebody else": (
        put("lease_released", -1, token=9), "lease_released", "by one that did not hold it",
    ),
    "a planned instant that was run twice": (slot_again, "slot_taken", "was taken twice"),
    "a local day that was run twice": (day_again, "slot_taken", "was run twice for 2026-11-30"),
    "a run of a slot that there never was": (put("run_began", 0, slot_id="0" * 26), "run_began", "never had"),
    "more acts at once than the rate allows": (three_in_one_entry, "intents", "3 acts were meant at once"),
    "acts faster than the rate allows": (all_at_one_instant, "intents", "2 acts were meant within 0 s"),
    "a run of whose end nobody was told": (nobody_told, "run_finished", "`chat` had to be told"),
    "a channel that was told twice": (told_twice, "notice_queued", "is told twice"),
    "an event that did not happen": (
        put("notice_queued", -1, event="refused"), "notice_queued", "is told of `refused`",
    ),
    "a notice that was sent before its time": (sent_before_its_time, "notice_moved", "was sent before its time"),
    "a step before it was due": (too_early, "intents", "step `lock` was taken before it was due"),
    "a step whose notice before it was never sent": (a_step_that_was_not_told, "intents", "no clock ran"),
    "a step after a release": (after_a_release, "intents", "although no clock ran"),
    "a step after it no longer qualified": (after_it_lapsed, "intents", "no longer qualified"),
}  # fmt: skip


def test_what_nothing_was_done_to_verifies_and_says_what_is_not_judged(history, tmp_path):
    """The journal as it is, written anew by the same means; three things no entry can bear out are said, with why."""
    lines = relinked(history.entries)
    assert in_the_export(history, lines, tmp_path) == in_the_store(history, lines, tmp_path) == []
    with Store.open(f"sqlite:///{tmp_path / 'state.db'}") as store:
        notes = verify(store).notes
    assert [note for note in check_bundle(tmp_path / "b").notes if note.startswith("not judged: ")] == list(notes)
    assert len(notes) == 3
    assert all(": " in note.removeprefix("not judged: ") for note in notes)


@pytest.mark.parametrize("tampering", TAMPERINGS.values(), ids=TAMPERINGS)
def test_what_came_out_of_its_turn_is_found_by_both_at_the_same_entry(history, tmp_path, tampering):
    """Both say what, and where."""
    found_by_both(history, tmp_path, *tampering)
