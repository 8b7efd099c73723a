"""Protections as files: what can't be read is never nothing, and each look is a new one."""

from __future__ import annotations

import pytest
from tests.support.catalogs import EXAMPLE

from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.protections import ProtectionFiles, ProtectionsError

PAYROLL = 'protect payroll from directory.accounts as a where (a.team == "payroll") because "it pays people"\n'
STAFF = 'protect staff from hr.employees as e where (e.active) because "they work here"\n'


@pytest.fixture
def files(tmp_path):
    """The protections of an empty workspace."""
    return ProtectionFiles(tmp_path, EXAMPLE)


def names(files):
    return [declared.decl.name.text for declared in files.relied_on().declared]


def unreadable(files):
    with pytest.raises(WorkspaceError) as raised:
        files.current()
    return raised.value.code, raised.value.message


def test_a_file_that_is_not_text_is_an_error(files, tmp_path):
    """Not one byte of a protection is guessed."""
    (tmp_path / "protect.fcw").write_bytes(b"\xff")
    assert unreadable(files) == ("FC614", "the protections in `protect.fcw` are not UTF-8 text: byte 0 can't be read")


def test_a_folder_in_place_of_the_file_is_an_error(files, tmp_path):
    """What stands where protections are expected is read, or nothing runs."""
    (tmp_path / "protect.fcw").mkdir()
    assert unreadable(files)[0] == "FC614"


def test_a_link_that_leads_nowhere_is_an_error(files, tmp_path):
    """Somebody meant protections to be there."""
    (tmp_path / "protect.fcw").symlink_to(tmp_path / "gone")
    assert unreadable(files)[0] == "FC614"


@pytest.mark.parametrize("name", ["payroll.fwc", "payroll.fcw.bak", "payroll", "deep/payroll.txt"])
def test_a_file_in_the_folder_that_nobody_would_read_is_an_error(files, tmp_path, name):
    """A misspelt name never takes a protection away in silence."""
    path = tmp_path / "protect" / name
    path.parent.mkdir(parents=True)
    path.write_text(PAYROLL, encoding="utf-8")
    code, message = unreadable(files)
    assert code == "FC614"
    assert "no protection is read from it" in message


def test_a_link_to_a_folder_is_an_error(files, tmp_path):
    """It is not followed, so that no circle is walked; and never passed over."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "protect").mkdir()
    (tmp_path / "protect" / "more").symlink_to(tmp_path / "elsewhere")
    code, message = unreadable(files)
    assert (code, "not followed" in message) == ("FC614", True)


def test_a_file_in_place_of_the_folder_is_an_error(files, tmp_path):
    """`protect` is a folder."""
    (tmp_path / "protect").write_text(PAYROLL, encoding="utf-8")
    assert unreadable(files)[0] == "FC614"


@pytest.mark.parametrize("text", ["protect {", PAYROLL.replace("a.team", "a.taem"), PAYROLL + PAYROLL])
def test_protections_with_a_mistake_are_not_relied_on(files, tmp_path, text):
    """With one that does not compile nobody can say what is protected; the error leads to its place."""
    (tmp_path / "protect.fcw").write_text(text, encoding="utf-8")
    with pytest.raises(ProtectionsError, match="nobody can say what is protected: line ") as raised:
        files.relied_on()
    assert (raised.value.code, raised.value.help) == ("FC615", "fullcount check protect.fcw")


def test_without_any_file_nothing_is_protected(files):
    """A workspace needs no protections."""
    assert names(files) == []
    assert files.paths() == ()


def test_the_file_and_every_file_of_the_folder_are_read(files, tmp_path):
    """In depth; a README and hidden files may lie beside them."""
    (tmp_path / "protect.fcw").write_text(PAYROLL, encoding="utf-8")
    (tmp_path / "protect" / "hr").mkdir(parents=True)
    (tmp_path / "protect" / "hr" / "staff.fcw").write_text(STAFF, encoding="utf-8")
    (tmp_path / "protect" / "README.md").write_text("who to ask", encoding="utf-8")
    (tmp_path / "protect" / ".staff.fcw.swp").write_text("x", encoding="utf-8")
    assert sorted(names(files)) == ["payroll", "staff"]
    assert files.name_of(tmp_path / "protect" / "hr" / ".." / "hr" / "staff.fcw") == "protect/hr/staff.fcw"
    assert files.name_of(tmp_path / "workflows" / "x.fcw") is None


def test_each_look_reads_the_files_anew_and_compiles_only_what_changed(files, tmp_path):
    """Also within one tick of the file system's clock."""
    path = tmp_path / "protect.fcw"
    path.write_text(PAYROLL, encoding="utf-8")
    first = files.current()
    assert files.current() is first
    path.write_text(PAYROLL.replace("payroll from", "payrool from"), encoding="utf-8")
    assert names(files) == ["payrool"]
    path.unlink()
    assert names(files) == []


LIBRARY = 'define pays(team: text) = team == "payroll"\n'
IMPORTING = (
    'import "lib/teams.fcw"\n'
    'protect payroll from directory.accounts as a where (pays(a.team)) because "it pays people"\n'
)


@pytest.fixture
def imported(files, tmp_path):
    """Protections that use a definition of another file."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "teams.fcw").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "protect.fcw").write_text(IMPORTING, encoding="utf-8")
    return files


def broken(files):
    with pytest.raises(ProtectionsError) as raised:
        files.relied_on()
    return raised.value.message


def test_what_protections_import_and_cannot_be_read_is_an_error(imported, tmp_path):
    """A definition that is gone takes its protection with it, so nothing runs."""
    (tmp_path / "lib" / "teams.fcw").unlink()
    assert "`protect.fcw` has mistakes" in broken(imported)


@pytest.mark.parametrize("text", ["define pays(team: text) = taem\n", "define other(x: text) = x\n", "define pays(\n"])
def test_a_mistake_in_what_protections_import_is_an_error_also_when_it_comes_later(imported, tmp_path, text):
    """What is imported is read anew at each look, like the protections themselves."""
    assert names(imported) == ["payroll"]
    (tmp_path / "lib" / "teams.fcw").write_text(text, encoding="utf-8")
    assert "has mistakes" in broken(imported)


def test_a_protection_in_an_imported_file_is_refused(imported, tmp_path):
    """It would hold for nobody: only the files of protections are read for every workflow."""
    (tmp_path / "lib" / "teams.fcw").write_text(LIBRARY + STAFF, encoding="utf-8")
    assert "stands in a file" in broken(imported)


def test_protections_import_from_within_the_workspace_only(files, tmp_path):
    """Neither `..` nor a link leads out."""
    (tmp_path / "protect.fcw").write_text(IMPORTING.replace("lib/", "../"), encoding="utf-8")
    assert "has mistakes" in broken(files)


def test_a_change_of_what_is_imported_changes_what_is_protected(imported, tmp_path):
    """The same protection means what its definition says now."""
    before = imported.relied_on()
    assert imported.relied_on() is before  # nothing changed, nothing is compiled again
    (tmp_path / "lib" / "teams.fcw").write_text(LIBRARY.replace('"payroll"', '"salaries"'), encoding="utf-8")
    after = imported.relied_on()
    assert after is not before
    assert after.sources["lib/teams.fcw"].text != before.sources["lib/teams.fcw"].text


def test_protections_are_found_from_any_folder(imported, tmp_path, monkeypatch):
    """Imports are relative to the file that imports, wherever one stands."""
    deep = tmp_path / "workflows" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir("/")
    assert names(ProtectionFiles(tmp_path, EXAMPLE, deep)) == ["payroll"]
