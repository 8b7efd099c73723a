"""From an approved plan to the target: once, rechecked, under caps, and stopped by whatever stands in the way."""

import asyncio
import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.workspaces import ORPHANS

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.views import Intent

EVIDENCE, POLICY, WAITING, STALE = 3, 4, 5, 6


def stopped_by(ended):
    """Return the codes of what kept the act from starting, or stopped it."""
    document = ended.json
    found = [finding["code"] for refusal in document["refusals"] for finding in refusal["findings"]]
    report = document["report"]
    if report is not None and report["stopped_by"] is not None:
        found.append(report["stopped_by"]["code"])
    return found


def outcomes(ended):
    return {row["key"][0]: row["outcome"] for row in ended.json["report"]["rows"]}


def applied(bench, plan):
    return bench.run("apply", plan["plan_id"], "--json")


def applied_at(bench, plan, instant):
    """Apply at another instant than now, for the engine as for the store."""
    with bench.engine(clock=lambda: instant) as engine:
        return asyncio.run(engine.apply(plan["plan_id"], current_person()))


# -- what must not be acted on -----------------------------------------------------------------------------------------

NOBODY_LOCKED = 'expect no accounts as a where (a.locked) because "a report locks nobody"'


@pytest.mark.requirement("R21", "R24", "R39")
def test_superseded_plan_is_refused_as_stale(bench):
    """A plan that a newer one has replaced is not acted on, though it was approved."""
    older = bench.approved()
    bench.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
    newer = bench.plan()
    ended = applied(bench, older)
    assert (ended.exit, stopped_by(ended)) == (STALE, ["FC710"])
    assert newer["plan_id"] in ended.json["refusals"][0]["findings"][0]["message"]
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R36")
def test_plan_over_its_cap_is_shown_but_neither_approved_nor_applied(bench):
    """More objects than the limit allows: exit 4, the plan can be looked at, and nothing can be done with it."""
    bench.rule(limit="2")
    planned = bench.plan(exits=POLICY)
    assert planned["state"] == "over_cap"
    assert len(planned["plan"]["rows"]) == 3
    shown = bench.run("show", planned["plan_id"])
    assert shown.exit == 0
    assert all(key in shown.out for key in ORPHANS)
    approve = bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--json")
    assert (approve.exit, approve.json["error"]["code"]) == (POLICY, "FC711")
    ended = applied(bench, planned)
    assert (ended.exit, stopped_by(ended)) == (POLICY, ["FC711"])
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R36")
@pytest.mark.parametrize("limit", ["0", "0%", "50, 0%", "0, 50%", "5%"])
def test_limit_of_zero_or_a_percentage_below_one_object_means_none(bench, limit):
    """`limit 0` is a limit: nothing may be done. 5 % of twelve is less than one, and rounds down."""
    bench.rule(limit=limit)
    planned = bench.plan(exits=POLICY)
    assert planned["plan"]["caps"]["effective"] == 0
    assert applied(bench, planned).exit == POLICY
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R39")
def test_halted_workspace_refuses_to_act_until_it_is_released(bench):
    """The kill switch stops an approved plan, says why, and lets it through once released."""
    planned = bench.approved()
    assert bench.run("halt", "incident 4711").exit == 0
    ended = applied(bench, planned)
    assert (ended.exit, stopped_by(ended)) == (POLICY, ["FC722"])
    assert "incident 4711" in ended.said
    assert bench.locked() == set()
    assert bench.run("halt", "--release").exit == 0
    assert applied(bench, planned).exit == 0
    assert bench.locked() == set(ORPHANS)


@pytest.mark.requirement("R24", "R36")
def test_configuration_that_changed_since_the_plan_refuses_the_act(bench):
    """Another table behind the same name is another target than the one that was approved."""
    planned = bench.approved()
    bench.sql("directory", "CREATE TABLE accounts_old AS SELECT * FROM accounts")
    bench.configure(table="accounts_old")
    ended = applied(bench, planned)
    assert (ended.exit, stopped_by(ended)) == (POLICY, ["FC757"])
    assert bench.locked() == set()
    assert bench.sql("directory", "SELECT count(*) FROM accounts_old WHERE locked") == [(0,)]


@pytest.mark.requirement("R24", "R36")
def test_another_database_under_the_same_source_refuses_the_act(bench):
    """The target is part of what was approved: acting on another database is refused, not tried."""
    planned = bench.approved()
    (bench.root / "other.db").write_bytes((bench.root / "directory.db").read_bytes())
    toml = bench.root / "fullcount.toml"
    toml.write_text(toml.read_text().replace("sqlite:///directory.db", "sqlite:///other.db"))
    ended = applied(bench, planned)
    assert ended.exit == POLICY
    assert stopped_by(ended) in (["FC757"], ["FC758"])
    assert bench.locked() == set()


