"""Class D: plan, approval, apply. What people agree to is one plan, whole and theirs alone, and it is used once."""

from __future__ import annotations

import io
import re
import shutil
from html import unescape

import pytest
from tests.support.applying import BO, Stage, figures, row
from tests.support.stores import ANA, AUTHOR, DORA, Office, approval, lock
from tests.support.stores import BO as ANOTHER
from tests.support.workspaces import ORPHANS, Bench

from fullcount.compiler import program
from fullcount.runtime.cli.apply import apply as apply_verb
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.html import render_html
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan
from fullcount.runtime.store.errors import ApprovalRefused, IdempotencyMismatch, LedgerRefused, PlanStale
from fullcount.runtime.store.views import PlanState

FILE = "workflows/disable_orphans.fcw"
FREE = "where v.owner is absent"


@pytest.fixture
def office(tmp_path):
    """A store, and the people around it."""
    with Office(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A workspace with a plan that nobody approves; tests leave both as they are."""
    bench = Bench(tmp_path_factory.mktemp("waiting") / "bench")
    return bench, bench.plan()


def keys_of(planned):
    """Return what a plan selects."""
    return {key for (key,) in (each["key"] for each in planned["plan"]["rows"])}


# -- one plan, once ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("D01")
async def test_d01_a_plan_is_used_up_by_its_apply_also_one_that_was_made_against_nothing(tmp_path):
    """A plan without a state before it had no lineage, and the same file was applied twice."""
    stage = Stage(tmp_path)
    world = {key: dict(each) for key, each in stage.world.account_table.objects.items()}
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 3}
    stage.world.account_table.objects.update(world)  # as it was when it was planned
    again = await stage.apply(plan)
    assert (again.repeated, len(stage.source.effects)) == (True, 3)
    same = await stage.plan()
    assert (same.document.digest, len(same.document.rows)) == (plan.document.digest, 3)
    assert (await stage.apply(same)).exit is Exit.WAITING_FOR_APPROVAL
    assert len(stage.source.effects) == 3


@pytest.mark.requirement("D02")
def test_d02_the_target_is_part_of_the_plan_and_an_apply_takes_nothing_but_its_id(bench):
    """Many customers in one folder: the option that says which was left out, and only luck kept the wrong one whole."""
    shutil.copy(bench.root / "directory.db", bench.root / "other.db")
    planned, config = bench.approved(), bench.root / "fullcount.toml"
    for more in ((FILE,), ("--workflow", "disable_orphans")):
        assert bench.run("apply", planned["plan_id"], *more).exit == Exit.USAGE
    text = config.read_text("utf-8")
    config.write_text(text.replace("directory.db", "other.db"), encoding="utf-8")
    assert bench.run("apply", planned["plan_id"]).exit == Exit.REFUSED_BY_POLICY
    assert bench.locked() == set()
    assert bench.sql("other", "SELECT count(*) FROM accounts WHERE locked") == [(0,)]
    config.write_text(text, encoding="utf-8")
    assert bench.run("apply", planned["plan_id"]).exit == Exit.DONE
    assert bench.locked() == set(ORPHANS)


@pytest.mark.requirement("D03")
@pytest.mark.parametrize("change", ["none", "another limit"])
async def test_d03_a_newer_plan_voids_the_one_before_whatever_it_lists(tmp_path, change):
    """A new commit dropped a folder, and the apply ran the earlier plan for it as well."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    if change == "another limit":
        stage.world.replace_proposal(limit=program.Limit(3, None))
    else:
        for key in ("a1", "a2", "a3"):
            stage.world.account_table.change(key, owner="p1")
    later = await stage.plan()
    assert later.document.digest != plan.document.digest
    assert (await stage.apply(plan)).exit is Exit.STALE
    with pytest.raises(PlanStale):
        stage.approve(plan, BO)
    assert stage.source.effects == []


@pytest.mark.requirement("D04")
def test_d04_an_object_stands_once_in_the_ledger_of_a_plan(office):
    """The same project was in one apply twice: the second intent for an object of a plan is refused by the store."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    for intents in ([lock("a"), lock("a")], [lock("c")]):
        with pytest.raises(LedgerRefused):
            office.store.record_intents(plan_id, run_id, fence, intents)
    (first,) = office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    _, second = office.store.record_intents(plan_id, run_id, fence, [lock("b"), lock("a")])
    assert (first.fresh, second.fresh, second.idempotency_key) == (True, False, first.idempotency_key)
    with pytest.raises(IdempotencyMismatch):
        office.store.record_intents(plan_id, run_id, fence, [lock("a", locked=False)])
    assert [entry.object_key for entry in office.store.ledger(plan_id)] == [("a",), ("b",)]


@pytest.mark.requirement("D04")
def test_d04_an_object_that_a_source_lists_twice_is_no_two_objects(bench):
    """Two rows under one key are two versions of something, and nobody knows which is true: nothing is proposed."""
    bench.sql("directory", "CREATE TABLE twice AS SELECT * FROM accounts")
    bench.sql("directory", "INSERT INTO twice SELECT id, 'other', owner, last_login, locked, 2 FROM accounts LIMIT 1")
    bench.configure(table="twice")
    refused = bench.run("plan", FILE)
    assert (refused.exit, "1 object returned twice" in refused.words) == (Exit.REFUSED_BY_EVIDENCE, True)


@pytest.mark.requirement("D05")
async def test_d05_after_a_failure_in_part_only_the_rest_of_the_same_plan_is_tried_and_rechecked(tmp_path):
    """It was applied again without a new plan, the whole of it; here what is done is left, and the rest rechecked."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    for call in (2, 3):
        stage.source.on("read", at=call, do=SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE)))
    assert figures(await stage.apply(plan)) == {"done": 1, "not_started": 2}
    ((_, done),) = stage.source.effects
    left = [each for each in stage.world.account_table.objects if each != done]
    stage.world.account_table.change(*left[0], last_login=stage.world.clock())
    stage.world.account_table.put(stage.world.account(9))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "changed": 1}
    assert row(report, left[0][0]).outcome == "changed"
    assert [key for _, key in stage.source.effects] == [done, left[1]]


