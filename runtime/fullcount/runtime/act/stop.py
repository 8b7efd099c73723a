"""The stop rule: after how many failures nothing further is acted on.

Besides what the workflow says, a run gives up when the same kind of trouble comes again and again (`InARow`).

Failures are counted over the whole plan, not over one run of `apply`: starting again must not wipe the count. An
unknown outcome counts as a failure, because it may be one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fullcount.compiler.program import Stop
from fullcount.runtime.connectors.base import ErrorClass, Outcome
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.caps import percent_of
from fullcount.runtime.store.views import LedgerEntry

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


def stop_rule(
    stop: Stop | None, planned: int, ledger: Iterable[LedgerEntry], resuming: Collection[tuple[Any, ...]]
) -> StopRule:
    """Return the rule of an act or an undo, with what earlier runs came to but for the objects gone on with now."""
    rule = StopRule(None if stop is None else stop_threshold(stop.failures, stop.percent, planned))
    for entry in ledger:
        if entry.outcome is not None and entry.object_key not in resuming:
            rule.saw(entry.outcome)
    return rule


IN_A_ROW: Mapping[ErrorClass, int] = {
    ErrorClass.THROTTLE: 3,
    ErrorClass.TRANSIENT: 3,
    ErrorClass.UNKNOWN: 10,
    ErrorClass.PERMANENT: 25,
}
"""How many acts in a row may fail for the same kind of reason. Those of the first two were tried again before.

A conflict is an answer about one object, and tells nothing of the next.
"""

AGAIN_AND_AGAIN = "FC787"
"""The finding that a run gave up."""


@dataclass(slots=True)
class InARow:
    """Counts acts in a row that met the same kind of trouble, within one run: the next run tries anew."""

    kind: ErrorClass | None = None
    acts: int = 0

    def saw(self, trouble: ErrorClass | None) -> None:
        """Take note of how an act ended; None: without any trouble."""
        if trouble is ErrorClass.CONFLICT:
            return
        self.acts = self.acts + 1 if trouble is self.kind else 1
        self.kind = trouble

    @property
    def finding(self) -> Finding | None:
        """Why nothing further is acted on; None while it may be."""
        if self.kind is None or self.acts < IN_A_ROW[self.kind]:
            return None
        return Finding(
            code=AGAIN_AND_AGAIN,
            message=f"{self.acts} acts in a row ended with the same kind of trouble: {_SAID[self.kind]}",
            ways_on=("find the cause in the outcomes, then apply the same plan again: it goes on with the rest",),
        )


_SAID: Mapping[ErrorClass, str] = {
    ErrorClass.THROTTLE: "the target was asked too often",
    ErrorClass.TRANSIENT: "the target was not there, or did nothing for a reason that passes",
    ErrorClass.UNKNOWN: "no answer told what the target did",
    ErrorClass.PERMANENT: "the target refused for good",
}
