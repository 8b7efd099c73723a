"""Accepted warnings: what somebody takes as it is, with a reason and an end (`[[accepted_warning]]`).

They are read anew at each look, so that one that is taken back blocks from the next act on. What can't be read is an
error, and nothing is accepted for good.
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

from fullcount.compiler.catalog import StaticCatalog
from fullcount.compiler.source_codes import WarningCode
from fullcount.runtime.evidence.warned import Accepted
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError, did_you_mean


def _a_warning(value: Any) -> Any:
    if not isinstance(value, str) or value not in WarningCode.__members__:
        msg = "expected the code of a warning"
        raise SettingError(msg, help=did_you_mean(str(value), WarningCode.__members__))
    return WarningCode(value)


def _a_day(value: Any) -> Any:
    if isinstance(value, datetime) or not isinstance(value, date):
        msg = "expected a day, without quotes"
        raise SettingError(msg, help="as `expires = 2027-03-31`: the last day on which it holds")
    return value


_Text = Annotated[StrictStr, Field(min_length=1, pattern=r"\S")]


class AcceptedEntry(BaseModel):
    """One `[[accepted_warning]]`."""

    model_config = ConfigDict(extra="forbid")

    code: Annotated[WarningCode, BeforeValidator(_a_warning)]
    resource: Annotated[StrictStr, Field(pattern=r"^[A-Za-z_]\w*\.[A-Za-z_][\w.]*$")]
    owner: _Text
    reason: _Text
    expires: Annotated[date, BeforeValidator(_a_day)]

    def made(self) -> Accepted:
        """Return what the entry declares."""
        return Accepted(
            code=self.code, resource=self.resource, owner=self.owner, reason=self.reason, expires=self.expires
        )


def check_accepted(path: Path, number: int, entry: AcceptedEntry, catalog: StaticCatalog) -> None:
    """Raise `WorkspaceError` FC604 for an entry of a resource that there is not: it would accept nothing, silently."""
    known = [f"{source}.{name}" for source in catalog.sources() for name in catalog.resources(source)]
    if entry.resource not in known:
        what = f"`accepted_warning[{number + 1}].resource`: there is no `{entry.resource}`"
        raise WorkspaceError("FC604", f"{path.name}: {what}", help=did_you_mean(entry.resource, known))
