"""The tables of `docs/reference/limits.md`, cell by cell: what is documented is what plan, guard and stop rule do."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from tests.runtime.act.test_guard import ALLOWED
from tests.support.planning import ORPHANS, compiled

from fullcount.runtime.act.guard import guard
from fullcount.runtime.act.repeating import FIRST_WAIT, LONGEST_WAIT, TRIES
from fullcount.runtime.act.stop import IN_A_ROW, stop_threshold
from fullcount.runtime.connectors.base import ErrorClass
from fullcount.runtime.plan.caps import caps_for, effective_cap

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "limits.md").read_text()


def rows(word: str) -> dict[str, dict[int, int]]:
    """The table whose rows begin with a clause of this word: by clause and `n`."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")
    ]
    first = next(nth for nth, cells in enumerate(lines) if cells[0].startswith(f"`{word} "))
    header = [int(cell) for cell in lines[first - 2][1:]]
    table = [cells for cells in lines[first:] if cells[0].startswith(f"`{word} ")]
    return {cells[0].strip("`"): dict(zip(header, map(int, cells[1:]), strict=True)) for cells in table}


LIMITS, STOPS = rows("limit"), rows("stop")


def test_the_table_of_limits_has_every_size_at_which_rounding_matters():
    """None, few, around ten and around a hundred; numbers, percentages, and both."""
    assert all(set(cells) == {0, 1, 2, 3, 9, 10, 11, 99, 100, 101} for cells in LIMITS.values())
    kinds = {("%" in clause, "," in clause) for clause in LIMITS}
    assert kinds == {(False, False), (True, False), (True, True)}


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("clause", LIMITS)
def test_a_limit_lets_through_what_the_page_says_and_not_one_more(clause):
    """The clause is compiled; the plan over it is over its cap by one more, and the guard lets so many acts through."""
    text = re.sub(r"limit +50, 50%", clause, ORPHANS)
    limit = compiled(text).proposals[0].limit
    for population, allowed in LIMITS[clause].items():
        assert effective_cap(limit.count, limit.percent, population) == allowed
        assert not caps_for(limit.count, limit.percent, population, allowed).exceeded
        assert caps_for(limit.count, limit.percent, population, allowed + 1).exceeded
        given = replace(ALLOWED, cap_count=limit.count, cap_percent=limit.percent, population=population)
        may = [acts for acts in range(allowed + 2) if guard(replace(given, acts=acts)) is None]
        assert may == list(range(allowed))


@pytest.mark.parametrize("clause", STOPS)
def test_a_stop_rule_ends_a_run_after_as_many_failures_as_the_page_says(clause):
    """A share of the plan's rows, rounded down, and one at least."""
    failures = re.search(r"(\d+) failures", clause)
    percent = re.search(r"(\d+)%", clause)
    for planned, wanted in STOPS[clause].items():
        found = stop_threshold(
            None if failures is None else int(failures[1]), None if percent is None else Decimal(percent[1]), planned
        )
        assert found == wanted


def test_the_table_of_troubles_says_what_the_run_time_does():
    """How often and after which waits it tries again, and how many in a row end a run."""
    lines = {cells[1].strip(" `"): cells for line in PAGE.splitlines() if len(cells := line.split("|")) == 6}
    for kind in ErrorClass:
        number = lines[kind.value][4].strip()
        assert number == str(IN_A_ROW.get(kind, "never"))
    waits = [f"{FIRST_WAIT * 2**tries:g}" for tries in range(TRIES)]
    assert f"{TRIES} times, after {', '.join(waits[:-1])} and {waits[-1]} s" in lines["throttle"][3]
    assert f"up to {LONGEST_WAIT:g} s" in lines["throttle"][3]
