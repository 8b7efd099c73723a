"""Graduated acts over random nights: no object skips a step, none is acted on before its clock, none keeps another's.

The pure decision is held against a model that knows nothing of it, and the whole path (plan, approval, apply, store,
record) against what the target saw.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.graduating import Nights
from tests.support.profiles import examples

from fullcount.compiler import program
from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.graduated import LET_GO, PROTECTED, UNREAD, Clock, place

START = datetime(2026, 11, 30, tzinfo=UTC)
DAY = 86_400_000_000


def _call(name: str, *, deletes: bool = False) -> program.OperationCall:
    return program.OperationCall("fake", "accounts", name, {}, reversible=False, deletes=deletes)


def _act(waits: list[int], *, release: bool, deletes: bool) -> program.Act:
    last = len(waits) - 1
    calls = [_call(f"do{n}", deletes=deletes and n == last) for n in range(len(waits))]
    steps = tuple(program.Step(f"s{n}", calls[n], None, days * DAY) for n, days in enumerate(waits))
    let_go = _call("free") if release else None
    return program.Act("retire", None, None, None, 1, None, steps=steps, release=let_go)


acts = st.builds(
    lambda first, rest, release, deletes: _act([first, *rest], release=release, deletes=deletes),
    st.sampled_from([0, 3]),
    st.lists(st.integers(1, 9), max_size=3),
    st.booleans(),
    st.booleans(),
)
UNKNOWN = ("undecided", "perhaps protected", "perhaps excepted", "perhaps floor", UNREAD)
verdicts = st.sampled_from(["candidate"] * 6 + [*sorted(LET_GO), PROTECTED, "outside", *UNKNOWN])


@dataclass(frozen=True)
class Night:
    """What is found of one object, whether the plan is approved, and how long it is until the next night."""

    verdict: str
    incarnation: str | None
    acted: bool
    days: int


nights = st.lists(
    st.builds(
        Night,
        verdicts,
        st.sampled_from(["one"] * 6 + ["two", None]),
        st.booleans(),
        st.integers(0, 10),
    ),
    min_size=1,
    max_size=14,
)


@dataclass
class Model:
    """What an object went through since it last had to start again: the only thing that licenses a step."""

    done: list[tuple[str, datetime]] = field(default_factory=list)
    selected_since: datetime | None = None
    incarnation: str | None = None


@pytest.mark.requirement("R29", "R37")
@examples(1500)
@given(acts, nights)
def test_no_step_is_skipped_and_none_comes_before_its_clock(act, passed):
    """Whatever happens to an object from night to night, in whichever order."""
    labels = [step.label for step in act.steps]
    clock, now, model = None, START, Model()
    for night in passed:
        incarnation = None if night.verdict == "outside" else night.incarnation
        if night.verdict not in UNKNOWN and incarnation is not None:
            proven_away = night.verdict != "candidate"
            if incarnation != model.incarnation or proven_away:
                started_again = Model(incarnation=incarnation)
                model, before = started_again, model
            else:
                before = model
            if night.verdict == "candidate" and model.selected_since is None:
                model.selected_since = now
        elif night.verdict == "outside":
            model, before = Model(), model
        else:
            before = model
        found = place(act, night.verdict, incarnation, clock, now)
        if night.verdict in UNKNOWN or (night.verdict == "candidate" and incarnation is None):
            assert found.due is None
            assert found.ends is None
            assert not found.lapses
        if found.due is not None and found.due.label != program.RELEASE:
            number = labels.index(found.due.label)
            assert [label for label, _ in model.done] == labels[:number], "every step before it was done, once"
            since = model.done[-1][1] if model.done else model.selected_since
            assert since is not None
            assert now - since >= act.steps[number].after * timedelta(microseconds=1), "its clock ran out"
        if found.due is not None and found.due.label == program.RELEASE:
            assert night.verdict in LET_GO
            assert act.release is not None
            assert clock is not None
            assert clock.step is not None
            assert incarnation == clock.incarnation
            assert clock.step != labels[-1] or not act.steps[-1].call.deletes, "what was deleted is not let go"
        if night.verdict in LET_GO and before.done and incarnation == before.incarnation:
            assert found.due is not None or found.ends is not None, "it is released, or its clock ends"
        clock = _after(found, clock, incarnation, now)
        if found.due is not None and night.acted:
            if found.due.label == program.RELEASE:
                clock = None
            else:
                clock = Clock(("x",), str(incarnation), found.due.label, now)
                model.done.append((found.due.label, now))
        now += timedelta(days=night.days)


def _after(found, clock, incarnation, now):
    """Do what the store does with what a plan found."""
    if found.ends is not None:
        return None
    if found.begins:
        return Clock(("x",), str(incarnation), None, now)
    if found.lapses and clock is not None:
        return Clock(clock.key, clock.incarnation, clock.step, clock.since, lapsed=True)
    return clock


# -- the whole path ---------------------------------------------------------------------------------------------------

events = st.lists(
    st.tuples(
        st.sampled_from(
            ["nothing", "owned", "orphaned", "recreated", "gone", "left", "back", "dark", "seen", "cut", "unapproved"]
        ),
        st.sampled_from(["a1", "a2"]),
        st.sampled_from([1, 7, 14]),
    ),
    min_size=3,
    max_size=9,
)
WAITS = {"warn": timedelta(0), "lock": timedelta(days=14), "delete": timedelta(days=7)}
AFTER = {"warn": None, "lock": "warn", "delete": "lock"}


@pytest.mark.slow
@pytest.mark.requirement("R29", "R34", "R37")
@examples(40)
@given(events, st.booleans())
def test_what_the_target_sees_is_steps_in_their_order_each_after_its_time(happened, release):
    """Plans, approvals and acts night after night: what was written at the target, and a record that verifies."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        asyncio.run(_live(Path(folder), happened, release=release))


