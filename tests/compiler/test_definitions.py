"""Definitions: an expression under a name, written out wherever it is used."""

from __future__ import annotations

import re

import pytest
from tests.support.compiling import compiled, proposal, with_rule, workflow

from fullcount.compiler.claims import Direction
from fullcount.dsl.diagnostics import Diagnostic

OLD = "define old(at: timestamp) = at < now - 90d\n"
IDLE = "define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d\n"
ORPHAN = "define orphan(owner: text?) = owner is absent or no people as p where (p.id == owner)\n"


def found(definitions: str, rule: str, **others: str) -> list[Diagnostic]:
    return list(compiled(definitions + with_rule(rule, **others)).diagnostics)


def with_people(rule: str) -> str:
    """A file whose rule reaches `people` only through a definition."""
    return with_rule(f"{rule} and some people as q where (q.id == a.team)")


def codes(definitions: str, rule: str, **others: str) -> list[str]:
    return [finding.code for finding in found(definitions, rule, **others)]


@pytest.mark.parametrize(
    ("definitions", "rule", "expected"),
    [
        # the definition itself, told once and in its place
        ("define f(x: int) = x > y\n", "f(a.logins)", ["FC109"]),
        ("define f(x: int) = a.logins > x\n", "f(a.logins)", ["FC109"]),
        ("define f(x: int) = x.y > 1\n", "f(a.logins)", ["FC109"]),
        ("define f(x: timestamp?) = x < now\n", "f(a.last_login)", ["FC202"]),
        ("define f(x: text) = x > 3\n", "f(a.team)", ["FC201"]),
        ("define f(x: string) = x == 3\n", "f(a.team)", ["FC214"]),
        ("define f(x: int, x: int) = x > 3\n", "f(a.logins, a.logins)", ["FC101"]),
        ("define f() = 1 < 2\n", "a.locked", ["FC208"]),
        ("define f(x: text) = x is absent\n", "f(a.team)", ["FC203"]),
        ("define f(x: int) = g(x)\n", "f(a.logins)", ["FC118"]),
        ("define f(x: timestamp?) = x else never\n", "a.locked", ["FC207"]),
        ("define lower(x: text) = x\n", 'lower(a.team) == "x"', ["FC146"]),
        ("define f(x: int) = f(x)\n", "f(a.logins)", ["FC144"]),
        ("define f(x: int) = g(x)\ndefine g(x: int) = h(x)\ndefine h(x: int) = f(x)\n", "f(a.logins)", ["FC144"]),
        # its uses
        (OLD, "old(a.last_login)", ["FC202"]),
        (OLD, "old(a.team)", ["FC201"]),
        (OLD, "old()", ["FC213"]),
        (OLD, "old(a.created, a.created)", ["FC213"]),
        (OLD, "odl(a.created)", ["FC118"]),
        (OLD, "old(2026-01-01T00:00:00Z)", ["FC218"]),
        ("define f(x: int) = x > 3\n", "f(4)", ["FC208"]),
        ("define f(x: int) = x > 3\n", "f(count people as p where (p.id == a.team))", ["FC210"]),
        ("define f(x: bool) = x\n", "f(a.logins > 3)", ["FC220"]),
        ("define f(x: int, y: int) = x == y\n", "f(a.logins, a.logins)", ["FC208"]),
        ("define f(x: timestamp?) = (x else never) < now\n", "not f(a.last_login)", ["FC207"]),
        ("define f(x: text) = x\n", "f(a.team)", ["FC204"]),
        (ORPHAN, "a.locked and not orphan(a.owner)", ["FC108"]),
        (ORPHAN, "a.locked", []),
    ],
)  # fmt: skip
def test_definition_or_use_that_is_wrong_is_one_error(definitions: str, rule: str, expected: list[str]):
    """A mistake in the body is told once however often it is used; a mistake of the use is told at the use."""
    assert codes(definitions, rule) == expected


def test_circle_of_definitions_is_shown_from_the_one_that_calls_to_the_one_that_is_called():
    """Whoever has to break it sees the way round."""
    circle = "define f(x: int) = g(x)\ndefine g(x: int) = h(x)\ndefine h(x: int) = f(x)\n"
    (finding,) = found(circle, "a.locked")
    assert re.search(r"`f` -> `g` -> `h` -> `f`|`g` -> `h` -> `f` -> `g`|`h` -> `f` -> `g` -> `h`", finding.message)


