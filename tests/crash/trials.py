"""From a seed to a trial: which target, which kills in the apply and in the undo of it. Pure, and the same for ever.

The first kill of the seeds walks through every pair of a target and a point, so that so many seeds in a row leave none
out; everything else is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tests.crash.targets import TARGETS
from tests.support.crash_driver import CANARY_POINTS, EDGE_POINTS, FILE_POINTS, POINTS

ANYWHEN = "any_time"
"""No point: the process is killed from outside, some time after it began."""

_FEW = ("before_finish", *EDGE_POINTS, *CANARY_POINTS)
"""Points that a run passes once."""


@dataclass(frozen=True)
class Kill:
    """One kill: at the nth passing of a point, or after so many seconds."""

    point: str
    nth: int = 1
    after: float | None = None

    def __str__(self) -> str:
        return f"{self.point}+{self.after:.3f}s" if self.after is not None else f"{self.point}/{self.nth}"


@dataclass(frozen=True)
class Trial:
    """Kills of one apply, and of the undo after it; None: it is not undone."""

    seed: int
    target: str
    kills: tuple[Kill, ...]
    undo_kills: tuple[Kill, ...] | None


def trial_of(seed: int, names: Sequence[str] | None = None) -> Trial:
    """Return the trial of a seed."""
    pairs = [pair for name in names or sorted(TARGETS) for pair in product([name], points_of(name))]
    random.Random(0).shuffle(pairs)
    chance = random.Random(f"trial {seed}")
    target, point = pairs[seed % len(pairs)]
    further = (chance.choice(points_of(target)) for _ in range(chance.choice((0, 1, 2, 3, 4, 6))))
    kills = [_kill(each, chance) for each in (point, *further)]
    undo = None
    if chance.random() < 0.5:
        undo = tuple(_kill(chance.choice(_undo_points(target)), chance) for _ in range(chance.randint(1, 2)))
    return Trial(seed, target, tuple(kills), undo)


def points_of(target: str) -> tuple[str, ...]:
    """Return the points at which a process that acts on a target can be killed."""
    canary = CANARY_POINTS if "canary" in target else ()
    steps = (*FILE_POINTS, *FILE_POINTS) if target.startswith("files") else ()
    return (*(point for point in POINTS if point != "none"), *EDGE_POINTS, *canary, *steps, ANYWHEN, ANYWHEN)


def _undo_points(target: str) -> tuple[str, ...]:
    steps = FILE_POINTS if target.startswith("files") else ()
    return (*(point for point in (*POINTS, *EDGE_POINTS) if point != "none"), *steps, ANYWHEN)


def _kill(point: str, chance: random.Random) -> Kill:
    if point == ANYWHEN:
        return Kill(point, after=0.01 * 100 ** chance.random())  # from 10 ms to 1 s, short ones as likely as long ones
    if point in FILE_POINTS:
        return Kill(point, chance.randint(1, 150))  # some ten steps for each object
    if point in _FEW:
        return Kill(point)
    return Kill(point, chance.choice((1, 1, 2, 3, 5, 8, 13)) if point.endswith("call") else chance.choice((1, 1, 2)))
