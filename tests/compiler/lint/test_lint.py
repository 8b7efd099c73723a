"""Warnings about what may not be meant: what each rule finds, and what it leaves alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.support.compiling import codes, findings, only, underlined, with_rule

import fullcount.compiler.lint
from fullcount.compiler.lint import RULES
from fullcount.dsl.codes import CODES
from fullcount.dsl.diagnostics import Severity

ROOM = Path(fullcount.compiler.lint.__file__).parent


@pytest.mark.parametrize(
    ("rule", "code", "place"),
    [
        ('a.team == "x" and a.locked and a.team == "x"', "FC260", 'a.team == "x"'),
        ('a.locked and (a.team == "x" or a.logins > 3 or "x" == a.team)', "FC260", '"x" == a.team'),
        ("not a.logins < 3 and a.logins >= 3", "FC260", "a.logins >= 3"),
        ('a.team == "x" and a.team == "y"', "FC261", 'a.team == "y"'),
        ("a.logins < 3 and a.locked and a.logins >= 3", "FC261", "a.logins >= 3"),
        ('a.team != "x" or a.team != "y"', "FC261", 'a.team != "y"'),
        ("a.logins < 5 or a.logins > 3", "FC261", "a.logins > 3"),
        ("a.locked and not a.locked", "FC261", "not a.locked"),
        ("a.logins < 3 and a.logins < 5", "FC262", "a.logins < 5"),
        ("a.logins < 3 or a.logins < 5", "FC262", "a.logins < 3"),
        ('a.team in ["x", "y"] and a.team == "x"', "FC262", 'a.team in ["x", "y"]'),
        ('matches(a.team, "ops")', "FC263", '"ops"'),
        ('not glob(a.team, "ops")', "FC263", '"ops"'),
        ("some people as p where (p.id == a.team and p.active and p.active)", "FC260", "p.active"),
    ],
)  # fmt: skip
def test_a_condition_that_was_not_meant_is_warned_of(rule: str, code: str, place: str):
    """What changes nothing, or everything, is told at the part that was probably meant to be another."""
    text = with_rule(rule)
    finding = only(text)
    assert (finding.code, finding.severity, underlined(text)) == (code, Severity.WARNING, place)


@pytest.mark.parametrize(
    "rule",
    [
        'a.owner is present and a.owner == "x"',  # the types need the first part
        'a.team == "x" or a.team == "y"',
        'a.team != "x" and a.team != "y"',
        "a.logins > 3 and a.logins < 5",
        "a.logins < 3 or a.logins > 5",
        "a.created < now - 90d and a.last_login is present and a.last_login < now - 90d",
        'matches(a.team, "ops.*") and matches(a.team, ".*-x")',
        'a.locked and (a.team == "x" or a.locked)',
    ],
)
def test_a_condition_that_may_be_meant_is_left_alone(rule: str):
    """Nothing is said that is not sure."""
    assert codes(with_rule(rule)) == []


def test_the_parts_of_a_definition_are_not_told_at_its_use():
    """A definition is written once and used in many places; its parts cannot be seen where it is used."""
    text = 'define twice(x: text) = x == "a" or x == "a"\n' + with_rule("twice(a.team)")
    assert "FC260" not in codes(text)


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ('except when a.team == "y"', ["FC264"]),
        ('except when a.team == "x" and a.logins > 3', []),
        ("except when a.locked", []),
    ],
)
def test_an_exemption_of_what_the_rule_rules_out_is_warned_of(clause: str, code: list[str]):
    """A safety that can never hold anything back is none."""
    assert codes(with_rule('a.team == "x"', clauses=clause)) == code


@pytest.mark.parametrize(
    ("limit", "code"), [("2000", ["FC560"]), ("500", ["FC560"]), ("499", []), ("2000, 5%", []), ("5%", [])]
)
def test_a_large_number_without_a_part_is_warned_of(limit: str, code: list[str]):
    """From 500 on a number alone may be everything there is."""
    assert codes(with_rule("a.locked").replace("limit 50, 5%", f"limit {limit}")) == code


def test_a_large_limit_of_a_report_is_left_alone():
    """What nobody acts on needs no cap."""
    text = with_rule('a.team == "x"').replace("limit 50, 5%", "limit 2000")
    assert codes(text[: text.index("  approve")] + "}\n") == []


UNDO = " {\n    undo directory.update(id: a.id, locked: false)\n  }"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (((UNDO, ""),), ["FC561"]),
        (((UNDO, ""), ("2 of role", "1 of role")), ["FC405"]),  # which tells to add the undo as well
        (((UNDO, ""), ("directory.update(id: a.id, locked: true)", "directory.delete(id: a.id)")), []),
    ],
)
def test_an_act_that_could_be_taken_back_is_warned_of_once(changes, code: list[str]):
    """Only where the source has an operation that takes it back, and only by one of the two rules."""
    text = with_rule('a.team == "x"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    assert codes(text) == code


@pytest.mark.parametrize(
    ("schedule", "code"),
    [
        ('cron "0 2 * * *"', ["FC562"]),
        ('cron "0 2 * * SUN"', ["FC562"]),
        ("every 7d", ["FC562"]),
        ('cron "0 2 * * *" catch up within 4h', []),
        ('cron "0 */6 * * *"', []),
        ("every 6h", []),
    ],
)
def test_a_rare_schedule_that_does_not_catch_up_is_warned_of(schedule: str, code: list[str]):
    """A missed run matters where the next one is a day or more away."""
    assert codes(with_rule("a.locked", params=f"schedule {schedule}")) == code


def test_lint_says_nothing_behind_an_error():
    """What looks unused there may only not have been looked at."""
    assert codes(with_rule("a.nothing and a.locked and a.locked", params="param idle: duration = 90d")) == ["FC110"]


@pytest.mark.parametrize("code", RULES)
def test_a_warning_is_silenced_by_a_comment_with_a_reason_only(code: str):
    """Each rule can be allowed, in its place and with a reason, and by nothing else."""
    lines = CODES[code].wrong.splitlines()
    (found,) = {f.span.start for f in findings(CODES[code].wrong) if f.code == code}
    number = CODES[code].wrong.count("\n", 0, found)
    allowed = "\n".join([*lines[:number], f"# allow {code}: because it is meant", *lines[number:]]) + "\n"
    assert code not in codes(allowed)
    unreasoned = "\n".join([*lines[:number], f"# allow {code}", *lines[number:]]) + "\n"
    assert code in codes(unreasoned)


def test_each_rule_is_a_file_of_its_own_with_one_code():
    """A rule that nobody runs, or a code that two rules report, would be found here."""
    modules = {path.stem for path in ROOM.glob("*.py")} - {"__init__", "subject"}
    assert {rule.__module__.rpartition(".")[2] for rule in RULES.values()} == modules
    for code, rule in RULES.items():
        text = (ROOM / f"{rule.__module__.rpartition('.')[2]}.py").read_text()
        named = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)} & set(CODES)
        assert named == {code}
        assert CODES[code].severity is Severity.WARNING


@pytest.mark.parametrize(("count", "warned"), [(49, []), (50, ["FC563"]), (60, ["FC563"])])
def test_a_canary_that_takes_all_that_the_limit_allows_is_warned_of(count: int, warned: list[str]):
    """Nothing is left to be done after the wait."""
    undo = "undo directory.update(id: a.id, locked: false)"
    text = with_rule("a.locked").replace(undo, f"{undo}\n    canary {count} then wait 15m")
    assert codes(text) == warned


@pytest.mark.parametrize(("default", "warned"), [("90d", []), ("0d", []), ("-90d", ["FC265"])])
def test_a_length_below_zero_as_a_default_is_warned_of(default: str, warned: list[str]):
    """One sign makes a rule about what is old one about everything."""
    assert codes(with_rule("a.created < now - idle", params=f"param idle: duration = {default}")) == warned


def test_an_undo_that_gives_back_only_a_part_is_warned_of():
    """What stays as the act set it is named; what is given back, or never set, is not."""
    half = with_rule("a.locked").replace("locked: true", 'locked: true, note: "idle"', 1)
    assert codes(half) == ["FC564"]
    assert codes(half.replace("locked: false", 'locked: false, note: ""', 1)) == []


@pytest.mark.parametrize(
    ("old", "new", "warned"),
    [
        ("fresh within 1h", "fresh within 1h, change at most 500%", "change at most 500%"),
        ("fresh within 1h", "fresh within 1h, change at most 100%", "change at most 100%"),
        ("fresh within 1h", "fresh within 1h, change at most 99.9%", None),
        ("undo", "stop after 100% undo", "stop after 100%"),
        ("undo", "stop after 3 failures or 100% undo", "stop after 3 failures or 100%"),
        ("undo", "stop after 99% undo", None),
        ("limit 50, 5%", "limit 100%", "limit 100%"),
        ("limit 50, 5%", "limit 50, 100%", None),
        ("2 of role", "automatically when count <= 5 and percent <= 100%, otherwise 2 of role", "automatically"),
        ("2 of role", "automatically when count <= 5 and percent <= 99%, otherwise 2 of role", None),
    ],
)
def test_a_percentage_that_holds_nothing_back_is_warned_of(old: str, new: str, warned: str | None):
    """It reads like a guard; beside a number, a limit of everything is said on purpose."""
    text = with_rule("a.locked").replace(old, new, 1)
    assert [f.code for f in findings(text)] == ([] if warned is None else ["FC565"])
    if warned is not None:
        assert underlined(text).startswith(warned)
