"""What a verifier can't read is a problem that it tells: what would be judged by it was not judged."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.plans import document
from tests.support.stores import ANA, Office, lock

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.journal.undos import undos_wrong
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.offline.bundle import check_bundle
from fullcount.runtime.offline.canonical import read_canonical_text
from fullcount.runtime.offline.instants import micros_of
from fullcount.runtime.offline.kinds import KINDS
from fullcount.runtime.offline.pace import Pace, too_fast
from fullcount.runtime.offline.programs import program_wrong
from fullcount.runtime.offline.replaying import _HANDLERS
from fullcount.runtime.offline.undos import undo_wrong
from fullcount.runtime.plan.digest import canonical_bytes
from fullcount.runtime.plan.document import HeadDoc, UndoDoc
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.views import OutcomeEntry

pytestmark = pytest.mark.requirement("R34")


def without(*place: str | int) -> Any:
    """Return what takes one part out of a program."""

    def change(program: Any) -> None:
        for part in place[:-1]:
            program = program[part]
        del program[place[-1]]

    return change


def put(*place: str | int, value: Any) -> Any:
    """Return what puts something else in the place of one part of a program."""

    def change(program: Any) -> None:
        for part in place[:-1]:
            program = program[part]
        program[place[-1]] = value

    return change


ACT, RETIRE = ("workflow", "acts", 0), ("workflow", "acts", 1)
UNREAD = {
    "no workflow": (without("workflow"), "`workflow` is missing"),
    "no acts": (without("workflow", "acts"), "`acts` is missing"),
    "acts that are no list": (put("workflow", "acts", value={}), "`acts` is no list"),
    "an act of nobody knows what": (without(*ACT, "proposal"), "`proposal` is missing"),
    "no word of a rate": (without(*ACT, "rate"), "`rate` is missing"),
    "a rate that is no number": (put(*ACT, "rate", value={"$decimal": "fast"}), "its `rate` is no number"),
    "a rate of none": (put(*ACT, "rate", value={"$decimal": "0"}), "its `rate` of 0"),
    "a rate without an end": (put(*ACT, "rate", value={"$decimal": "Infinity"}), "its `rate` of Infinity"),
    "no word of a canary": (without(*ACT, "canary"), "`canary` is missing"),
    "a canary of many": (put(*ACT, "canary", value={"count": "many"}), "`count` is no whole number"),
    "no word of who is told": (without("workflow", "notifies"), "`notifies` is missing"),
    "a part that the program has not": (put("workflow", "owners", value=[]), None),
}


@pytest.mark.parametrize(("change", "what"), UNREAD.values(), ids=UNREAD)
def test_a_program_that_can_not_be_read_is_told_by_both_verifiers(tmp_path, change, what):
    """Its acts are not taken for acts that no rate, canary, step or notice was asked of."""
    with Office(tmp_path) as office:
        program = copy.deepcopy(office.document("a").program)
        change(program)
        plan = office.plan("a", program=program)
        plan_id = plan.document.plan_id
        office.approve(plan)
        run_id, fence = office.begin(plan)
        office.store.begin_apply(plan_id, run_id, fence)
        office.store.record_intents(plan_id, run_id, fence, [lock("a")])
        office.store.record_outcomes(plan_id, run_id, fence, [OutcomeEntry(("a",), Outcome.DONE)])
        office.store.finish_run(run_id, "done", Exit.DONE, {})
        told = [each.what for each in verify(office.store).problems]
        assert any("can't be read in its program" in each and (what is None or what in each) for each in told), told
        if what is None:
            return  # the export's verifier knows no more of a program than what it judges by
        with pytest.raises(StoreError, match="does not verify"):
            export_run(office.store, run_of(office.store, plan_id), tmp_path / "b", signers=None, person=ANA, sign=None)
    faults = check_bundle(tmp_path / "b").faults
    assert any(fault.about == "plan" and what in fault.what for fault in faults), faults


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (without(*RETIRE, "steps"), "`steps` is missing"),
        (without(*RETIRE, "release"), "`release` is missing"),
        (without(*RETIRE, "steps", 1, "after"), "`after` is missing"),
        (put(*RETIRE, "steps", 0, "call", value=None), "a call is not made of parts"),
        (put(*RETIRE, "steps", 0, "rehearse", value="yes"), "`rehearse` is neither yes nor no"),
        (lambda program: program["workflow"]["acts"].pop(1), "it has no act, and the plan takes steps"),
    ],
)
def test_steps_that_can_not_be_read_are_told(change, what):
    """Whether each came in its turn would be judged by them."""
    plan = read_canonical_text(canonical_bytes(document(proposal="retire")).decode()) | {"steps": {}}
    assert program_wrong(plan) is None
    change(plan["program"])
    assert what in str(program_wrong(plan))


@pytest.mark.parametrize("rate", ["0", "-1", "NaN", "Infinity"])
def test_nothing_is_as_fast_as_a_rate_that_is_none_allows(rate):
    """It is never taken for one that allows any number."""
    with pytest.raises(ValueError, match="none that acts can keep to"):
        too_fast(Pace(), "p", Decimal(rate), lambda _kind, _key: None)


def test_every_kind_of_entry_is_judged():
    """A kind that has a shape and no meaning would be passed over."""
    assert set(_HANDLERS) == set(KINDS)


INSTANTS = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(9990, 1, 1), timezones=st.just(UTC)  # noqa: DTZ001 - as it takes it
)  # fmt: skip
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(at=INSTANTS, off=OFFSETS, longer=st.integers(-2, 2), right=st.booleans(), seq=st.integers(6, 9))
def test_an_undo_is_judged_the_same_by_the_store_and_by_an_export(at, off, longer, right, seq):
    """To the microsecond, whatever offset its end is written with; and so is of what, and over what, it was made."""
    acted, head = document(), HeadDoc(seq=7, hash="sha256:" + "3" * 64)
    undo = UndoDoc(
        plan_id=acted.plan_id, plan_digest=acted.digest, runs=(), head=head, by="uid:1000", read_at=at,
        valid_until=at.astimezone(off),
    )  # fmt: skip
    made = document((), plan_id="0" * 26).model_copy(update={"undo": undo})
    plan = read_canonical_text(canonical_bytes(made).decode())
    end = to_micros(at) + longer
    assert micros_of(plan["undo"]["valid_until"]) == to_micros(at)
    digest, found = acted.digest if right else "another", head.hash if seq != 9 else "another"
    rounds = {"r": {"digest": made.digest, "expires_at": end}}
    plans = {acted.plan_id: {"digest": digest}, made.plan_id: {"seq": seq}}
    facts = SimpleNamespace(plans=plans, heads={7: found}, acts={}, rounds=rounds)

    class Row(dict[str, Any]):
        seq = 9

    state = SimpleNamespace(
        plans={(acted.plan_id,): Row(digest=digest), (made.plan_id,): Row(position=seq)},
        acts={},
        rounds={name: Row(each) for name, each in rounds.items()},
    )
    session = SimpleNamespace(get=lambda _table, _seq: SimpleNamespace(hash=found))
    theirs = undo_wrong(facts, plan, acted.plan_id)
    ours = [problem.what for problem in undos_wrong(state, session, made)]
    for words in ("of another plan than", "over another record", "approved for longer"):
        assert any(words in each for each in theirs) == any(words in each for each in ours), (theirs, ours)
    assert (len(theirs), len(ours)) == ((not right) + (seq != 8) + (longer > 0),) * 2
