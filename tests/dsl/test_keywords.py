"""Keywords are never glued to what follows them, and stay free as names wherever a name is meant."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.language import codes, file_of, findings, shape, workflow

from fullcount.dsl import keywords, tables, tree
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

EVERY_KEYWORD = """\
edition "2026"
import "lib/x.fcw"
record r { id: text, o: id of s.r? }
define f(x: int) = x
protect payroll from s.r as a where (a.x) because "b"
workflow w {
  describe "d" owner "o"
  schedule cron "0 2 * * *" timezone "UTC" catch up within 4h
  param idle: duration = 90d
  inventory i from s.r across region in ["a", "b"], account in j.id {
    key id normalized by lower incarnation inc fields { id: text } scope x == 1 deadline 5m expect id == 1 }
  verify i { complete, fresh within 1h, snapshot pinned, visibility all, rows at least 1, change at most 5%,
             count agrees with s.h }
  verify j { snapshot interval }
  propose p from i as a {
    bounded
    where not a.x and a.y in [1]
      and a.y in file "x.csv" column "y" may be empty or a.z is present or a.z is absent or a.z is known or a.q else a.r
      or some j as b where (b.x) or no j as b where (b.x) or count j as b where (b.x) > 1
      or min j as b where (b.x) of b.y > 1 or max j as b where (b.x) of b.y > 1 or sum j as b where (b.x) of b.y > 1
      or avg j as b where (b.x) of b.y needs 12 > 1
      or any a.l as t where (t == 1) or all a.l as t where (t == 1)
    except in exemptions
    except when a.x
    expect no j as b where (b.x) because "c"
    keep at least 3 per a.x newest by a.y
    keep at least 3 oldest by a.y
    pick newest 3 per a.x by a.y
    pick 5% at random seed "q4", at most 15 per a.x
    limit 5
    show a.x
  }
  approve p { 2 of role "r" not by author, expires after 3d }
  approve q { automatically when count <= 5 and percent <= 1% and reversible, otherwise 1 of role "r" }
  act p with s.op(id: a.id) { undo s.op(id: a.id) rate 1 per second concurrency 1 stop after 3 failures
    backup kept for 30d cascades within limit canary 5 then wait 15m rehearse restore
    window "a" timezone "UTC" }
  act q with s.op(id: a.id) { rate 1 per minute }
  act r with s.op(id: a.id) { rate 1 per hour }
  notify "m" on waiting, refused, done, stopped
  act t with steps { a: s.op(id: a.id) b: s.op(id: a.id) undo s.op(id: a.id) after 1d
    c: s.op(id: a.id) every 1h, 2 times }
  test defaults i { x: absent }
  test "t" of p {
    now 2026-01-31T00:00:00Z
    given i partial RATE_LIMITED warned STALE_READ stale 2h previously 5 rows [{ id: "a" }] and 4 more { id: "b" }
    given j empty
    given k failed AUTH_FAILED
    given param idle = 3d
    given count s.h = 4
    given list exemptions = ["a"]
    before act change i "a" { x: 1 }
    before act remove i "a"
    before act recreate i "a" { x: 2 }
    before act add i { id: "c" }
    before act exempt "a" in exemptions
    before act wait 2h
    expect plan ["a"]
    expect count 1
    expect refused RATE_LIMITED
    expect undecided ["a" because "x"]
    expect kept ["a"]
    expect outcome "a" = done
  }
}
workflow v { schedule every 6h }
"""

GRAMMAR = tables.build(tables.GRAMMAR.read_text("utf-8"))
KEYWORD_TERMINALS = sorted(
    terminal.name for terminal in GRAMMAR.terminals if re.match(r"[a-z]+\?*\(\?", terminal.pattern.value)
)


@cache
def _occurrences() -> list[tuple[str, int, int]]:
    tokens = [
        token
        for token in GRAMMAR.parse(EVERY_KEYWORD).scan_values(lambda token: True)
        if token.type in KEYWORD_TERMINALS
    ]
    return sorted((token.type, token.start_pos, token.end_pos) for token in tokens)


def _names(file: tree.File) -> set[str]:
    return set(re.findall(r"\w+", shape(file)))


def test_every_keyword_of_the_grammar_is_tried():
    """The program that the glue tests change holds each keyword of the grammar at least once."""
    assert {name for name, _, _ in _occurrences()} == set(KEYWORD_TERMINALS)
    assert len(KEYWORD_TERMINALS) > 70


@pytest.mark.requirement("R41")
@pytest.mark.parametrize("keyword", KEYWORD_TERMINALS)
@pytest.mark.parametrize("glue", ["x", "é"])
def test_keyword_glued_to_more_letters_is_never_that_keyword(keyword: str, glue: str):
    """`planx` is a name or nothing, never the keyword `plan` followed by the name `x`."""
    for _, _, end in [each for each in _occurrences() if each[0] == keyword][:2]:
        text = EVERY_KEYWORD[:end] + glue + EVERY_KEYWORD[end:]
        assert codes(text) != []


@pytest.mark.requirement("R41")
@pytest.mark.parametrize("keyword", KEYWORD_TERMINALS)
def test_keyword_glued_to_the_next_word_is_one_word(keyword: str):
    """Taking away the space after a keyword never leaves its meaning in place."""
    for _, start, end in (each for each in _occurrences() if each[0] == keyword):
        rest = EVERY_KEYWORD[end:].lstrip()
        if not re.match(r"\w", rest):
            continue
        text = EVERY_KEYWORD[:end] + rest
        glued = re.match(r"\w+", text[start:]).group()
        file, _ = parse(Source("x", text))
        assert file is None or glued in _names(file)


WORDS = sorted({word for terminal in KEYWORD_TERMINALS if (word := keywords.word(terminal)) is not None})
FREE_WORDS = [word for word in WORDS if word not in keywords.RESERVED]


@pytest.mark.parametrize("word", WORDS)
def test_keyword_is_a_field_after_a_dot_in_fields_as_argument_and_as_block_name(word: str):
    """A source may call its fields, operations and lists what it likes."""
    text = f"""\
      inventory {word} from {word}.{word} {{ key {word} incarnation {word} fields {{ {word}: text, b: text }} }}
      verify {word} {{ complete, count agrees with {word}.{word} }}
      propose {word} from {word} as a {{ where a.{word}.{word} == 1 and a.b["k"] == a.{word} except in {word} }}
      approve {word} {{ 1 of role "r" }}
      act {word} with {word}.{word}({word}: a.{word})
    """
    built = workflow(text)
    assert built.inventories[0].key[0].text == word
    assert built.inventories[0].fields[0].name.text == word
    assert built.acts[0].operation.arguments[0].name.text == word


@pytest.mark.parametrize("word", FREE_WORDS)
def test_keyword_is_a_bare_field_in_a_scope(word: str):
    """`owner is absent` and `key == "x"` mean the fields, at the start and after an operator."""
    built = workflow(
        f'inventory i from s.r {{ key id fields {{ id: text }} scope {word} is absent or\n {word} == "x" and {word} }}'
    )
    assert shape(built.inventories[0].scope) == f'(or (is absent {word}) (and (== {word} "x") {word}))'


@pytest.mark.parametrize("word", FREE_WORDS)
def test_keyword_can_name_a_parameter_a_row_and_a_function(word: str):
    """Where a name of one's own is unambiguous, it may be a word of the language."""
    built = workflow(f"param {word}: int = 5 propose p from i as {word} {{ where {word}.x < {word}({word}) }}")
    assert built.params[0].name.text == word
    assert shape(built.proposals[0].where) == f"(< {word}.x {word}({word}))"