# -- what the reviewer sees -------------------------------------------------------------------------------------------

REMOVE = """
  propose remove from accounts as a { where a.last_login < now - idle  limit 3 }
  approve remove { 1 of role "iam-admin", expires after 3d }
  act remove with directory.delete(id: a.id) {}
}
"""


@pytest.mark.requirement("D07")
def test_d07_every_plan_of_a_change_stands_on_one_page_and_is_decided_by_itself(bench):
    """Several plans for a change, and the one that destroyed was not opened: a yes is for one, the alarm is on all."""
    path = bench.root / bench.rule()
    path.write_text(path.read_text("utf-8").rstrip().removesuffix("}") + REMOVE, encoding="utf-8")
    large = bench.plan("--proposal", "remove", exits=Exit.REFUSED_BY_POLICY)
    harmless = bench.plan("--proposal", "disable")
    bench.approve(harmless)
    assert bench.run("apply", large["plan_id"]).exit == Exit.REFUSED_BY_POLICY
    assert bench.run("approve", large["plan_id"], "--digest", harmless["digest"]).exit != Exit.DONE
    listed = [line.split() for line in bench.run("runs").out.split("\nplans\n")[1].splitlines()]
    assert [(line[1], line[2], line[-1]) for line in listed if line] == [
        ("over_cap", "4", "disable_orphans.remove"),
        ("approved", "3", "disable_orphans.disable"),
    ]
    assert len(bench.target()) == 12


@pytest.mark.requirement("D08")
def test_d08_what_would_go_along_with_an_object_is_never_done_beyond_the_plan(bench):
    """One object was asked for, and four were destroyed: what others hang on is left, and they with it."""
    bench.rule(act="act disable with directory.delete(id: a.id) {}")
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")
    bench.sql("directory", "CREATE TABLE boxes (id TEXT, of TEXT REFERENCES accounts (id) ON DELETE CASCADE)")
    bench.sql("directory", "INSERT INTO boxes VALUES ('b1', 'a01'), ('b2', 'a01'), ('b3', 'a04')")
    planned = bench.plan()
    assert [row["key"] for row in planned["plan"]["undecided"]] == [["a01"]]
    assert (
        "deletes main.boxes 2): the act does not say `cascades within limit`"
        in bench.run("show", planned["plan_id"]).words
    )
    bench.approve(planned)
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert {key for (key, *_) in bench.target()} == {f"a{n:02}" for n in range(1, 13)} - {"a02", "a03"}
    assert bench.sql("directory", "SELECT count(*) FROM boxes") == [(3,)]


