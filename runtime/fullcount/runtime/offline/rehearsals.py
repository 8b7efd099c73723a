"""What an object counts as whose restore was rehearsed: once, as what its last act came to.

The one rule of that, for whoever counts: the store, its verifier, the report, and the verifier of an export.
"""

from __future__ import annotations

from collections.abc import Mapping
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
