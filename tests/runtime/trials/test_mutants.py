"""Mistakes made on purpose: each is small, compiles or is refused, and is noticed by a test or reported."""

from __future__ import annotations

import pytest
from tests.support.trials import PEOPLE, workspace

from fullcount.runtime.trials.mutants import mutants
from fullcount.runtime.trials.mutate import Fate, Mutator
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file, read_source

WEAK = f'test "weak" {{ given accounts [{{ id: "a", owner: absent }}] and 3 more {PEOPLE} expect count 1 }}'


@pytest.fixture(scope="module")
def fates(tmp_path_factory):
    """What became of each mutant of a workflow with one weak test, by the text it changed and what it changed."""
    real, path = workspace(tmp_path_factory.mktemp("mutants"), WEAK)
    outcome = run_tests([(path, compile_file(path, real))], real, Asked(mutate=True), lambda _: None)
    assert outcome.passed
    source = read_source(path)
    return {(source.slice(each.mutant.span).strip(), each.mutant.what): each for each in outcome.mutants["orphans"]}


def test_mistake_that_no_test_notices_survives_and_one_that_a_test_notices_does_not(fates):
    """A test of one orphan knows nothing of locked accounts, and does know that owners count."""
    assert fates["not a.locked", "left out"].fate is Fate.SURVIVED
    assert fates['except when a.team == "security"', "exemption left out"].fate is Fate.SURVIVED
    owned = fates["no people as p where (p.id == a.owner and p.active)", "`no` becomes `some`"]
    assert (owned.fate, owned.by) == (Fate.NOTICED, "weak")


@pytest.mark.requirement("R19", "R21")
def test_claim_that_the_rule_rests_on_cannot_be_left_out_at_all(fates):
    """That `complete` is missing needs no test: the compiler refuses it."""
    dropped = [each for (text, what), each in fates.items() if text == "complete" and "no longer demanded" in what]
    assert {each.fate for each in dropped} == {Fate.REFUSED}
    rows = fates["rows at least 2", "`rows` no longer demanded of `people`"]
    assert rows.fate is Fate.SURVIVED


def test_emptied_inventory_is_noticed_by_a_test_that_rests_on_it(fates):
    """A complete and empty answer for the accounts selects nobody."""
    emptied = {what: each.fate for (_, what), each in fates.items() if "empty, and said to be complete" in what}
    assert emptied["`accounts` empty, and said to be complete"] is Fate.NOTICED


def test_every_kind_of_clause_that_a_test_can_see_is_mutated(tmp_path):
    """Parameters, scopes, claims, rules, exemptions, floors, limits and windows each have mutants."""
    window = 'window "Mon-Fri 09:00-16:00" timezone "UTC"'
    real, path = workspace(tmp_path, WEAK, clauses="keep at least 2 per a.team newest by a.last_login", act=window)
    source = read_source(path)
    whats = {each.what for each in mutants(Mutator(path, source, real).workflows["orphans"])}
    assert {
        "left out",
        "a tenth more",
        "a tenth less",
        "`<` becomes `<=`",
        "`<` becomes `>=`",
        "`and` becomes `or`",
        "`or` becomes `and`",
        "`not` left out",
        "`no` becomes `some`",
        "negated",
        "another text",
        "`scope` left out",
        "exemption left out",
        "`keep` left out",
        "keeps 1",
        "`per` left out",
        "`newest` becomes `oldest`",
        "limit ten times as high",
        "limit of 100%",
        "may be ten times as old",
        "may change ten times as much",
        "one row is enough",
        f"{window.split(' timezone')[0]} left out",
    } <= whats
