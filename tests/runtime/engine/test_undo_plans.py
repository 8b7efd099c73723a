"""`fullcount undo` plans, `approve` and `apply` take back: through the same rooms as every other plan."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.support.records import tamper
from tests.support.workspaces import ORPHANS

from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.plan.digest import sealed, sha256_text
from fullcount.runtime.plan.document import PlanDocument

WAITING, POLICY = 5, 4


@pytest.fixture
def applied(bench):
    """A plan that locked the three orphans."""
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    return planned


def policy(bench, text: str) -> None:
    """Write `[policy]`."""
    file = bench.root / "fullcount.toml"
    before = file.read_text("utf-8").split("[policy]")[0]
    file.write_text(f"{before}[policy]\n{text}\n", "utf-8")


# -- what must be refused ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24")
def test_nothing_is_taken_back_before_people_approved_just_that(bench, applied):
    """Not by planning it, not by the approval of the act, not while acting is halted, not after it was taken back."""
    undo = bench.run("undo", applied["plan_id"], "--json").json
    plan_id, digest = undo["plan_id"], undo["digest"]
    assert (undo["state"], undo["exit"]) == ("waiting", WAITING)
    assert bench.run("apply", plan_id).exit == WAITING
    assert bench.run("approve", plan_id, "--digest", applied["digest"], "--json").json["error"]["code"] == "FC704"
    bench.approve(undo)
    bench.run("halt", "look first")
    assert "FC722" in bench.run("apply", plan_id, "--json").out
    bench.run("halt", "--release")
    assert bench.run("approve", plan_id, "--revoke", "wait").exit == 0
    assert bench.run("apply", plan_id).exit != 0
    assert bench.locked() == set(ORPHANS)
    assert bench.run("approve", plan_id, "--digest", digest).exit == 0
    assert bench.run("apply", plan_id).exit == 0
    assert bench.locked() == set()
    assert bench.run("verify").exit == 0


def test_an_undo_is_neither_undone_nor_struck_nor_explained(bench, applied):
    """Each says what to do instead."""
    undone = bench.undone(applied)
    ran = [row for row in bench.run("runs", "--json").json["runs"] if row["kind"] == "undo"]
    assert [(row["undoes"]["plan_id"], row["undoes"]["objects"]) for row in ran] == [(applied["plan_id"], 3)]
    runs = [row["run_id"] for row in ran]
    for what in (undone["plan_id"], *runs):
        ended = bench.run("undo", what, "--json")
        assert (ended.exit, ended.json["error"]["code"]) == (POLICY, "FC800")
    assert bench.run("why", undone["plan_id"], "a01", "--json").json["error"]["code"] == "FC682"
    bench.sql("directory", "UPDATE accounts SET locked = 0, last_login = '2020-01-01T00:00:00Z' WHERE id = 'a01'")
    again = bench.approved()
    assert bench.run("apply", again["plan_id"]).exit == 0
    undo = bench.run("undo", again["plan_id"], "--json").json
    ended = bench.run("strike", undo["plan_id"], "a01", "--json")
    assert (ended.json["error"]["code"], "OBJECT…" in ended.json["error"]["help"]) == ("FC712", True)


@pytest.mark.requirement("R24", "R39")
def test_who_approves_an_undo_is_who_approves_the_act_unless_the_workspace_says_otherwise(bench):
    """`not by author` leaves out whoever proposed the undo, too; a role that is not there approves nothing."""
    bench.rule(quorum='1 of role "iam-admin" not by author')
    planned = bench.plan()
    assert bench.run("approve", planned["plan_id"], "--digest", planned["digest"]).exit == POLICY
    bench.rule()
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    policy(bench, 'undo_approvals = [{ count = 1, role = "on-call" }]')
    undo = bench.run("undo", planned["plan_id"], "--json")
    assert undo.exit != 0
    bench.configure(roles={"iam-admin": (f"uid:{bench.uid}",), "on-call": (f"uid:{bench.uid}",)})
    policy(bench, 'undo_approvals = [{ count = 1, role = "on-call" }]')
    undo = bench.run("undo", planned["plan_id"], "--json").json
    assert undo["approval"]["quorums"][0]["role"] == "on-call"
    digest = ("--digest", undo["digest"])
    assert bench.run("approve", undo["plan_id"], *digest).exit == POLICY, "who proposed it is an author of it"
    policy(bench, 'undo_approvals = [{ count = 1, role = "on-call", not_by_author = false }]')
    assert bench.run("approve", undo["plan_id"], *digest).exit == 0
    policy(bench, 'undo_approvals = [{ count = 2, role = "on-call", not_by_author = false }]')
    assert bench.run("apply", undo["plan_id"]).exit != 0
    assert bench.locked() == set(ORPHANS)
    policy(bench, 'undo_approvals = [{ count = 1, role = "on-call", not_by_author = false }]')
    assert bench.run("apply", undo["plan_id"]).exit == 0


def test_whoever_approves_an_undo_is_told_that_it_is_one(bench, applied):
    """Neither its approval nor its refusal reads like that of the act."""
    undo = bench.run("undo", applied["plan_id"], "--json").json
    assert "the undo of" in bench.run("apply", undo["plan_id"]).words
    approved = bench.run("approve", undo["plan_id"], "--digest", undo["digest"])
    assert approved.exit == 0
    assert "APPROVED the undo of" in approved.words


@pytest.mark.parametrize(
    "wrong",
    ["[]", '[{ count = 0, role = "iam-admin" }]', "[{ count = 1 }]", '[{ count = 1, role = "a", x = 1 }]', "1"],
)
def test_a_policy_that_asks_nobody_is_refused(bench, applied, wrong):
    """Nobody is never enough, and what is not understood is not passed over."""
    policy(bench, f"undo_approvals = {wrong}")
    ended = bench.run("undo", applied["plan_id"], "--json")
    assert ended.exit == 1
    assert ended.json["error"]["code"].startswith("FC60")
    said = ended.json["error"]["message"]
    assert not any(word in said for word in ("tuple", "validation", "; also", "dictionary", "Input")), said


# -- what it is told in -----------------------------------------------------------------------------------------------


def test_the_screens_say_what_would_be_taken_back_and_what_follows(bench, applied, tmp_path):
    """What it is of, what it leaves alone and why, who may approve, the next command; in each form."""
    bench.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
    ended = bench.run("undo", applied["plan_id"])
    for words in (
        "NEEDS APPROVAL", "Take back `disable` for 2 of the 3 objects", f"plan {applied['plan_id']}, by 1 run",
        "left alone 1 `owner` was changed after the act", "counts against none", "next fullcount approve",
    ):  # fmt: skip
        assert words in ended.words, words
    listed = bench.run("runs", "--json").json["plans"]
    assert [each["undoes"] for each in listed] == [applied["plan_id"], None]
    undo = listed[0]["plan_id"]
    planned, did = bench.run("runs", "--json").json["runs"][:2]
    of = {"plan_id": applied["plan_id"], "runs": [did["run_id"]], "objects": 2}
    assert (planned["undoes"], did["undoes"]) == (of, None)
    said = f"undo of {applied['plan_id']}, 2 objects, done by run {did['run_id']}"
    assert said in bench.run("runs").words
    assert bench.run("show", undo, "--html", tmp_path / "undo.html").exit == 0
    page = (tmp_path / "undo.html").read_text("utf-8")
    assert applied["plan_id"] in page
    assert "changed after the act" in page
    document = bench.run("show", undo, "--json").json["plan"]
    assert document["undo"]["plan_id"] == applied["plan_id"]
    assert {row["undo"]["operation"] for row in document["rows"]} == {"directory.accounts.update"}
    bench.approve(listed[0])
    done = bench.run("apply", undo)
    assert (done.exit, "2 undone" in done.words, "fullcount undo" in done.out) == (0, True, False)
    report = json.loads(bench.run("report", undo, "--format", "json").out)
    assert (report["run"]["kind"], report["planned"], report["counts"]["done"]) == ("undo", 2, 2)


# -- the record -------------------------------------------------------------------------------------------------------


def offline(folder) -> subprocess.CompletedProcess[str]:
    """Run the export's own check, with nothing but the interpreter."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "verify.py")], capture_output=True, text=True, check=False
    )