@pytest.mark.parametrize("word", FREE_WORDS)
def test_keyword_can_name_a_definition_its_parameter_and_a_record(word: str):
    """Behind `define`, `record` and `...` only a name can stand."""
    file = file_of(
        f"record {word} {{ {word}: text, ...{word} }}\ndefine {word}({word}: int) = {word} > {word}({word})\n"
        f"workflow {word} {{ inventory i from s.r {{ key id fields {word} }} }}"
    )
    assert file.records[0].name.text == file.definitions[0].name.text == word
    assert shape(file.definitions[0].body) == f"(> {word} {word}({word}))"
    assert shape(file.workflows[0].inventories[0].fields) == f"[FieldSpread(record={word})]"


@pytest.mark.parametrize("word", WORDS)
def test_keyword_can_name_the_inventory_of_a_quantifier(word: str):
    """`some owner as o where (…)` reads `owner` as the inventory of that name."""
    built = workflow(
        f"propose p from i as a {{ where some {word} as o where (o.x) and count {word} as o where (o.x) > 1 }}"
    )
    assert shape(built.proposals[0].where) == f"(and (some {word} as o o.x) (> (count {word} as o o.x) int:1))"


def test_quantifier_word_with_a_comment_before_its_inventory_is_still_a_quantifier():
    """The look-ahead sees through comments and line ends."""
    built = workflow("propose p from i as a { where no # nobody\n  # at all\n people\n as b where (b.x) }")
    assert shape(built.proposals[0].where) == "(no people as b b.x)"


