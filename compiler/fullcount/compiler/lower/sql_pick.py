"""`pick oldest N per … by …` and `pick P% at random …` in SQL: which of the selected objects are taken.

A pick looks at every object that is selected so far, and takes the first N of each group; the key decides between
equals, so that there is always one answer. Selected is a truth itself: an object that may be selected may be before
another one. So an object is passed over only if at least as many as are taken *surely* come before it; it is taken only
if no more rows can be missing and fewer could come before it than are *surely* taken; in between, and where its own
group or place is not known, the truth is NULL.

A percentage is of the objects of a group that are selected, rounded down: of those that surely are for what is surely
taken, of those that could be for what could be. So more rows, and more known fields, only turn NULL into an answer, and
a partial view never takes what the whole would pass over.

Several picks are applied one after the other: each takes from what the one before it took.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fullcount.compiler.lower import sql_text
from fullcount.compiler.program import Pick

PICKED = "$picked"
"""Output column: the conjunction of the picks."""

FIRST_PASSED, FIRST_OPEN = "$passed_by", "$open_by"
"""Output columns: the number of the first pick that passes the object over, and of the first that can't tell."""

_DIRECTION = {"newest": "DESC", "oldest": "ASC", "random": "ASC"}


def group_column(number: int) -> str:
    """Return the column of a statement that has the group of the pick with this number."""
    return f"$group{number}"


def place_column(number: int) -> str:
    """Return the column of a statement that has the place of the pick with this number."""
    return f"$place{number}"


def random_place(seed: str, key: Sequence[str]) -> str:
    """Return the place of an object in a random order: the digest of the seed and the key's canonical values."""
    texts = [f"CAST({part} AS VARCHAR)" for part in key]
    parts = [f"CAST(length({text}) AS VARCHAR) || ':' || {text}" for text in texts]
    return f"sha256({sql_text.text(f'{len(seed)}:{seed}')} || {' || '.join(parts)})"


def with_picks(decided: str, picks: Sequence[Pick], selected: str, key: Sequence[str], *, complete: bool) -> str:
    """Return a SELECT of everything in `decided` and what the picks make of each row.

    `decided` has the columns of each pick's group and place; `selected` is an expression over it that tells whether an
    object is selected before any pick; `key` are its columns of the key, quoted. `complete`: no row can be missing.
    """
    if len(picks) == 0:
        return f'SELECT *, TRUE AS "{PICKED}", NULL AS "{FIRST_PASSED}", NULL AS "{FIRST_OPEN}" FROM ({decided})'
    statement = f'SELECT *, ({selected}) AS "$so_far0" FROM ({decided})'
    for number, pick in enumerate(picks):
        answer = _taken(pick, number, key, complete=complete)
        one = f'SELECT *, {answer} AS "$taken{number}" FROM ({statement})'
        statement = f'SELECT *, ("$so_far{number}" AND "$taken{number}") AS "$so_far{number + 1}" FROM ({one})'
    taken = [f'"$taken{number}"' for number in range(len(picks))]
    passed = " ".join(f"WHEN {each} IS FALSE THEN {number}" for number, each in enumerate(taken))
    unclear = " ".join(f"WHEN {each} IS NULL THEN {number}" for number, each in enumerate(taken))
    return (
        f'SELECT *, ({" AND ".join(taken)}) AS "{PICKED}", CASE {passed} END AS "{FIRST_PASSED}",'
        f' CASE {unclear} END AS "{FIRST_OPEN}" FROM ({statement})'
    )


def _taken(pick: Pick, number: int, key: Sequence[str], *, complete: bool) -> str:
    """Return the truth that one pick takes the row."""
    group, place = sql_text.identifier(group_column(number)), sql_text.identifier(place_column(number))
    so_far = f'"$so_far{number}"'
    sure, perhaps = f"{so_far} IS TRUE", f"{so_far} IS NOT FALSE"
    order = ", ".join((f"{place} {_DIRECTION[pick.order]} NULLS LAST", *key))

    def before(which: str) -> str:
        return (
            f"coalesce(count(*) FILTER (WHERE {which} AND {place} IS NOT NULL) OVER (PARTITION BY {group}"
            f" ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"
        )

    nowhere = f"count(*) FILTER (WHERE {perhaps} AND {group} IS NULL) OVER ()"
    unplaced = f"count(*) FILTER (WHERE {perhaps} AND {place} IS NULL) OVER (PARTITION BY {group})"
    surely = f"count(*) FILTER (WHERE {sure}) OVER (PARTITION BY {group})"
    possibly = f"(count(*) FILTER (WHERE {perhaps}) OVER (PARTITION BY {group}) + {nowhere})"
    at_least, at_most = _amount(pick, surely), _amount(pick, possibly)
    if not complete:
        # of rows that nobody has seen there may be any number: only a number bounds what is taken
        at_most = _bound(pick)
    answer = f"CASE WHEN {group} IS NULL OR {place} IS NULL THEN NULL"
    if at_most is not None:
        answer += f" WHEN {before(sure)} >= {at_most} THEN FALSE"
    if complete:
        answer += f" WHEN {before(perhaps)} + {unplaced} + {nowhere} < {at_least} THEN TRUE"
    return f"{answer} END"


def _amount(pick: Pick, of: str) -> str | None:
    """Return how many a pick takes of so many."""
    bound = _bound(pick)
    if pick.percent is None:
        return bound
    part = Fraction(pick.percent) / 100
    share = f"(({of}) * {part.numerator} // {part.denominator})"
    return share if bound is None else f"least({share}, {bound})"


def _bound(pick: Pick) -> str | None:
    """Return the number that a pick takes at most, whatever there is; None: a percentage alone."""
    numbers = [number for number in (pick.count, pick.at_most) if number is not None]
    return str(min(numbers)) if len(numbers) > 0 else None
