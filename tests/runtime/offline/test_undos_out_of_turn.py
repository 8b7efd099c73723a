"""What is wrong with an undo is found by both verifiers, although every hash and link of the journal holds.

Two undos of one plan were approved and applied: of its first object, and of the others.
"""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from tests.support.acting import Orphans
from tests.support.applying import ANA, BO, Stage, figures
from tests.support.records import relinked
from tests.support.tampering import copy_of, found_by_both, in_the_export, in_the_store, nth, put, said

from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of

pytestmark = pytest.mark.requirement("R34")


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Three accounts are locked, and unlocked again by two undos."""
    place = tmp_path_factory.mktemp("history")
    stage = Stage(place, Orphans(accounts=3))

    async def all_of_it():
        plan = await stage.approved()
        assert figures(await stage.apply(plan)) == {"done": 3}
        first = await stage.to_undo(plan, frozenset({("a1",)}))
        assert figures(await stage.apply(first)) == {"done": 1}
        undo = stage.approve(await stage.undoing(plan), BO)
        assert figures(await stage.apply(undo)) == {"done": 2}
        return undo.document.plan_id

    plan_id = asyncio.run(all_of_it())
    export_run(stage.store, run_of(stage.store, plan_id), place / "b", signers=None, person=ANA, sign=None)
    stage.store.close()
    lines = (place / "b" / "journal.jsonl").read_text().splitlines()
    return SimpleNamespace(place=place, entries=[json.loads(line) for line in lines])


def acts_of(entries, number):
    return said(entries, "intents", number)["acts"]


def approved_by_nobody(entries):
    """Of the last undo."""
    for kind in ("approval_complete", "approved", "approval_opened"):
        entries.pop(nth(entries, kind, -1))


def by_the_approval_of_the_act(entries):
    round_id = said(entries, "approval_complete", 0)["round_id"]
    put("intents", -1, acts=[act | {"round_id": round_id} for act in acts_of(entries, -1)])(entries)


def revoked_before(entries):
    complete = entries[nth(entries, "approval_complete", -1)]
    payload = {name: complete["payload"][name] for name in ("round_id", "plan_id", "digest")}
    payload |= {"by": said(entries, "approved", -1)["by"], "because": "bo: no"}
    at = nth(entries, "intents", -1)
    entries.insert(at, entries[at] | {"kind": "approval_revoked", "payload": payload})


def under_the_plan_of_the_act(entries):
    """As versions did whose undos were no plans."""
    plan_id = said(entries, "planned", 0)["plan_id"]
    put("intents", -1, plan_id=plan_id)(entries)


def taken_back_again(entries):
    """The second undo was of the object that the first one took back."""
    (before,) = acts_of(entries, 1)
    first, *rest = acts_of(entries, -1)
    put("intents", -1, acts=[first | {"key": before["key"]}, *rest])(entries)


def acted_under_it(entries):
    put("intents", -1, kind="act")(entries)


def never_claimed(entries):
    entries.pop(nth(entries, "lease_claimed", -1))
    entries.pop(nth(entries, "lease_released", -1))


def given_back_before(entries):
    released = entries.pop(nth(entries, "lease_released", -1))
    entries.insert(nth(entries, "intents", -1), released)


def on_its_own_plan(entries):
    """The lease is on the plan that is taken back, so that nothing is done and taken back at a time."""
    name = f"plan/{said(entries, 'planned', -1)['plan_id']}"
    for kind in ("lease_claimed", "lease_released"):
        put(kind, -1, name=name, token=9)(entries)
    for kind in ("apply_began", "intents"):
        put(kind, -1, fence=9)(entries)


def not_done(entries):
    """One of the acts that were taken back had failed."""
    at = nth(entries, "outcomes", 0)
    ends = entries[at]["payload"]["outcomes"]
    entries[at] = copy_of(entries[at], outcomes=[each | {"outcome": "failed"} for each in ends])


def of_an_undo(entries):
    put("planned", -1, undoes=said(entries, "planned", 1)["plan_id"])(entries)


def in_the_place_of_the_act(entries):
    put("planned", -1, supersedes=[said(entries, "planned", 0)["plan_id"]])(entries)


def by_a_rule(entries):
    """Nobody was asked."""
    complete = said(entries, "approval_complete", -1)
    said_of = {name: complete[name] for name in ("round_id", "plan_id", "digest", "key_sha256", "expires_at")}
    said_of |= {
        "rule": {"count": 9, "percent": None, "reversible": True},
        "allowed": 9,
        "candidates": 2,
        "population": 2,
    }
    at = nth(entries, "approval_complete", -1)
    entries[at] = entries[at] | {"kind": "approved_automatically", "payload": said_of}
    entries.pop(nth(entries, "approved", -1))


TAMPERINGS = {
    "an undo that nobody approved": (approved_by_nobody, "apply_began", "was applied although"),
    "one by the approval of the act": (by_the_approval_of_the_act, "intents", "without a valid approval"),
    "one whose approval was taken back": (revoked_before, "intents", "without a valid approval"),
    "one without a plan of its own": (under_the_plan_of_the_act, "intents", "without a plan of its own"),
    "an object that was taken back twice": (taken_back_again, "intents", "was taken back, or may have been, before"),
    "an act under an undo": (acted_under_it, "intents", "acts were meant under a plan that is an undo"),
    "an undo of what was not done": (not_done, "intents", "was undone although nothing had been done to it"),
    "an undo of an undo": (of_an_undo, "planned", "which can't be undone"),
    "an undo in the place of an act": (
        in_the_place_of_the_act,
        "planned",
        "supersedes something else than older undos",
    ),
    "an undo that a rule approved": (by_a_rule, "approved_automatically", "a rule approved an undo"),
    "an undo without a lease": (never_claimed, "apply_began", "the entry that gives the lease on the plan"),
    "an undo that gave its lease back": (given_back_before, "intents", "had given the lease on the plan"),
    "an undo by a lease on its own plan": (
        on_its_own_plan,
        "apply_began",
        "the entry that gives the lease on the plan",
    ),
}


def test_what_nothing_was_done_to_verifies(history, tmp_path):
    """The journal as it is, written anew by the same means."""
    lines = relinked(history.entries)
    assert in_the_export(history, lines, tmp_path) == in_the_store(history, lines, tmp_path) == []


@pytest.mark.parametrize("tampering", TAMPERINGS.values(), ids=TAMPERINGS)
def test_what_is_wrong_with_an_undo_is_found_by_both_at_the_same_entry(history, tmp_path, tampering):
    """Both say what, and where."""
    found_by_both(history, tmp_path, *tampering)


def approved_for_longer(entries):
    later = said(entries, "approval_complete", -1)["expires_at"] + 1
    for kind in ("approved", "approval_complete"):
        put(kind, -1, expires_at=later)(entries)


DOCUMENTS = {
    "an undo of an act that was not done": (not_done, "that was not done"),
    "an undo over another record": (not_done, "was made over another record than this one"),
    "an undo that was approved for longer than it is valid": (approved_for_longer, "approved for longer than it is"),
}


@pytest.mark.parametrize("tampering", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_of_an_undo_that_the_journal_does_not_bear_out_is_found_by_both(history, tmp_path, tampering):
    """Each tells it of the plan, in its own words."""
    change, what = tampering
    entries = list(history.entries)
    change(entries)
    for judge in (in_the_export, in_the_store):
        found = [said_of for _, _, said_of in judge(history, relinked(entries), tmp_path)]
        assert any(what in said_of for said_of in found), found
