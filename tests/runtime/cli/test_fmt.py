"""`fullcount fmt`: writes only what has another layout, never a file with a mistake, and says what it did."""

import json
import os
import stat

import pytest
from tests.support.workspaces import ANSI, WORKFLOW

FILE = f"workflows/{WORKFLOW}.fcw"
FORMED = 'workflow w {\n  owner "x"\n}\n'
LOOSE = 'workflow w{owner "x"}'
WRONG = "workflow w { owner }"


@pytest.fixture
def folder(bench):
    """A folder with one file of each kind: in form, in another layout, with a mistake."""
    made = bench.root / "more"
    made.mkdir()
    for name, text in (("formed", FORMED), ("loose", LOOSE), ("wrong", WRONG)):
        (made / f"{name}.fcw").write_text(text)
    return made


def texts(folder):
    """The text of each file, by its name."""
    return {path.stem: path.read_bytes().decode() for path in sorted(folder.iterdir())}


def test_file_with_a_mistake_is_left_as_it_is_and_the_others_are_formatted(bench, folder):
    """Exit 1, the mistake shown, and every other file in form."""
    ended = bench.run("fmt", "more")
    assert ended.exit == 1
    assert "error[FC001]" in ended.out
    assert texts(folder) == {"formed": FORMED, "loose": FORMED, "wrong": WRONG}
    assert "formatted: more/loose.fcw" in ended.out
    assert "1 file formatted, 1 file already in form, 1 file with mistakes" in ended.out


def test_check_writes_nothing_and_fails_if_something_would_change(bench, folder):
    """For continuous integration."""
    before = texts(folder)
    assert bench.run("fmt", "--check", "more/loose.fcw").exit == 1
    assert bench.run("fmt", "--check", "more/formed.fcw").exit == 0
    assert texts(folder) == before


def test_diff_shows_what_would_change_and_writes_nothing(bench, folder):
    """It fails only together with `--check`."""
    before = texts(folder)
    ended = bench.run("fmt", "--diff", "more/loose.fcw")
    assert ended.exit == 0
    assert '-workflow w{owner "x"}' in ended.out
    assert '+  owner "x"' in ended.out
    assert bench.run("fmt", "--diff", "--check", "more/loose.fcw").exit == 1
    assert texts(folder) == before


def test_json_says_of_each_file_whether_it_changed(bench, folder):
    """With the mistakes of those that could not be read."""
    document = bench.run("fmt", "more", "--json").json
    assert document["ok"] is False
    found = {file["file"]: (file["changed"], file["written"], file["errors"]) for file in document["files"]}
    assert found == {
        "more/formed.fcw": (False, False, 0),
        "more/loose.fcw": (True, True, 0),
        "more/wrong.fcw": (False, False, 1),
    }
    assert json.loads(bench.run("fmt", "more", "--json", "--diff").out)["files"][0]["diff"] == ""


def test_without_paths_the_workflows_of_the_workspace_are_meant(bench):
    """As with `check`; and what was formatted still means the same."""
    plain = bench.run("check", "--json").json
    assert bench.run("fmt", "--check").exit == 1
    assert bench.run("fmt").exit == 0
    assert bench.run("fmt", "--check").exit == 0
    assert bench.run("check", "--json").json["ok"] is plain["ok"] is True


def test_formatting_a_workflow_keeps_its_plan(bench):
    """The digest is over what the rule says, so a layout voids no approval."""
    digest = bench.plan()["digest"]
    bench.run("fmt")
    assert bench.plan()["digest"] == digest


def test_paths_need_no_workspace(bench, folder, tmp_path):
    """A formatter works on any file, wherever it is called."""
    (tmp_path / "x.fcw").write_text(LOOSE)
    assert bench.run("fmt", "x.fcw", at=tmp_path).exit == 0
    assert (tmp_path / "x.fcw").read_text() == FORMED


def test_mode_and_link_of_a_file_stay(bench, folder):
    """The file behind a link is changed, not the link; who may read it does not change."""
    loose = folder / "loose.fcw"
    loose.chmod(0o640)
    (folder / "link.fcw").symlink_to("loose.fcw")
    assert bench.run("fmt", "more/link.fcw").exit == 0
    assert (folder / "link.fcw").is_symlink()
    assert loose.read_text() == FORMED
    assert stat.S_IMODE(loose.stat().st_mode) == 0o640
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_is_said_so(bench, folder):
    """As a usage error, and the file is as it was."""
    folder.chmod(0o500)
    ended = bench.run("fmt", "more/loose.fcw")
    folder.chmod(0o700)
    assert ended.exit == 2
    assert "FC690" in ended.said


def test_difference_of_a_file_with_windows_line_ends_is_harmless_on_the_screen(bench, folder):
    """The carriage returns that go are shown, not obeyed."""
    (folder / "loose.fcw").write_bytes(LOOSE.replace("{", "{\r\n").encode())
    ended = bench.run("fmt", "--diff", "more/loose.fcw")
    assert "\r" not in ended.out
    assert not ANSI.search(ended.out)


def test_no_file_is_a_usage_error(bench):
    """A typing error in a path must not look like success."""
    (bench.root / "empty").mkdir()
    assert bench.run("fmt", "empty").exit == 2
    assert bench.run("fmt", "nowhere.fcw").exit == 2
