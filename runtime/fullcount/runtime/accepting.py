"""Which warnings of an inventory the workspace accepts at an instant, and how many times in a row are a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Self

from fullcount.compiler import program
from fullcount.runtime.evidence.certificate import Certificate
from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.recurrence import codes_held, with_ended
from fullcount.runtime.evidence.refusal import Refusal
from fullcount.runtime.evidence.warned import Accepted
from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Accepting:
    """What the workspace says of the warnings of one resource on a day."""

    resource: str
    day: date
    entries: Sequence[Accepted]
    limit: int

    @classmethod
    def now(cls, workspace: Workspace, inventory: program.Inventory, at: datetime) -> Self:
        """Read it anew. Raises `WorkspaceError`: what can't be read accepts nothing and is never passed over."""
        return cls(
            resource=f"{inventory.source}.{inventory.resource}",
            day=at.astimezone(UTC).date(),
            entries=workspace.accepted_warnings(),
            limit=workspace.warnings_become_failures(),
        )

    @property
    def accepted(self) -> frozenset[WarningCode]:
        """The warnings that are accepted."""
        return codes_held(self.entries, self.resource, self.day)

    def until(self, code: WarningCode) -> date | None:
        """Return the last day on which a warning is accepted; None: it is not."""
        of = (each.expires for each in self.entries if each.code == code and each.resource == self.resource)
        return max((expires for expires in of if expires >= self.day), default=None)

    def said(self, issued: Certificate | Refusal) -> Certificate | Refusal:
        """Return what came of certifying; a refusal says which of its warnings were accepted until lately."""
        if isinstance(issued, Certificate):
            return issued
        findings = with_ended(issued.findings, self.entries, self.resource, self.day)
        return issued.model_copy(update={"findings": findings})
