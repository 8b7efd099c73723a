"""An edition says how a file is to be read, before anything else in it."""

from __future__ import annotations

import pytest
from tests.support.language import codes, file_of, findings

from fullcount.dsl.editions import CURRENT, EDITIONS


@pytest.mark.parametrize("value", ["", "2025", "2026.1", "2027", " 2026", "latest"])
def test_edition_that_is_not_known_is_refused_and_the_known_ones_are_named(value: str):
    """No file is read in another edition than the one it was written in."""
    (found,) = findings(f'edition "{value}"\nworkflow w {{ }}\n')
    assert found.code == "FC030"
    assert f'edition "{CURRENT}"' in found.help


def test_edition_behind_another_statement_is_refused():
    """What stands before it would have been read without knowing how."""
    assert codes('workflow w { }\nedition "2026"\n') == ["FC031"]


def test_edition_said_twice_is_refused():
    """Nobody could say which of the two holds."""
    assert codes('edition "2026"\nedition "2026"\nworkflow w { }\n') == ["FC003"]


@pytest.mark.parametrize("value", EDITIONS)
def test_edition_that_is_known_is_kept_in_the_tree(value: str):
    """Comments may stand above it."""
    file = file_of(f'# what this is for\nedition "{value}"\nworkflow w {{ }}\n')
    assert file.edition is not None
    assert file.edition.value == value


def test_file_without_an_edition_is_read_in_the_current_one():
    """The statement is optional."""
    assert file_of("workflow w { }").edition is None
    assert EDITIONS[-1] == CURRENT
