"""What an object counts as whose restore was rehearsed, and whether a canary passed with the rehearsals it needs.

The one rule of each, for whoever counts: the store, its verifier, the report, and the verifier of an export. An object
counts once, as what its last act came to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

ACT: Final = "act"
UNDO: Final = "undo"
RESTORE: Final = "rehearse_undo"
AGAIN: Final = "rehearse_again"
ACT_KINDS: Final = frozenset({ACT, UNDO, RESTORE, AGAIN})
"""Every kind of act on an object; all but the undo belong to an apply."""

Ends = Mapping[str, str | None]
"""What came of the acts of a plan on one object, by kind; None: it was meant, and its outcome is open."""


def last_kind(ends: Ends) -> str:
    """Return the kind of act by which an object counts; an object that was restored and not acted on again has none."""
    if ends.get(ACT) != "done" or RESTORE not in ends:
        return ACT
    if AGAIN in ends or ends[RESTORE] == "done":
        return AGAIN
    # a restore that surely did nothing leaves the object as the act had left it
    return RESTORE if ends[RESTORE] in {None, "unknown"} else ACT


def counts_as(ends: Ends) -> str:
    """Return the outcome that an object counts as."""
    kind = last_kind(ends)
    return ends[kind] or "unknown" if kind in ends else "not_started"


def was_rehearsed(ends: Ends) -> bool:
    """Whether an object was restored, and acted on again after that."""
    return ends.get(ACT) == ends.get(RESTORE) == ends.get(AGAIN) == "done"


@dataclass(frozen=True)
class Passed:
    """What there was of a plan when its canary passed, as objects: those that had come up, and those rehearsed."""

    begun: frozenset[str]
    rehearsed: frozenset[str]


def passed_with(ends_of: Mapping[str, Ends]) -> Passed:
    """Return what a canary passes with: `ends_of` are the objects of the plan that had come up by then."""
    return Passed(frozenset(ends_of), frozenset(key for key, ends in ends_of.items() if was_rehearsed(ends)))


def still_to_rehearse(demanded: Iterable[str | None], steps: Mapping[str, str | None], by: Passed) -> list[str | None]:
    """Return the steps that a canary may not pass without: some of their objects are left, and none was rehearsed.

    `steps`: the step of each object of the plan; None where the act has one operation.
    """
    left = {step for key, step in steps.items() if key not in by.begun}
    done = {steps[key] for key in by.rehearsed if key in steps}
    return [step for step in demanded if step in left and step not in done]
