"""Pace: how fast a run may act, and how many objects it takes up at once.

`Pacer` never lets more acts start in any second than the rate says. `Batch` sizes groups so that an object is acted on
within about a second of its recheck, and so that the store commits in groups where acts are fast.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal

GROUP_LIMIT = 50
"""The most intents in one transaction (design section 9)."""

LOOK_SECONDS = 1.0
"""How long a run that waits takes to notice, at most, that it is asked to stop."""

RECHECK_SECONDS = 1.0
"""How long after its recheck an object should be acted on, at most; after five times that it is read once more."""


def _never() -> bool:
    return False


async def rest(seconds: float, sleep: Callable[[float], Awaitable[None]], stopped: Callable[[], bool]) -> None:
    """Sleep, a second at a time, and no longer than until the run is asked to stop."""
    left = seconds
    while left > 0 and not stopped():
        part = min(left, LOOK_SECONDS)
        await sleep(part)
        left -= part


@dataclass(slots=True)
class Pacer:
    """Grants acts. `rate` is acts per second; None: unlimited. `clock` is monotonic, in seconds.

    In no second do more acts start than the rate, rounded down; a rate below one means so many seconds between two.
    """

    rate: Decimal | None
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    stopped: Callable[[], bool] = _never
    _starts: deque[float] = field(default_factory=deque, init=False)

    async def take(self, wanted: int) -> int:
        """Return how many of `wanted` acts may start now, at least one, after waiting until one may.

        It is none when the run is asked to stop meanwhile.
        """
        if self.rate is None or wanted <= 0:
            return wanted
        many, window = max(1, int(self.rate)), float(max(1 / self.rate, Decimal(1)))
        while True:
            now = self.clock()
            while self._starts and now - self._starts[0] >= window:
                self._starts.popleft()
            granted = min(wanted, many - len(self._starts))
            if granted >= 1:
                self._starts.extend([now] * granted)
                return granted
            await rest(max(window - (now - self._starts[0]), 1e-3), self.sleep, self.stopped)
            if self.stopped():
                return 0

    def give_back(self, unused: int) -> None:
        """Return grants that were not used, because their objects turned out not to need an act."""
        for _ in range(min(unused, len(self._starts))):
            self._starts.pop()


@dataclass(slots=True)
class Batch:
    """The size of the next group: from `concurrency` up to `GROUP_LIMIT`, by the speed seen so far."""

    concurrency: int
    _size: int = field(init=False)

    def __post_init__(self) -> None:
        self._size = max(1, min(self.concurrency, GROUP_LIMIT))

    @property
    def size(self) -> int:
        """How many objects to take up next."""
        return self._size

    def took(self, objects: int, seconds: float) -> None:
        """Learn from a group of `objects` that took `seconds` from its first recheck to its last act."""
        if objects <= 0:
            return
        per_object = max(seconds, 1e-6) / objects
        fitting = int(RECHECK_SECONDS / per_object)
        self._size = max(1, min(self.concurrency, GROUP_LIMIT), min(fitting, GROUP_LIMIT, self._size * 4))
