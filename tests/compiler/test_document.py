"""A program as a document: exact both ways, closed to what it does not know, with a digest that ignores places."""

import copy
import json
from dataclasses import replace
from decimal import Decimal

import pytest
from tests.compiler.test_evidence import ORPHANS
from tests.support.compiling import compiled, with_rule

from fullcount.compiler import ir
from fullcount.compiler.document import (
    DocumentError,
    decode,
    encode,
    from_document,
    program_digest,
    to_document,
    workflow_from_document,
    workflow_to_document,
)
from fullcount.compiler.types import INT

RICH = with_rule(
    '(a.last_login else a.created) < now - idle and a.risk > 0.5 and a.team in ["x", "y"]'
    " and a.logins > -9223372036854775807"
    " and some people as p where (p.id == a.team and count logins as l where (l.account == p.id) < 3)"
    ' and (a.tags["env"] is absent or not matches(a.tags["env"], "p.*"))',
    clauses="except in exemptions except when a.locked show a.owner, a.logins * 2",
    params='schedule cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h param idle: duration = 90d',
)
PROGRAM = compiled(RICH).program
DOCUMENT = to_document(PROGRAM)


def changed(path, value):
    document = copy.deepcopy(DOCUMENT)
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return document


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"format": "fullcount-program", "version": 1},
        changed(["version"], 2),
        changed(["format"], "other"),
        changed(["extra"], 1),
        changed(["program"], None),
        changed(["program"], encode(ir.TRUE)),
        changed(["program", "$"], "os.system"),
        changed(["program", "$"], "program.Nothing"),
        changed(["program", "extra"], 1),
        changed(["program", "workflows"], {"$map": []}),
        changed(["program", "workflows", 0, "params", 0, "type", "kind"], {"$enum": "Kind", "value": "colour"}),
        changed(["program", "workflows", 0, "name"], 1.5),
        changed(["program", "workflows", 0, "name"], {"$decimal": "many"}),
        changed(["program", "workflows", 0, "name"], {"value": "x"}),
    ],
)
def test_a_document_that_is_not_a_program_is_refused(document):
    """Unknown tags, other parts, other versions and other kinds of values are errors."""
    with pytest.raises(DocumentError):
        from_document(document)


def test_a_program_survives_the_way_through_text_exactly():
    """What is read back from JSON text is equal to what was written."""
    assert from_document(json.loads(json.dumps(DOCUMENT))) == PROGRAM
    one = PROGRAM.workflows[0]
    assert workflow_from_document(json.loads(json.dumps(workflow_to_document(one)))) == one


@pytest.mark.parametrize(
    "value",
    [
        Decimal("5.0"),
        Decimal("-1E+3"),
        2**63 - 1,
        -(2**63),
        2**53,
        True,
        False,
        "",
        (),
        frozenset({"b", "a"}),
        {"x": (1, "y")},
    ],
)
def test_every_kind_of_value_survives(value):
    """Numbers that other readers would round are written as text, and truth is never a number."""
    read = decode(json.loads(json.dumps(encode(value))))
    assert read == value
    assert type(read) is type(value)
    assert str(read) == str(value) or isinstance(value, frozenset)


@pytest.mark.requirement("R29")
def test_the_digest_ignores_layout_and_comments_and_nothing_else():
    """The same rule written elsewhere on the page has the same digest; another constant has another."""
    laid_out = RICH.replace("workflow tidy {", "# a comment\n\n\nworkflow   tidy {").replace(
        " and ", "\n   and # and\n "
    )
    assert compiled(laid_out).program is not None
    assert program_digest(compiled(laid_out).program) == program_digest(PROGRAM)
    other = compiled(RICH.replace("> 0.5", "> 0.6")).program
    assert program_digest(other) != program_digest(PROGRAM)
    assert program_digest(PROGRAM).startswith("sha256:")


def test_places_are_left_out_of_the_document():
    """Where something stood in a file is not part of what it means."""
    assert "span" not in json.dumps(DOCUMENT)
    assert "tidy.fcw" not in json.dumps(DOCUMENT)
    assert program_digest(
        compiled(
            ORPHANS.replace("  verify accounts", "  verify people { complete, fresh within 1h }\n  verify accounts")
        ).program
    )


def test_the_digest_tells_true_from_one():
    """A constant's kind is part of the digest."""
    one = PROGRAM.workflows[0]
    rule = replace(one.proposals[0], where=ir.Const(1, INT))
    assert program_digest(replace(one, proposals=(rule,))) != program_digest(
        replace(one, proposals=(replace(rule, where=ir.TRUE),))
    )