@pytest.mark.parametrize(
    "definitions",
    [
        "define d0(x: int) = x + x\n"
        + "".join(f"define d{n}(x: int) = d{n - 1}(x) + d{n - 1}(x)\n" for n in range(1, 60)),
        "define d0(x: int) = x\n" + "".join(f"define d{n}(x: int) = d{n - 1}(x) + 1\n" for n in range(1, 1500)),
    ],
    ids=["doubling", "deep"],
)
def test_definitions_that_grow_without_measure_are_refused_and_not_written_out(definitions: str):
    """No text exhausts the memory or the stack."""
    assert codes(definitions, "a.locked") == ["FC145"]


def test_arguments_that_grow_without_measure_are_refused():
    """Also where each definition by itself is small."""
    many = "define wide(x: int) = " + " + ".join(["x"] * 60) + "\n"
    assert codes(many, "wide(wide(wide(a.logins))) > 1") == ["FC145"]


def test_mistake_of_a_use_points_at_the_use_with_the_place_in_the_definition():
    """The reader sees both: what was called, and what it does with it."""
    text = ORPHAN.replace("p.id == owner", "p.ids == owner") + with_people("orphan(a.owner)")
    result = compiled(text)
    (finding,) = result.diagnostics
    assert finding.code == "FC110"
    assert result.sources["tidy.fcw"].slice(finding.span) == "orphan(a.owner)"
    assert [result.sources["tidy.fcw"].slice(label.span) for label in finding.labels] == ["ids"]


def test_mistake_in_a_definition_used_by_a_definition_shows_each_step():
    """From the use in the rule, over the definition that it names, to the place that fails."""
    nested = "define f(x: int) = g(x)\ndefine g(x: int) = x == 3\n"
    result = compiled(nested + with_rule("f(3)"))
    (finding,) = result.diagnostics
    source = result.sources["tidy.fcw"]
    assert source.slice(finding.span) == "f(3)"
    assert [source.slice(label.span) for label in finding.labels] == ["g(x)", "x == 3"]


@pytest.mark.requirement("R19")
def test_absence_behind_a_definition_needs_complete_evidence_and_names_the_definition():
    """A quantifier is no safer for having a name."""
    text = ORPHAN + with_people("orphan(a.owner)").replace(
        "verify people { complete, fresh within 24h }", "verify people { fresh within 24h }"
    )
    result = compiled(text)
    (finding,) = result.diagnostics
    source = result.sources["tidy.fcw"]
    assert finding.code == "FC301"
    assert source.slice(finding.span) == "orphan(a.owner)"
    assert [source.slice(label.span) for label in finding.labels] == ["people", "orphan"]


@pytest.mark.parametrize(
    ("definitions", "rule", "by_hand"),
    [
        (OLD, "old(a.created)", "a.created < now - 90d"),
        (IDLE, "idle(a.last_login, a.created)", "(a.last_login else a.created) < now - 90d"),
        (IDLE, "not idle(a.last_login, a.created)", "not (a.last_login else a.created) < now - 90d"),
        (
            "define f(x: timestamp?) = (x else never) < now - 90d\n",
            "f(a.last_login)",
            "(a.last_login else never) < now - 90d",
        ),
        ("define days(n: int) = 1d * n\n", "a.created < now - days(90)", "a.created < now - 90d"),
        ("define last(x: timestamp?, y: timestamp) = x else y\n", "last(a.last_login, a.created) < now",
         "(a.last_login else a.created) < now"),
        ("define has(x: text, xs: list<text>) = x in xs\n", 'has("ops", a.groups)', '"ops" in a.groups'),
        ("define has(x: text, xs: list<text>) = x in xs\n", 'has(a.team, ["a", "b"])', 'a.team in ["a", "b"]'),
        ("define tag(xs: map<text>, x: text) = xs[x]\n", '(tag(a.tags, "env") else "") == "x"',
         '(a.tags["env"] else "") == "x"'),
        (ORPHAN, "orphan(a.owner) or some people as q where (q.active)",
         "(a.owner is absent or no people as p where (p.id == a.owner)) or some people as q where (q.active)"),
        ("define logins_of(x: text) = count logins as l where (l.account == x)\n",
         "logins_of(a.id) > 3 and some logins as m where (m.account == a.team)",
         "count logins as l where (l.account == a.id) > 3 and some logins as m where (m.account == a.team)"),
        ("define present(x: text?) = x is present\n", 'present(a.owner) and a.owner == "x"',
         'a.owner is present and a.owner == "x"'),
        ("define big(n: int) = n > 3\n", "big(a.logins)", "a.logins > 3"),
    ],
)  # fmt: skip
def test_use_of_a_definition_is_what_would_have_been_written_by_hand(definitions: str, rule: str, by_hand: str):
    """The program is the same, and so are the evidence it needs and its digest."""
    (made,) = workflow(definitions + with_rule(rule)).proposals
    written = proposal(by_hand)
    assert made.where == written.where
    assert [(use.inventory, use.direction) for use in made.uses] == [
        (use.inventory, use.direction) for use in written.uses
    ]


