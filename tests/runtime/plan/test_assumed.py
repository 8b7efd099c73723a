"""Data that does not bear out what a rule takes for granted: no plan, with the reason and the way on."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.planning import ORPHANS, STRICT, Evidence, account, compiled, person
from tests.support.profiles import examples

from fullcount.compiler.values import FieldState
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.errors import UnborneError

RULE = "(a.last_login else a.created) < now - idle"


def ruled(where: str, *clauses: str) -> str:
    """Return a workflow with this rule and these clauses, and no other expectation."""
    start, end = STRICT.index("    where"), STRICT.index("    except")
    return STRICT[:start] + f"    where {where}\n" + "".join(f"    {each}\n" for each in clauses) + STRICT[end:]


def bare(where: str, *clauses: str) -> str:
    """Return the same without `except when`."""
    return ruled(where, *clauses).replace('    except when a.team == "platform"\n', "")


def over(folder: Path, text: str, accounts, people=(), *, complete=True) -> Evidence:
    """Return evidence for a workflow over accounts and people."""
    world = Evidence(folder, compiled(text))
    world.add("accounts", accounts, complete=complete)
    world.add("people", people)
    return world


def refused(world: Evidence):
    """Return the findings of a plan that is refused."""
    with pytest.raises(UnborneError) as caught:
        world.plan()
    assert caught.value.exit is Exit.REFUSED_BY_EVIDENCE
    return caught.value.findings


JOIN = "a.owner is present and no people as p where (p.id == a.owner)"
OWNED = [account("a", owner="ANA"), account("b", owner="bo"), account("c")]


@pytest.mark.requirement("R19")
def test_a_join_that_matches_nobody_is_a_refusal(tmp_path):
    """Ids that the two sides spell differently make everybody an orphan; that is no proof of absence."""
    (found,) = refused(over(tmp_path, bare(JOIN), OWNED, [person("ana"), person("BO")]))
    assert (found.code, found.inventory) == ("FC790", "people")
    assert "`people` matches none of 2 `accounts`" in found.message
    assert 'expect no people as p where (p.id == a.owner) because "…"' in found.ways_on[-1]


def test_an_inventory_without_rows_matches_nobody_either(tmp_path):
    """A list of people that came back empty is the worst case of all."""
    assert [f.code for f in refused(over(tmp_path, bare(JOIN), OWNED, []))] == ["FC790"]


@pytest.mark.requirement("A13")
def test_a_field_that_nobody_has_a_value_of_is_a_refusal(tmp_path):
    """When a call fails and everybody comes back without an owner, nobody is an orphan for it."""
    rows = [account("a"), account("b", owner=""), account("c", owner=FieldState.FORBIDDEN)]
    (found,) = refused(over(tmp_path, bare("a.owner is absent"), rows))
    assert (found.code, "`a.owner` is absent or empty for all 2 `accounts`" in found.message) == ("FC791", True)


@pytest.mark.requirement("B08")
def test_a_negative_condition_that_rules_nobody_out_is_a_refusal(tmp_path):
    """A misspelt protection protects nobody, and nothing else would show it."""
    (found,) = refused(over(tmp_path, bare('a.team != "platfrom"'), [account("a"), account("b", team="platform")]))
    assert (found.code, 'a.team == "platfrom"' in found.message) == ("FC792", True)


@pytest.mark.parametrize(
    "rule",
    [
        'a.team not in ["payments", "platfrom"]',
        'not starts_with(a.team, "platfrom")',
        'not (a.team == "platfrom" and a.owner is present)',
        'a.owner is present and no people as p where (p.id == a.owner and not starts_with(p.id, "svc-") and p.active)',
    ],
)
def test_each_value_of_a_list_and_each_case_in_a_negation_has_to_occur(tmp_path, rule):
    """One misspelt value among good ones is misspelt all the same."""
    people = [person("ana", active=False)]
    assert {f.code for f in refused(over(tmp_path, bare(rule), [account("a", owner="ana")], people))} == {"FC792"}


def test_what_excepts_has_to_occur(tmp_path):
    """An exemption for a team that nobody is in exempts nobody."""
    (found,) = refused(over(tmp_path, ruled(RULE), [account("a")]))
    assert (found.code, 'a.team == "platform"' in found.message) == ("FC792", True)


def test_every_doubt_is_told_and_an_empty_field_once(tmp_path):
    """All findings of a run are told together; a value that is missing for everyone is told as that, and once."""
    rule = 'a.owner is present and a.owner != "x" and a.team != "y"'
    found = refused(over(tmp_path, bare(rule), [account("a"), account("b")]))
    assert sorted(f.code for f in found) == ["FC791", "FC792"]


@pytest.mark.parametrize(
    "accounts", [[], [account("a", owner=FieldState.FORBIDDEN)], [account("a", team=FieldState.FORBIDDEN)]]
)
def test_where_nothing_could_be_said_there_is_nothing_to_doubt(tmp_path, accounts):
    """Of no object, or of none whose value is known, nothing is concluded; these are undecided anyway."""
    rule = 'a.team != "nobody"' if accounts and accounts[0]["owner"] is None else "a.owner is absent"
    doc = over(tmp_path, bare(rule), accounts).plan()
    assert doc.sums.candidates == 0


def test_nothing_is_concluded_from_rows_that_were_not_read(tmp_path):
    """Over a list that was cut short, a value that was not seen may be among the rest."""
    rule = 'a.team != "nobody"'
    assert over(tmp_path, bare(rule), [account("a")], complete=False).plan().sums.candidates == 1


def test_one_partner_is_enough(tmp_path):
    """From the first match on the join is believed."""
    assert over(tmp_path, bare(JOIN), OWNED, [person("bo")]).plan().sums.candidates == 1


@pytest.mark.requirement("B08")
def test_what_is_expected_of_nobody_does_not_refuse_and_is_part_of_the_plan(tmp_path):
    """The reviewer sees what the run would have been refused for, and why it is meant."""
    clause = 'expect no people as p where (p.id == a.owner) because "nobody has moved yet"'
    doc = over(tmp_path, bare(JOIN, clause), OWNED, [person("zoe")]).plan()
    assert [each.model_dump() for each in doc.expectations] == [
        {"clause": clause.partition(" because")[0], "because": "nobody has moved yet", "found": 0}
    ]
    assert doc.sums.candidates == 2


def test_an_expectation_that_is_not_needed_any_more_says_so(tmp_path):
    """Once somebody matches, the plan says that the excuse is not needed."""
    clause = 'expect no people as p where (p.id == a.owner) because "nobody has moved yet"'
    doc = over(tmp_path, bare(JOIN, clause), OWNED, [person("bo")]).plan()
    assert [each.found for each in doc.expectations] == [1]


OWNERS = (
    st.none() | st.sampled_from(["ana", "bo", ""]) | st.sampled_from([FieldState.FORBIDDEN, FieldState.INDETERMINATE])
)
ROWS = st.lists(st.tuples(OWNERS, st.sampled_from(["payments", "platform"])), max_size=5)
STAFF = st.dictionaries(st.sampled_from(["ana", "bo", "zoe"]), st.booleans(), max_size=2)


@given(rows=ROWS, people=STAFF, complete=st.booleans())
@examples(60)
def test_what_is_taken_for_granted_never_changes_what_is_selected(rows, people, complete):
    """Over any evidence, a plan is either refused, or exactly the one that is made when everything is excused."""
    accounts = [account(f"a{n}", owner=owner, team=team) for n, (owner, team) in enumerate(rows)]
    staff = [person(key, active=active) for key, active in people.items()]
    with tempfile.TemporaryDirectory() as folder:
        worlds = []
        for name, text in (("strict", STRICT), ("excused", ORPHANS)):
            world = Evidence(Path(folder) / name, compiled(text))
            world.add("accounts", accounts)
            world.add("people", staff, complete=complete)
            worlds.append(world)
        strict, excused = worlds
        listed = excused.plan()
        try:
            made = strict.plan()
        except UnborneError:
            return
    assert (made.rows, made.kept, made.undecided, made.sums) == (
        listed.rows, listed.kept, listed.undecided, listed.sums,
    )  # fmt: skip
