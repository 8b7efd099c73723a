"""Where workflow files and what they import come from: refused paths first."""

from __future__ import annotations

import os

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import with_rule

from fullcount.compiler.imports import NotLoaded
from fullcount.dsl.source import Source
from fullcount.runtime.workflow_files import ImportedFiles, authors_of, compile_file
from fullcount.runtime.workspace import Premises

OLD = "define old(at: timestamp) = at < now - 90d\n"


def _workspace(root):
    """What compiling asks of a workspace, with the catalog of the examples."""
    return Premises(root, root, EXAMPLE)


@pytest.fixture
def folder(tmp_path):
    """A workspace with a workflow and a library, and a secret beside it."""
    root = tmp_path / "workspace"
    (root / "workflows" / "lib").mkdir(parents=True)
    (root / "shared").mkdir()
    (tmp_path / "secret.fcw").write_text(OLD)
    (root / "workflows" / "a.fcw").write_text('import "lib/old.fcw"\n' + with_rule("old(a.created)"))
    (root / "workflows" / "lib" / "old.fcw").write_text(OLD)
    (root / "shared" / "old.fcw").write_text(OLD)
    return root


def loaded(folder, path: str) -> Source | NotLoaded:
    first = folder / "workflows" / "a.fcw"
    return ImportedFiles(folder, first)(str(first), path)


@pytest.mark.parametrize(
    "path",
    ["../../secret.fcw", "lib/../../../secret.fcw", "out.fcw", "outside/secret.fcw", "../../nothing.fcw"],
)
def test_file_outside_of_the_workspace_is_never_read_however_the_path_leads_there(folder, path: str):
    """Neither by `..` nor by a link to a file or a folder, and not even whether it exists is told."""
    (folder / "workflows" / "out.fcw").symlink_to(folder.parent / "secret.fcw")
    (folder / "workflows" / "outside").symlink_to(folder.parent)
    assert loaded(folder, path) is NotLoaded.OUTSIDE


def test_file_that_is_none_or_not_text_is_unreadable(folder):
    """A folder, a pipe that nobody writes to, a circle of links, and bytes that are not UTF-8."""
    workflows = folder / "workflows"
    (workflows / "folder.fcw").mkdir()
    os.mkfifo(workflows / "pipe.fcw")
    (workflows / "bytes.fcw").write_bytes(b"\xff\xfe")
    (workflows / "round.fcw").symlink_to(workflows / "round.fcw")
    for name in ("folder.fcw", "pipe.fcw", "bytes.fcw", "round.fcw"):
        assert loaded(folder, name) is NotLoaded.UNREADABLE, name
    assert loaded(folder, "nothing.fcw") is NotLoaded.MISSING


def test_one_file_has_one_name_by_whichever_path_it_is_reached(folder):
    """So that it is read once, and a circle is seen as one."""
    first = folder / "workflows" / "a.fcw"
    (folder / "workflows" / "link.fcw").symlink_to(folder / "shared" / "old.fcw")
    load = ImportedFiles(folder, first)
    names = {load(str(first), path).name for path in ("../shared/old.fcw", "link.fcw", "lib/../../shared/old.fcw")}
    assert len(names) == 1
    assert load(str(folder / "shared" / "x.fcw"), "../workflows/a.fcw").name == str(first)


def test_file_of_the_workspace_may_be_imported_from_another_folder_of_it(folder):
    """The workspace is the border, not the folder of workflows."""
    text = (folder / "workflows" / "a.fcw").read_text().replace("lib/old.fcw", "../shared/old.fcw")
    (folder / "workflows" / "a.fcw").write_text(text)
    compiled = compile_file(folder / "workflows" / "a.fcw", _workspace(folder))
    assert compiled.program is not None
    assert set(compiled.sources) == {str(folder / "workflows" / "a.fcw"), str(folder / "shared" / "old.fcw")}


@pytest.mark.requirement("R27")
def test_owner_of_an_imported_file_is_an_author_too(folder, monkeypatch):
    """Who wrote a definition wrote a part of each rule that uses it, and may be barred from approving it."""
    owners = {"a.fcw": 501, "old.fcw": 502}
    stat = type(folder).stat
    monkeypatch.setattr(
        type(folder),
        "stat",
        lambda self, **given: os.stat_result(
            (*stat(self, **given)[:4], owners.get(self.name, 0), *stat(self, **given)[5:])
        ),
    )
    compiled = compile_file(folder / "workflows" / "a.fcw", _workspace(folder))
    assert authors_of(compiled.sources) == {"uid:501", "uid:502"}
