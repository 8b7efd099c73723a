"""The stop rule: after how many failures nothing further is acted on.

Failures are counted over the whole plan, not over one run of `apply`: starting again must not wipe the count. An
unknown outcome counts as a failure, because it may be one.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.plan.caps import percent_of

FAILURES: frozenset[Outcome] = frozenset({Outcome.FAILED, Outcome.UNKNOWN})


def stop_threshold(failures: int | None, percent: Decimal | None, planned: int) -> int | None:
    """Return the number of failures that stops a plan; None if the workflow has no stop rule.

    A percentage is of the plan's rows, rounded down, but at least 1: "stop after 1 %" of 50 rows means the first
    failure, not none at all. Both halves hold, the stricter wins.
    """
    bounds: list[int] = []
    if failures is not None:
        bounds.append(max(1, failures))
    if percent is not None:
        bounds.append(max(1, percent_of(percent, planned)))
    return min(bounds) if bounds else None


@dataclass(slots=True)
class StopRule:
    """Counts failures against the threshold."""

    threshold: int | None
    failures: int = 0

    def saw(self, outcome: Outcome) -> None:
        """Take note of an outcome."""
        if outcome in FAILURES:
            self.failures += 1

    @property
    def reached(self) -> bool:
        """Whether nothing further may be acted on."""
        return self.threshold is not None and self.failures >= self.threshold

    def left(self, at_most: int) -> int:
        """Return how many acts may be under way at once, so that failures can't pass the threshold unseen."""
        if self.threshold is None:
            return at_most
        return max(1, min(at_most, self.threshold - self.failures))
