"""Warnings are allowed with a reason, errors never, and an allowance that meets nothing is found."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, compiled, findings, only, with_rule

RULE = "a.last_login is present and a.last_login < now - 90d"
UNUSED = "param idle: duration = 90d"  # gives FC123


def _file(params: str, clauses: str = "") -> str:
    return with_rule(RULE, params=params, clauses=clauses)


def test_the_warning_is_there_without_a_comment():
    """What the other tests allow."""
    assert codes(_file(UNUSED)) == ["FC123"]


@pytest.mark.parametrize(
    "params",
    [
        f"# allow FC123: because of May\n{UNUSED}",
        f"{UNUSED} # allow FC123: because of May",
        f"# allow FC123: because of May\n\n# more about it\n{UNUSED}",
        f"# allow FC122, FC123: because of May\n{UNUSED}",
        f"## allow FC123: because of May\n{UNUSED}",
    ],
)
def test_warning_is_allowed_before_its_line_or_at_its_end(params):
    """The comment may stand right before the line, over other comments, or behind it."""
    assert "FC123" not in codes(_file(params))
    assert "FC091" not in codes(_file(params))


@pytest.mark.parametrize(
    "comment",
    [
        "# allow FC123",
        "# allow FC123:",
        "# allow FC123: because",
        "# allow FC123: because   …",
        "# allow FC123 because of May",
        "# allow FC123: of May",
        "# Allow FC123: because of May",
        "# allow fc123: because of May",
        "# allow: FC123 because of May",
        "# allow FC12: because of May",
    ],
)
def test_allowance_without_a_code_and_a_reason_is_an_error_and_allows_nothing(comment):
    """Whoever wrote it believes that it is in force."""
    assert codes(_file(f"{comment}\n{UNUSED}")) == ["FC091", "FC123"]
    assert compiled(_file(f"{comment}\n{UNUSED}")).program is None


@pytest.mark.parametrize("code", ["FC301", "FC505", "FC999", "FC091"])
def test_only_a_warning_can_be_allowed(code):
    """Not an error, and not what does not exist."""
    finding = only(_file(f"# allow {code}: because it is urgent"))
    assert finding.code == "FC092"
    assert code in finding.message


def test_error_is_never_allowed():
    """The error stands, and the attempt is an error too."""
    text = _file("", clauses="show a.nothing # allow FC110: because it is urgent")
    assert codes(text) == ["FC110", "FC092"]


@pytest.mark.parametrize(
    "params",
    [
        "# allow FC123: because of May",
        f'# allow FC123: because of May\n\nowner "x"\n{UNUSED}',
        f"# allow FC122: because of May\n{UNUSED}",
        f"{UNUSED}\n# allow FC123: because of May",
    ],
)
def test_allowance_that_meets_no_warning_is_a_warning(params):
    """On another line, of another code, after the place."""
    found = [finding for finding in findings(_file(params)) if finding.code == "FC093"]
    assert len(found) == 1
    assert found[0].severity == "warning"


def test_allowance_behind_an_error_is_not_called_unused():
    """What it allows may only not have been looked for."""
    text = _file(f"# allow FC123: because of May\n{UNUSED}", clauses="show a.nothing")
    assert codes(text) == ["FC110"]


def test_prose_about_allowing_is_no_allowance():
    """Only a comment that begins with `allow` and a code is meant."""
    assert codes(_file(f"# we allow FC123 here\n# allowed: nothing\n{UNUSED}")) == ["FC123"]


def test_warning_of_a_longer_place_is_allowed_at_its_first_and_last_line():
    """A comment at the end of a clause reaches what began on an earlier line."""
    text = with_rule('a.team == "p\u0430yments"\n  and a.locked # allow FC020: because the team is spelled so')
    assert "FC020" in codes(text)
    text = with_rule('a.team == "p\u0430yments" # allow FC020: because the team is spelled so\n  and a.locked')
    assert "FC020" not in codes(text)
