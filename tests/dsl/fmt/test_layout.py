"""The rules of the layout, one by one, and what the formatter refuses to do."""

from __future__ import annotations

import re

import pytest
from tests.support.language import file_of

from fullcount.dsl import tables
from fullcount.dsl.fmt import format_source, formatter
from fullcount.dsl.fmt.layout import BRACED_LISTS, CHAINS, LAST_COMMA, OPEN_LISTS
from fullcount.dsl.fmt.proof import same_comments, same_meaning
from fullcount.dsl.source import Source


def _formatted(text: str) -> str:
    result, diagnostics = format_source(Source("x.fcw", text))
    assert result is not None, list(diagnostics)
    return result


def _inside(text: str) -> str:
    """Return the layout of what stands in a workflow."""
    lines = _formatted(f"workflow w {{\n{text}\n}}\n").splitlines()
    return "\n".join(line.removeprefix("  ") for line in lines[1:-1])


def _proposal(text: str) -> list[str]:
    return [line.removeprefix("  ") for line in _inside(f"propose p from i as a {{\n{text}\n}}").splitlines()[1:-1]]


def test_file_with_a_mistake_has_no_layout():
    """What was not understood is not moved about; the findings say why."""
    text, diagnostics = format_source(Source("x.fcw", "workflow w {\n  propose p from i as a { where true }\n}\n"))
    assert text is None
    assert [finding.code for finding in diagnostics] == ["FC006"]


@pytest.mark.parametrize(
    ("wrong", "lost"),
    [
        ('workflow w { owner "y" } # c\n', "what it means"),
        ("workflow w {", "what it means"),
        ('workflow w { owner "x" }\n', "its comments"),
        ('workflow w { owner "x" } # c\n', "at each run"),
    ],
)
def test_layout_that_loses_something_is_never_handed_out(wrong, lost, monkeypatch):
    """A mistake of the formatter itself becomes a finding, not a changed file."""
    made = formatter._laid_out
    answers = iter([lambda *_: wrong, made])
    monkeypatch.setattr(formatter, "_laid_out", lambda *given: next(answers)(*given))
    text, diagnostics = format_source(Source("x.fcw", 'workflow w { owner "x" } # c\n'))
    assert text is None
    (finding,) = diagnostics
    assert finding.code == "FC920"
    assert lost in finding.message


def test_trees_that_differ_in_a_value_or_a_type_are_not_the_same():
    """The comparison looks into everything but places."""
    one = file_of("workflow w { propose p from i as a { where a.x == 1 } }")
    assert same_meaning(one, file_of("workflow w {\n propose p from i as a { where (a.x == (1)) } } # c"))
    for other in ("a.x == 2", "a.x == 1.0", "a.x != 1", "a.y == 1", "not a.x == 1", "a.x == 1 and a.y"):
        assert not same_meaning(one, file_of(f"workflow w {{ propose p from i as a {{ where {other} }} }}"))


def test_comments_in_another_order_are_not_the_same():
    """Neither are comments that are missing; white space at their ends says nothing."""
    one = file_of("# a\n# b\n")
    assert same_comments(one, file_of("# a   \n\n# b"))
    assert not same_comments(one, file_of("# b\n# a\n"))
    assert not same_comments(one, file_of("# a\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("verify a{complete,fresh within 1h}", "verify a { complete, fresh within 1h }"),
        ("param sizes:list < int >?=[10GiB,5KB,]", "param sizes: list<int>? = [10 GiB, 5 KB]"),
        ("param share: text = [5  %, 90d, - - 3, not  (now) ]", "param share: text = [5%, 90d, --3, not (now)]"),
        ("act a with b . c ( id : a . id , )", "act a with b.c(id: a.id)"),
        ("act a with b.c() { stop after 1 failures or 5 % }", "act a with b.c() {\n  stop after 1 failure or 5%\n}"),
        ("act a with b.c() { stop after 3 failure }", "act a with b.c() {\n  stop after 3 failures\n}"),
        ("act a with b.c() { }", "act a with b.c() {}"),
        (
            'approve a{2 of role"x"not by author,expires after 3d,}',
            'approve a { 2 of role "x" not by author, expires after 3d }',
        ),
    ],
)
def test_clause_on_one_line_has_one_spelling(before, after):
    """Spaces, units, plurals and last commas."""
    assert _inside(before) == after


def test_words_of_a_block_stand_in_a_column_and_the_condition_outside_of_it():
    """As in every example: the longest word decides, `where` does not take part."""
    assert _proposal("where a.x\nexcept in e\nlimit 5\nshow a.y") == [
        "where a.x", "except in e", "limit  5", "show   a.y"
    ]  # fmt: skip


def test_braces_of_neighbouring_verifies_stand_in_a_column():
    """Until an empty line parts them."""
    text = "verify a { complete }\nverify people { complete }\n\nverify b { complete }"
    assert _inside(text) == "verify a      { complete }\nverify people { complete }\n\nverify b { complete }"


def test_kinds_of_clauses_are_parted_by_empty_lines_and_two_become_one():
    """The author's empty lines stay, one at a time; blocks always stand apart."""
    text = 'owner "x"\nparam a: int\n\n\n\nparam b: int\nact a with b.c()\nact d with e.f() {}'
    assert _inside(text).split("\n\n") == [
        'owner "x"', "param a: int", "param b: int", "act a with b.c()", "act d with e.f() {}"
    ]  # fmt: skip


