"""Picks right before the act: does the object still have the group and the place by which it was taken?

The others are taken as they stood when the plan was made: what a plan lists was the first of its group in a certified
reading that is still fresh, and a plan never acts on more than it lists. An object that moved in the order, or to
another group, might be passed over by now, so it is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fullcount.compiler.lower.closure import NOWHERE, compile_value
from fullcount.compiler.lower.world import Bindings, World
from fullcount.compiler.program import Proposal
from fullcount.compiler.values import Cell, Row, Truth

_Part = Callable[[Mapping[str, Row], World], Cell]


@dataclass(frozen=True, slots=True)
class _Rank:
    """What one pick looks at."""

    text: str
    parts: tuple[_Part, ...]


class Ranks:
    """The picks of one proposal."""

    def __init__(self, proposal: Proposal, bindings: Bindings) -> None:
        self._row = proposal.row
        self._ranks = tuple(
            _Rank(
                pick.text,
                tuple(compile_value(part, bindings) for part in (pick.per, pick.by) if part is not None),
            )
            for pick in proposal.picks
        )

    def hold(self, planned: Row, live: Row) -> list[tuple[Truth, str]]:
        """Return for each pick whether the object ranks as it did, and what to say if it does not or can't be told."""
        found: list[tuple[Truth, str]] = []
        for rank in self._ranks:
            same = self._same(rank, planned, live)
            what = "is not known" if same is None else "is another one by now"
            found.append((same, f"its place by `{rank.text}` {what}"))
        return found

    def _same(self, rank: _Rank, planned: Row, live: Row) -> Truth:
        same: Truth = True
        for part in rank.parts:
            then, now = (part({self._row: row}, NOWHERE).value for row in (planned, live))
            if then is None or now is None:
                same = None
            elif then != now:
                return False
        return same
