"""The workflows of the repository are in the canonical layout, and get back to it from any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fullcount.dsl.fmt import format_source
from fullcount.dsl.source import Source

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / "workflows").rglob("*.fcw"))
SNAPSHOTS = Path(__file__).with_name("snapshots")


def _formatted(text: str) -> str | None:
    return format_source(Source("x.fcw", text))[0]


def _read(path: Path) -> str:
    return path.read_text("utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_of_the_repository_is_formatted(path):
    """What users copy first looks like what `fullcount fmt` makes of it."""
    assert _formatted(_read(path)) == _read(path)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_finds_back_to_its_layout_from_no_columns_at_all(path):
    """Without indentation and columns, and with Windows line ends, it comes out the same."""
    flat = "\r\n".join(re.sub(r" +", " ", line).strip() for line in _read(path).splitlines())
    kept = re.sub(r" +", " ", _read(path))  # texts and comments may hold several spaces; these do not
    assert re.sub(r" +", " ", _formatted(flat) or "") == kept
    assert _formatted(flat) == _read(path)


@pytest.mark.parametrize("path", sorted(SNAPSHOTS.glob("*.before.txt")), ids=lambda path: path.name.split(".")[0])
def test_layout_of_a_file_is_its_stored_one(path):
    """A change of the layout is seen for what it is: a change to the workflows of everybody."""
    assert _formatted(_read(path)) == _read(path.with_name(path.name.replace(".before.txt", ".after.txt")))


def rewrite_snapshots() -> None:
    """Write every layout anew: `python -m tests.dsl.fmt.test_workflows`, then read the difference."""
    for path in SNAPSHOTS.glob("*.before.txt"):
        path.with_name(path.name.replace(".before.txt", ".after.txt")).write_text(
            _formatted(_read(path)) or "", "utf-8"
        )


if __name__ == "__main__":
    rewrite_snapshots()
