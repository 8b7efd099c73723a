"""The parser takes what Lark's own takes, and stops where it stops."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from tests.support.language import snapshot
from tests.support.program_text import written
from tests.support.programs import files, gaps

from fullcount.dsl import parse_tree, tables
from fullcount.dsl.failure import Failure
from fullcount.dsl.source import Source

LARK = tables.build(tables.GRAMMAR.read_text("utf-8"))
SAMPLE = snapshot("design_sample.fcw")
PIECES = re.findall(r'\s+|"[^"]*"|#[^\n]*|\w+|[=!<>]=|.', SAMPLE)
OTHERS = [
    *["\x00", "\r", "\ufeff", "😀", "é", "planä", '"', "'", "...", "..", ".", "=", "==", "\\", "{", "}", "<", "<="],
    *["5months", "10 GiB", "5 %", "1e9", "2026-02-30", "2026-01-01T10:00Z", "failure", "failures", "failuress", "1.5"],
    *[
        "all",
        "count",
        "some",
        "any",
        "no",
        "min",
        "some x as y where (",
        "any a.b as c where (",
        "count as as as where (",
    ],
]


def by_lark(text):
    """Parse with Lark, step by step, as its own errors would have it."""
    driver = LARK.parse_interactive(text)
    last = None
    try:
        for token in driver.lexer_thread.lex(driver.parser_state):
            driver.feed_token(token)
            last = token
        return driver.feed_eof(last)
    except UnexpectedToken as failure:
        at, unreadable = len(text) if failure.token.type == "$END" else failure.token.start_pos, False
    except UnexpectedCharacters as failure:
        at, unreadable = failure.pos_in_stream, True
    return Failure(at, frozenset(driver.accepts()), None if last is None else last.type, unreadable)


def shape(node):
    """Everything that either kind of tree says."""
    if isinstance(node, Failure):
        return node
    if isinstance(node, str):
        return (node.type, str(node), node.start_pos, node.end_pos)
    if isinstance(node, Tree):
        place = (-1, -1) if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
    else:
        place = (node.start_pos, node.end_pos)
    return (str(node.data), *place, [shape(child) for child in node.children])


def same(text):
    ours, theirs = tables.parser().parse(text), by_lark(text)
    assert shape(ours) == shape(theirs)
    assert not isinstance(ours, Token | Tree)
    assert isinstance(ours, parse_tree.Tree | Failure)


@pytest.mark.parametrize(
    "text", ["", " # nothing\n", SAMPLE, SAMPLE[:700], "workflow", "workflow w { act a with b.c() }"]
)
def test_known_texts_give_the_same(text):
    """Whole files, cut ones and empty ones."""
    same(text)


@given(st.data())
def test_programs_made_from_the_grammar_give_the_same(data):
    """Whatever can be written parses into the same tree, with the same places."""
    same(written(data.draw(files()), data.draw(gaps)))


@given(st.lists(st.sampled_from(PIECES + OTHERS), max_size=40).map("".join))
def test_pieces_in_any_order_give_the_same(text):
    """What can't be parsed stops both at the same place, with the same ways to go on."""
    same(text)


@given(st.integers(0, len(PIECES) - 1), st.integers(0, 3), st.lists(st.sampled_from(PIECES + OTHERS), max_size=2))
def test_a_file_with_one_change_gives_the_same(at, gone, put):
    """Near misses stop both at the same place."""
    same("".join([*PIECES[:at], *put, *PIECES[at + gone :]]))


@given(st.text())
def test_any_text_gives_the_same(text):
    """Any characters at all."""
    same(text)


def test_every_file_of_the_project_gives_the_same():
    """What stands in the repository is parsed alike."""
    root = tables.GRAMMAR.parents[4]
    found = [path for path in root.rglob("*.fcw") if ".venv" not in path.parts]
    assert found
    for path in found:
        same(Source(str(path), path.read_text("utf-8")).text)
