"""What the patterns of a rule matched and nearly matched, as plans and `eval` say it."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.catalogs import EXAMPLE
from tests.support.planning import ORPHANS, STRICT, account, compiled, evidence, person

from fullcount.compiler import ir
from fullcount.compiler.lower.sql_text import text as quoted
from fullcount.compiler.types import BOOL, TEXT
from fullcount.runtime.plan.digest import plan_digest
from fullcount.runtime.plan.errors import UnborneError
from fullcount.runtime.plan.patterns import Near, Pattern, how_near, how_sql, patterns_of
from fullcount.runtime.plan.summary import pattern_line

SERVICE = ORPHANS.replace('a.team == "platform"', 'matches(a.id, "svc-[a-z]+")')


def said(doc):
    """Each pattern in words."""
    return [(line.matched, line.nearly) for line in map(pattern_line, doc.patterns)]


@pytest.mark.requirement("R25")
def test_a_pattern_says_what_it_matched_and_what_it_nearly_matched(tmp_path):
    """An exemption that misses an account for its capitals, a space or its anchors is not silent, the nearest first."""
    ids = ("svc-mail", "SVC-Mail", "old-svc-mail", "svc-mail ", "jane", " Svc-Mail", "svc-mail-2")
    doc = evidence(tmp_path, [account(key) for key in ids], text=SERVICE).plan()
    assert said(doc) == [
        (
            '`matches(a.id, "svc-[a-z]+")` matches 1 of 7 accounts',
            (
                '5 nearly match: "SVC-Mail" (other capitals), "svc-mail " (space around it),'
                ' " Svc-Mail" (other capitals, and space around it), and 2 more'
            ),
        )
    ]
    assert doc.patterns[0].near[0].key == ("SVC-Mail",)


def test_a_pattern_that_rules_nobody_out_is_refused_with_what_it_nearly_matched(tmp_path):
    """The refusal names the value that was meant, so that nobody has to look for it."""
    with pytest.raises(UnborneError) as raised:
        evidence(tmp_path, [account("SVC-a"), account("jane")], text=SERVICE).plan()
    assert [each.code for each in raised.value.findings] == ["FC792"]
    assert '; 1 nearly matches: "SVC-a" (other capitals): ' in raised.value.findings[0].message


@pytest.mark.parametrize("rule", ['a.team == "Core.*"', 'a.team in ["Core.*"]', '"Core.*" == a.team'])
def test_a_text_that_occurs_nowhere_is_refused_with_the_one_that_was_meant(tmp_path, rule):
    """An equality is near to what differs in capitals, and its text is no pattern."""
    text = STRICT.replace('a.team == "platform"', rule)
    with pytest.raises(UnborneError) as raised:
        evidence(tmp_path, [account("a", team="core.* ", owner="p"), account("b", team="cores")], text=text).plan()
    (said,) = [each.message for each in raised.value.findings if each.code == "FC792" and "Core" in each.message]
    assert '; 1 nearly matches: "core.* " (other capitals, and space around it): ' in said


def test_a_plan_says_nothing_of_patterns_where_there_are_none_and_little_where_nothing_is_near(tmp_path):
    """A rule without a pattern has none; one that matches exactly has nothing near."""
    assert evidence(tmp_path / "a", [account("a")]).plan().patterns == ()
    doc = evidence(tmp_path / "b", [account("svc-a"), account("jane")], text=SERVICE).plan()
    assert said(doc) == [('`matches(a.id, "svc-[a-z]+")` matches 1 of 2 accounts', None)]


def test_only_rows_in_scope_count_except_for_the_patterns_of_the_scope(tmp_path):
    """What the scope leaves out is no near miss of the rule; what it nearly took in is one of the scope."""
    text = SERVICE.replace("    fields      {", '    scope       glob(team, "pay*")\n    fields      {')
    rows = [account("svc-a"), account("SVC-B", team="Payments"), account("SVC-C", team="payroll")]
    assert said(evidence(tmp_path, rows, text=text).plan()) == [
        ('`glob(team, "pay*")` matches 2 of 3 accounts', '1 nearly matches: "Payments" (other capitals)'),
        ('`matches(a.id, "svc-[a-z]+")` matches 1 of 2 accounts', '1 nearly matches: "SVC-C" (other capitals)'),
    ]


def test_patterns_over_other_inventories_and_over_absent_values_count_what_has_a_value(tmp_path):
    """A value that is not there is neither matched nor near; the rows of a join have their own counts."""
    text = ORPHANS.replace("and p.active", 'and glob(p.id, "p?")').replace(
        'a.team == "platform"', 'a.owner is present and glob(a.owner, "J*")'
    )
    rows = [account("a", owner=None), account("b", owner="p1"), account("c", owner="jo"), account("d", owner="Jo")]
    doc = evidence(tmp_path, rows, [person("p1"), person("xp22")], text=text).plan()
    assert said(doc) == [
        ('`glob(p.id, "p?")` matches 1 of 2 people', '1 nearly matches: "xp22" (only a part of it)'),
        ('`glob(a.owner, "J*")` matches 1 of 3 accounts', '1 nearly matches: "jo" (other capitals)'),
    ]


def test_patterns_over_items_of_a_list_count_the_items(tmp_path):
    """Each item is a value of its own."""
    text = ORPHANS.replace("team: text,", "team: text, groups: list<text>,").replace(
        'a.team == "platform"', 'any a.groups as g where (matches(lower(g), "admin-[0-9]"))'
    )
    assert "groups" in EXAMPLE.resources("directory")["accounts"].fields
    rows = [account("a", groups=["admin-1", "Admin-2"]), account("b", groups=["admin-3 ", "x"])]
    assert said(evidence(tmp_path, rows, text=text).plan()) == [
        (
            '`matches(lower(g), "admin-[0-9]")` matches 2 of 4 accounts',
            '1 nearly matches: "admin-3 " (space around it)',
        )
    ]


def test_what_is_nearly_matched_is_no_part_of_what_is_approved(tmp_path):
    """The digest is over what is decided: a stored plan of before patterns were told keeps its own."""
    doc = evidence(tmp_path, [account("SVC-A"), account("svc-a")], text=SERVICE).plan()
    assert plan_digest(doc.model_copy(update={"patterns": ()})) == doc.digest


LARGE = "(" + "k" * 140 + "){1000}"
"""Just small enough for the engine, and too large with capitals left open."""
WRITTEN = st.sampled_from(["svc-[a-z]+", "a?", "(a|B)c", "[0-9]+", "x y", "é+", "(?s)a.b", "^ab$"])


@settings(max_examples=40)
@example(LARGE, "k")
@given(WRITTEN, st.text(alphabet="svc-aBcC 01xyéÉb\t\n", max_size=8))
def test_one_value_is_judged_as_a_table_of_them(pattern, value):
    """`why` says of an object what its plan says."""
    call = ir.Call("matches", (ir.Const("", TEXT), ir.Const(pattern, TEXT)), BOOL)
    row = duckdb.execute(f"SELECT {how_sql(Pattern('i', 'r', call))} FROM (SELECT {quoted(value)} AS value)").fetchone()
    assert row is not None
    near = how_near(call, value)
    assert row[0] in ((0, -1) if near is None else (list(Near).index(near) + 1,))


def test_compiled_rules_know_their_patterns_once():
    """The same pattern in the rule and in an exemption is told once."""
    text = SERVICE.replace("and p.active)", 'and p.active) or matches(a.id, "svc-[a-z]+")')
    workflow = compiled(text)
    assert len(patterns_of(workflow, workflow.proposals[0])) == 1