@pytest.mark.parametrize("word", sorted(keywords.RESERVED))
@pytest.mark.parametrize(
    "text",
    [
        "workflow w {{ param {word}: int = 5 }}",
        "define {word}(x: int) = x",
        "define f({word}: int) = 1",
        "workflow w {{ propose p from i as {word} {{ where all }} }}",
        "workflow w {{ propose p from i as a {{ where no people as {word} where (a.x) }} }}",
    ],
)
def test_word_that_stands_for_a_value_cannot_name_a_parameter_or_row(text: str, word: str):
    """A parameter called `now` would never be read, so it is refused where it is declared."""
    found = findings(text.format(word=word))
    assert [finding.code for finding in found] == ["FC021"]
    assert f"`{word}`" in found[0].message


@pytest.mark.parametrize("word", sorted(keywords.OPERATORS - {"not"}))
def test_operator_where_a_value_is_meant_is_refused_and_never_a_name(word: str):
    """`a and and b` and `a and and (b)` are a forgotten value, not a field or function called `and`."""
    for condition in (f"a.x and {word} a.y", f"a.x and {word} (a.y)", f"{word} == 1", f"a.x == {word}"):
        assert codes(f"workflow w {{ propose p from i as a {{ where {condition} }} }}") == ["FC001"], condition


def test_tables_of_clauses_agree_with_the_grammar():
    """Each clause that messages speak of is a keyword, and each keyword that can start a clause is in the tables."""
    listed = {word for words in (*keywords.CLAUSES.values(), *keywords.LISTS.values()) for word in words}
    assert listed <= set(WORDS)
    grammar = tables.GRAMMAR.read_text("utf-8")
    for block, words in keywords.CLAUSES.items():
        if block == keywords.FILE:
            continue
        rule = re.search(rf"^_{block}_clause: (.+)$", grammar, re.MULTILINE).group(1)
        assert {name.split("_")[0] for name in rule.split(" | ")} == set(words), block
    assert listed <= set(keywords.EXAMPLES)


@settings(deadline=None)
@given(st.sampled_from(WORDS), st.from_regex(r"[a-z0-9_]{1,6}", fullmatch=True))
def test_longer_word_is_a_plain_field_name(word: str, rest: str):
    """Whatever a keyword is continued with is one name, also bare."""
    name = word + rest
    if name in WORDS or name in keywords.RESERVED or name in keywords.NULL_WORDS:
        return
    file = file_of(
        f"workflow w {{ inventory i from s.r {{ key {name} fields {{ {name}: text }} scope {name} == 1 }} }}"
    )
    assert shape(file.workflows[0].inventories[0].scope) == f"(== {name} int:1)"