def test_row_of_a_definition_never_captures_the_row_of_an_argument():
    """`p` in the argument and `p` in the body are two rows, whatever they are called."""
    known = "define known(x: text) = some people as p where (p.manager is present and p.manager == x)\n"
    rule = "no people as p where (p.id == a.team and known(p.id))"
    by_hand = (
        "no people as p where (p.id == a.team"
        " and some people as p2 where (p2.manager is present and p2.manager == p.id))"
    )
    (made,) = workflow(known + with_rule(rule)).proposals
    assert made.where == proposal(by_hand).where


def test_definition_sees_no_parameter_and_no_fact_of_the_place_where_it_is_used():
    """It means the same wherever it is used."""
    param = "param least: int = 3"
    assert codes("define big(n: int) = n > least\n", "big(a.logins)", params=param) == ["FC109"]
    handed = "define big(n: int, least: int) = n > least\n"
    assert codes(handed, "big(a.logins, least)", params=param) == []
    fact = "define f(x: timestamp?) = x < now\n"
    assert codes(fact, "a.last_login is present and f(a.last_login)") == ["FC202"]


def test_argument_that_is_never_absent_may_be_handed_to_a_parameter_that_may_be():
    """The body says what absent means, and is right for both."""
    assert codes(IDLE, "idle(a.created, a.created)") == []
    assert codes("define f(x: timestamp?) = x is absent or x < now - 90d\n", "f(a.created)") == []
    assert codes("define f(x: timestamp?) = x is absent or x < now - 90d\n", "f(now - 3d) and a.locked") == []


def test_aggregate_behind_a_definition_keeps_its_direction():
    """`count … > 3` is a witness and `count … < 3` concludes absence, also by name."""
    count = "define logins_of(x: text) = count logins as l where (l.account == x)\n"
    other = " and some logins as m where (m.account == a.team)"
    for operator, direction in ((">", Direction.WITNESS), ("<", Direction.ABSENCE)):
        (made,) = workflow(count + with_rule(f"logins_of(a.id) {operator} 3{other}")).proposals
        assert made.uses[1].direction is direction


def test_rule_that_is_shown_to_people_carries_the_definitions_it_uses():
    """A reviewer who reads the rule reads all that decides."""
    (made,) = workflow(IDLE.replace("= (", "= # comment\n  (") + with_rule("idle(a.last_login, a.created)")).proposals
    assert made.where_text == (
        "idle(a.last_login, a.created); define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d"
    )


def test_definition_may_be_used_wherever_an_expression_may_stand():
    """In a scope and a canary, in exemptions, in what is shown and in what an operation is given."""
    text = 'define is_x(t: text) = t == "x"\ndefine yes() = true\n' + with_rule(
        "is_x(a.team)", clauses="except when is_x(a.environment) show is_x(a.team)"
    ).replace("verify accounts", "verify accounts", 1).replace(
        "incarnation entry_uuid", "incarnation entry_uuid scope is_x(environment) expect is_x(id)"
    ).replace("locked: true)", "locked: yes())")
    assert [finding.code for finding in compiled(text).diagnostics] == []
