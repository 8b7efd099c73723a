"""Why no plan could be built: an error, because no plan is better than one that is wrong."""

from __future__ import annotations

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit


class PlanError(FullcountError):
    """A plan could not be built."""


class SumsError(PlanError):
    """FC910: an object was lost or counted twice between the snapshot and the plan."""

    exit = Exit.INVALID_SUMS

    def __init__(self, message: str) -> None:
        super().__init__("FC910", message, help="collect again; if it comes back, report it with these counts")
