"""`fullcount check`: each form on standard output, the same exit codes, and `--fix` that mends and checks again."""

import json
import os

import pytest
from tests.support.workspaces import WORKFLOW

FILE = f"workflows/{WORKFLOW}.fcw"
FORMS = ("text", "concise", "json", "sarif", "github")


@pytest.fixture
def spoilt(bench):
    """The workflow with a slip (`limt`), and with a rule that selects everything by accident."""

    def spoil(*changes):
        path = bench.root / FILE
        text = path.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path.write_text(text)
        return path

    return spoil


SLIP = ("limit ", "limt ")


@pytest.mark.parametrize("form", FORMS)
def test_each_form_names_the_mistake_and_exits_with_one(bench, spoilt, form):
    """The exit code does not depend on the form."""
    spoilt(SLIP)
    ended = bench.run("check", "--format", form)
    assert ended.exit == 1
    assert "FC002" in ended.out
    assert ended.err == ""


@pytest.mark.parametrize("form", FORMS)
def test_each_form_exits_with_zero_without_a_mistake(bench, form):
    """Nothing found is nothing said, in the forms that say only findings."""
    ended = bench.run("check", "--format", form)
    assert ended.exit == 0
    if form in {"concise", "github"}:
        assert ended.out == ""


@pytest.mark.parametrize("form", FORMS)
def test_two_workflows_of_one_name_in_two_files_are_an_error_that_names_both(bench, form):
    """They share a history in the store, so that the plan of one would take the place of the other's."""
    bench.rule(file="copy.fcw")
    ended = bench.run("check", "--format", form)
    assert (ended.exit, "FC101" in ended.out, "copy.fcw" in ended.out) == (1, True, True), ended.said
    if form in {"text", "json"}:
        assert f"{WORKFLOW}.fcw" in ended.out
    assert bench.run("check", FILE).exit == 0


def test_two_workflows_of_one_name_are_found_beside_other_mistakes(bench, spoilt):
    """A file that has mistakes of its own still declares its names."""
    spoilt(("a.owner is absent", "a.ownr is absent"))
    bench.rule(file="copy.fcw")
    found = [d["code"] for file in bench.run("check", "--json").json["files"] for d in file["diagnostics"]]
    assert "FC101" in found


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_cannot_be_read_is_a_finding_and_hides_none_of_the_others(bench, spoilt, form):
    """Whoever asks for SARIF gets SARIF; the place is that of the first byte that is no text."""
    spoilt(SLIP)
    (bench.root / "workflows/a.fcw").write_bytes(b"# plain\nworkflow caf\xe9 {")
    (bench.root / "workflows/b.fcw").symlink_to("nowhere.fcw")
    ended = bench.run("check", "--format", form)
    assert (ended.exit, ended.err) == (1, "")
    assert [code in ended.out for code in ("FC691", "FC690", "FC002")] == [True, True, True]
    if form == "concise":
        assert "a.fcw:2:13: error[FC691]" in ended.out


def test_what_is_no_file_is_not_waited_for(bench):
    """A folder of that name, or a pipe that nobody ever writes to, holds no workflow."""
    (bench.root / "workflows/folder.fcw").mkdir()
    os.mkfifo(bench.root / "workflows/pipe.fcw")
    assert bench.run("check").exit == 0


def test_a_file_that_is_named_twice_is_one_file(bench):
    """By itself and within its folder, or through a link."""
    (bench.root / "link.fcw").symlink_to(FILE)
    ended = bench.run("check", FILE, "workflows", "link.fcw", f"./{FILE}")
    assert (ended.exit, "checked 1 file, 1 workflow" in ended.out) == (0, True), ended.said


def test_json_is_short_for_its_form(bench, spoilt):
    """`--json` and `--format json` are the same."""
    spoilt(SLIP)
    assert bench.run("check", "--json").out == bench.run("check", "--format", "json").out


def test_two_forms_at_once_are_a_usage_error(bench):
    """Neither is guessed."""
    assert bench.run("check", "--json", "--format", "sarif").exit == 2
    assert bench.run("check", "--format", "xml").exit == 2


def test_error_of_usage_is_json_for_whoever_asked_for_json(bench):
    """Also in the long form."""
    for arguments in (("--json",), ("--format", "json"), ("--format=json",)):
        assert bench.run("check", "nowhere.fcw", *arguments).json["error"]["code"] == "FC690"


def test_sarif_names_files_from_the_root_of_the_repository(bench, spoilt):
    """Wherever it is called from, so that a service finds them."""
    spoilt(SLIP)
    (bench.root / ".git").mkdir()
    for at in (bench.root, bench.root / "workflows"):
        document = json.loads(bench.run("check", bench.root / FILE, "--format", "sarif", at=at).out)
        (result,) = document["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place == {"uri": FILE, "uriBaseId": "%SRCROOT%"}


def test_fix_mends_what_is_safe_and_checks_again(bench, spoilt):
    """The file is mended in place, and what was done is said with its line."""
    path = spoilt(SLIP)
    right = path.read_text().replace(SLIP[1], SLIP[0])
    ended = bench.run("check", FILE, "--fix")
    assert ended.exit == 0
    assert f"fixed {FILE}:" in ended.out
    assert "FC002: write `limit` instead of `limt`" in ended.out
    assert path.read_text() == right


def test_unsafe_fix_waits_until_it_is_asked_for(bench, spoilt):
    """`--fix` leaves it, names it, and `--unsafe-fixes` makes it."""
    path = spoilt(("complete, fresh within 1h", "complete"))
    before = path.read_text()
    ended = bench.run("check", FILE, "--fix")
    assert ended.exit == 1
    assert "`fullcount check --fix --unsafe-fixes`" in ended.out
    assert path.read_text() == before
    assert bench.run("check", FILE, "--fix", "--unsafe-fixes").exit == 0
    assert "complete, fresh within 24h" in path.read_text()


def test_unsafe_fixes_alone_change_nothing(bench, spoilt):
    """Whoever asks for them must ask for changes."""
    path = spoilt(SLIP)
    before = path.read_text()
    assert bench.run("check", "--unsafe-fixes").exit == 2
    assert path.read_text() == before


def test_file_without_a_fix_is_not_written(bench):
    """Not even with the same text: its time of change stays."""
    path = bench.root / FILE
    before = path.stat().st_mtime_ns
    assert bench.run("check", "--fix").exit == 0
    assert path.stat().st_mtime_ns == before


def test_json_tells_fixes_and_what_was_fixed(bench, spoilt):
    """A script sees what could be done, and what was."""
    spoilt(SLIP)
    (file,) = bench.run("check", FILE, "--json").json["files"]
    assert file["diagnostics"][0]["fix"]["safe"] is True
    (file,) = bench.run("check", FILE, "--json", "--fix").json["files"]
    assert file["diagnostics"] == []
    assert [each["code"] for each in file["fixed"]] == ["FC002"]


def test_allowed_warning_is_not_shown(bench, spoilt):
    """A reason in the file keeps the screen for what is new."""
    path = spoilt(("  inventory", "  param other: duration = 90d\n\n  inventory"))
    assert "FC123" in bench.run("check").out
    path.write_text(path.read_text().replace("r: duration = 90d", "r: duration = 90d # allow FC123: because of May", 1))
    ended = bench.run("check")
    assert (ended.exit, "FC123" in ended.out) == (0, False)
