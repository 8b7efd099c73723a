"""What one reply says, and the errors that a reply can be: values between the rules of a dialect and a scan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.ways import hardest, usual_way
from fullcount.runtime.connectors.base import SourceError, Total
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.forms import Finding
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice


@dataclass(frozen=True, slots=True)
class Found:
    """One reason with its way on; `way` None: there is none."""

    reason: Incompleteness
    way: Continuation | None


@dataclass(frozen=True, slots=True)
class Following:
    """The request for the next page. `cursor` is the text by which the source names it."""

    request: Request
    cursor: str
    keeps: Consistency
    shifts: bool | Literal["uncounted"]


@dataclass(slots=True)
class Said:
    """What one page says. Nothing in it is concluded: `collect` does that."""

    items: list[Any] = field(default_factory=list)
    following: Following | None = None
    end: str | None = None
    total: Total | None = None
    found: list[Found] = field(default_factory=list)
    pending: list[Found] = field(default_factory=list)
    """What holds only if the next page is not read."""
    warnings: list[Notice] = field(default_factory=list)
    pin: str | None = None
    states: dict[str, FieldState] = field(default_factory=dict)
    """Fields of which the reply as a whole says how they are."""
    lost_fields: dict[tuple[int, str], FieldState] = field(default_factory=dict)
    """Single fields of single items that failed: by the item's place on the page and the field's first step."""
    given: int | None = None
    """How many members the list had, those among them that are hidden; None: as many as there are items."""
    place: str | None = None
    """Where in the body the very list of the items stands; None: they were put together or changed."""

    def warn(self, code: WarningCode, detail: str = "", **data: Any) -> None:
        """Note a warning."""
        self.warnings.append(Notice(code=code, detail=detail, data=data))


def way_on(way: Way, hint: str = "", *, after: float | None = None) -> Continuation:
    """Return a way on. None that a closed read leaves keeps its snapshot."""
    return Continuation(way=way, preserves_snapshot=False, after_seconds=after, hint=hint)


def founds(finding: Finding, detail: str, *, after: float | None = None, part: str | None = None) -> list[Found]:
    """Return the reasons of a finding with their ways."""
    if finding.reason is None:
        return []
    codes = finding.reason if isinstance(finding.reason, list) else [finding.reason]
    made = []
    for code in codes:
        reason = Incompleteness(code=code, detail=detail, part=part)
        made.append(Found(reason, _way(finding, reason, after)))
    return made


def _way(finding: Finding, reason: Incompleteness, after: float | None) -> Continuation | None:
    if finding.way == "none":
        return None
    usual = usual_way(reason)
    if finding.way is None:
        waits = usual is not None and usual.way is Way.RETRY_AFTER
        return usual.model_copy(update={"after_seconds": after}) if waits and usual is not None else usual
    hint = usual.hint if usual is not None and usual.way is finding.way else ""
    return way_on(finding.way, hint, after=after if finding.way is Way.RETRY_AFTER else None)


def notices(finding: Finding, detail: str) -> list[Notice]:
    """Return the warnings of a finding."""
    codes = finding.warning if isinstance(finding.warning, list) else [finding.warning]
    data = {"fields": list(finding.fields)} if len(finding.fields) > 0 else {}
    return [Notice(code=code, detail=detail, data=data) for code in codes if code is not None]


def refusal(found: Sequence[Found], *, retryable: bool = False) -> SourceError:
    """Return the error that a reply is."""
    first = found[0]
    return SourceError(first.reason, retryable=retryable, continuation=first.way)


def together(found: Iterable[Found]) -> tuple[tuple[Incompleteness, ...], Continuation | None, bool]:
    """Return the reasons of a page, the one way that deals with all of them, and whether there is none."""
    listed = list(found)
    way = hardest(one.way for one in listed)
    return tuple(one.reason for one in listed), way, len(listed) > 0 and way is None


RETRYABLE = frozenset({Reason.RATE_LIMITED, Reason.SOURCE_UNAVAILABLE, Reason.TIME_BUDGET_EXCEEDED})
"""Refusals after which the same request may be sent again, within the budget of the read."""
