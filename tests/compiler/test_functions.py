"""Calls of functions: refused where an argument means nothing, before anything runs."""

from __future__ import annotations

import pytest
from tests.support.compiling import findings, proposal, rule_codes, with_rule

from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.plan.phrase import phrase


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('cidr_contains("10.0.0.1/8", a.team)', ["FC230"]),
        ('cidr_contains("10.0.0.0", a.team)', ["FC230"]),
        ("cidr_contains(a.team, a.team)", ["FC212"]),
        ('cidr_contains("10.0.0.0/8", a.owner)', ["FC202"]),
        ('cidr_contains("10.0.0.0/8")', ["FC213"]),
        ('cidr_contains("10.0.0.0/8", "10.0.0.1")', ["FC208"]),
        ('semver_compare(a.team, "1.0") < 0', ["FC230"]),
        ('semver_compare("latest", a.team) < 0', ["FC230"]),
        ('semver_compare(a.team, "1.0.0")', ["FC204"]),
        ("semver_compare(a.team, 1.0) < 0", ["FC201"]),
        ('json(a.team, "owner") == "x"', ["FC230"]),
        ('json(a.team, "$") is present', ["FC230"]),
        ("json(a.team, a.team) is present", ["FC212"]),
        ('json(a.team, "$.owner") == "x"', ["FC202"]),
        ('json(a.team, "$.owner")', ["FC202"]),
        ("sample(a.id, 0%)", ["FC230"]),
        ("sample(a.id, 100%)", ["FC230"]),
        ("sample(a.id, 10)", ["FC201"]),
        ("sample(a.id)", ["FC213"]),
        ("sample(a.logins, 10%)", ["FC201"]),
        ("length(10%) > 3", ["FC215"]),
        ("a.team == 10%", ["FC215"]),
    ],
)
def test_argument_that_means_nothing_to_its_function_is_one_error(rule: str, expected: list[str]):
    """A test that could never be known, or is the same for every object, is no rule."""
    assert rule_codes(rule) == expected


def test_mistake_in_what_is_written_out_points_at_it():
    """And says what is written instead."""
    (finding,) = findings(with_rule('cidr_contains("10.0.0.0", a.team)'))
    assert "prefix is missing" in finding.note
    assert '"10.0.0.0/8"' in finding.help


@pytest.mark.parametrize(
    "rule",
    [
        'cidr_contains("10.0.0.0/8", a.team)',
        'semver_compare(a.team, "1.10.0") < 0',
        '(json(a.team, "$.owner") else "") == "x"',
        'json(a.team, "$.owner") is absent',
        "sample(a.id, 10%)",
        "sample(a.id, 0.5%)",
    ],
)
def test_call_is_shown_as_it_was_written(rule: str):
    """In plans and in refusals."""
    made = proposal(rule).where
    assert phrase(made) == expression_text(made) == rule


def test_value_out_of_json_is_used_once_the_rule_has_said_what_absent_means():
    """Flow typing holds for it as for a field."""
    assert rule_codes('json(a.team, "$.owner") is present and json(a.team, "$.owner") == "x"') == []
    assert rule_codes('json(a.team, "$.owner") is present and json(a.team, "$.other") == "x"') == ["FC202"]