@pytest.mark.requirement("R21", "R22", "R36")
def test_evidence_that_is_too_old_at_the_act_is_refused(bench):
    """The plan is approved, and what it rests on is older by now than the rule allows: exit 3, nothing done."""
    planned = bench.approved()
    later = datetime.now(UTC) + timedelta(hours=2)
    end = applied_at(bench, planned, later)
    assert end.exit is Exit.REFUSED_BY_EVIDENCE
    assert {finding.code for refusal in end.refusals for finding in refusal.findings} == {"FC742"}
    assert {finding.inventory for refusal in end.refusals for finding in refusal.findings} == {"accounts"}
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R36")
def test_approval_that_ran_out_is_refused(bench):
    """An approval carries an act until it expires, and not a moment longer."""
    bench.rule(expires="30m")
    planned = bench.approved()
    later = datetime.now(UTC) + timedelta(minutes=31)
    end = applied_at(bench, planned, later)
    assert end.exit in {Exit.REFUSED_BY_POLICY, Exit.WAITING_FOR_APPROVAL}
    assert bench.locked() == set()


@pytest.mark.requirement("R24")
def test_evidence_from_the_future_is_refused(bench):
    """A clock that was set back makes the age of the evidence unknown, and unknown is not fresh."""
    planned = bench.approved()
    earlier = datetime.now(UTC) - timedelta(hours=1)
    end = applied_at(bench, planned, earlier)
    assert end.exit is Exit.REFUSED_BY_EVIDENCE
    assert bench.locked() == set()


@pytest.mark.requirement("R43", "R36")
def test_object_exempted_after_the_approval_is_left_alone(bench):
    """Exemptions are read anew at the act: the exempted one stays, and its outcome says so."""
    planned = bench.approved()
    bench.exempt("a02")
    ended = applied(bench, planned)
    assert outcomes(ended) == {"a01": "done", "a02": "refused", "a03": "done"}
    assert bench.locked() == {"a01", "a03"}
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R43", "R22")
def test_objects_that_changed_are_left_alone_each_for_its_reason(bench):
    """Used since, recreated under the same key, gone, owned by now: each is read again, and none is acted on."""
    bench.rule(limit="5")
    bench.sql("directory", "UPDATE accounts SET owner = 'p9' WHERE id = 'a04'")
    planned = bench.approved()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    bench.sql("directory", "UPDATE accounts SET last_login = ?, row_version = 2 WHERE id = 'a01'", now)
    bench.sql("directory", "UPDATE accounts SET entry_uuid = 'new' WHERE id = 'a02'")
    bench.sql("directory", "DELETE FROM accounts WHERE id = 'a03'")
    bench.sql("hr", "INSERT INTO employees VALUES ('p9', 1)")
    ended = applied(bench, planned)
    assert outcomes(ended) == {"a01": "changed", "a02": "changed", "a03": "already_gone", "a04": "changed"}
    reasons = {row["key"][0]: row["reason"] for row in ended.json["report"]["rows"]}
    assert reasons["a02"] == "recreated"
    assert bench.locked() == set()
    assert bench.run("verify").exit == 0


# -- what is acted on --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R30", "R33", "R34", "R41", "R43")
def test_approved_plan_is_applied_once_and_only_once(bench):
    """The act is done, a second apply says so and does nothing: neither to the target nor in the journal."""
    planned = bench.approved()
    ended = applied(bench, planned)
    assert ended.exit == 0
    assert ended.json["report"]["sums_hold"] is True
    assert outcomes(ended) == dict.fromkeys(ORPHANS, "done")
    assert bench.locked() == set(ORPHANS)
    kinds = bench.journal()
    assert {"intents", "outcomes", "apply_ended"} <= set(kinds)

    before = bench.target()
    again = applied(bench, planned)
    assert (again.exit, again.json["report"]["repeated"]) == (0, True)
    assert bench.target() == before
    assert bench.journal() == kinds
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R29", "R34")
def test_undo_takes_back_what_was_done_and_leaves_what_was_changed_since(bench):
    """Each object is restored unless somebody has changed it since; a second undo does nothing."""
    planned = bench.approved()
    applied(bench, planned)
    bench.sql("directory", "UPDATE accounts SET entry_uuid = 'new' WHERE id = 'a03'")
    undo = bench.run("undo", planned["plan_id"], "--json")
    assert (undo.exit, undo.json["plan"]["sums"]["kept"]) == (5, 1)
    assert bench.locked() == set(ORPHANS), "planning an undo takes nothing back"
    bench.approve(undo.json)
    undone = applied(bench, undo.json)
    assert outcomes(undone) == {"a01": "done", "a02": "done"}
    assert undone.json["undoes"] == planned["plan_id"]
    assert bench.locked() == {"a03"}
    kinds = bench.journal()
    again = applied(bench, undo.json)
    assert (again.exit, again.json["report"]["repeated"], bench.journal()) == (0, True, kinds)
    ended = bench.run("undo", planned["plan_id"], "--json")
    assert (ended.exit, [each["code"] for each in ended.json["refusals"][0]["findings"]]) == (4, ["FC769"])
    assert bench.locked() == {"a03"}
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R43")
def test_undo_of_a_plan_that_was_never_applied_does_nothing(bench):
    """There is nothing to take back, and that is said."""
    planned = bench.approved()
    before = bench.target()
    ended = bench.run("undo", planned["plan_id"], "--json")
    assert bench.target() == before
    assert (ended.exit, ended.json["state"], ended.json["plan"]) == (0, "nothing", None)
    assert "intents" not in bench.journal()


