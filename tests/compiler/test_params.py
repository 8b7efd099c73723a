"""Parameters: given, defaulted, or refused; never guessed and never unset."""

from decimal import Decimal

import pytest
from tests.support.compiling import codes, with_rule, workflow

from fullcount.compiler.params import ParamError, bind_params

ALL = """param idle: duration = 90d
  param least: int
  param risk: decimal = 0.5
  param since: timestamp = 2026-01-31T00:00:00Z
  param day: date = 2026-01-31
  param box: size = 10 GiB
  param team: text = "ops"
  param hard: bool = true"""
RULE = """a.session > idle and a.logins > least and a.risk > risk and a.created > since and (a.expires_on is present
      and a.expires_on > day) and a.mailbox > box and a.team == team and hard"""
CHECKED = workflow(with_rule(RULE, params=ALL))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "parameter `least: int` has no default; give it with `--param least=…`"),
        ({"least": "5", "idel": "30d"}, "no parameter `idel`; did you mean `idle`"),
        ({"least": "5.0"}, "parameter `least` is `int`, and `5.0` is not one; write it as `100`"),
        ({"least": ""}, "is not one"),
        ({"least": "five"}, "is not one"),
        ({"least": "0x10"}, "is not one"),
        ({"least": "9223372036854775808"}, "is not one"),
        ({"least": "5", "idle": "90"}, "write it as `90d`"),
        ({"least": "5", "idle": "10 GiB"}, "write it as `90d`"),
        ({"least": "5", "box": "10"}, "write it as `10 GiB`"),
        ({"least": "5", "box": "-10 GiB"}, "write it as `10 GiB`"),
        ({"least": "5", "hard": "yes"}, "write it as `true`"),
        ({"least": "5", "hard": "1"}, "write it as `true`"),
        ({"least": "5", "since": "2026-01-31"}, "write it as `2026-01-31T00:00:00Z`"),
        ({"least": "5", "since": "2026-01-31T00:00:00"}, "write it as `2026-01-31T00:00:00Z`"),
        ({"least": "5", "day": "2026-02-30"}, "write it as `2026-01-31`"),
        ({"least": "5", "risk": "0.1234567891"}, "is not one"),
        ({"least": "5", "idle": "-5d"}, "parameter `idle` is given as `-5d`, a length below zero"),
        ({"least": "5", "idle": "- 1us"}, "a length below zero"),
    ],
)
def test_a_parameter_that_is_missing_unknown_or_of_another_type_is_refused(given, message):
    """Each mistake has a message that says what was found and what to write."""
    with pytest.raises(ParamError) as refused:
        bind_params(CHECKED, given)
    assert message in str(refused.value)


def test_a_length_without_a_default_is_not_given_below_zero():
    """Nothing in the workflow says that it was thought of."""
    checked = workflow(with_rule("a.session > grace", params="param grace: duration"))
    with pytest.raises(ParamError, match="below zero"):
        bind_params(checked, {"grace": "-5d"})


def test_a_length_below_zero_is_given_where_the_default_is_one():
    """The language has such lengths, and a workflow that means one says so; zero is a length like any other."""
    checked = workflow(with_rule("a.session > grace", params="param grace: duration = -1d"))
    assert bind_params(checked, {"grace": "-2h"}) == {"grace": -2 * 3_600_000_000}
    assert bind_params(checked, {"grace": "0s"}) == {"grace": 0}


def test_given_parameters_replace_defaults_and_the_rest_keep_them():
    """Texts are taken as they are; all others as a workflow writes them; signs where the type has them."""
    bound = bind_params(CHECKED, {"least": "-5", "idle": "2h", "team": ' "x" ', "risk": "-1.5", "box": "1 KiB"})
    assert bound == {
        "idle": 2 * 3_600_000_000,
        "least": -5,
        "risk": Decimal("-1.5"),
        "since": 1_769_817_600_000_000,
        "day": 20_484,
        "box": 1024,
        "team": ' "x" ',
        "hard": True,
    }


@pytest.mark.parametrize(
    "param",
    [
        "param idle: duration = 90",
        "param idle: duration = now",
        "param idle: duration = idle",
        "param idle: duration = 30d + x",
    ],
)
def test_a_default_is_a_constant_of_its_type(param):
    """A default of another type, or one that is no constant, is an error."""
    assert set(codes(with_rule("a.session > idle", params=param))) & {"FC216", "FC109"}


@pytest.mark.parametrize("type_", ["duration?", "list<text>", "map<int>", "string", "record { a: text }"])
def test_a_parameter_is_one_value_that_is_always_there(type_):
    """Lists, maps and values that may be absent are no parameters."""
    assert codes(with_rule("a.locked", params=f"param p: {type_}")) == ["FC214"]
