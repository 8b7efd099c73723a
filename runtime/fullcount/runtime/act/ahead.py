"""Judging ahead: while the calls of one group are made, the objects of the next one are read and judged.

So the sources need not wait for the store, nor the store for the sources. Nothing is meant or called here: what was
judged waits for its group, is held against the guard there, and is judged once more if it waited too long. It never
takes up more than it is told to, and whatever it began has ended once it is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


class Ahead(Generic[Thing, Answer]):
    """Judges the things of one run in their order. `many`: how many at most beyond the group that is acted on."""

    def __init__(
        self,
        judged: Callable[[Thing], Awaitable[Answer]],
        things: Sequence[Thing],
        many: Callable[[], int],
        clock: Callable[[], float],
    ) -> None:
        """`clock` is monotonic, in seconds."""
        self._judged, self._things, self._many, self._clock = judged, things, many, clock
        self._begun: dict[int, tuple[float, asyncio.Future[Answer]]] = {}
        self._given = 0

    @property
    def since(self) -> float:
        """When the first object that was not given yet began to be judged; now, if none has."""
        return min((at for at, _ in self._begun.values()), default=self._clock())

    def take(self, number: int) -> list[Awaitable[Answer]]:
        """Return what becomes of the next ones, each to be awaited once; those not judged yet begin now."""
        wanted = range(self._given, self._given + number)
        self._given += number
        return [self._begun.pop(at)[1] if at in self._begun else self._judged(self._things[at]) for at in wanted]

    def go_on(self) -> None:
        """Begin with the ones after those that were given."""
        for at in range(self._given, min(self._given + self._many(), len(self._things))):
            if at not in self._begun:
                self._begun[at] = self._clock(), asyncio.ensure_future(self._judged(self._things[at]))

    async def close(self) -> None:
        """Give up what was judged for nothing."""
        left = [task for _, task in self._begun.values()]
        self._begun.clear()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
