"""Which evidence each use needs, and how it is refused where nothing promises it."""

from pathlib import Path

import pytest
from tests.support.compiling import codes, compiled, only, proposal, underlined, with_rule, workflow

from fullcount.compiler.claims import Change, Complete, Consistency, Direction, Fresh, Rows, Snapshot, Visible
from fullcount.compiler.direction import FULL_COUNT
from fullcount.dsl.render import render

ORPHANS = (Path(__file__).parent / "orphans.fcw").read_text(encoding="utf-8")


def line_of(text, word):
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith(word))


HOUR = 3_600_000_000


@pytest.mark.requirement("R19")
def test_absence_over_an_unverified_inventory_is_refused_at_the_place_of_use():
    """The message names the inventory, underlines the quantifier, and gives the clause to add and its line."""
    finding = only(ORPHANS)
    assert finding.code == "FC301"
    assert finding.message == "`people` is used to conclude absence, but nothing verifies that it is complete"
    assert underlined(ORPHANS) == "no people"
    assert finding.help == "add after line 22:  verify people { complete, fresh within 24h }"


def test_the_refusal_of_an_absence_reads_as_agreed():
    """The whole message, as a person sees it."""
    result = compiled(ORPHANS)
    shown = render(result.diagnostics, result.sources, color=False)
    assert shown.partition("\n\n")[0].splitlines() == [
        "error[FC301]: `people` is used to conclude absence, but nothing verifies that it is complete",
        "  tidy.fcw:27:33",
        "   |",
        "27 |       and (a.owner is absent or no people as p where (p.id == a.owner and p.active))",
        "   |                                 ^^^^^^^^^ true for everyone whose record was not returned",
        "   |",
        "18 |   inventory people from hr.employees {",
        "   |             ------ read here",
        "   = why: a page that was cut off would make every missing record of `people` look as if it did not exist",
        "   = help: add after line 22:  verify people { complete, fresh within 24h }",
        "   = more: fullcount explain FC301",
    ]  # fmt: skip


@pytest.mark.requirement("R19")
def test_adding_the_clause_that_the_message_names_makes_it_compile():
    """The help is not only near: written where it says, it is the cure."""
    lines = ORPHANS.splitlines()
    lines.insert(22, only(ORPHANS).help.partition(":")[2])
    assert codes("\n".join(lines)) == []


@pytest.mark.requirement("R21")
@pytest.mark.parametrize(
    "claims", ["fresh within 1h", "rows at least 10, fresh within 1h", "snapshot interval, fresh within 1h"]
)
def test_acting_on_an_inventory_that_nothing_verifies_as_complete_is_refused(claims):
    """The base of an act must be complete, whatever else is promised of it."""
    text = with_rule("a.locked").replace(
        "verify accounts { complete, fresh within 1h }", f"verify accounts {{ {claims} }}"
    )
    assert only(text).code == "FC302"
    assert only(text).help == f"add to the claims of line {line_of(text, 'verify')}:  complete"


@pytest.mark.requirement("R21")
def test_acting_on_an_inventory_without_any_verify_is_refused():
    """No `verify` at all is the same want, with the whole clause as help."""
    text = with_rule("a.locked").replace("  verify accounts { complete, fresh within 1h }\n", "")
    assert only(text).code == "FC302"
    assert (
        only(text).help
        == f"add after line {line_of(text, 'propose') - 2}:  verify accounts {{ complete, fresh within 24h }}"
    )


@pytest.mark.parametrize("rule", ["a.locked", "a.locked and some people as p where (p.id == a.team)"])
def test_evidence_without_a_stated_age_is_refused(rule):
    """Every use needs a stated age, a witness too."""
    text = with_rule(rule)
    name = "people" if "people" in rule else "accounts"
    text = text.replace(
        f"verify {name} {{ complete, fresh within {'24h' if name == 'people' else '1h'} }}",
        f"verify {name} {{ complete }}",
    )
    assert only(text).code == "FC303"
    assert "fresh within 24h" in only(text).help


def test_a_witness_needs_no_complete_inventory():
    """More rows could only add to it, so a stated age is enough."""
    text = with_rule("a.locked and some people as p where (p.id == a.team)")
    assert (
        codes(text.replace("verify people { complete, fresh within 24h }", "verify people { fresh within 24h }")) == []
    )


@pytest.mark.requirement("R13", "R19")
@pytest.mark.parametrize(
    ("rule", "found"),
    [("no tickets as t where (t.account == a.id)", ["FC305"]), ("some tickets as t where (t.account == a.id)", [])],
)
def test_a_source_whose_pages_shift_proves_no_absence(rule, found):
    """An unstable listing may be a witness and nothing more."""
    tickets = """inventory tickets from legacy.tickets { key id fields { id: text, account: text } }
  verify tickets { complete, fresh within 1h }"""
    assert codes(with_rule(rule, params=tickets)) == found


def test_a_stronger_snapshot_than_the_source_has_is_refused():
    """`snapshot pinned` of a source that only gives an interval can never hold."""
    text = with_rule("a.locked").replace("complete, fresh within 1h", "complete, snapshot pinned, fresh within 1h")
    assert only(text).code == "FC304"
    assert underlined(text) == "snapshot pinned"


