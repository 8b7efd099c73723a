"""Tests of workflows are checked with them: names, types, and that nothing is left open."""

from __future__ import annotations

import pytest
from tests.support.catalogs import EXAMPLE

from fullcount.compiler.document import program_digest
from fullcount.compiler.pipeline import compile_source
from fullcount.compiler.trials.model import DEFAULT_NOW
from fullcount.compiler.values import Cell, FieldState
from fullcount.dsl.codes.examples import with_people
from fullcount.dsl.source import Source

DAY = 86_400_000_000
DEFAULTS = """\
  test defaults accounts { entry_uuid: "e1", owner: absent, team: "core", created: now - 400d, last_login: absent }
"""
ACCOUNTS = 'given accounts [{ id: "a1" }, { id: "a2", owner: "p1" }]'
PEOPLE = 'given people [{ id: "p1", active: true }]'


def compiled(tests: str, text: str | None = None):
    base = (with_people() if text is None else text).rstrip()
    return compile_source(Source("t.fcw", f"{base[: base.rindex('}')]}\n{DEFAULTS}{tests}\n}}\n"), EXAMPLE)


def found(body: str, text: str | None = None) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in compiled(f'test "t" {{ {body} }}', text).diagnostics]


def trial(body: str):
    made = compiled(f'test "t" {{ {body} }}')
    assert not made.diagnostics.has_errors, [each.message for each in made.diagnostics]
    return made.trials["tidy_accounts"][0]


RECREATED = 'before act recreate accounts "a" { entry_uuid: "2" }'


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (f"{ACCOUNTS} {PEOPLE} given staff empty expect count 1", "FC108", "no inventory `staff`"),
        (f"{ACCOUNTS} {PEOPLE} given people empty expect count 1", "FC101", "`people` is declared twice"),
        (f"{ACCOUNTS} expect count 1", "FC174", "says nothing of `people`"),
        (f'given accounts [{{ id: "a", owned: 1 }}] {PEOPLE} expect count 1', "FC110", "`owned` is not among"),
        (f'given accounts [{{ id: "a", owner: 7 }}] {PEOPLE} expect count 1', "FC171", "must be `text`"),
        (f'given accounts [{{ id: "a", owner: p1 }}] {PEOPLE} expect count 1', "FC171", "is not a value written out"),
        (f'given accounts [{{ id: "a", created: now - idle }}] {PEOPLE} expect count 1', "FC171", "not a value"),
        (f'given accounts [{{ id: "a", team: absent }}] {PEOPLE} expect count 1', "FC171", "never absent"),
        (f"given accounts [{{ id: forbidden }}] {PEOPLE} expect count 1", "FC171", "without it there is no object"),
        (f'{ACCOUNTS} given people [{{ id: "p1" }}] expect count 1', "FC172", "does not say `active`"),
        (f'given accounts [{{ id: "a" }}, {{ id: "a" }}] {PEOPLE} expect count 1', "FC101", "given twice"),
        (f'{ACCOUNTS} {PEOPLE} expect plan ["a3"]', "FC173", "gives no `a3`"),
        (f'{ACCOUNTS} {PEOPLE} expect plan [["a1", "a2"]]', "FC171", "not a key of `accounts`"),
        (f"{ACCOUNTS} {PEOPLE} expect plan [1]", "FC171", "must be `text`"),
        (f'{ACCOUNTS} {PEOPLE} before act remove people "p9" expect count 1', "FC173", "gives no `p9`"),
        (f'{ACCOUNTS} {PEOPLE} before act remove people "p1" before act remove people "p1" expect count 1', "FC173",
         "gives no `p1`"),
        (f'{ACCOUNTS} {PEOPLE} before act add people {{ id: "p1", active: true }} expect count 1', "FC176", "is there"),
        (f'{ACCOUNTS} {PEOPLE} before act recreate people "p1" {{ active: true }} expect count 1', "FC176",
         "has no `incarnation`"),
        (f'{ACCOUNTS} {PEOPLE} before act recreate accounts "a1" {{ team: "x" }} expect count 1', "FC176",
         "has another `entry_uuid`"),
        (f'given accounts [{{ id: "a", owned: 1 }}] {PEOPLE} {RECREATED} expect count 1', "FC110", "`owned` is not"),
        (f'{ACCOUNTS} {PEOPLE} before act change accounts "a1" {{ id: "a9" }} expect count 1', "FC176", "is the key"),
        (f'{ACCOUNTS} {PEOPLE} before act exempt "a1" in exemptions expect count 1', "FC119", "does not except"),
        (f'{ACCOUNTS} {PEOPLE} given list exemptions = ["a1"] expect count 1', "FC119", "does not except"),
        (f"{ACCOUNTS} {PEOPLE} given param idle = 3d expect count 1", "FC109", "no parameter `idle`"),
        (f"{ACCOUNTS} {PEOPLE} given count hr.headcount = 3 expect count 1", "FC176", "compares anything"),
        (f"{ACCOUNTS} given people partial TOO_MANY empty expect count 1", "FC175", "`TOO_MANY`"),
        (f"{ACCOUNTS} given people failed STALE_READ expect count 1", "FC175", "`STALE_READ`"),
        (f"{ACCOUNTS} given people warned RATE_LIMITED empty expect count 1", "FC175", "`RATE_LIMITED`"),
        (f"{ACCOUNTS} {PEOPLE} expect refused FC001", "FC175", "`FC001`"),
        (f"{ACCOUNTS} given people [] and 5_000_000 more {{ active: true }} expect count 1", "FC171", "at most"),
        (f'{ACCOUNTS} {PEOPLE} expect outcome "a1" = done expect outcome "a1" = changed', "FC101", "outcome of"),
    ],
)  # fmt: skip
def test_a_test_that_cannot_be_meant_is_a_mistake_of_the_file(body, code, words):
    """`check` says it, once, before anything is run."""
    said = found(body)
    assert [each for each, _ in said] == [code], said
    assert words in said[0][1]


