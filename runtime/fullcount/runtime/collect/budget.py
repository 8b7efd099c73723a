"""What a read may cost, and how far it has come (R16, R17)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of one read; None: unbounded, 0: nothing at all. A bound that stops a read makes it incomplete.

    `deadline` in seconds; the inventory's own `deadline` holds too, the shorter wins. After `max_rows` rows or
    `max_pages` pages no further page is asked for. `retries` counts over the whole read. `sleep` and `monotonic` are
    the clocks that waiting and the deadline go by. An inventory that is read in parts has one deadline; the other
    bounds hold for each part, of which at most `parts_at_once` are read at the same time.
    """

    deadline: float | None = None
    max_rows: int | None = None
    max_pages: int | None = None
    retries: int = 4
    parts_at_once: int = 4
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic

    @staticmethod
    def wait_before(retry: int) -> float:
        """Return how long to wait before the given retry (the first is 1) when the source does not say, in seconds."""
        return min(_FIRST_WAIT * 2.0 ** (retry - 1), _LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a read has come, after each page. `total` is what the source says there is, if it says so."""

    inventory: str
    pages: int
    rows: int
    total: int | None
    seconds: float