async def _live(folder, happened, *, release):
    nights = Nights(folder, release=release)
    table = nights.world.account_table
    life = {}  # account -> incarnation, the step done last, and when
    births = {"a1": 1, "a2": 2}
    try:
        for event, key, days in happened:
            _happen(nights, table, event, key, births)
            before = {each[0]: row["uuid"] for each, row in table.objects.items()}
            at = nights.world.clock()
            plan = None if event == "cut" else await nights.plan()  # an inventory that was cut short makes no plan
            if plan is not None:
                for name in [name for name in life if _no_longer(table, name)]:
                    life.pop(name)
            if plan is not None and event != "unapproved" and len(plan.document.rows) > 0:
                steps = {row.key[0]: row.step.label for row in plan.document.rows}
                report = await nights.apply(nights.approve(plan))
                for row in report.rows:
                    name = row.key[0]
                    if row.outcome != "done":
                        continue
                    step = steps[name]
                    incarnation, last, since = life.get(name, (None, None, None))
                    if step == program.RELEASE:
                        life.pop(name, None)
                        continue
                    if incarnation != before[name] or step == "warn":
                        last, since = None, None
                    assert AFTER[step] == last, f"{name}: {step} after {last}"
                    assert since is None or at - since >= WAITS[step], f"{name}: {step} too early"
                    life[name] = (before[name], step, nights.world.clock())
            nights.later(days=days)
        nights.verified()
    finally:
        nights.store.close()


def _no_longer(table, name):
    """Whether it is plain to see that the account does not qualify."""
    row = table.objects.get((name,))
    return row is None or row["owner"] == "p1" or row["environment"] != "production"


def _happen(nights, table, event, key, births):
    account = (key,)
    if event == "recreated" or (event == "back" and account not in table.objects):
        births[key] += 10
        table.objects.pop(account, None)
        table.put(nights.world.account(1, id=key, uuid=f"uuid-{births[key]}"))
        return
    if account not in table.objects:
        return
    changes = {
        "owned": {"owner": "p1"},
        "orphaned": {"owner": "gone"},
        "left": {"environment": "test"},
        "back": {"environment": "production"},
        "dark": {"owner": FieldState.FORBIDDEN},
        "seen": {"owner": "gone"},
    }
    if event == "gone":
        table.remove(key)
    elif event in changes:
        table.change(key, **changes[event])
