"""Programs made from the grammar: read as they were meant, laid out once and for all, with every comment."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.support.language import NAME, file_of, shape, shown
from tests.support.profiles import examples
from tests.support.program_text import comments_in, tokens_of, written
from tests.support.programs import files, gaps

from fullcount.dsl import tree
from fullcount.dsl.fmt import format_source
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source


def _meaning(file: tree.File) -> str:
    return shape((file.edition, file.imports, file.records, file.definitions, file.workflows))


def _formatted(text: str) -> str:
    result, diagnostics = format_source(Source(NAME, text))
    assert result is not None, shown(text, diagnostics)
    return result


@pytest.mark.requirement("R33")
@examples(200)
@given(files(), gaps)
def test_a_program_is_read_as_the_tree_that_it_was_written_from(file, between):
    """Whatever the white space and the comments, the parser gives back the tree."""
    text = written(file, between)
    parsed, diagnostics = parse(Source(NAME, text))
    assert parsed is not None, shown(text, diagnostics)
    assert _meaning(parsed) == _meaning(file)
    assert [comment.text.rstrip() for comment in parsed.comments] == comments_in(text)


@pytest.mark.requirement("R33")
@examples(200)
@given(files(), gaps)
def test_layout_keeps_the_tree_and_every_comment_in_its_order(file, between):
    """What a program says, and what its author wrote beside it, survive the formatter."""
    text = written(file, between)
    again = file_of(_formatted(text))
    assert _meaning(again) == _meaning(file)
    assert [comment.text.rstrip() for comment in again.comments] == comments_in(text)


@examples(200)
@given(files(), gaps)
def test_layout_of_a_layout_is_itself(file, between):
    """Formatting twice is formatting once."""
    once = _formatted(written(file, between))
    assert _formatted(once) == once


@examples(200)
@given(files(), gaps)
def test_layout_does_not_depend_on_the_white_space(file, between):
    """Programs that differ only in spaces and line breaks have one layout; empty lines are the author's."""
    on_lines = [" " if "#" in gap else "\n" if "\n" in gap else gap for gap in between]
    on_few_lines = [gap.replace("\n", " ") for gap in on_lines]
    assert _formatted(written(file, on_lines)) == _formatted(written(file, on_few_lines))


@examples(200)
@given(files(), gaps)
def test_layout_has_no_loose_white_space(file, between):
    """No tab, no space at the end of a line, no two empty lines, one line end at the end."""
    text = _formatted(written(file, between))
    assert "\t" not in text
    assert "\r" not in text
    assert " \n" not in text
    assert "\n\n\n" not in text
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n") and not text.startswith("\n"))


def test_every_program_has_tokens():
    """The empty file is a program too."""
    assert tokens_of(file_of("")) == []
