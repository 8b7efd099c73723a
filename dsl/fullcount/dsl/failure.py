"""Where the parser stopped: the one thing that reading a right file and explaining a wrong one have in common."""

from __future__ import annotations

from fullcount.dsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """Where the parser stopped, the terminals it could have gone on with, and the last one that it took."""

    offset: int
    accepts: frozenset[str]
    previous: str | None
    unreadable: bool  # no token of the language begins here
