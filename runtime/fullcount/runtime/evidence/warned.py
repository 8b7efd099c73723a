"""What is known of warnings besides the reading that they came with: since when, how often, and who accepts them."""

from __future__ import annotations

from datetime import date
from typing import Final

from pydantic import AwareDatetime, Field

from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.envelope import Wire

RUNS: Final = 5
"""After so many readings in a row a warning becomes a failure, unless the workspace says another number."""


class WarningSeen(Wire):
    """A warning that the last reading of an inventory came with: how many in a row did, and since when."""

    code: WarningCode
    runs: int = Field(ge=1)
    since: AwareDatetime
    owner: str
    """Whose workflow reads it, and so who has to see to it."""
    accepted_until: date | None = None
    """For people; what is accepted is asked of the workspace at each use."""


class Recurrence(Wire):
    """What has been seen of an inventory's warnings, this reading among it, and how many in a row are a failure."""

    seen: tuple[WarningSeen, ...]
    limit: int = Field(ge=1)


class Accepted(Wire):
    """That somebody takes a warning of a resource as it is. `expires` is the last day on which that holds."""

    code: WarningCode
    resource: str
    """`hr.employees`"""
    owner: str
    reason: str
    expires: date

    def holds_on(self, day: date) -> bool:
        """Whether it is still accepted on a day."""
        return day <= self.expires