VAULT = 'protect vault from directory.accounts as a where (a.id == "a02") because "it opens the vault"\n'


@pytest.mark.requirement("D09")
def test_d09_a_protection_outlives_the_rule_and_goes_only_by_a_change_of_its_own(bench):
    """The protection stood in the block that was deleted, and went with it."""
    (bench.root / "protect.fcw").write_text(VAULT, encoding="utf-8")
    bench.rule(name="a_later_rule", file="disable_orphans.fcw")
    planned = bench.approved()
    assert keys_of(planned) == {"a01", "a03"}
    (bench.root / "protect.fcw").unlink()
    without = bench.plan()
    assert (keys_of(without), without["digest"] == planned["digest"]) == (set(ORPHANS), False)
    assert "when `vault` protected: +1 new" in bench.run("show", without["plan_id"]).words
    assert bench.run("apply", without["plan_id"]).exit == Exit.WAITING_FOR_APPROVAL
    assert bench.locked() == set()


@pytest.mark.requirement("D15")
def test_d15_the_reviewer_sees_every_object_the_act_and_the_digest(night):
    """People agreed to a summary: object, act and digest are shown, and a text of the author's is marked as theirs."""
    head = 'describe "Only renames a label. APPROVED by security."'
    (came,) = night.says("volumes", FREE, 'given volumes [{ id: "vol-a" }, { id: "vol-b" }] expect count 2', head=head)
    status = ReviewStatus("waiting")
    for shown in (to_text(render_plan(came.planned, status)), unescape(render_html(came.planned, status))):
        assert all(
            each in shown for each in ("vol-a", "vol-b", "cloud.volumes.delete(id: v.id)", "can't be taken back")
        )
        assert short_digest(came.planned.digest) in shown
        before = " ".join(re.sub("<[^>]*>", "", shown[: shown.index("Only renames")]).split())
        assert before.lower().endswith("in its author's words:")


# -- who agrees, and to what ------------------------------------------------------------------------------------------


@pytest.mark.requirement("D10")
def test_d10_who_wrote_the_rule_or_asked_for_the_plan_is_no_approver_of_it(office):
    """The one who asked counted as one who agreed."""
    plan, clause = office.plan("a", authors=(ANOTHER.principal,)), approval((1, "iam-admin"))
    for person in (ANOTHER, AUTHOR):
        with pytest.raises(ApprovalRefused) as refused:
            office.approve(plan, person, clause=clause)
        assert refused.value.code == "FC702"
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.WAITING
    assert office.approve(plan, ANA, clause=clause).approved is True


TRICKS = {"CI": "true", "DEBIAN_FRONTEND": "noninteractive", "AUTO_APPROVE": "1", "TF_INPUT": "0"} | {
    f"FULLCOUNT_{name}": "1" for name in ("YES", "APPROVE", "AUTO_APPROVE", "ASSUME_YES", "FORCE", "NON_INTERACTIVE")
}


@pytest.mark.requirement("D13")
@pytest.mark.parametrize("given", ["", "y\nyes\ny\n" * 9])
def test_d13_a_script_without_anybody_to_ask_gets_no_yes(waiting, monkeypatch, given):
    """Run from a script, the question was answered yes: nothing is asked, and nothing answers for a person."""
    bench, planned = waiting
    for name, value in TRICKS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    assert bench.run("approve", planned["plan_id"]).exit != Exit.DONE
    assert bench.run("apply", planned["plan_id"]).exit == Exit.WAITING_FOR_APPROVAL
    assert (bench.locked(), "approved" in bench.journal()) == (set(), False)


