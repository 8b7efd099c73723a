"""Approval: nothing is acted on without the yes of those who may, over exactly this plan."""

import os

import pytest
from tests.support.workspaces import ORPHANS

from fullcount.runtime.approve.identity import name_of

USAGE, POLICY, WAITING, STALE = 2, 4, 5, 6
ANA, BO, CHEN, AUTHOR = 54_001, 54_002, 54_003, 54_004
"""Users of this system who exist only by their number."""


def code(ended):
    return ended.json["error"]["code"]


@pytest.mark.requirement("R24", "R39")
def test_apply_without_an_approval_waits_and_does_nothing(bench):
    """Exit 5, the target as it was, and no intent in the journal."""
    planned = bench.plan()
    before = bench.target()
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert ended.exit == WAITING
    assert [f["code"] for r in ended.json["refusals"] for f in r["findings"]] == ["FC707"]
    assert bench.target() == before
    assert "intents" not in bench.journal()


@pytest.mark.requirement("R24", "R39")
@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "0000-0000", "nonsense", "", " "])
def test_approval_of_another_digest_is_refused(bench, digest):
    """A yes over anything but this plan's digest is no yes."""
    planned = bench.plan()
    ended = bench.run("approve", planned["plan_id"], "--digest", digest, "--json")
    assert (ended.exit, code(ended)) == (POLICY, "FC704")
    assert bench.run("apply", planned["plan_id"]).exit == WAITING
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R27", "R39")
def test_approval_by_somebody_without_the_role_is_refused(bench):
    """Who is not in the role can't approve, and is told who can."""
    bench.configure(roles={"iam-admin": (f"uid:{os.getuid() + 1}",)})
    planned = bench.plan()
    ended = bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--json")
    assert (ended.exit, code(ended)) == (POLICY, "FC701")
    assert "can be approved by" in ended.json["error"]["help"]
    assert bench.run("apply", planned["plan_id"]).exit == WAITING


@pytest.mark.requirement("R24", "R39")
@pytest.mark.parametrize("roles", [{}, {"iam-admin": ("nobody-of-this-name",)}, {"iam-admin": ()}])
def test_role_that_nobody_can_fill_lets_nobody_approve(bench, roles):
    """A role that is missing, names somebody unknown or is empty is never everybody."""
    planned = bench.plan()
    bench.configure(roles=roles)
    ended = bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--json")
    assert (ended.exit, code(ended)) in {(POLICY, "FC705"), (POLICY, "FC701")}
    assert bench.run("apply", planned["plan_id"]).exit in {POLICY, WAITING}
    assert bench.locked() == set()


@pytest.mark.requirement("R24", "R39")
def test_approval_by_the_author_is_refused_where_the_workflow_says_so(bench):
    """Whoever wrote the rule or made the plan can't approve it under `not by author`."""
    bench.rule(quorum='1 of role "iam-admin" not by author')
    planned = bench.plan()
    ended = bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--json")
    assert (ended.exit, code(ended)) == (POLICY, "FC702")
    assert bench.run("apply", planned["plan_id"]).exit == WAITING


@pytest.mark.requirement("R24", "R39")
def test_approver_who_left_the_role_no_longer_counts_and_every_screen_says_so(bench):
    """Exit 4 with the name; the plan waits again; whoever is in the role now can approve it anew."""
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}", f"uid:{ANA}")})
    planned = bench.approved()
    before = bench.target()
    bench.configure(roles={"iam-admin": (f"uid:{ANA}",)})
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert ended.exit == POLICY
    (finding,) = [f for r in ended.json["refusals"] for f in r["findings"]]
    assert (finding["code"], f"uid:{bench.uid}" in finding["message"]) == ("FC779", True)
    assert bench.target() == before
    assert "intents" not in bench.journal()
    shown = bench.run("show", planned["plan_id"])
    assert "NEEDS APPROVAL" in shown.words
    assert "no longer holds" in shown.words
    again = bench.plan()  # the identical plan keeps what there is, which is nothing
    assert bench.run("apply", again["plan_id"]).exit == POLICY


