"""What is kept of a checked configuration is believed only where neither it, our code nor its folder changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullcount.runtime.connectors import base
from fullcount.runtime.workspace import Premises, Workspace, WorkspaceError, cache
from fullcount.runtime.workspace import workspace as full

CONFIGURATION = """\
[workspace]
name = "w"

[sources.hr]
connector = "sql"
url = "sqlite:///hr.db"

[sources.hr.resources.people]
table = "people"
key = ["id"]
fields = { id = "text", groups = "list<text>?", tags = "map<text>", left = "date?", version = "int" }
version = "version"
writable = ["left"]
deletable = true

[sources.vcs]
connector = "git"
repository = "x.git"
base = "main"

[roles]
ops = ["ann"]

[exemptions]
kept = "kept.toml"
"""


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """A cache of this test's own, and its folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fullcount" / "catalogues"


@pytest.fixture
def root(tmp_path):
    """A workspace."""
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "fullcount.toml").write_text(CONFIGURATION)
    return folder


@pytest.fixture
def checked(monkeypatch):
    """How often a configuration was checked in full."""
    calls = []
    real = full.Workspace.parse.__func__
    monkeypatch.setattr(
        full.Workspace, "parse", classmethod(lambda cls, *given: calls.append(given) or real(cls, *given))
    )
    return calls


def entry(kept: Path) -> Path:
    (found,) = kept.iterdir()
    return found


def test_a_mistake_in_the_configuration_is_reported_each_time(root, kept, checked):
    """What is wrong is never kept, and a file that was right before is checked anew once a byte of it changed."""
    Premises.known(root)
    (root / "fullcount.toml").write_text(CONFIGURATION.replace("[roles]", "[rolls]"))
    for _ in range(2):
        with pytest.raises(WorkspaceError, match="rolls"):
            Premises.known(root)
    assert len(checked) == 3
    assert len(list(kept.iterdir())) == 1


def test_what_is_kept_is_exactly_what_was_checked(root, checked):
    """The catalogue is the same from the cache as from the file, and everything else that compiling takes."""
    first, second, whole = Premises.known(root), Premises.known(root), Workspace.load(root)
    assert len(checked) == 2
    assert type(second) is Premises
    assert first.catalog() == second.catalog() == whole.catalog()
    assert first.root == second.root == whole.root
    assert second.protections.paths() == ()


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-1], lambda text: text.replace(b"people", b"peoplf"), lambda _: b""]
)
def test_an_entry_that_was_changed_is_not_believed(root, kept, checked, damage):
    """A cut or altered entry is as good as none, and is replaced."""
    Premises.known(root)
    whole = entry(kept).read_bytes()
    entry(kept).write_bytes(damage(whole))
    assert Premises.known(root).catalog() == Workspace.load(root).catalog()
    assert entry(kept).read_bytes() == whole


def test_an_entry_of_other_code_is_not_believed(root, checked, monkeypatch):
    """Another version of Fullcount may declare something else for the same configuration."""
    Premises.known(root)
    monkeypatch.setattr(cache, "_code", lambda: b"another")
    Premises.known(root)
    assert len(checked) == 2


def test_the_stamp_of_our_code_changes_with_it(tmp_path, monkeypatch):
    """Every module that a catalogue follows from is part of the stamp."""
    found = {Path(each.path).name for each in cache._modules(Path(cache.__file__).parent)}
    assert {"cache.py", "premises.py", "workspace.py"} <= found
    connectors = {Path(each.path).name for each in cache._modules(Path(base.__file__).parent)}
    assert {"base.py", "github_rest.toml"} <= connectors
    before = cache._code.__wrapped__()
    monkeypatch.setattr(cache, "_modules", lambda folder: iter(()))
    assert cache._code.__wrapped__() != before


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_is_not_believed(root, kept, checked, mode):
    """Whoever can put a file there could say what the sources declare."""
    Premises.known(root)
    kept.chmod(mode)
    Premises.known(root)
    assert len(checked) == 2


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write_to_is_not_believed(root, kept, checked, mode):
    """The same holds for the file itself."""
    Premises.known(root)
    entry(kept).chmod(mode)
    Premises.known(root)
    assert len(checked) == 2


def test_a_link_in_the_place_of_an_entry_is_not_followed(root, kept, checked, tmp_path):
    """An entry is a file of this folder."""
    Premises.known(root)
    moved = tmp_path / "moved"
    entry(kept).rename(moved)
    (kept / cache._key(CONFIGURATION.encode())).symlink_to(moved)
    Premises.known(root)
    assert len(checked) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_another_user_is_not_believed(root, kept, checked):
    """What somebody else wrote is theirs."""
    Premises.known(root)
    os.chown(entry(kept), 12345, -1)
    Premises.known(root)
    assert len(checked) == 2


def test_without_a_place_for_a_cache_nothing_is_lost_but_time(root, checked, tmp_path, monkeypatch):
    """A folder that can't be made is passed over."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert Premises.known(root).catalog() == Premises.known(root).catalog()
    assert len(checked) == 2


def test_what_a_foreign_connector_declares_is_not_kept(root, kept, monkeypatch):
    """Its code may change without ours, and nobody would notice."""
    monkeypatch.setattr(full, "is_built_in", lambda name: name != "git")
    Premises.known(root)
    assert not kept.exists()


def test_what_follows_from_another_file_is_not_kept(root, kept, checked):
    """A dialect of one's own may change while `fullcount.toml` does not: each check reads what stands there now."""
    (root / "ours.toml").write_text('extends = "generic_http"\n')
    (root / "fullcount.toml").write_text(
        CONFIGURATION + '[sources.api]\nconnector = "http"\ndialect_file = "ours.toml"\n'
        'base_url = "http://127.0.0.1:1"\n[sources.api.resources.things]\nlist = "/things"\nkey = ["id"]\n'
        'fields = { id = "text" }\n'
    )
    for _ in range(2):
        Premises.known(root)
    assert len(checked) == 2
    assert not kept.exists()


def test_the_cache_does_not_grow_without_end(root, kept, monkeypatch):
    """The oldest entries go."""
    monkeypatch.setattr(cache, "MOST", 3)
    for number in range(5):
        (root / "fullcount.toml").write_text(f"{CONFIGURATION}# {number}\n")
        Premises.known(root)
    assert len(list(kept.iterdir())) == 3
