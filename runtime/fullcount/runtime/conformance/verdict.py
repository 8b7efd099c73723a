"""A verdict on a case, and in what two verdicts differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.ways import hardest
from fullcount.runtime.conformance.case import Case
from fullcount.runtime.evidence.codes import (
    BLOCKING_WARNINGS,
    ActReason,
    Decision,
    Reason,
    WarningCode,
    Way,
)
from fullcount.runtime.evidence.envelope import Continuation

KNOWN = frozenset({FieldState.PRESENT, FieldState.ABSENT})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was made of a case."""

    reasons: frozenset[Reason | ActReason] = frozenset()
    continuation: Way | None = None
    warnings: frozenset[WarningCode] = frozenset()
    field_states: Mapping[str, FieldState] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    """What was said beside the codes, for people."""

    @property
    def complete(self) -> bool:
        """Whether there is no reason against it."""
        return len(self.reasons) == 0

    @property
    def decision(self) -> Decision:
        """What it licenses."""
        if self.complete:
            blocked = len(self.warnings & BLOCKING_WARNINGS) > 0 or not set(self.field_states.values()) <= KNOWN
            return Decision.REFUSE_OR_REQUEST_REVIEW if blocked else Decision.ACT
        if self.continuation is None:
            return Decision.REFUSE_OR_REQUEST_REVIEW
        return Decision.RESTART if self.continuation is Way.RESTART else Decision.CONTINUE_SEARCH


def way_of(ways: Iterable[Continuation | None]) -> Way | None:
    """Return the kind of the way that deals with every reason."""
    found = hardest(ways)
    return None if found is None else found.way


def worst(states: Iterable[FieldState]) -> FieldState:
    """Return what is to be said of a field of which the objects have these states: what is not known outweighs."""
    found = set(states)
    return next((state for state in _WORST_FIRST if state in found), FieldState.ABSENT)


_WORST_FIRST = (
    FieldState.SOURCE_FAILED,
    FieldState.FORBIDDEN,
    FieldState.TRUNCATED,
    FieldState.INDETERMINATE,
    FieldState.NOT_REQUESTED,
    FieldState.PRESENT,
    FieldState.ABSENT,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One respect in which a verdict is not the expected one."""

    about: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.about}: expected {self.expected}, found {self.found}"


def differences(case: Case, verdict: Verdict) -> tuple[Difference, ...]:
    """Return in what a verdict differs from the expected one; further warnings are no difference."""
    expect = case.expect
    found: list[Difference] = []

    def differ(about: str, wanted: object, given: object) -> None:
        if wanted != given:
            found.append(Difference(about, _text(wanted), _text(given)))

    differ("complete", expect.complete, verdict.complete)
    differ("reasons", frozenset(expect.reasons), verdict.reasons)
    differ("continuation", expect.continuation, verdict.continuation)
    differ("decision", expect.decision, verdict.decision)
    if expect.field_states is not None:
        differ("field states", dict(expect.field_states), dict(verdict.field_states))
    missing = (set(expect.warnings) & BLOCKING_WARNINGS) - verdict.warnings
    if len(missing) > 0:
        found.append(Difference("blocking warnings", _text(frozenset(missing)), _text(verdict.warnings)))
    return tuple(found)


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        return "none" if len(value) == 0 else " + ".join(sorted(str(one) for one in value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {state}" for name, state in sorted(value.items())) or "none"
    if isinstance(value, bool):
        return "complete" if value else "incomplete"
    return "none" if value is None else str(value)
