"""Nothing passes that a test did not expect, and a failure says why."""

from __future__ import annotations

from tests.support.trials import GIVEN, PEOPLE, missed, one


def test_refusal_that_was_not_expected_fails_the_test_with_its_reasons(tmp_path):
    """`expect plan empty` does not hold because a run was refused."""
    result = one(tmp_path, f"{GIVEN.replace('given people', 'given people partial RATE_LIMITED')} expect plan empty")
    assert missed(result) == [("no refusal", "refused RATE_LIMITED")]
    assert any(line.startswith("RATE_LIMITED  ") for line in result.misses[0].why)


def test_refusal_that_did_not_come_fails_the_test(tmp_path):
    """It says what was planned instead."""
    result = one(tmp_path, f"{GIVEN} expect refused RATE_LIMITED")
    assert missed(result) == [("refused RATE_LIMITED", 'no refusal, and a plan of 1 object: ["orphan"]')]


def test_one_code_of_two_is_not_enough(tmp_path):
    """A run that is refused for more than was expected is another refusal."""
    body = GIVEN.replace("given people", "given people partial RATE_LIMITED, COUNT_MISMATCH")
    assert missed(one(tmp_path, f"{body} expect refused RATE_LIMITED")) == [
        ("refused RATE_LIMITED", "refused RATE_LIMITED, COUNT_MISMATCH")
    ]


def test_plan_that_is_expected_of_a_refused_run_fails_the_test(tmp_path):
    """Where everything is refused there is no plan, not an empty one."""
    body = GIVEN.replace("given people", "given people partial RATE_LIMITED")
    assert missed(one(tmp_path, f"{body} expect refused RATE_LIMITED expect plan empty")) == [
        ("a plan", "refused RATE_LIMITED, as expected, so there is none")
    ]


def test_undecided_object_that_no_expectation_names_fails_the_test(tmp_path):
    """What nobody could decide must be seen, also by a test that only speaks of the plan."""
    body = f'given accounts [{{ id: "orphan", owner: absent }}, {{ id: "dark", owner: forbidden }}] {PEOPLE}'
    result = one(tmp_path, f'{body} expect plan ["orphan"]')
    assert missed(result) == [("nothing undecided", 'undecided ["dark"]')]
    assert "  missing  owner: forbidden" in "\n".join(result.misses[0].why)


def test_wrong_plan_is_explained_object_by_object(tmp_path):
    """What came too much and what is missing are traced as `why` does."""
    result = one(tmp_path, f'{GIVEN} expect plan ["owned"]')
    assert missed(result) == [('plan ["owned"]', 'plan ["orphan"]')]
    why = "\n".join(result.misses[0].why)
    assert "CANDIDATE  orphan" in why
    assert "KEPT  owned" in why
    assert "no people as p where" in why
    assert "plan 01" not in why


def test_object_kept_for_another_reason_fails_the_test(tmp_path):
    """`because` is a part of the reason that the plan gives."""
    result = one(tmp_path, f'{GIVEN} expect plan ["orphan"] expect kept ["owned" because "protected", "orphan"]')
    assert missed(result) == [
        ("\"owned\" kept because 'protected'", "kept because not matched by the rule"),
        ('"orphan" kept', "it is candidate"),
    ]


def test_outcome_is_compared_by_its_word_and_code(tmp_path):
    """`changed` is not `done`, and an object that was not planned has no outcome."""
    body = f"""{GIVEN} before act change accounts "orphan" {{ locked: true }}
      expect outcome "orphan" = done expect outcome "owned" = done"""
    assert missed(one(tmp_path, body)) == [
        ('outcome "orphan" = done', "changed"),
        ('outcome "owned" = done', "it was not planned, so nothing was done with it"),
    ]
