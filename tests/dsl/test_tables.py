"""The shipped table is the grammar's, nothing else is ever loaded, and nothing is written."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
from pathlib import Path

import lark
import pytest
from tests.support.language import snapshot

from fullcount.dsl import tables

GRAMMAR = tables.GRAMMAR.read_text("utf-8")
CONTENT = tables.TABLE.read_bytes()
SAMPLE = snapshot("design_sample.fcw")


def test_shipped_table_is_the_one_that_lark_makes_of_the_grammar():
    """After a change of the grammar, `python -m fullcount.dsl.tables` has to be run."""
    assert tables.shipped(GRAMMAR, CONTENT) is not None
    assert tables.dump(GRAMMAR) == CONTENT


@pytest.mark.parametrize("pattern", ["[ab]*c", "a|b", "(a)", "[^a]", r"\d", "[ab]{0,2}c", "a?b"])
def test_a_pattern_whose_first_character_is_not_plain_is_refused(pattern: str):
    """Patterns are looked up by the character that they begin with, so it must stand at their start."""
    with pytest.raises(ValueError, match="does not begin"):
        tables._starts(pattern)


@pytest.mark.parametrize(
    ("pattern", "starts"), [("[a-c]+x", "abc"), ('"x', '"'), ("[0-1]{2}(?:a|b)?", "01"), ("ab", "a")]
)
def test_the_first_characters_of_a_pattern_are_found(pattern: str, starts: str):
    """Every character that a match can begin with, and no other."""
    assert tables._starts(pattern) == starts


def test_a_token_that_would_be_lost_is_refused():
    """The formatter and the editor need every token, so the grammar gives each a name."""
    with pytest.raises(ValueError, match="without a name"):
        tables.derive('start: "a"')


@pytest.mark.parametrize(
    "content",
    [
        b"",
        CONTENT[:100],
        CONTENT[:-1],
        CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]),
        b"0" * 64 + CONTENT[64:],
        CONTENT + b"x",
    ],
)
def test_table_that_was_changed_is_never_loaded(content: bytes):
    """A cut or altered file is not the table, so the grammar is used."""
    assert tables.shipped(GRAMMAR, content) is None


def test_table_of_another_grammar_is_never_loaded(monkeypatch: pytest.MonkeyPatch):
    """The stamp covers the grammar's text and the form of the file."""
    assert tables.shipped(GRAMMAR + "\n", CONTENT) is None
    monkeypatch.setattr(tables, "_FORM", "another")
    assert tables.shipped(GRAMMAR, CONTENT) is None


def test_without_a_fitting_table_the_grammar_is_built_in_memory_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A stale table costs time, never correctness, and never a file."""
    stale = tmp_path / "tables.bin"
    stale.write_bytes(b"stale")
    for table in (stale, tmp_path / "none.bin"):
        monkeypatch.setattr(tables, "TABLE", table)
        tables.parser.cache_clear()
        assert tables.parser().parse(SAMPLE) is not None
    tables.parser.cache_clear()
    assert [path.name for path in tmp_path.iterdir()] == ["tables.bin"]
    assert stale.read_bytes() == b"stale"


def test_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture):
    """No shift/reduce conflict is settled by chance."""
    lark.logger.addHandler(caplog.handler)
    level = lark.logger.level
    lark.logger.setLevel(logging.DEBUG)
    try:
        lark.Lark(GRAMMAR, parser="lalr", lexer="contextual", debug=True)
    finally:
        lark.logger.setLevel(level)
        lark.logger.removeHandler(caplog.handler)
    assert "conflict" not in caplog.text.lower()


def test_digest_in_the_table_is_of_its_payload():
    """The second half of the head is the digest of what follows."""
    assert CONTENT[64:128].decode() == hashlib.sha256(CONTENT[128:]).hexdigest()


def test_parsing_imports_nothing_heavy():
    """`check` starts fast: with its table the language needs the standard library only."""
    code = (
        "import sys, fullcount.dsl.parser as p, fullcount.dsl.render, fullcount.dsl.source as s;"
        "p.parse(s.Source('x', 'workflow w { }'));"
        "print(sorted({'lark', 'pydantic', 'rich', 'sqlalchemy', 'networkx', 'duckdb', 'pyarrow', 'difflib', 'asyncio'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"
