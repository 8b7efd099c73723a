"""Every name leads to its declaration, and another name is given only where everything still means what it meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.program_text import written
from tests.support.programs import files, gaps

from fullcount.compiler.editor.contents import contents
from fullcount.compiler.editor.rename import Refusal, rename
from fullcount.compiler.editor.symbols import Kind
from fullcount.compiler.editor.view import view_of
from fullcount.compiler.imports import NotLoaded, no_files
from fullcount.dsl.source import Source

TEXT = """\
import "shared.fcw"
define stale(at: timestamp) = at < now - 90d
workflow w {
  param idle: duration = 90d
  inventory accounts from directory.accounts {
    key id
    fields { id: text, ...person, groups: list<text> }
    scope id != "x"
  }
  inventory people from hr.employees { key id fields { id: text, active: bool } }
  verify people { complete }
  propose take from accounts as a {
    where stale(a.seen) and a.seen < now - idle
      and no people as p where (p.id == a.id and some people as q where (q.id == p.id))
      and any a.groups as g where (g == "x")
    show a.id
  }
  approve take { 1 of role "r" }
  act take with directory.update(id: a.id) { undo directory.update(id: a.id) }
  test "nobody is taken twice" {
    given param idle = 30d
    given accounts [ { id: "x" } ]
    before act change people "p" { active: false }
    expect plan ["x"]
  }
}
"""
SHARED = Source("shared.fcw", "record person { seen: timestamp }\n")


def load(importing, path):
    return SHARED if path == "shared.fcw" else NotLoaded.MISSING


def view(text=TEXT):
    return view_of(Source("x.fcw", text), load)


def found(needle, more=0, text=TEXT):
    return view(text).at(text.index(needle) + more)


@pytest.mark.parametrize(
    ("needle", "more", "kind", "declared"),
    [
        ('"shared.fcw"', 2, Kind.FILE, ("shared.fcw", 0)),
        ("now - idle", 6, Kind.PARAM, "idle: duration"),
        ("stale(a", 0, Kind.DEFINITION, "stale(at"),
        ("at < now", 0, Kind.ARGUMENT, "at: timestamp"),
        ("...person", 4, Kind.RECORD, ("shared.fcw", 7)),
        ("seen < now", 0, Kind.FIELD, ("shared.fcw", 16)),
        ("people as q", 0, Kind.INVENTORY, "people from"),
        ("verify people", 7, Kind.INVENTORY, "people from"),
        ("q.id ==", 0, Kind.ROW, "q where"),
        ("p.id)", 0, Kind.ROW, "p where"),
        ('g == "x"', 0, Kind.ITEM, "g where"),
        ("id: a.id", 4, Kind.ROW, "a {\n    where"),
        ("param idle = 30d", 6, Kind.PARAM, "idle: duration"),
        ("given accounts", 6, Kind.INVENTORY, "accounts from"),
        ("change people", 7, Kind.INVENTORY, "people from"),
        ("approve take", 8, Kind.PROPOSAL, "take from"),
        ("act take", 4, Kind.PROPOSAL, "take from"),
        ('id != "x"', 0, Kind.FIELD, "id: text, ...person"),
        ("key id", 4, Kind.FIELD, "id: text, ...person"),
        ("directory.accounts", 3, Kind.SOURCE, None),
    ],
)
def test_a_name_means_its_declaration(needle, more, kind, declared):
    """Wherever it stands: in a clause, a rule, a scope, an argument, another file."""
    symbol = found(needle, more).symbol
    assert symbol.kind is kind
    if declared is None:
        assert symbol.place is None
    elif isinstance(declared, str):
        assert (symbol.place.source, symbol.place.start) == ("x.fcw", TEXT.index(declared))
    else:
        assert (symbol.place.source, symbol.place.start) == declared


def test_words_texts_and_unknown_names_mean_nothing():
    """A keyword, a text in quotes and a name that is declared nowhere lead nowhere."""
    assert found("workflow") is None
    assert found('"x"', 1) is None
    assert found("idl ", 1, TEXT.replace("now - idle", "now - idl ")) is None


@pytest.mark.parametrize(
    ("needle", "more", "new", "why"),
    [
        ("as a {", 3, "p", "taken for something else"),
        ("as p where", 3, "a", "taken for something else"),
        ("as p where", 3, "q", "taken for something else"),
        ("idle: duration", 0, "a", "taken for something else"),
        ("stale(at", 0, "lower", None),
        ("idle: duration", 0, "never", "word of the language"),
        ("people from", 0, "accounts", "taken for something else"),
        ("a.id", 2, "key", "its source"),
        ("directory.accounts", 0, "x", "fullcount.toml"),
        ('"shared.fcw"', 2, "x", "where files are"),
        ("idle: duration", 0, "größe", "not a name"),
    ],
)
def test_a_name_that_would_be_taken_for_another_is_refused(needle, more, new, why):
    """Capturing in either direction, words of the language, and what is not ours to name."""
    made = rename({"x.fcw": view(), "shared.fcw": view_of(SHARED, load)}, load, "x.fcw", TEXT.index(needle) + more, new)
    assert isinstance(made, Refusal) == (why is not None)
    if why is not None:
        assert why in made.why


def test_a_shared_name_is_changed_in_every_text_that_means_it():
    """The record of another file, where it is declared and where it is spread."""
    views = {"x.fcw": view(), "shared.fcw": view_of(SHARED, load)}
    edits = rename(views, load, "x.fcw", TEXT.index("...person") + 4, "human")
    assert [(edit.span.source, edit.replacement) for edit in edits] == [("x.fcw", "human"), ("shared.fcw", "human")]


def test_a_text_with_mistakes_that_has_the_word_stands_in_the_way():
    """It may mean the name where nobody can read it."""
    other = view_of(Source("y.fcw", 'import "shared.fcw"\nworkflow v { person'), load)
    views = {"x.fcw": view(), "shared.fcw": view_of(SHARED, load), "y.fcw": other}
    made = rename(views, load, "x.fcw", TEXT.index("...person") + 4, "human")
    assert isinstance(made, Refusal)
    assert "`y.fcw` has mistakes" in made.why


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_rename_leaves_every_name_with_its_meaning(data):
    """In any program a name is changed everywhere or nowhere, and back again gives the text that was there."""
    text = written(data.draw(files()), data.draw(gaps))
    seen = view_of(Source("x.fcw", text), no_files)
    if not seen.names:
        return
    at = data.draw(st.sampled_from(seen.names)).span.start
    meant = seen.at(at)
    made = rename({"x.fcw": seen}, no_files, "x.fcw", at, "fresh_name")
    if isinstance(made, Refusal):
        assert meant.symbol.kind in {Kind.FIELD, Kind.SOURCE, Kind.FILE} or not seen.whole
        return
    changed = text
    for edit in sorted(made, key=lambda each: each.span, reverse=True):
        changed = changed[: edit.span.start] + edit.replacement + changed[edit.span.end :]
    after = view_of(Source("x.fcw", changed), no_files)
    assert [(each.symbol.kind, each.declares) for each in after.names] == [
        (each.symbol.kind, each.declares) for each in seen.names
    ]


def test_the_outline_has_every_declaration_in_the_order_of_the_text():
    """Clauses that are about a name stand under that name."""
    first, second = contents(view())
    assert (first.word, first.name, second.word, second.name) == ("define", "stale", "workflow", "w")
    assert [(each.word, each.name) for each in second.inner] == [
        ("param", "idle"),
        ("inventory", "accounts"),
        ("inventory", "people"),
        ("verify", "people"),
        ("propose", "take"),
        ("approve", "take"),
        ("act", "take"),
        ("test", "nobody is taken twice"),
    ]