@pytest.mark.requirement("R41")
def test_plan_with_nothing_to_do_ends_well(bench):
    """No object qualifies: exit 0, the plan says so, and applying it is refused without harm."""
    bench.sql("directory", "UPDATE accounts SET owner = 'p1'")
    planned = bench.plan(exits=0)
    assert (planned["state"], planned["plan"]["rows"]) == ("nothing", [])
    assert bench.run("apply", planned["plan_id"]).exit in {0, WAITING}
    assert "intents" not in bench.journal()


@pytest.mark.requirement("R20")
def test_workflow_that_only_reports_has_nothing_to_approve_or_apply(bench):
    """A proposal without an act is a report: exit 0, and no verb makes an act of it."""
    bench.rule(approve="", act="", limit=f"50%\n    {NOBODY_LOCKED}")
    planned = bench.plan(exits=0)
    assert planned["state"] == "report"
    for arguments in (("approve", planned["plan_id"], "--digest", planned["digest"]), ("apply", planned["plan_id"])):
        ended = bench.run(*arguments, "--json")
        assert (ended.exit, ended.json["error"]["code"]) == (2, "FC772")
    assert bench.locked() == set()


@pytest.mark.requirement("R20", "R21")
def test_report_over_partial_evidence_is_refused_like_an_act(bench):
    """Nothing downstream can tell a report of orphans from a list to delete, so its absence is proven as well."""
    bench.rule(approve="", act="", limit=f"50%\n    {NOBODY_LOCKED}")
    bench.configure(hr_limit=2)
    assert bench.plan(exits=EVIDENCE)["state"] == "refused"


@pytest.mark.requirement("R32", "R43")
def test_act_left_open_under_a_superseded_plan_is_resolved_by_reading(bench):
    """An intent without an outcome is looked into, also when a newer plan has taken the place of its own."""
    planned = bench.approved()
    plan_id = planned["plan_id"]
    with bench.engine() as engine:
        run_id = engine.store.begin_run(planned["plan"]["workflow"], "apply", current_person(), plan_id=plan_id)
        fence = engine.store.claim_plan(plan_id, run_id, timedelta(seconds=20))
        engine.store.begin_apply(plan_id, run_id, fence)
        row = planned["plan"]["rows"][0]
        seen = {
            name: [cell["value"]] if cell["state"] == "present" else cell["state"]
            for name, cell in row["fields"].items()
        }
        call = {"arguments": {"id": row["key"][0], "locked": True}, "expected": seen}
        engine.store.record_intents(
            plan_id, run_id, fence, [Intent(tuple(row["key"]), "directory.accounts.update", call)]
        )
        engine.store.release(fence)
    # the call went out and took effect; whoever made it was killed before it could say so
    bench.sql("directory", "UPDATE accounts SET locked = 1, row_version = 2 WHERE id = 'a01'")
    bench.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
    bench.plan()
    ended = applied(bench, planned)
    assert ended.exit in {STALE, POLICY}
    with bench.store() as store:
        assert store.open_intents(plan_id) == (), "what was meant has its outcome now"
    assert outcomes(ended) == {"a01": "done", "a02": "not_started", "a03": "not_started"}
    assert bench.locked() == {"a01"}, "nothing new was begun under a plan that was replaced"
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R34")
def test_damaged_older_plan_does_not_keep_a_new_one_from_being_made(bench):
    """What was tampered with is refused and found by `verify`; a sound plan can take its place."""
    older = bench.plan()
    tamper(bench, older["plan_id"])
    assert bench.run("show", older["plan_id"], "--json").json["error"]["code"] == "FC715"
    newer = bench.plan()
    assert newer["plan_id"] != older["plan_id"]
    assert bench.run("verify").exit != 0


def tamper(bench, plan_id):
    """Change one letter of a stored plan, as somebody with access to the file could."""
    with contextlib.closing(sqlite3.connect(bench.state)) as db, db:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'plans'").fetchall()
        for (name,) in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE plans SET document = replace(document, 'a01', 'a09') WHERE plan_id = ?", (plan_id,))


@pytest.mark.requirement("R24")
def test_two_acts_of_one_workflow_are_two_plans(bench):
    """Each proposal has its own plan and approval; one is not applied with the other's."""
    text = (bench.root / bench.rule()).read_text()
    second = text[text.index("  propose disable") :].rsplit("}", 1)[0].replace("disable", "freeze", 1)
    second = second.replace("approve disable", "approve freeze").replace("act disable", "act freeze")
    (bench.root / "workflows/disable_orphans.fcw").write_text(text.rsplit("}", 1)[0] + second + "}\n")
    first = bench.plan("--proposal", "disable")
    other = bench.plan("--proposal", "freeze")
    assert first["digest"] != other["digest"]
    bench.approve(other)
    assert applied(bench, first).exit == WAITING
    assert bench.locked() == set()