@pytest.mark.requirement("R24", "R29")
def test_approval_that_no_longer_holds_is_given_anew_with_a_new_key(bench):
    """The first yes of somebody who may begins a new round; the record of both verifies."""
    bench.configure(roles={"iam-admin": (f"uid:{ANA}", f"uid:{bench.uid}")})
    bench.rule(quorum='2 of role "iam-admin"')
    planned = bench.plan()
    bench.approve(planned)
    assert bench.process("approve", planned["plan_id"], "--digest", planned["digest"], uid=ANA).exit == 0
    bench.configure(roles={"iam-admin": (f"uid:{BO}", f"uid:{bench.uid}")})
    assert bench.run("apply", planned["plan_id"]).exit == POLICY
    bench.approve(planned)
    assert bench.run("apply", planned["plan_id"]).exit == WAITING
    assert bench.process("approve", planned["plan_id"], "--digest", planned["digest"], uid=BO).exit == 0
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS)
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R24", "R39")
def test_quorum_that_the_role_can_not_fill_is_said_at_check_and_on_the_plan(bench):
    """`check` warns of it, the plan says that it can't be approved, also where only the planner is in the way."""
    bench.rule(quorum='2 of role "iam-admin"')
    checked = bench.run("check")
    assert (checked.exit, "FC408" in checked.said) == (0, True)
    planned = bench.plan()
    assert (
        planned["approval"]["unreachable"]
        == "it asks for 2 of `iam-admin`, and only 1 of the people in the role can fill that"
    )
    shown = bench.run("show", planned["plan_id"]).words
    assert "this can't be approved as `[roles]` in fullcount.toml are" in shown
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}", f"uid:{ANA}")})
    assert "FC408" not in bench.run("check").said
    assert bench.plan()["approval"]["unreachable"] is None


@pytest.mark.requirement("R24", "R39")
def test_author_is_not_counted_when_check_looks_whether_a_quorum_can_be_filled(bench):
    """The owner of the file wrote the rule; `uid:0` and the name of that user are one person."""
    bench.rule(quorum='1 of role "iam-admin" not by author')
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}",)})
    assert "FC408" in bench.run("check").said
    bench.rule(quorum='2 of role "iam-admin"')
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}", name_of(bench.uid))})
    assert "FC408" in bench.run("check").said


@pytest.mark.requirement("R24", "R39")
def test_empty_role_is_an_error_at_check(bench):
    """Nobody can approve, so nothing is planned."""
    bench.configure(roles={"iam-admin": ()})
    assert "FC409" in bench.run("check").said
    assert bench.run("plan", "workflows/disable_orphans.fcw").exit == 1


@pytest.mark.requirement("R24")
def test_approval_of_an_older_plan_is_refused_as_stale(bench):
    """A plan that a newer one has replaced can't be approved any more."""
    older = bench.plan()
    bench.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a01'")
    bench.plan()
    ended = bench.run("approve", older["plan_id"], "--digest", older["digest"], "--json")
    assert (ended.exit, code(ended)) == (STALE, "FC710")


@pytest.mark.requirement("R24")
def test_approval_that_was_taken_back_carries_nothing(bench):
    """A revoked approval is none, and the reason is kept."""
    planned = bench.approved()
    ended = bench.run("approve", planned["plan_id"], "--revoke", "too many at once", "--json")
    assert ended.exit == 0
    assert ended.json["approved"] is False
    refused = bench.run("apply", planned["plan_id"])
    assert refused.exit in {POLICY, WAITING}
    assert "its approval was taken back" in refused.words
    assert "too many at once, at 2" in refused.words
    assert bench.locked() == set()


@pytest.mark.requirement("R29", "R24")
def test_second_yes_of_the_same_person_is_refused(bench):
    """One person counts once."""
    bench.rule(quorum='2 of role "iam-admin"')
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}", f"uid:{bench.uid + 1}")})
    planned = bench.plan()
    first = bench.run("approve", planned["plan_id"], "--digest", planned["digest"])
    assert "NOT YET APPROVED" in first.out
    again = bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--json")
    assert (again.exit, code(again)) == (POLICY, "FC703")
    assert bench.run("apply", planned["plan_id"]).exit == WAITING


@pytest.mark.requirement("R24")
def test_short_digest_as_shown_approves(bench):
    """The digest may be given as the plan shows it."""
    planned = bench.plan()
    digest = planned["digest"].removeprefix("sha256:")
    ended = bench.run("approve", planned["plan_id"], "--digest", f"{digest[:4]}-{digest[4:8]}", "--json")
    assert ended.exit == 0, ended.said
    assert ended.json["approved"] is True
    assert "key" not in ended.json