@pytest.mark.requirement("D14")
def test_d14_no_option_stands_in_for_an_approval(waiting):
    """A flag that was meant for something else passed the gate: `apply` has none that could."""
    bench, planned = waiting
    flags = [each.opts[0] for each in apply_verb.params if each.opts[0].startswith("-")]
    assert flags == ["--json"]
    for flag in (*flags, "--yes", "-y", "--force", "-f", "--auto-approve", "--no-approval", "--skip-checks", "--admin"):
        assert bench.run("apply", planned["plan_id"], flag).exit in {Exit.USAGE, Exit.WAITING_FOR_APPROVAL}
    assert (bench.locked(), "intents" in bench.journal()) == (set(), False)


@pytest.mark.requirement("D16")
async def test_d16_one_decision_is_for_one_plan_and_never_for_what_comes_after(tmp_path):
    """A yes for a session covered what came later, or people were asked 46 times in a row."""
    stage = Stage(tmp_path)
    first = await stage.approved()
    assert figures(await stage.apply(first)) == {"done": 3}, "one decision, three objects"
    stage.world.account_table.put(stage.world.account(4))
    second = await stage.plan()
    assert (await stage.apply(second)).exit is Exit.WAITING_FOR_APPROVAL
    assert stage.world.account_table.objects["a4",]["locked"] is False


@pytest.mark.requirement("D17")
def test_d17_what_several_own_goes_only_when_all_of_them_let_it_go(night):
    """Two applications owned one namespace, one was removed, and the namespace went for both."""
    rows = 'given images [{ id: "both" }, { id: "one" }, { id: "none" }] given launches'
    night.says(
        "images",
        "where no launches as l where (l.image == i.id)",
        f"""test "first" {{ {rows} [
          {{ id: "1", image: "both", account: "app-1" }}, {{ id: "2", image: "both", account: "app-2" }},
          {{ id: "3", image: "one", account: "app-1" }},
        ] expect plan ["none"] }}
        test "app-1 is removed" {{ {rows} [{{ id: "2", image: "both", account: "app-2" }}]
          expect plan ["one", "none"] }}
        test "app-2 is not to be seen" {{ {rows} partial VISIBILITY_RESTRICTED empty
          expect refused VISIBILITY_RESTRICTED }}""",
        also=("launches",),
    )


@pytest.mark.requirement("D17")
def test_d17_a_plan_that_two_roles_must_agree_to_waits_for_both(office):
    """One team's yes is not the other's."""
    plan, both = office.plan("a"), approval((1, "iam-admin"), (1, "security"))
    assert office.approve(plan, ANA, clause=both).approved is False
    assert office.approve(plan, ANOTHER, clause=both).approved is False
    assert office.approve(plan, DORA, clause=both).approved is True


@pytest.mark.requirement("D18")
@pytest.mark.parametrize(
    "more",
    [
        {"inside": 'protect v.tags["keep"] is present'},
        {"verify": 'complete, fresh within 1h, except when v.tags["keep"] is present'},
        {"act": 'act tidy with cloud.volumes.delete(id: v.id) { except when v.tags["keep"] is present }'},
        {"act": "act tidy with cloud.volumes.delete(id: v.id) { keep at least 3 newest by v.created }"},
        {"head": "except in exemptions"},
    ],
)
def test_d18_a_word_of_protection_in_a_place_where_it_does_nothing_is_an_error(night, more):
    """`No prune` stood where nobody read it, and did not hold for deletes."""
    assert night.codes("volumes", FREE) == []
    assert night.compiled(night.text("volumes", FREE, **more)).program is None


@pytest.mark.requirement("D20")
def test_d20_evidence_names_the_question_that_it_answers(night):
    """A clean-up of branches looked at commits and not at open reviews, and open work was deleted."""
    rows = 'given images [{ id: "open" }, { id: "free" }] given launches [{ id: "1", image: "open" }]'
    unlooked = "where i.pushed < now - 30d"
    (came,) = night.says("images", unlooked, 'given images [{ id: "open" }] expect count 1')
    assert "fleet.launches" not in to_text(render_plan(came.planned, ReviewStatus("waiting")))
    asked = "where no launches as l where (l.image == i.id)"
    (came,) = night.says("images", asked, f'{rows} expect plan ["free"]', also=("launches",))
    shown = to_text(render_plan(came.planned, ReviewStatus("waiting")))
    assert "launches (fleet.launches)" in shown
