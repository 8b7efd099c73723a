"""Floors right before the act: does the object still come after enough others of its group?

**What is asked again.** The object's own group and place are worked out on what was just read of it. The others are
taken as they stood in the certified snapshot, without the plan's own objects, as if all of these were gone; the guard
holds that this snapshot is still as fresh as the workflow demands. So an object that moved to the front of its group,
or to a smaller one, is left alone. An object that another hand removed since the snapshot was read is noticed by the
next reading, not here.

What is not known keeps the object: a place that can't be told, and a snapshot that is missing or was changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fullcount.compiler.lower.closure import NOWHERE, compile_value
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Keep, Proposal
from fullcount.compiler.values import Row, Truth, Value
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotMissing
from fullcount.runtime.plan.floors import ALL, Borders


class Floors:
    """The floors of one plan. `borders` works out those of each floor over the snapshot; it blocks, and is asked once.

    It raises `SnapshotMissing` and `SnapshotCorrupt`.
    """

    def __init__(self, proposal: Proposal, bindings: Bindings, borders: Callable[[], Sequence[Borders]]) -> None:
        self._row = proposal.row
        self._keeps = proposal.keeps
        self._groups = [None if k.per is None else compile_value(k.per, bindings) for k in proposal.keeps]
        self._places = [compile_value(k.by, bindings) for k in proposal.keeps]
        self._work_out = borders
        self._borders: Sequence[Borders] | None = None
        self._unusable = ""
        self._once = asyncio.Lock()

    async def keep(self, live: Row) -> list[tuple[Truth, str]]:
        """Return for each floor whether it keeps the object of which this was read, and what to say of it."""
        if len(self._keeps) == 0:
            return []
        async with self._once:
            if self._borders is None and self._unusable == "":
                await self._look()
        return [self._kept(number, keep, live) for number, keep in enumerate(self._keeps)]

    async def _look(self) -> None:
        try:
            self._borders = await asyncio.to_thread(self._work_out)
        except (SnapshotMissing, SnapshotCorrupt) as error:
            self._unusable = f": {error}"

    def _kept(self, number: int, keep: Keep, live: Row) -> tuple[Truth, str]:
        unknown = None, f"its place by `{keep.text}` is not known{self._unusable}"
        if self._borders is None:
            return unknown
        env = {self._row: live}
        group_of = self._groups[number]
        group: Value | None = ALL if group_of is None else group_of(env, NOWHERE).value
        place = self._places[number](env, NOWHERE).value
        if group is None or place is None:
            return unknown
        border = self._borders[number].get(group)
        if border is not None and _after(place, border, keep.order):
            return False, ""
        return True, f"it stays by `{keep.text}`"


def _after(place: Value, border: Value, order: str) -> bool:
    """Whether an object at this place comes strictly after the border. Both have the type of the floor's `by`."""
    return place < border if order == "newest" else place > border  # type: ignore[operator]
