"""What the evidence does not carry is refused in code: nothing proposed, nothing to approve, nothing changed (R36)."""

import pytest

EVIDENCE = 3


def codes(planned):
    return {finding["code"] for refusal in planned["refusals"] for finding in refusal["findings"]}


def refused(bench, *arguments):
    """Plan, and hold everything that a refusal must leave behind; return what was said."""
    before = bench.target()
    planned = bench.plan(*arguments, exits=EVIDENCE)
    assert (planned["state"], planned["plan_id"], planned["plan"]) == ("refused", None, None)
    assert bench.run("runs", "--json").json["plans"] == []
    assert bench.run("apply", "0").exit == 2, "there is nothing that could be applied"
    assert bench.target() == before
    assert bench.run("verify").exit == 0
    return planned


@pytest.mark.requirement("R1", "R8", "R12", "R20", "R21", "R36")
def test_partial_people_never_license_a_plan(bench):
    """A feed that was cut short refuses what concludes absence from it, and says what it has prevented as counts."""
    bench.configure(hr_limit=2)
    planned = refused(bench)
    assert "CLIENT_LIMIT_REACHED" in codes(planned)
    assert planned["envelopes"]["people"]["status"] == "partial"
    assert planned["envelopes"]["people"]["completeness"]["complete"] is False
    assert planned["prevented"]["population"] == 12
    assert planned["prevented"]["selected"] > 3, "as if the missing people did not exist"


@pytest.mark.requirement("R1", "R2", "R12", "R21", "R36")
def test_partial_and_empty_people_never_license_a_plan(bench):
    """No rows and no proof of the end is the most dangerous answer: everyone would look gone."""
    bench.configure(hr_limit=0)
    planned = refused(bench)
    assert "CLIENT_LIMIT_REACHED" in codes(planned)
    people = planned["envelopes"]["people"]
    assert (people["status"], people["work"]["rows"], people["completeness"]["complete"]) == ("partial", 0, False)


@pytest.mark.requirement("R1", "R36")
def test_complete_and_empty_people_are_refused_by_the_bound_on_rows(bench):
    """An empty feed is believed to be empty, and `rows at least` refuses to conclude anything from that."""
    bench.sql("hr", "DELETE FROM employees")
    bench.sql("hr", "DELETE FROM payroll")
    planned = refused(bench)
    assert codes(planned) == {"FC743"}
    assert planned["envelopes"]["people"]["status"] == "complete"


@pytest.mark.requirement("R2", "R36")
def test_count_of_another_system_that_disagrees_refuses_the_plan(bench):
    """The feed came to its end, and payroll knows one more person: nobody can say which is right."""
    bench.sql("hr", "INSERT INTO payroll VALUES ('p7')")
    assert codes(refused(bench)) == {"COUNT_MISMATCH"}


@pytest.mark.requirement("R7", "R8", "R36")
def test_source_that_can_not_be_reached_refuses_the_plan(bench):
    """A source that is down has no rows either; the read is failed, not empty."""
    bench.configure(hr_url='"sqlite:///nowhere/hr.db"')
    planned = refused(bench)
    assert planned["envelopes"]["people"]["status"] == "failed"
    assert codes(planned) & {"SOURCE_UNAVAILABLE", "PERMISSION_DENIED", "MALFORMED_RESPONSE"}


@pytest.mark.requirement("R3", "R36")
def test_canary_that_is_not_seen_refuses_the_plan(bench):
    """An account that must be there and is not shows that visibility was lost, however well the pages ended."""
    bench.rule(expect='expect id == "svc-canary"')
    assert "VISIBILITY_RESTRICTED" in codes(refused(bench))


@pytest.mark.requirement("R19", "R22", "R36")
def test_refusal_names_the_use_that_needed_the_evidence(bench):
    """Each finding says which use of the inventory needed what is missing, and where the rule says so."""
    bench.configure(hr_limit=2)
    for refusal in refused(bench)["refusals"]:
        for finding in refusal["findings"]:
            assert finding["inventory"] == "people"
            assert {need["stage"] for need in finding["needed_by"]} <= {"propose:disable", "act:disable"}
            assert all("disable_orphans.fcw:" in need["place"] for need in finding["needed_by"])
            assert finding["ways_on"]


@pytest.mark.requirement("R36")
def test_every_inventory_that_falls_short_is_named_at_once(bench):
    """A person sees all that is missing, not one thing after another."""
    bench.configure(hr_limit=2)
    bench.rule(expect='expect id == "svc-canary"')
    assert {refusal["stage"] for refusal in refused(bench)["refusals"]} == {"verify:accounts", "verify:people"}


@pytest.mark.requirement("R34", "R36")
def test_refused_run_leaves_its_evidence_in_the_journal_and_no_plan(bench):
    """What was read, and that it was refused, can be audited; there is no entry that anything could be acted upon."""
    bench.configure(hr_limit=2)
    refused(bench)
    kinds = bench.journal()
    assert kinds.count("envelope") == 2
    assert kinds[-1] == "run_finished"
    assert not {"planned", "approved", "intents", "outcomes"} & set(kinds)


@pytest.mark.requirement("R21", "R36")
def test_refused_run_leaves_an_older_approved_plan_as_it_was(bench):
    """A night without evidence takes nothing back and adds nothing: the older plan stands until a newer one does."""
    planned = bench.approved()
    bench.configure(hr_limit=2)
    bench.plan(exits=EVIDENCE)
    assert [(plan["plan_id"], plan["state"]) for plan in bench.run("runs", "--json").json["plans"]] == [
        (planned["plan_id"], "approved")
    ]


@pytest.mark.requirement("R21")
def test_secret_that_is_not_there_is_an_error_and_no_answer(bench):
    """A credential that can't be found ends the run as an error, with its code and without a traceback."""
    bench.configure(hr_url='{ env = "FULLCOUNT_TEST_UNSET" }')
    ended = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert (ended.exit, ended.json["error"]["code"]) == (1, "FC605")
    assert bench.run("runs", "--json").json["runs"][0]["state"] == "error"
    assert bench.locked() == set()


@pytest.mark.requirement("R36")
def test_exemption_list_that_can_not_be_read_is_an_error_and_no_plan(bench):
    """An exemption list that is gone would leave its objects without protection, so there is no plan."""
    (bench.root / "exemptions.toml").unlink()
    ended = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert (ended.exit, ended.json["error"]["code"]) == (1, "FC609")
    assert bench.run("runs", "--json").json["plans"] == []
