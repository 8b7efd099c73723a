"""Tests of lists as they are written: refused first."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, proposal, rule_codes, with_rule, workflow

from fullcount.compiler import ir
from fullcount.compiler.types import TEXT, ListOf
from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.plan.phrase import phrase

GROUPS = ir.Field("a", "accounts", "groups", ListOf(TEXT), optional=False)
X = ir.Const("x", TEXT)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('any a.team as g where (g == "x")', ["FC205"]),
        ('any a.tags as g where (g == "x")', ["FC205"]),
        ("any a.groups as g where (g == 3)", ["FC201"]),
        ("any a.groups as g where (a.locked)", ["FC217"]),
        ("all a.groups as g where (a.locked)", ["FC217"]),
        ('any a.groups as g where ("x" == "y")', ["FC208"]),
        ('any a.groups as a where (a == "x")', ["FC111"]),
        ('any a.groups as g where (any a.groups as g where (g == "x"))', ["FC111"]),
        ('any a.groups as idle where (idle == "x")', ["FC111"]),
        ("any a.groups as g where (g.x)", ["FC109"]),
        ("any a.groups as g where (h == g)", ["FC109"]),
        ("any a.groups as g where (some people as p where (p.id == g))", ["FC211"]),
        ("all a.groups as g where (no people as p where (p.id == g))", ["FC211"]),
        ("any a.groups as g where (count people as p where (p.id == g) > 1)", ["FC211"]),
        ('g == "x" and any a.groups as g where (g == "x")', ["FC109"]),
        ('intersects(a.groups, "x")', ["FC201"]),
        ("intersects(a.groups, [1])", ["FC201"]),
        ("intersects(a.groups)", ["FC213"]),
        ("intersects(a.groups, [])", ["FC208"]),
        ('intersects(["a"], ["b"])', ["FC208"]),
        ("length(a.tags) > 3", ["FC201"]),
        ("length(a.logins) > 3", ["FC201"]),
        ("length(a.groups)", ["FC204"]),
    ],
)
def test_test_of_a_list_that_means_nothing_is_one_error(rule: str, expected: list[str]):
    """Not a list, no word about its items, a name that is taken, a question about an inventory."""
    params = "param idle: duration = 90d" if "idle" in rule else ""
    assert [code for code in rule_codes(rule, params=params) if code not in {"FC122", "FC123"}] == expected


def test_inventory_where_a_list_is_meant_is_told_how_to_look_into_it():
    """`any people` is what people write who mean `some people`."""
    text = with_rule("any people as p where (p.active) and some people as q where (q.id == a.team)")
    (finding,) = findings(text)
    assert finding.code == "FC205"
    assert "some people as p where (" in finding.help


def test_field_of_the_inventory_cannot_name_an_item_in_its_scope():
    """There fields are written bare, and the two would look alike."""
    text = with_rule("a.locked").replace("incarnation entry_uuid", "{} incarnation entry_uuid")
    scope = 'scope any groups as {} where ({} == "x")'
    assert codes(text.replace("{}", scope.replace("{}", "team"), 1)) == ["FC111"]
    assert codes(text.replace("{}", scope.replace("{}", "g"), 1)) == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('any a.groups as g where (g == "x")', ir.AnyItem(GROUPS, "g", ir.Compare("==", ir.Item("g", TEXT), X))),
        (
            'all a.groups as g where (g == "x")',
            ir.Not(ir.AnyItem(GROUPS, "g", ir.Not(ir.Compare("==", ir.Item("g", TEXT), X)))),
        ),
        ("any a.groups as g where (g == a.team)", None),
        ('not any a.groups as g where (starts_with(g, "svc-") or g in ["a", "b"])', None),
        ('intersects(a.groups, ["admin", "root"]) and not subset(a.groups, ["staff"])', None),
        ("length(a.groups) == 0 and length(a.team) > 3", None),
        ("some people as p where (p.id in a.groups)", None),
        ("some logins as l where (any a.groups as g where (g == l.account))", None),
    ],
)
def test_test_of_a_list_is_compiled_and_shown_as_it_was_written(rule: str, expected: ir.Expr | None):
    """What a plan and a refusal say of it is what was written."""
    made = proposal(rule).where
    assert expected is None or made == expected
    if expected is not None:
        assert phrase(made) == expression_text(made) == rule


def test_item_of_a_definition_never_captures_the_item_of_an_argument():
    """`g` in the argument and `g` in the body are two items."""
    has = "define has(x: text, xs: list<text>) = any xs as g where (lower(g) == x)\n"
    (made,) = workflow(has + with_rule("any a.groups as g where (has(g, a.groups) and g != a.team)")).proposals
    by_hand = "any a.groups as g where (any a.groups as g2 where (lower(g2) == g) and g != a.team)"
    assert made.where == proposal(by_hand).where
