"""Triggers of the target: refused before anybody approves, refused again at the act, announced where they are known."""

import pytest

POLICY = 4
SWEEP = "CREATE TRIGGER sweep AFTER UPDATE ON accounts BEGIN DELETE FROM accounts; END"


@pytest.mark.requirement("R28", "R39")
def test_trigger_that_nobody_vouched_for_refuses_the_plan(bench):
    """Exit 4 with the setting to write, before anybody approves; nothing is proposed."""
    bench.sql("directory", SWEEP)
    refused = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert (refused.exit, refused.json["plan_id"]) == (POLICY, None)
    (finding,) = refused.json["refusals"][0]["findings"]
    assert (finding["code"], "`sweep`" in finding["message"]) == ("COLLATERAL_CHANGE", True)
    assert 'known_triggers = ["sweep"]' in finding["ways_on"][0]


@pytest.mark.requirement("R28", "R39")
def test_trigger_is_found_behind_the_steps_of_an_act_too(bench):
    """Whichever step is due tonight: what any of them sets off is said before the first is approved."""
    workflow = bench.root / "workflows" / "disable_orphans.fcw"
    text = workflow.read_text()
    head = text[: text.index("act disable with")]
    lock = "lock: directory.update(id: a.id, locked: true) after 14d"
    workflow.write_text(f"{head}act disable with steps {{ {lock} }} }}\n".replace("not a.locked and ", ""))
    bench.sql("directory", SWEEP)
    refused = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert refused.exit == POLICY, refused.words
    assert refused.json["refusals"][0]["findings"][0]["code"] == "COLLATERAL_CHANGE"


@pytest.mark.requirement("R28", "R39")
def test_trigger_that_came_after_the_plan_refuses_every_act(bench):
    """The table is looked at again in each write."""
    planned = bench.approved()
    bench.sql("directory", SWEEP)
    applied = bench.run("apply", planned["plan_id"], "--json")
    assert applied.exit == POLICY
    assert {row["reason"] for row in applied.json["report"]["rows"]} == {"COLLATERAL_CHANGE"}
    assert (bench.locked(), len(bench.target())) == (set(), 12)


def test_known_trigger_is_announced_by_the_plan_and_runs(bench):
    """Whoever approves sees what else will run; without it the plan has another digest."""
    before = bench.plan()
    bench.sql("directory", "CREATE TABLE audit (id TEXT)")
    bench.sql("directory", "CREATE TRIGGER noted AFTER UPDATE ON accounts BEGIN INSERT INTO audit VALUES (new.id); END")
    config = bench.root / "fullcount.toml"
    config.write_text(config.read_text().replace("deletable = true", 'deletable = true\nknown_triggers = ["noted"]'))
    planned = bench.approved()
    assert planned["digest"] != before["digest"]
    assert any("`noted`" in note for note in planned["plan"]["notes"])
    assert "trigger `noted`" in bench.run("show", planned["plan_id"]).words
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.sql("directory", "SELECT count(*) FROM audit") == [(3,)]
    bench.undone(planned)
