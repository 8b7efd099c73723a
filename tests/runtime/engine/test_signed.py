"""A workspace that asks for signed approvals, from the command line to the act, the export and the report."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.support.ssh_keys import Key, line

pytestmark = pytest.mark.requirement("R24", "R27", "R34")

KEY = Key("ana")
SETTINGS = '\n[signatures]\nallowed_signers = "allowed_signers"\nrequired = {required}\n'


@pytest.fixture
def bench(bench, monkeypatch):
    """Signatures are required, and `--sign` signs with the key that may."""
    ask(bench)
    monkeypatch.setattr("fullcount.runtime.approve.ssh_keygen.sign_by", lambda _key, message: KEY.sign(message))
    return bench


def ask(bench, required: str = "true", signers: str | None = None) -> None:
    file = bench.root / "fullcount.toml"
    file.write_text(file.read_text().split("\n[signatures]")[0] + SETTINGS.format(required=required))
    (bench.root / "allowed_signers").write_text(line(f"uid:{bench.uid}", KEY) if signers is None else signers)


def sign(bench, planned):
    return bench.run("approve", planned["plan_id"], "--digest", planned["digest"], "--sign", "key.pub")


def test_an_approval_that_is_not_signed_is_refused_and_changes_nothing(bench):
    """With its code, and the plan goes on waiting."""
    planned = bench.plan()
    before = bench.everything()
    ended = bench.run("approve", planned["plan_id"], "--digest", planned["digest"])
    assert (ended.exit, "FC781" in ended.said) == (4, True)
    assert bench.everything() == before
    assert bench.run("apply", planned["plan_id"]).exit == 5
    assert bench.locked() == set()


@pytest.mark.parametrize("signers", ["", line("somebody", KEY)])
def test_an_apply_whose_signer_was_taken_out_acts_on_nothing(bench, signers):
    """The key was lost, and its line removed; what it approved is approved no more."""
    planned = bench.plan()
    assert sign(bench, planned).exit == 0
    ask(bench, signers=signers)
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, "FC782" in ended.said) == (4, True)
    assert bench.locked() == set()
    assert "its approval no longer holds" in bench.run("show", planned["plan_id"]).words


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ("\n[signatures]\nrequired = true\n", "FC604"),
        ('\n[signatures]\nrequired = "yes"\n', "FC604"),
        ('\n[signatures]\nsigners = "x"\n', "FC603"),
        ('\n[signatures]\nallowed_signers = "nowhere"\n', "FC618"),
    ],
)
def test_settings_of_signatures_that_cannot_be_read_allow_nothing(bench, settings, code):
    """What is meant to be asked for is not guessed at."""
    file = bench.root / "fullcount.toml"
    file.write_text(file.read_text().split("\n[signatures]")[0] + settings)
    ended = bench.run("plan", "workflows/disable_orphans.fcw")
    assert (ended.exit, code in ended.said, bench.locked()) == (1, True, set())


def test_a_rule_approves_nothing_where_signatures_are_required(bench):
    """It can't sign."""
    ask(bench)
    file = bench.root / "fullcount.toml"
    file.write_text(file.read_text() + "\n[policy]\nautomatic_approval = 5\n")
    with bench.engine() as engine:
        assert engine.workspace.automatic_approval() == 0
    ask(bench, required="false")
    file.write_text(file.read_text() + "\n[policy]\nautomatic_approval = 5\n")
    with bench.engine() as engine:
        assert engine.workspace.automatic_approval() == 5


def test_a_signed_plan_is_applied_exported_and_reported(bench, tmp_path):
    """From the yes to a folder that anybody can check, and a page that names the key."""
    planned = bench.plan()
    assert sign(bench, planned).exit == 0
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == {"a01", "a02", "a03"}
    assert bench.run("verify").exit == 0
    folder = tmp_path / "bundle"
    made = bench.run("export", planned["plan_id"], "--to", folder, "--sign", "key.pub", "--json").json
    assert made["signed"]
    command = [sys.executable, "-I", "-S", folder / "verify.py", "--anchor", made["head"]]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, "3 candidates = 3 done" in checked.stdout) == (0, True), checked.stdout
    statement = json.loads(next(folder.glob("statements/plan-*.dsse.json")).read_text())
    assert statement["payloadType"] == "application/vnd.in-toto+json"
    page = tmp_path / "run.html"
    assert bench.run("report", planned["plan_id"], "--format", "html", "-o", page).exit == 0
    assert KEY.fingerprint in page.read_text()
    refused = bench.run("report", planned["plan_id"], "--format", "csv", "-o", "workflows/disable_orphans.fcw")
    assert (refused.exit, "FC685" in refused.said) == (2, True)
    ask(bench, signers=line("nobody", KEY))
    ended = bench.run("verify")
    assert (ended.exit, "may not sign as" in ended.words) == (1, True)
