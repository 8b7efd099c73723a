"""Expressions in words say what will be evaluated."""

from __future__ import annotations

import pytest
from tests.support.planning import ORPHANS, compiled

from fullcount.compiler.types import Kind, Scalar
from fullcount.runtime.plan.phrase import call_phrase, constant, phrase

RULES = [
    "(a.last_login else a.created) < now - idle",
    "a.owner is absent or no people as p where (p.id == a.owner and p.active)",
    'not (a.team == "x" or a.team == "y") and a.owner is present',
    'a.team in ["x", "y"] and not starts_with(a.id, "svc-")',
    "(a.owner is absent or a.created < now) and a.created < now - 2 * idle",
    "count people as p where (p.active) > 3 and a.created < now",
]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_in_words_means_the_same_when_it_is_read_again(rule):
    """Compiled, written down and compiled again, it is the same expression."""
    start, end = ORPHANS.index("(a.last_login"), ORPHANS.index("    except when")
    text = f"{ORPHANS[:start]}{{rule}}\n{ORPHANS[end:]}"
    once = compiled(text.replace("{rule}", f"({rule}) and a.created < now - idle and a.owner is known")).proposals[0]
    again = compiled(text.replace("{rule}", phrase(once.where))).proposals[0]
    assert again.where == once.where


@pytest.mark.parametrize(
    ("size", "written"),
    [(0, "0 B"), (1000, "1000 B"), (1 << 36, "64 GiB"), (3 << 20, "3 MiB"), (1536, "1536 B"), (5 << 40, "5 TiB")],
)
def test_a_size_is_written_in_the_largest_unit_that_holds_it_exactly(size, written):
    """Nobody counts the digits of 68719476736."""
    assert constant(size, Scalar(Kind.SIZE)) == written


def test_an_act_in_words_names_its_arguments():
    """As in the workflow."""
    act = compiled().acts[0]
    assert call_phrase(act.call) == "directory.accounts.update(id: a.id, locked: true)"
