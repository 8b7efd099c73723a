"""Seating people in quorums: one person counts once, and for one quorum only.

"2 of `iam-admin`, 1 of `security`" always means three people. Who may sit where is given; nothing here knows who
anybody is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

P = TypeVar("P", int, str)


def seat(quorums: Sequence[tuple[int, frozenset[P]]], people: frozenset[P]) -> dict[tuple[int, int], P]:
    """Seat as many of the people as can be: (quorum, place) to person (Kuhn's augmenting paths).

    `quorums`: how many places each has, and who may take one. A quorum that asks for more people than may sit in it is
    never filled.
    """
    places = [
        (index, place)
        for index, (count, may) in enumerate(quorums)
        for place in range(min(count, len(may & people) + 1))
    ]
    filled: dict[tuple[int, int], P] = {}

    def seated(place: tuple[int, int], tried: set[P]) -> bool:
        for person in sorted(people & quorums[place[0]][1]):
            if person in tried:
                continue
            tried.add(person)
            holder = next((other for other, held in filled.items() if held == person), None)
            if holder is None or seated(holder, tried):
                filled[place] = person
                return True
        return False

    for place in places:
        seated(place, set())
    return filled
