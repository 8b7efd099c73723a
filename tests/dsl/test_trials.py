"""The form of tests in a workflow: what its text alone shows to be wrong, and what is read of it."""

from __future__ import annotations

import pytest
from tests.support.language import findings, workflow

from fullcount.dsl import trial_tree


def _found(body: str) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in findings(f'workflow w {{ test "t" {{ {body} }} }}')]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("given i [] expect plan empty", "FC004", "this list is empty"),
        ("expect plan []", "FC004", "this list is empty"),
        ("given i empty", "FC004", 'test "t" expects nothing'),
        ("expect undecided []", "FC004", "names no object"),
        ('expect plan ["a"] expect plan ["b"]', "FC003", "`expect plan` twice"),
        ("now 2026-01-01T00:00:00Z now 2026-01-02T00:00:00Z expect count 1", "FC003", "`now` twice"),
        ("now 2026-01-01 expect count 1", "FC022", "takes a time, not a date"),
        ("given i stale 5 empty expect count 1", "FC022", "takes a duration"),
        ("expect count 5d", "FC022", "takes a whole number"),
        ('expect outcome "a" = deleted', "FC001", "`deleted` is not an outcome"),
        ('expect outcome "a" = done FC760', "FC001", "only `refused` has a code"),
        ('expect plan ["a" because "x"]', "FC001", "`because` has no place here"),
        ('given i [{ t: { "a": { "b": 1 } } }] expect count 1', "FC019", "a map inside of a map"),
        ("given i partial [] expect count 1", "FC001", "expected a name"),
        ('before act rename i "a" expect count 1', "FC001", "rename"),
        ("given i maybe [] expect count 1", "FC001", "maybe"),
        ("suppose i empty expect count 1", "FC002", "`suppose` is not a clause of `test`"),
    ],
)
def test_what_a_test_cannot_mean_is_refused_where_it_stands(body: str, code: str, words: str):
    """A test that would hold whatever happens, or that two readers would read differently, is no test."""
    found = _found(body)
    assert [each for each, _ in found] == [code]
    assert words in found[0][1]


def test_test_without_a_name_is_refused():
    """Its name is what a failure is read by."""
    assert [each.code for each in findings('workflow w { test " " { expect count 1 } }')] == ["FC004"]


def test_every_state_of_a_field_has_a_word_and_a_text_of_that_word_is_a_text():
    """`forbidden` is a state, `"forbidden"` a value."""
    words = ", ".join(f"f{n}: {word}" for n, word in enumerate(trial_tree.STATES))
    built = workflow(f'test "t" {{ given i [{{ {words}, g: "forbidden" }}] expect count 1 }}')
    (given,) = built.trials[0].givens
    assert isinstance(given, trial_tree.GivenRows)
    *states, text = given.samples[0].fields
    assert tuple(each.value.word for each in states) == trial_tree.STATES
    assert text.value.value == "forbidden"


def test_words_of_tests_are_free_as_names_inside_of_them():
    """A source may call its fields `given`, `expect` or `failed`, and its inventories `param` and `list`."""
    built = workflow(
        'test "t" of plan { given list [{ given: 1, failed: failed, now: now }] given param empty expect count 1 }'
    )
    listed, param = built.trials[0].givens
    assert (listed.inventory.text, param.inventory.text, built.trials[0].proposal.text) == ("list", "param", "plan")
    assert [each.name.text for each in listed.samples[0].fields] == ["given", "failed", "now"]
