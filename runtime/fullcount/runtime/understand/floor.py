"""Whether a floor (`keep at least N per … newest by …`) keeps one object, over rows that may be edited.

The definition of `lower/sql_floor.py`, said of one object: at least N others that surely come strictly before it let
it go; if no more rows can be missing and fewer than N could come before it, it stays; anything else is unknown. It goes
through every row of the base inventory, so it is for one object at a time and never for a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from fullcount.compiler import ir, program
from fullcount.compiler.lower.closure import compile_truth, compile_value
from fullcount.compiler.values import Row, Truth
from fullcount.runtime.understand.trace import Surroundings

EVERY: Final = True
"""The group of every object where a floor has no `per`."""


def floors_keep(
    keeps: Sequence[program.Keep], inventory: str, name: str, scope: ir.Expr, row: Row, around: Surroundings
) -> Truth:
    """Return whether any of these floors keeps the object, whose `row` stands for the stored one with its key.

    `name` is what the floors call a row of `inventory`.
    """
    answers = [_keeps(keep, inventory, name, scope, row, around) for keep in keeps]
    return True if True in answers else None if None in answers else False


def _keeps(keep: program.Keep, inventory: str, name: str, scope: ir.Expr, row: Row, around: Surroundings) -> Truth:
    place_of = compile_value(keep.by, around.bindings)
    group_of = None if keep.per is None else compile_value(keep.per, around.bindings)
    in_scope = compile_truth(scope, around.bindings)
    base = around.world.rows(inventory, ())
    own_key = around.key_of(inventory, row)

    def places() -> Iterator[Truth]:
        """Yield for each other object whether it comes strictly before this one in its group."""
        for other in base.rows:
            scoped = in_scope({ir.SELF: other}, around.world)
            if scoped is False or around.key_of(inventory, other) == own_key:
                continue
            env = {name: other}
            group = EVERY if group_of is None else group_of(env, around.world).value
            if group is not None and group != own_group:
                continue
            place: Any = place_of(env, around.world).value
            if group is None or place is None:
                yield None
            elif place > own_place if keep.order == "newest" else place < own_place:
                yield scoped

    own_place: Any = place_of({name: row}, around.world).value
    own_group = EVERY if group_of is None else group_of({name: row}, around.world).value
    if own_place is None or own_group is None:
        return None
    found = list(places())
    if found.count(True) >= keep.count:
        return False
    return True if len(found) < keep.count and base.complete else None