@pytest.mark.requirement("R29", "R30", "R33")
def test_remade_identical_plan_keeps_its_approval_and_applies(bench):
    """The same plan made again the next night needs no new decision, and is acted on once."""
    first = bench.approved()
    again = bench.plan(exits=0)
    assert (again["state"], again["digest"]) == ("approved", first["digest"])
    assert again["plan_id"] != first["plan_id"]
    assert bench.run("apply", again["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS)
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R24", "R29")
def test_plan_with_one_changed_row_voids_the_approval(bench):
    """Another object, another plan: what was approved was not this."""
    first = bench.approved()
    bench.sql("directory", "UPDATE accounts SET owner = 'p9' WHERE id = 'a04'")
    again = bench.plan()
    assert again["digest"] != first["digest"]
    assert bench.run("apply", again["plan_id"]).exit == WAITING
    assert bench.run("apply", first["plan_id"]).exit == STALE
    assert bench.locked() == set()


@pytest.mark.requirement("R24")
def test_plan_with_another_parameter_voids_the_approval(bench):
    """The same objects under another parameter are another decision."""
    first = bench.approved()
    again = bench.plan("--param", "idle=91d")
    assert again["digest"] != first["digest"]
    assert [row["key"] for row in again["plan"]["rows"]] == [row["key"] for row in first["plan"]["rows"]]
    assert bench.run("apply", again["plan_id"]).exit == WAITING
    assert bench.run("apply", first["plan_id"]).exit == STALE


# -- people are who the system says they are ------------------------------------------------------------------------


@pytest.mark.requirement("R27", "R39")
@pytest.mark.slow
def test_identity_can_not_be_changed_by_the_environment(bench):
    """Neither USER, LOGNAME, SUDO_USER, SUDO_UID nor HOME make anybody somebody else."""
    bench.configure(roles={"iam-admin": ("daemon",)})
    planned = bench.plan()
    pretended = dict.fromkeys(("USER", "LOGNAME", "SUDO_USER", "USERNAME", "LNAME"), "daemon")
    pretended |= {"SUDO_UID": "1", "HOME": "/usr/sbin", "FULLCOUNT_USER": "daemon"}
    ended = bench.process("approve", planned["plan_id"], "--digest", planned["digest"], "--json", env=pretended)
    assert (ended.exit, code(ended)) == (POLICY, "FC701")
    assert f"uid:{os.getuid()}" in ended.json["error"]["message"]


@pytest.mark.requirement("R27", "R39")
@pytest.mark.parametrize("option", ["--as", "--user", "--by", "--approver", "--yes", "--force", "--auto-approve"])
def test_identity_can_not_be_given_as_an_option(bench, option):
    """There is no option by which one speaks for somebody else, or does without a decision."""
    planned = bench.plan()
    for verb in ("approve", "apply"):
        ended = bench.run(verb, planned["plan_id"], option, "daemon", "--json")
        assert (ended.exit, code(ended)) == (USAGE, "FC699")
    assert bench.locked() == set()


@pytest.fixture
def shared(bench):
    """A workspace in which several users of this system work; needs root to be several users."""
    if os.getuid() != 0:
        if os.environ.get("CI"):
            pytest.fail("these tests run as several users of the system, which needs root")
        pytest.skip("needs root, to run as several users of the system")
    people = tuple(f"uid:{uid}" for uid in (ANA, BO, CHEN, AUTHOR))
    bench.configure(roles={"iam-admin": people})
    os.chown(bench.root / bench.rule(quorum='2 of role "iam-admin" not by author'), AUTHOR, AUTHOR)
    return bench


@pytest.mark.requirement("R24", "R27", "R39")
@pytest.mark.slow
def test_two_people_who_are_not_the_author_must_agree(shared):
    """Two of the role, neither the author nor an outsider, nor one person twice; only then the act is done."""
    rule = "workflows/disable_orphans.fcw"
    planned = shared.process("plan", rule, "--json", uid=CHEN).json
    agree = ("approve", planned["plan_id"], "--digest", planned["digest"], "--json")

    for uid, why in ((AUTHOR, "FC702"), (CHEN, "FC702"), (54_999, "FC701")):
        refused = shared.process(*agree, uid=uid)
        assert (refused.exit, code(refused)) == (POLICY, why), uid
    first = shared.process(*agree, uid=ANA)
    assert (first.json["approved"], first.json["missing"]) == (False, 1)
    again = shared.process(*agree, uid=ANA)
    assert (again.exit, code(again)) == (POLICY, "FC703")
    assert shared.process("apply", planned["plan_id"], uid=BO).exit == WAITING
    assert shared.locked() == set()

    second = shared.process(*agree, uid=BO)
    assert second.json["approved"] is True
    assert {vote["by"] for vote in second.json["votes"]} == {f"uid:{ANA}", f"uid:{BO}"}
    assert shared.process("apply", planned["plan_id"], uid=CHEN).exit == 0
    assert shared.locked() == set(ORPHANS)
    assert shared.run("verify").exit == 0
