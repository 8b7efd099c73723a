"""Imports, records and definitions: their form, refused first."""

from __future__ import annotations

import pytest
from tests.support.language import codes, file_of, findings, shape, underlined

TAIL = "\nworkflow w { }\n"


@pytest.mark.parametrize(
    ("text", "expected", "place"),
    [
        ("import lib", ["FC001"], "lib"),
        ("import", ["FC001"], None),
        ('import "a.fcw", "b.fcw"', ["FC001"], ","),
        ("record person", ["FC001"], "workflow"),
        ("record person { }", ["FC004"], "record person { }"),
        ("record { id: text }", ["FC001"], "{"),
        ("record person { id text }", ["FC001"], "text"),
        ("record person { id: text active: bool }", ["FC001"], "active"),
        ("record person { ..base }", ["FC001"], "."),
        ("record person { ...base.more }", ["FC001"], "."),
        ("define idle = 3", ["FC001"], "="),
        ("define idle() 3", ["FC001"], "3"),
        ("define idle(x) = x", ["FC001"], ")"),
        ("define idle(x: int) = ", ["FC001"], None),
        ("define idle(x: int) { x }", ["FC001"], "{"),
        ("define idle(x: int) = all", ["FC007"], "all"),
        ("define idle(x: int) = x = 3", ["FC009"], "="),
        ("define idle(now: int) = 3", ["FC021"], "now"),
        ("define true(x: int) = 3", ["FC021"], "true"),
        ("defin idle(x: int) = 3", ["FC002"], "defin"),
        ("records person { id: text }", ["FC002"], "records"),
    ],
)
def test_statement_of_the_wrong_form_is_one_finding_and_the_rest_is_read(
    text: str, expected: list[str], place: str | None
):
    """The workflow behind it is not reported on top."""
    assert codes(text + TAIL) == expected
    if place is not None:
        assert underlined(text + TAIL) == [place]


def test_three_statements_with_mistakes_are_three_findings():
    """One run shows every mistake once."""
    assert codes("import x\nrecord p { id }\ndefine f(x: int) = x +* 3\n" + TAIL) == ["FC001", "FC001", "FC001"]


def test_statement_inside_of_a_workflow_is_sent_to_where_it_belongs():
    """`import` and its kin stand beside workflows, not in them."""
    (found,) = findings("workflow w {\n  define f(x: int) = x\n}\n")
    assert found.code == "FC002"
    assert "belongs into" in found.help


def test_statements_are_built_with_everything_that_was_written():
    """Names, types, places of spreads, in the order of writing."""
    file = file_of(
        'import "lib/people.fcw"\nrecord person { ...base, id: text, seen: timestamp?, }\n'
        "define idle(last: timestamp?, made: timestamp,) = (last else made) < now - 90d\ndefine one() = 1\n"
    )
    assert [each.path for each in file.imports] == ["lib/people.fcw"]
    assert shape(file.records[0].fields[0]) == "FieldSpread(record=base)"
    assert [parameter.type.optional for parameter in file.definitions[0].parameters] == [True, False]
    assert shape(file.definitions[0].body) == "(< (else last made) (- now duration:7776000000000))"
    assert file.definitions[1].parameters == ()


def test_body_of_a_definition_ends_before_the_next_statement():
    """Also where that begins with a word that could be a name."""
    file = file_of('define f(x: int) = x\nrecord r { id: text }\ndefine g(x: int) = x - 1 import "a.fcw"\n')
    assert [shape(each.body) for each in file.definitions] == ["x", "(- x int:1)"]


@pytest.mark.parametrize("clause", ["fields person", "fields { ...person }", "fields {\n  ...person,\n}"])
def test_record_alone_in_fields_is_one_tree_however_it_is_written(clause: str):
    """The short form is the same clause."""
    file = file_of(f"workflow w {{ inventory i from s.r {{ key id {clause} scope x == 1 }} }}")
    assert shape(file.workflows[0].inventories[0].fields) == "[FieldSpread(record=person)]"
