"""What a read found against itself: reasons with their ways on, warnings, each said once.

Guarantees: a way on is one that exists (R9). Where several reasons stand, the way is that of the reason which is
hardest to mend, because an easier one would not make the answer complete; if one of them has no way, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice

_USUAL: dict[Reason, tuple[Way, str]] = {
    Reason.RESULT_LIMIT_REACHED: (Way.NARROW_QUERY, "ask for parts of the scope that stay below the source's limit"),
    Reason.TIME_BUDGET_EXCEEDED: (Way.RETRY_WITH_DEADLINE, "read again with a longer `deadline`"),
    Reason.SOURCE_UNAVAILABLE: (Way.RETRY_WITH_DEADLINE, "read again when the source answers"),
    Reason.RATE_LIMITED: (Way.RETRY_AFTER, "read again when the source's limit on requests has passed"),
    Reason.QUOTA_EXHAUSTED: (Way.RETRY_AFTER, "read again when the source's quota is renewed"),
    Reason.RESULT_NOT_READY: (Way.RETRY_AFTER, "read again when the source has finished its report"),
    Reason.CURSOR_EXPIRED: (Way.RESTART, "read again from the beginning"),
    Reason.CURSOR_LOOP: (Way.RESTART, "read again from the beginning"),
    Reason.SNAPSHOT_CHANGED: (Way.RESTART, "read again from the beginning"),
    Reason.COUNT_MISMATCH: (Way.RESTART, "read again from the beginning"),
    Reason.UNEXPECTED_STATUS: (Way.RESTART, "read again from the beginning"),
    Reason.AUTH_FAILED: (Way.RESTART, "renew the credentials of the source, then read again"),
    Reason.UNPROCESSED_ITEMS: (Way.RETRY_ITEMS, "ask again for what was left unread"),
}
"""The way on that a reason usually leaves. Reasons that are not here leave none, unless the source names one."""

_HARDEST_FIRST: tuple[Way | None, ...] = (
    None,
    Way.RESTART,
    Way.NARROW_QUERY,
    Way.RETRY_WITH_DEADLINE,
    Way.RETRY_ITEMS,
    Way.RETRY_AFTER,
    Way.NEXT_CURSOR,
)


@dataclass(slots=True)
class Account:
    """The reasons and warnings of one read, in the order in which they were found."""

    _reasons: list[tuple[Incompleteness, Continuation | None]] = field(default_factory=list)
    _warnings: list[Notice] = field(default_factory=list)

    def reason(self, found: Incompleteness, way: Continuation | None = None, *, dead_end: bool = False) -> None:
        """Note a reason once; `way` is what the source said of going on, None: the usual one; `dead_end`: none."""
        if all(found != noted for noted, _ in self._reasons):
            self._reasons.append((found, None if dead_end else usual_way(found) if way is None else way))

    def has(self, code: Reason) -> bool:
        """Whether a reason of this code was noted."""
        return any(noted.code is code for noted, _ in self._reasons)

    def warn(self, *notices: Notice) -> None:
        """Note warnings, each once."""
        for notice in notices:
            if notice not in self._warnings:
                self._warnings.append(notice)

    def warned(self, code: WarningCode) -> bool:
        """Whether a warning of this code was noted."""
        return any(notice.code is code for notice in self._warnings)

    @property
    def reasons(self) -> tuple[Incompleteness, ...]:
        """The reasons found."""
        return tuple(reason for reason, _ in self._reasons)

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The warnings found."""
        return tuple(self._warnings)

    @property
    def continuation(self) -> Continuation | None:
        """The way on that deals with every reason; None if there is none."""
        return hardest(way for _, way in self._reasons)


def usual_way(reason: Incompleteness) -> Continuation | None:
    """Return the way on that a reason usually leaves. The read was closed, so none of them keeps its snapshot."""
    if reason.code not in _USUAL:
        return None
    way, hint = _USUAL[reason.code]
    return Continuation(way=way, preserves_snapshot=False, hint=hint)


def hardest(ways: Iterable[Continuation | None]) -> Continuation | None:
    """Return the way that has to be gone whatever the others are."""
    ranked = sorted(ways, key=lambda way: _HARDEST_FIRST.index(None if way is None else way.way))
    return ranked[0] if len(ranked) > 0 else None
