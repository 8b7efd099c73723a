"""What a source of files may say, and what is known of it before anything is looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from fullcount.compiler.catalog import Closure, Visibility
from fullcount.runtime.connectors.files.config import FilesConfig
from fullcount.runtime.connectors.files.patterns import Patterns, parts_of
from fullcount.runtime.connectors.registry import connector_named
from fullcount.runtime.workspace import Workspace

ALL = {"kind": "file", "patterns": ["**"], "depth": "all"}


def settings(resource=None, **changes):
    """Return a configuration with these changes."""
    given = {"root": "/srv/up", "resources": {"uploads": {**ALL, **(resource or {})}}}
    return FilesConfig.model_validate({**given, **changes})


@pytest.mark.parametrize(
    ("resource", "changes", "words"),
    [
        ({}, {"root": "up"}, "not the plain absolute path"),
        ({}, {"root": "/srv/../etc"}, "not the plain absolute path"),
        ({}, {"resources": {}}, "at least 1"),
        ({"patterns": []}, {}, "at least 1"),
        ({"patterns": ["../*"]}, {}, "no path below the root"),
        ({"patterns": ["/srv/*"]}, {}, "no path below the root"),
        ({"patterns": ["a**/b"]}, {}, "whole folders"),
        ({"depth": 0}, {}, "greater than or equal to 1"),
        ({"delete": "quarantine"}, {}, "no `quarantine` folder"),
        ({"delete": "for_good"}, {}, "no `quarantine` folder"),
        ({"kind": "folder", "delete": "for_good"}, {"quarantine": "/srv/q"}, "not deleted for good"),
        ({"delete": "quarantine"}, {"quarantine": "/srv/up/q"}, "would look for its objects"),
        ({"delete": "quarantine"}, {"quarantine": "/srv"}, "would look for its objects"),
        ({"move": True}, {"quarantine": "/srv/q"}, "no `archive`"),
        ({}, {"marker": "../marker"}, "no path below the root"),
        ({"links": "followed"}, {}, "links"),
    ],
)
def test_configuration_that_can_not_be_meant_is_refused(resource, changes, words):
    """Nothing is everything by default, nothing leads out of the root, nothing is removed where it lies."""
    with pytest.raises(ValidationError) as refused:
        settings(resource, **changes)
    assert words in str(refused.value)


def test_a_depth_and_patterns_have_to_be_said():
    """How far a list reaches is never a default."""
    for name in ("kind", "patterns", "depth"):
        with pytest.raises(ValidationError, match="Field required"):
            settings(resources={"uploads": {key: value for key, value in ALL.items() if key != name}})


def test_what_is_declared_follows_from_the_settings_alone():
    """Without `delete` there is no operation; a folder says what goes along; only what is kept can be brought back."""
    plain = connector_named("files").resources("s", settings())["uploads"]
    assert (plain.key, str(plain.consistency), plain.visibility) == (("path",), "interval", Visibility.VOUCHED)
    assert (plain.incarnation, plain.version, plain.operations) == ("incarnation", "version", {})
    kept = connector_named("files").resources("s", settings({"delete": "quarantine"}, quarantine="/srv/q"))["uploads"]
    assert set(kept.operations) == {"delete", "put_back", "restore"}
    assert (kept.operations["delete"].closure, kept.operations["delete"].backup) == (Closure.NONE, True)
    gone = connector_named("files").resources("s", settings({"delete": "for_good"}, quarantine="/srv/q"))["uploads"]
    assert set(gone.operations) == {"delete"}
    assert (gone.operations["delete"].reversible, gone.operations["delete"].backup) == (False, False)
    folders = settings({"kind": "folder", "delete": "quarantine"}, quarantine="/srv/q")
    assert connector_named("files").resources("s", folders)["uploads"].operations["delete"].closure is Closure.COMPUTED


def test_the_quarantine_may_lie_in_what_no_resource_lists():
    """On a mount of its own there may be no other place."""
    given = {"delete": "quarantine", "left_out": [".quarantine"]}
    assert settings(given, quarantine="/srv/up/.quarantine").quarantine is not None


def test_the_page_of_the_connector_is_a_source(tmp_path):
    """The part of `fullcount.toml` that the page shows is read as it is, and has the fields that the page explains."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "files.md").read_text()
    (part,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "fullcount.toml").write_text(f'[workspace]\nname = "page"\n\n{part}')
    resources = Workspace.load(tmp_path).catalog().resources("share")
    assert set(resources) == {"uploads", "jobs"}
    for resource in resources.values():
        assert [name for name in (*resource.fields, *resource.operations) if f"`{name}" not in page] == ["restore"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.log", "a.log", True),
        ("*.log", "a/a.log", False),
        ("**/*.log", "a.log", True),
        ("**/*.log", "a/b/c.log", True),
        ("**", "a/b", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "a/b/c", False),
        ("[!.]*", ".hidden", False),
        ("A*", "a", False),
        ("*", "line\nfeed", True),
    ],
)
def test_a_pattern_is_matched_name_by_name(pattern, path, fits):
    """A star never reaches into another folder; case counts."""
    assert Patterns.of([pattern]).fit(tuple(path.split("/"))) is fits


@pytest.mark.parametrize("path", ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\0b", "\udcff"])
def test_a_text_that_could_lead_elsewhere_is_no_path(path):
    """Nothing that the system would resolve, cut off or refuse."""
    assert parts_of(path) is None