@pytest.mark.parametrize("claim", ["fresh within 0s", "rows at least 0", "change at most 0%"])
def test_a_claim_that_means_nothing_is_refused(claim):
    """Zero is not a way to switch a claim off."""
    kept = "complete" if claim.startswith("fresh") else "complete, fresh within 1h"
    text = with_rule("a.locked").replace("complete, fresh within 1h", f"{kept}, {claim}")
    assert codes(text) == ["FC308"]


def test_complete_promises_all_rows_of_one_reading_with_nothing_hidden():
    """`complete` is three claims, and a stronger snapshot takes the place of the weaker."""
    people = with_rule("a.locked and no people as p where (p.id == a.team)").replace(
        "verify people { complete, fresh within 24h }",
        "verify people { complete, snapshot pinned, fresh within 24h, rows at least 5, change at most 20% }",
    )
    verifies = workflow(people).verifies
    assert verifies["accounts"] == (Complete(), Snapshot(), Visible(), Fresh(HOUR))
    assert verifies["people"][:3] == (Complete(), Visible(), Snapshot(Consistency.PINNED))
    assert verifies["people"][3:] == (Fresh(24 * HOUR), Rows(5), Change(20))


W, N, B = Direction.WITNESS, Direction.ABSENCE, Direction.BASE
BOTH = "some people as p where (p.id == a.team and {} logins as l where (l.account == p.id))"


@pytest.mark.requirement("R19")
@pytest.mark.parametrize(
    ("rule", "directions"),
    [
        ("some people as p where (p.id == a.team)", [("people", W)]),
        ("no people as p where (p.id == a.team)", [("people", N)]),
        ("not some people as p where (p.id == a.team)", [("people", N)]),
        ("not no people as p where (p.id == a.team)", [("people", W)]),
        ("not (a.locked or some people as p where (p.id == a.team))", [("people", N)]),
        (BOTH.format("some"), [("people", W), ("logins", W)]),
        (BOTH.format("no"), [("people", W), ("logins", N)]),
        ("not " + BOTH.format("some"), [("people", N), ("logins", N)]),
        ("not " + BOTH.format("no"), [("people", N), ("logins", W)]),
        ("count people as p where (p.id == a.team) > 3", [("people", W)]),
        ("count people as p where (p.id == a.team) >= 3", [("people", W)]),
        ("count people as p where (p.id == a.team) < 3", [("people", N)]),
        ("3 > count people as p where (p.id == a.team)", [("people", N)]),
        ("3 <= count people as p where (p.id == a.team)", [("people", W)]),
        ("count people as p where (p.id == a.team) == 3", [("people", N)]),
        ("count people as p where (p.id == a.team) != 3", [("people", N)]),
        ("not count people as p where (p.id == a.team) != 3", [("people", N)]),
        ("not count people as p where (p.id == a.team) < 3", [("people", W)]),
        ("count people as p where (p.id == a.team) > count logins as l where (l.account == a.id)",
         [("people", W), ("logins", N)]),
        ("(max logins as l where (l.account == a.id) of l.at else a.created) > now", [("logins", N)]),
        ("max logins as l where (l.account == a.id) of l.at is present", [("logins", W)]),
        ("max logins as l where (l.account == a.id) of l.at is absent", [("logins", N)]),
        ("not max logins as l where (l.account == a.id) of l.at is absent", [("logins", W)]),
        ("max logins as l where (l.account == a.id) of l.at is known", [("logins", N)]),
        ("sum logins as l where (l.account == a.id) of l.bytes > 1 GiB", [("logins", N)]),
        ("sum logins as l where (l.account == a.id) of l.bytes < 1 GiB", [("logins", N)]),
        ("no accounts as b where (b.owner is present and b.owner == a.id)", [("accounts", N)]),
    ],
)  # fmt: skip
def test_the_direction_of_each_use_follows_from_what_more_rows_could_do(rule, directions):
    """More rows that could only add are a witness; rows that could take away are absence."""
    uses = [(use.inventory, use.direction) for use in proposal(rule).uses]
    assert uses == [("accounts", B), *directions]


@pytest.mark.parametrize(
    ("test", "directions"),
    [("max {} > now", [W, W]), ("max {} < now", [W, N]), ("min {} < now", [W, W]), ("min {} > now", [W, N])],
)
def test_a_larger_maximum_is_a_witness_and_a_smaller_one_is_absence(test, directions):
    """`max` only grows with more rows, and `min` only falls."""
    value = "logins as l where (l.account == a.id) of l.at"
    function = test[:3]
    uses = proposal(f"{function} {value} is present and {test.format(value)}").uses
    assert [use.direction for use in uses[1:]] == directions


@pytest.mark.parametrize(("quantifier", "direction"), [("some", N), ("no", W)])
def test_an_exemption_stands_under_a_negation(quantifier, direction):
    """What is not proven to be an exception keeps its object: `except when some` concludes absence."""
    uses = proposal("a.locked", clauses=f"except when {quantifier} people as p where (p.id == a.team)").uses
    assert [(use.inventory, use.direction) for use in uses[1:]] == [("people", direction)]


def test_base_and_absence_need_a_full_count_and_a_witness_only_an_age():
    """The claims of each use follow from its direction alone."""
    uses = proposal(BOTH.format("no")).uses
    assert [use.claims for use in uses] == [FULL_COUNT, (Fresh(None),), FULL_COUNT]
