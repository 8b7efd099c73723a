"""How fast and how far a source may be asked: a rate of our own, and the allowance that replies speak of (R17)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.conditions import number_of
from fullcount.runtime.connectors.http.said import way_on
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Incompleteness

_UNSTATED, _EARLY = 1.0, 0.01
"""Seconds that requests are held back where nobody says for how long, and by which a timer may ring too soon."""


@dataclass(slots=True)
class Pace:
    """`rate` requests a second at most, None: as fast as they come; `reserve` requests are left to others."""

    rate: float | None
    reserve: int
    names: Sequence[str]
    """The headers that say how many requests remain."""
    remaining: float | None = None
    after: float | None = None
    _under_way: int = 0
    """Requests that were sent and not answered yet: what the last reply said does not count them."""
    _held_until: float | None = None
    _next: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def wait(self) -> None:
        """Wait for the next request's turn; `answered` once it is over. Raises `SourceError` if it would come out of
        the reserve.
        """
        if self.remaining is not None and self.reserve > 0 and self.remaining - self._under_way <= self.reserve:
            self._hold_back(self.remaining)
        self._under_way += 1
        if self.rate is None:
            return
        try:
            async with self._lock:
                now = time.monotonic()
                self._next = max(self._next, now) + 1 / self.rate
                await asyncio.sleep(max(0.0, self._next - 1 / self.rate - now))
        except asyncio.CancelledError:
            self.answered()
            raise

    def answered(self) -> None:
        """Note that a request is over, whatever came of it."""
        self._under_way -= 1

    def _hold_back(self, left: float) -> None:
        """Refuse every request, also those of other parts, until the allowance may be another one."""
        now, after = time.monotonic(), self.after
        if self._held_until is None:
            self._held_until = now + (_UNSTATED if after is None else after - _EARLY)
        elif now >= self._held_until:
            self.remaining, self._held_until = None, None
            return
        detail = f"{left:g} requests remain of the source's allowance, and {self.reserve:,} are left to others"
        data = {"remaining": left, "reserve": self.reserve}
        reason = Incompleteness(code=Reason.RATE_LIMITED, detail=detail, data=data)
        raise SourceError(reason, retryable=after is not None, continuation=way_on(Way.RETRY_AFTER, after=after))

    def note(self, headers: Mapping[str, str], after: float | None) -> None:
        """Note what a reply says of the allowance."""
        stated = [number for name in self.names if (number := number_of(headers.get(name))) is not None]
        if len(stated) > 0:
            self.remaining, self.after = stated[0], after
            if stated[0] > self.reserve:
                self._held_until = None
