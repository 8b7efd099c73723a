"""Whether acts were meant no faster than their workflow allows: judged for the store and for an export alike.

What is recorded is when acts were meant, a group at a time, not when each call was made: so a pace that was a little
too fast for a moment can't be seen, and one that was too fast over more than two of its windows can. Acts that came to
nothing gave their place back, and do not count. How many calls were under way at once is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

LARGEST_GROUP: Final = 50
"""The most acts that one entry may mean."""

_SECOND: Final = 1_000_000
_NO_PLACE: Final = frozenset({"already_gone", "changed", "refused"})


@dataclass(frozen=True, slots=True)
class MeantGroup:
    """One entry of intents."""

    seq: int
    at: int
    run_id: str | None
    kind: str
    keys: tuple[str, ...]


@dataclass(slots=True)
class Pace:
    """What was meant under each plan, in order."""

    groups: dict[str, list[MeantGroup]] = field(default_factory=dict)

    def meant(self, plan_id: str, group: MeantGroup) -> str | None:
        """Take note of a group; return what is wrong with it alone."""
        self.groups.setdefault(plan_id, []).append(group)
        if not 1 <= len(group.keys) <= LARGEST_GROUP:
            return f"{len(group.keys)} acts were meant at once, and at most {LARGEST_GROUP} may be"
        return None

    def again(self, plan_id: str, group: MeantGroup) -> str | None:
        """Take note of acts that are gone on with: what is meant with them at once was granted with them."""
        before = self.groups.get(plan_id, [])
        last = before[-1] if before else None
        if last is not None and (last.at, last.run_id, last.kind) == (group.at, group.run_id, group.kind):
            before.pop()
            group = replace(group, keys=(*last.keys, *group.keys))
        return self.meant(plan_id, group)


def too_fast(
    pace: Pace, plan_id: str, rate: Decimal | None, outcome_of: Callable[[str, str], str | None]
) -> list[tuple[int, str]]:
    """Return where acts were meant faster than `rate` allows; None: any number may be meant.

    `outcome_of`: what came of one, by kind and object. Raises `ValueError` for a rate that nothing can keep to.
    """
    if rate is not None and not (rate.is_finite() and rate > 0):
        msg = f"a rate of {rate} is none that acts can keep to"
        raise ValueError(msg)
    if rate is None:
        return []
    many, window = max(1, int(rate)), int(max(1 / rate, Decimal(1)) * _SECOND)
    wrong: list[tuple[int, str]] = []
    counted: list[tuple[MeantGroup, int]] = []
    for group in pace.groups.get(plan_id, ()):
        if len(group.keys) > many:
            wrong.append((group.seq, f"{len(group.keys)} acts were meant at once, and {_rated(rate)} allows {many}"))
        took = sum(1 for key in group.keys if outcome_of(group.kind, key) not in _NO_PLACE)
        counted.append((group, took))
    for first in range(len(counted)):
        start, acts = counted[first][0], 0
        for group, took in counted[first + 1 :]:
            if group.run_id != start.run_id or group.at < start.at:
                break  # another run begins its count anew; and where the clock was set back, none is possible
            acts += took
            if acts > many * ((group.at - start.at) // window + 1):
                return [
                    *wrong,
                    (group.seq, f"{acts} acts were meant within {_spent(group.at - start.at)} s, {_rated(rate)}"),
                ]
            if group.at - start.at > 60 * window:
                break  # what is too fast over a longer time is too fast over a shorter one
    return wrong


def _rated(rate: Decimal) -> str:
    return f"at most {rate.normalize():f} a second"


def _spent(micros: int) -> str:
    return f"{micros / _SECOND:g}"
