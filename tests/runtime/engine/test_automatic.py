"""Approval by a workflow's own rule, in a real workspace: decided, journaled, within a policy, taken back by a halt."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace

import pytest

pytestmark = pytest.mark.requirement("R24", "R28", "R29", "R34")

RULE = """\
workflow lock_test {{
  {schedule}
  inventory accounts from directory.accounts {{
    key         id
    incarnation entry_uuid
    fields      {{ id: text, entry_uuid: text, owner: text?, last_login: timestamp, locked: bool }}
  }}

  verify accounts {{ complete, fresh within 1h }}

  propose disable from accounts as a {{
    where not a.locked and a.last_login < now - {idle}
    limit 12, 100%
  }}

  approve disable {{
    automatically when {conditions}, otherwise 1 of role "iam-admin", expires after 3d
  }}

  act disable with directory.update(id: a.id, locked: true) {{
    undo directory.update(id: a.id, locked: false)
  }}
}}
"""
FILE = "workflows/lock_test.fcw"
SOME = {"a01", "a02", "a03", "a04"}
WAITING, POLICY = 5, 4


def policy(bench, allowed: object) -> None:
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8").split("\n[policy]")[0]
    path.write_text(
        text + ("" if allowed is None else f"\n[policy]\nautomatic_approval = {allowed}\n"), encoding="utf-8"
    )


def ruled(bench, conditions="count <= 5 and reversible", idle="90d", schedule=""):
    text = RULE.format(conditions=conditions, idle=idle, schedule=schedule)
    (bench.root / FILE).write_text(text, encoding="utf-8")


@pytest.fixture
def bench(bench):
    policy(bench, 5)
    ruled(bench)
    return bench


def planned(bench, exits=0):
    return bench.plan(file=FILE, exits=exits)


# -- refused cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [None, 0, 4])
def test_without_the_policy_of_the_workspace_it_does_not_even_compile(bench, allowed):
    """Nothing said is not allowed."""
    policy(bench, allowed)
    ended = bench.run("plan", FILE)
    assert ended.exit == 1
    assert "FC411" in ended.said


@pytest.mark.parametrize("allowed", ["true", '"5"', "-1", "5.5"])
def test_a_policy_that_is_no_number_of_objects_is_refused(bench, allowed):
    """It must not be read as something else."""
    policy(bench, allowed)
    ended = bench.run("check")
    assert ended.exit == 1
    assert "policy.automatic_approval" in ended.said


def test_more_objects_than_the_rule_allows_wait_for_people_and_it_is_said_why(bench):
    """Four are selected, three may go by themselves."""
    ruled(bench, "count <= 3 and reversible")
    plan = planned(bench, WAITING)
    said = bench.run("show", plan["plan_id"]).words
    assert "NEEDS APPROVAL" in said
    assert "not automatically: 4 objects, and the rule allows 3" in said
    assert bench.run("apply", plan["plan_id"]).exit == WAITING
    assert bench.locked() == set()
    bench.approve(plan)
    assert bench.run("apply", plan["plan_id"]).exit == 0
    assert bench.locked() == SOME
    assert "approved_automatically" not in bench.journal()


def test_what_a_rule_approved_is_taken_back_by_people_alone(bench):
    """The rule, the policy and the number of objects are what they were, and nobody was asked about the act."""
    plan = planned(bench)
    assert bench.run("apply", plan["plan_id"]).exit == 0
    undo = bench.run("undo", plan["plan_id"], "--json").json
    assert (undo["exit"], undo["approval"]["automatic"]) == (WAITING, None)
    assert bench.run("apply", undo["plan_id"]).exit == WAITING
    assert bench.locked() == SOME
    bench.approve(undo)
    assert bench.run("apply", undo["plan_id"]).exit == 0
    assert bench.locked() == set()
    assert bench.run("verify").exit == 0


def test_a_larger_part_than_the_rule_allows_waits_for_people(bench):
    """Four of twelve are a third."""
    ruled(bench, "count <= 5 and percent <= 33% and reversible")
    planned(bench, WAITING)
    ruled(bench, "count <= 5 and percent <= 34% and reversible")
    planned(bench)


def test_a_policy_that_was_lowered_since_holds_before_each_act(bench):
    """What a rule approved is not acted on once the workspace no longer allows it."""
    plan = planned(bench)
    policy(bench, 3)
    ended = bench.run("apply", plan["plan_id"])
    assert ended.exit == WAITING
    assert bench.locked() == set()
    policy(bench, 5)
    assert bench.run("apply", plan["plan_id"]).exit == 0


def test_a_halt_takes_back_what_a_rule_approved_and_people_are_asked_from_then_on(bench):
    """A person said stop: no rule goes on by itself after that, neither with this plan nor with an identical one."""
    plan = planned(bench)
    assert bench.run("halt", "look first").exit == 0
    assert bench.run("apply", plan["plan_id"]).exit in {POLICY, WAITING}
    assert bench.run("halt", "--release").exit == 0
    assert bench.run("apply", plan["plan_id"]).exit == WAITING
    again = planned(bench, WAITING)
    assert again["digest"] == plan["digest"]
    assert bench.locked() == set()
    bench.approve(again)
    assert bench.run("apply", again["plan_id"]).exit == 0
    assert bench.run("verify").exit == 0


def test_nothing_is_approved_by_a_rule_while_acting_is_halted(bench):
    """The plan waits; when the halt is over it may be approved by the rule."""
    bench.run("halt", "look first")
    plan = planned(bench, WAITING)
    assert "approved_automatically" not in bench.journal()
    bench.run("halt", "--release")
    assert bench.run("apply", plan["plan_id"]).exit == 0
    assert bench.journal().count("approved_automatically") == 1


def test_an_approval_that_a_person_took_back_is_not_given_again_by_a_rule(bench):
    """Their no stands against this digest."""
    plan = planned(bench)
    assert bench.run("approve", plan["plan_id"], "--revoke", "not tonight").exit == 0
    assert bench.run("apply", plan["plan_id"]).exit == WAITING
    planned(bench, WAITING)
    assert bench.locked() == set()


def test_an_empty_plan_is_not_approved(bench):
    """There is nothing to approve."""
    ruled(bench, idle="900d")
    assert planned(bench)["state"] == "nothing"
    assert "approved_automatically" not in bench.journal()


# -- as meant ----------------------------------------------------------------------------------------------------------


def test_a_small_plan_is_approved_by_its_rule_and_the_screens_say_so(bench):
    """State, exit code, text, page and JSON."""
    plan = planned(bench)
    assert (plan["state"], plan["exit"]) == ("approved", 0)
    said = bench.run("show", plan["plan_id"]).words
    assert "APPROVED approved automatically: count <= 5 and reversible" in said
    assert "automatically when count <= 5 and reversible, otherwise 1 of iam-admin" in said
    bench.run("show", plan["plan_id"], "--html", "review.html")
    assert "approved automatically: count &lt;= 5 and reversible" in (bench.root / "review.html").read_text("utf-8")


def test_the_decision_is_in_the_journal_with_the_rule_and_a_key_and_the_record_verifies(bench):
    """One entry, minted with it; the acts carry keys of that approval."""
    plan = planned(bench)
    journal = bench.journal()
    assert journal.count("approved_automatically") == 1
    assert "approved" not in journal
    assert bench.run("apply", plan["plan_id"]).exit == 0
    assert bench.locked() == SOME
    ended = bench.run("verify", "--json")
    assert (ended.exit, ended.json["ok"]) == (0, True)


def test_an_identical_plan_keeps_the_one_approval(bench):
    """As with people's: one decision for one digest, until it expires."""
    first, second = planned(bench), planned(bench)
    assert first["digest"] == second["digest"]
    assert bench.journal().count("approved_automatically") == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"count":5', '"count":9', "a rule that is not its own"),
        ('"candidates":4', '"candidates":3', "another number of objects"),
        ('"allowed":5', '"allowed":2', "more objects than it, or the policy, allows"),
    ],
)
def test_a_decision_that_does_not_fit_the_plan_is_found_in_the_record(bench, old, new, says):
    """Replayed: the rule must be the plan's own, and must have held."""
    from fullcount.runtime.journal import verify as verifying

    planned(bench)
    real = verifying.entries

    def forged(session):
        for entry in real(session):
            if entry.kind == "approved_automatically":
                assert old in entry.payload
                entry = replace(entry, payload=entry.payload.replace(old, new))
            yield entry

    with bench.store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifying, "entries", forged)
        patch.setattr(verifying.ChainCheck, "feed", lambda *_: True)
        found = verifying.verify(store)
    assert any(says in str(problem) for problem in found.problems), found.problems


def test_removing_the_entry_is_found(bench):
    """An approval without its decision is one of which the journal knows nothing."""
    planned(bench)
    with sqlite3.connect(bench.state) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("UPDATE journal SET kind = 'approval_complete' WHERE kind = 'approved_automatically'")
    assert bench.run("verify").exit != 0


async def test_the_service_acts_on_what_the_rule_approves(bench):
    """Within one slot: planned, approved by rule, done."""
    from tests.runtime.service.test_nightly import Serving, ended

    ruled(bench, schedule="schedule every 1s")
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            await serving.until(ended("disable: done"))
    assert bench.locked() == SOME
    assert os.getuid() == bench.uid
