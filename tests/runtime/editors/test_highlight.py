"""What colours workflows knows the words of the language, all of them and no others."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Literal, Name, Operator, String
from tests.support.language import snapshot

from fullcount.compiler.functions import FUNCTIONS
from fullcount.dsl import keywords, tables
from fullcount.runtime.editors import textmate, words
from fullcount.runtime.editors.highlight import FullcountLexer

ROOT = Path(__file__).resolve().parents[3]
EXTENSION = ROOT / "docs" / "editors" / "vscode"
SAMPLE = snapshot("design_sample.fcw")
GRAMMAR = tables.build(tables.GRAMMAR.read_text("utf-8"))
IN_GRAMMAR = {
    word
    for terminal in GRAMMAR.terminals
    if re.match(r"[a-z]+\?*\(\?", terminal.pattern.value)
    for word in [keywords.word(terminal.name)]
}


def test_the_words_are_those_of_the_grammar():
    """Every keyword of the grammar is in one group, and nothing else is."""
    groups = [words.FILE_WORDS, words.CLAUSE_WORDS, words.OPERATOR_WORDS, words.other_words()]
    listed = [word for group in groups for word in group]
    assert set(listed) >= IN_GRAMMAR
    assert set(words.all_keywords()) - {"failure"} == IN_GRAMMAR
    assert set(listed) == set(words.all_keywords())
    assert set(words.FUNCTION_NAMES) == set(FUNCTIONS)
    assert set(words.CONSTANTS) <= keywords.RESERVED


def test_the_grammar_of_the_extension_is_made_of_these_words():
    """After a change of the language, `python -m fullcount.runtime.editors.textmate` has to be run."""
    written = json.loads((EXTENSION / "syntaxes" / "fullcount.tmLanguage.json").read_text())
    assert written == textmate.grammar()


def test_the_patterns_of_the_extension_can_be_read():
    """Each is a pattern that compiles, so that no group of words is left without its colour."""
    for pattern in textmate.grammar()["patterns"][1:]:
        re.compile(pattern["match"])


def test_pygments_finds_the_lexer(monkeypatch):
    """By name and by the ending of a file, through the entry point as it is declared."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pygments.lexers"]
    points = [EntryPoint(name, value, "pygments.lexers") for name, value in declared.items()]
    monkeypatch.setattr("pygments.plugin.iter_entry_points", lambda group: points if group == "pygments.lexers" else [])
    assert isinstance(get_lexer_by_name("fullcount"), FullcountLexer)
    assert isinstance(get_lexer_for_filename("x.fcw"), FullcountLexer)


def tokens(text):
    return [(kind, value) for kind, value in FullcountLexer().get_tokens(text) if value.strip()]


def test_every_text_is_coloured_whole_and_the_sample_without_an_error():
    """Nothing is lost on the way, and what is right is never shown as wrong."""
    assert "".join(value for _, value in FullcountLexer(stripnl=False, ensurenl=False).get_tokens(SAMPLE)) == SAMPLE
    assert [value for kind, value in tokens(SAMPLE) if kind in Error] == []


@pytest.mark.parametrize(
    ("text", "word", "kind"),
    [
        ('workflow w { owner "o" }', "workflow", Keyword),
        ('workflow w { owner "o" }', "owner", Keyword),
        ("where a.owner == 1", "where", Keyword),
        ("where a.owner == 1", "owner", Name.Attribute),
        ("fields { owner: text? }", "owner", Name.Attribute),
        ("fields { owner: text? }", "text", Keyword.Type),
        ("where lower(a.b) and x", "lower", Name.Builtin),
        ("where lower(a.b) and x", "and", Operator.Word),
        ("a < now - 90d", "now", Keyword.Constant),
        ("a < now - 90d", "90d", Literal.Number),
        ('"where" # not', '"where"', String),
        ('"where" # not', "# not", Comment),
        ("planned", "planned", Name),
    ],
)
def test_a_word_is_coloured_by_where_it_stands(text, word, kind):
    """Keywords are soft: the same word is a field behind a dot or before a colon."""
    assert {value: found for found, value in tokens(text)}[word] in kind


def test_the_extension_pins_what_it_is_built_of_and_names_no_registry():
    """`npm ci` installs exactly what was tried, from wherever the machine gets its packages."""
    lock = (EXTENSION / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert '"integrity"' in lock
    assert "omit-lockfile-registry-resolved=true" in (EXTENSION / ".npmrc").read_text()
    manifest = json.loads((EXTENSION / "package.json").read_text())
    assert manifest["contributes"]["languages"][0]["extensions"] == [".fcw"]
    settings = manifest["contributes"]["configuration"]["properties"]
    assert settings["fullcount.command"]["default"] == ["fullcount", "lsp"]