def test_field_that_every_row_leaves_unsaid_is_reported_once():
    """Thirty rows of ten tests that lack the same field are one mistake, in the defaults."""
    body = f'{{ {ACCOUNTS} given people [{{ id: "p1" }}, {{ id: "p2" }}] expect count 1 }}'
    made = compiled(f'test "t" {body} test "u" {body}')
    assert [each.code for each in made.diagnostics] == ["FC172"]


def test_two_tests_of_one_name_are_refused():
    """A failure must name one of them."""
    body = f"{{ {ACCOUNTS} {PEOPLE} expect count 1 }}"
    made = compiled(f'test "t" {body} test "t" {body}')
    assert [each.code for each in made.diagnostics] == ["FC101"]


def test_defaults_said_twice_or_of_no_inventory_are_refused():
    """What rows say by default must not depend on the order of two clauses."""
    made = compiled('test defaults accounts { team: "a" }\ntest defaults staff { id: "x" }')
    assert sorted(each.code for each in made.diagnostics) == ["FC101", "FC108"]


def test_a_mistake_in_the_rule_is_not_reported_again_in_its_tests():
    """An inventory that failed is there, and what a test says of it can't be judged."""
    text = with_people().replace("from hr.employees", "from hr.employes")
    assert {code for code, _ in found(f'{ACCOUNTS} {PEOPLE} expect plan ["a1"]', text)} == {"FC103"}


@pytest.mark.requirement("R24")
def test_the_program_and_its_digest_are_the_same_with_and_without_tests():
    """A test changes no plan and voids no approval."""
    plain = compile_source(Source("t.fcw", with_people()), EXAMPLE)
    tested = compiled(f'test "t" {{ {ACCOUNTS} {PEOPLE} expect count 1 }}')
    assert program_digest(plain.program) == program_digest(tested.program)


@pytest.mark.requirement("R7")
def test_rows_are_filled_up_from_the_defaults_and_every_state_is_kept():
    """What a row says wins; `failed` is what the envelope calls a failure of the source."""
    made = trial(f'given accounts [{{ id: "a1", owner: failed, last_login: truncated }}] {PEOPLE} expect count 1')
    (row,) = made.listings["accounts"].rows
    assert row["team"] == Cell(FieldState.PRESENT, "core")
    assert row["owner"] == Cell(FieldState.SOURCE_FAILED, None)
    assert row["last_login"] == Cell(FieldState.TRUNCATED, None)
    assert row["created"] == Cell(FieldState.PRESENT, DEFAULT_NOW - 400 * DAY)


def test_now_of_the_test_is_now_in_its_rows_and_defaults():
    """An instant that is counted from `now` moves with it."""
    made = trial(f'now 2026-03-01T00:00:00Z given accounts [{{ id: "a1" }}] {PEOPLE} expect count 1')
    assert made.now == 1_772_323_200_000_000
    assert made.listings["accounts"].rows[0]["created"].value == made.now - 400 * DAY


def test_workflow_with_several_proposals_needs_to_be_told_which_one_is_tested():
    """Nothing is tried by the order of declarations."""
    text = with_people()
    at = text.index("  approve disable")
    text = text[:at] + "  propose report from accounts as a { where a.owner is absent }\n" + text[at:]
    assert [code for code, _ in found(f"{ACCOUNTS} {PEOPLE} expect count 1", text)] == ["FC112"]
    made = compiled(f'test "t" of report {{ {ACCOUNTS} expect plan ["a1"] }}', text)
    assert [each.proposal for each in made.trials["tidy_accounts"]] == ["report"]