def test_condition_breaks_before_its_operators_only_where_it_must():
    """On one line if it fits into a hundred columns; else each `and` leads a line."""
    fits = "where " + " and ".join(["a.field_number_1"] * 4) + " and a.f123"
    assert len(f"    {fits}") == 100
    assert _proposal(fits) == [fits]
    assert _proposal(fits + "456") == [
        "where a.field_number_1", *["  and a.field_number_1"] * 3, "  and a.f123456"
    ]  # fmt: skip


def test_comments_stay_with_what_they_were_written_beside():
    """At the end of a line, on a line of their own, after the last entry, before the closing brace."""
    text = """\
inventory a from b.c { # head
# before the key
key id # the key
fields { id: text # last, without a comma
# in the fields
}

# before the end
}"""
    assert _inside(text).splitlines() == [
        "inventory a from b.c { # head",
        "  # before the key",
        "  key    id # the key",
        "  fields {",
        "    id: text, # last, without a comma",
        "    # in the fields",
        "  }",
        "",
        "  # before the end",
        "}",
    ]


def test_comment_after_an_operator_moves_before_it_and_passes_no_other():
    """An operator leads its line, so what was said behind it stands at the end of the line before."""
    assert _proposal("where a.x and # why x\n# why y\na.y or # or not\na.z") == [
        "where a.x # why x",
        "    # why y",
        "    and a.y # or not",
        "  or a.z",
    ]


def test_comments_at_the_ends_of_lines_stand_in_a_column_that_a_long_line_does_not_move():
    """The column stands right of the neighbours, up to a limit."""
    long = "x" * 60
    lines = _inside(
        f'inventory a from b.c {{ key id # one\nscope x # two\nexpect y == "{long}" # three\n fields {{ a: text }} }}'
    )
    assert lines.splitlines()[1:4] == [
        "  key    id          # one",
        "  scope  x           # two",
        f'  expect y == "{long}" # three',
    ]


def test_byte_order_mark_and_windows_line_ends_go():
    """They say nothing, and some tools stumble over them."""
    assert _formatted('\ufeffworkflow w {\r\n  owner "x" # c\r\n}\r\n') == 'workflow w {\n  owner "x" # c\n}\n'


def test_files_without_a_workflow_keep_their_comments():
    """Nothing at all, and comments alone."""
    assert _formatted("\n \n") == ""
    assert _formatted("# a\n\n\n# b") == "# a\n\n# b\n"


def test_every_list_of_the_grammar_is_known_to_the_layout():
    """A rule with entries in braces, with a last comma, or with values after its word is in its table."""
    text = re.sub(r"\n +\|", " |", tables.GRAMMAR.read_text("utf-8"))
    rules = dict(re.findall(r"^\??(\w+): (.*)$", text, re.MULTILINE))
    unbracketed = str.maketrans("", "", "[]")  # a list in braces may be empty, or not
    lists = [name for name in rules if name.startswith("_") and name.endswith("_list")]
    braced = {
        name
        for name, body in rules.items()
        if any(f"LBRACE {each} RBRACE" in body.translate(unbracketed) for each in lists)
    }
    with_last_comma = {name for name, body in rules.items() if "[COMMA]" in body and name not in lists}
    bare = {name for name, body in rules.items() if body.endswith((" (COMMA _expr)*", " (COMMA _amount)*"))}
    operators = re.compile(r"(\w+) (?:\(\(?[A-Z| ]+\)? \1\)\*|\[ELSE fallback\])")
    chains = {name for name, body in rules.items() if operators.fullmatch(body) and " (DOT " not in body}
    assert braced == BRACED_LISTS
    assert braced | with_last_comma == LAST_COMMA
    assert bare == OPEN_LISTS
    assert chains == CHAINS


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 96 + "a.x" + ")" * 96,
        "not " * 96 + "a.x",
        "[" * 96 + "]" * 96,
        "f(" * 96 + "1" + ")" * 96,
        " and ".join(["a.x"] * 97),
        " else ".join(["a.x"] * 97),
        "a" + "[1]" * 96,
        "- " * 96 + "1",
        "no b as c where (" * 48 + "all" + ")" * 48,
        "no b as c where ( # c\n" * 48 + "all" + ")" * 48,
    ],
)
def test_deepest_expressions_have_a_layout(condition):
    """As deep as the language allows, and no deeper than the stack."""
    once = _formatted(f"workflow w {{ propose p from i as a {{ where {condition} }} }}")
    assert _formatted(once) == once


def test_shared_names_stand_apart_and_a_definition_breaks_in_its_body():
    """Imports stand together; a body that does not fit breaks like a condition, and its parameters for themselves."""
    text = _formatted(
        'edition "2026" import "a.fcw" import "b.fcw" record r {id: text, ... base,}'
        " define idle(last: timestamp?, made: timestamp,)=(last else made) < now - 90d"
        " define orphan(owner: text?) = owner is absent or no people as p where (p.id == owner and p.active)"
        ' or any somebody as s where (s == "a rather long text that does not fit any more")'
    )
    assert text == (
        'edition "2026"\n\nimport "a.fcw"\nimport "b.fcw"\n\nrecord r { id: text, ...base }\n\n'
        "define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d\n"
        "define orphan(owner: text?) = owner is absent\n"
        "  or no people as p where (p.id == owner and p.active)\n"
        '  or any somebody as s where (s == "a rather long text that does not fit any more")\n'
    )
