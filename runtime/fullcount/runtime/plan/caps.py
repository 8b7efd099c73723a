"""Caps: how many objects a plan may touch. One function computes them; plan, check and guard call it.

Both halves of a limit hold and the stricter wins; a percentage is of the whole base inventory and is rounded down, so
that 5 % of 19 objects is 0; and 0 means none, never "no limit".
"""

from __future__ import annotations

from decimal import Decimal

from fullcount.runtime.plan.document import Caps


def effective_cap(count: int | None, percent: Decimal | None, population: int) -> int:
    """Return how many of `population` objects may be acted on; without a limit, all of them."""
    halves = [population]
    if count is not None:
        halves.append(count)
    if percent is not None:
        halves.append(percent_of(percent, population))
    return max(0, min(halves))


def percent_of(percent: Decimal, population: int) -> int:
    """Return so many percent of a population, rounded down."""
    return int(percent * population // 100)


def caps_for(count: int | None, percent: Decimal | None, population: int, candidates: int) -> Caps:
    """Return the caps as written and as they bind for these candidates."""
    effective = effective_cap(count, percent, population)
    return Caps(
        count=count,
        percent=None if percent is None else f"{percent.normalize():f}%",
        effective=effective,
        exceeded=candidates > effective,
    )


def written_percent(caps: Caps) -> Decimal | None:
    """Return the percentage of the caps as a number."""
    return None if caps.percent is None else Decimal(caps.percent.removesuffix("%"))
