"""`keep at least N per … newest by …` in SQL: how many objects of the same group are surely, or perhaps, newer.

An object is not kept by the floor only if at least N others *surely* come before it: in scope, of the same group, and
strictly newer. It is surely kept if no more rows can be missing and fewer than N could come before it. In between, and
where its own place is not known, the truth is NULL. Another row could come before it if it may be in scope, and its
group is the same or not known, and it is newer or its age not known (one of an unknown group counts in any case).

So more rows, and more known fields, only turn NULL into an answer: a partial view never lets go what the whole keeps.
"""

from __future__ import annotations

from fullcount.compiler.lower.sql_expr import Lowering
from fullcount.compiler.lower.sql_frame import Frame
from fullcount.compiler.program import Keep

_DIRECTION = {"newest": "DESC", "oldest": "ASC"}


def kept(lowering: Lowering, frame: Frame, keep: Keep, in_scope: str, *, complete: bool) -> str:
    """Return the truth that the floor keeps the row of the frame. `in_scope` is a column of it."""
    group = None if keep.per is None else frame.hoist(lowering.known(keep.per).value)
    place = frame.hoist(lowering.known(keep.by).value)
    sure, perhaps = f"{in_scope} IS TRUE", f"{in_scope} IS NOT FALSE"
    before = _before(group, place, keep.order, sure)
    among = "" if group is None else f"PARTITION BY {group}"
    possible = [
        _before(group, place, keep.order, perhaps),
        f"count(*) FILTER (WHERE {perhaps} AND {place} IS NULL) OVER ({among})",
    ]
    if group is not None:
        possible.append(f"count(*) FILTER (WHERE {perhaps} AND {group} IS NULL) OVER ()")
    unknown = f"{place} IS NULL" if group is None else f"({group} IS NULL OR {place} IS NULL)"
    answer = f"CASE WHEN {unknown} THEN NULL WHEN {before} >= {keep.count} THEN FALSE"
    if complete:
        answer += f" WHEN {' + '.join(possible)} < {keep.count} THEN TRUE"
    return f"{answer} END"


def _before(group: str | None, place: str, order: str, which: str) -> str:
    """Return how many of the rows come strictly before this one in its group: those up to it, without its equals."""
    one = f"sum(CASE WHEN {which} AND {place} IS NOT NULL THEN 1 ELSE 0 END)"
    among = "" if group is None else f"PARTITION BY {group} "
    equals = place if group is None else f"{group}, {place}"
    up_to_here = f"{one} OVER ({among}ORDER BY {place} {_DIRECTION[order]} NULLS LAST)"
    return f"({up_to_here} - {one} OVER (PARTITION BY {equals}))"
