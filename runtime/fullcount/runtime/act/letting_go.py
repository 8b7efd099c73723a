"""The recheck of a release: one object read live, and proven not to qualify, right before it is let go.

The same questions as before any act, and the opposite answer: at least one of them must be surely no. An object that
qualifies again is left as it is, and so is one of which it is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.program import RELEASE
from fullcount.runtime.act.recheck import Planned, Recheck, Rechecker, Standing
from fullcount.runtime.plan.document import PlanRow


def lets_go(row: PlanRow) -> bool:
    """Whether what a row lists is the release of its object."""
    return row.step is not None and row.step.label == RELEASE


@dataclass(frozen=True, slots=True)
class LettingGo:
    """Turns the answers of a recheck around. `exempted` says why an object is on a list by now, if it is."""

    recheck: Rechecker
    exempted: Callable[[tuple[Any, ...]], str | None]

    async def __call__(self, row: PlanRow, planned: Planned) -> Recheck:
        """Read the object and decide again. Raises what a connector raises beyond its contract."""
        found = await self.recheck(planned)
        match found.outcome:
            case Standing.CHANGED:
                return replace(found, outcome=Standing.STILL_TRUE)
            case Standing.STILL_TRUE if self.exempted(row.key) is not None:
                return found
            case Standing.STILL_TRUE:
                return Recheck(Standing.CHANGED, found.cells, "it qualifies again, so it is not released")
            case _:
                return found