@pytest.mark.requirement("R34")
def test_an_undo_is_exported_and_any_change_of_it_is_found_offline(bench, applied):
    """By the stand-alone check: what it is of, the state that was found, the record it was made over, its validity."""
    undone = bench.undone(applied)
    folder = bench.root / "bundle"
    assert bench.run("export", undone["plan_id"], "--to", folder).exit == 0
    assert offline(folder).returncode == 0
    file = folder / "plans" / f"{undone['plan_id']}.json"
    manifest, kept = folder / "bundle.json", file.read_text("utf-8")
    document = json.loads(kept)
    for name, value in {
        "plan_id": "01" + "Z" * 24, "by": "uid:7", "valid_until": "2999-01-01T00:00:00Z",
        "head": document["undo"]["head"] | {"seq": 1},
    }.items():  # fmt: skip
        changed = json.loads(kept)
        changed["undo"][name] = value
        _rewritten(manifest, file, kept, canonical_text(sealed(PlanDocument.model_validate(changed))))
        found = offline(folder)
        assert (found.returncode, "DOES NOT VERIFY" in found.stdout) == (1, True), name
    changed = json.loads(kept)
    changed["rows"][0]["undo"]["left"]["locked"]["value"] = False
    _rewritten(manifest, file, kept, canonical_text(PlanDocument.model_validate(changed)))
    assert "the rows do not fit the Merkle root" in offline(folder).stdout


def _rewritten(manifest, file, kept, text):
    """Change a file of a bundle, and its hash along."""
    said = manifest.read_text("utf-8")
    for known in {sha256_text(kept.encode()), sha256_text(file.read_bytes())}:
        said = said.replace(known, sha256_text(text.encode()))
    manifest.write_text(said, "utf-8")
    file.write_text(text, "utf-8")


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE plans SET undoes = NULL WHERE undoes IS NOT NULL", "undo of"),
        ("UPDATE plans SET undoes = plan_id WHERE undoes IS NOT NULL", "undo of"),
        ("UPDATE plans SET document = replace(document, 'uid:', 'uid:9') WHERE undoes IS NOT NULL", "hash"),
        ("DELETE FROM acts WHERE kind = 'undo'", "gone from the store"),
        ("UPDATE acts SET plan_id = (SELECT undoes FROM plans WHERE undoes IS NOT NULL) WHERE kind = 'undo'", "act"),
    ],
)
def test_tampering_with_an_undo_is_found(bench, applied, statement, says):
    """By `fullcount verify`, whatever column it is."""
    bench.undone(applied)
    tamper(bench.state, statement)
    ended = bench.run("verify")
    assert (ended.exit, says in ended.words) == (1, True), ended.said
