"""The envelope: the typed answer of a read (R1-R10).

`complete` is the one field that decisions read (R2), and it can only be true when there is no reason against it, an
affirmative end was seen, and the pages belong together at least as an interval. The constructor holds these rules, so
no layer can build an envelope that claims more than was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Decision, Reason, WarningCode, Way


class Wire(BaseModel):
    """The base of every wire format: frozen, closed, strict about what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_timedelta="float")


class Status(StrEnum):
    """Whether there is an answer. A partial result never has the status of a success (R8)."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


class Incompleteness(Wire):
    """One cause, with the details a machine can use, and a sentence for people beside the code."""

    code: Reason
    detail: str = ""
    part: str | None = None
    """The shard, region, tenant or partition that did not answer (R18)."""
    data: dict[str, Any] = Field(default_factory=dict)


class Notice(Wire):
    """One warning."""

    code: WarningCode
    detail: str = ""
    data: dict[str, Any] = Field(default_factory=dict)

    @property
    def blocking(self) -> bool:
        """Whether it blocks an act unless accepted."""
        return self.code in BLOCKING_WARNINGS


class Continuation(Wire):
    """A real way on (R9). `cursor` is only ever one that the source gave."""

    way: Way
    preserves_snapshot: bool
    cursor: str | None = None
    after_seconds: float | None = None
    hint: str = ""


class Completeness(Wire):
    """Whether everything of the scope was returned, and if not, why and how to go on."""

    complete: bool
    reasons: tuple[Incompleteness, ...] = ()
    continuation: Continuation | None = None

    @model_validator(mode="after")
    def _complete_iff_no_reason(self) -> Self:
        if self.complete and (self.reasons or self.continuation is not None):
            msg = "a complete answer can have neither a reason nor a continuation"
            raise ValueError(msg)
        if not self.complete and not self.reasons:
            msg = "an incomplete answer must say why"
            raise ValueError(msg)
        return self


class PartRead(Wire):
    """How one part of a source that is split was read."""

    values: dict[str, str]
    """What names it, as `{"region": "eu-west-1"}`."""
    status: Status
    rows: int
    """Its rows inside the scope, each key once."""
    end_marker: str | None = None
    reasons: tuple[Reason, ...] = ()
    vouched: bool = False
    """The source vouches that its reader sees everything of this part."""
    canaries_seen: int = 0
    """How many of the canaries are among its rows."""

    @property
    def name(self) -> str:
        """Return how the part is spoken of: `region=eu-west-1`."""
        return part_name(self.values)


def part_name(values: Mapping[str, str]) -> str:
    """Return how a part is spoken of: `region=eu-west-1, account=4711`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


class Scope(Wire):
    """What was asked and what was covered (R6)."""

    source: str
    resource: str
    filter: str | None = None
    """The scope as written; None: the whole resource."""
    filter_pushed_down: bool = False
    identity: dict[str, str] = Field(default_factory=dict)
    """Who read, where: database, host, account, role."""
    visibility: Literal["all", "restricted", "unknown"] = "unknown"
    consistency: Consistency = Consistency.UNSTABLE
    snapshot_token: str | None = None
    """What pins the state at the source, where the source has such a thing."""
    started_at: AwareDatetime
    finished_at: AwareDatetime
    parts: tuple[PartRead, ...] = ()
    """The parts that were asked for, each with how its read ended; empty: the source is one listing."""


class Work(Wire):
    """What the read cost and what was left of its budgets (R16, R17)."""

    pages: int = 0
    rows: int = 0
    """Rows in the snapshot: inside the scope, each key once."""
    rows_read: int = 0
    """Rows as they arrived, those outside the scope and duplicates among them."""
    distinct_keys: int = 0
    """Distinct keys among the rows in the snapshot."""
    retries: int = 0
    seconds: float = 0.0
    deadline_seconds: float | None = None
    end_marker: str | None = None
    """The affirmative sign of the end that was seen; None: none was seen."""
    total: int | None = None
    total_exact: bool = False
    canaries_expected: int = 0
    canaries_seen: int = 0


class FieldSummary(Wire):
    """How often each state occurred in one field."""

    states: dict[FieldState, int]
    refused: int = 0
    """Values that were not of the declared type; they are among the `source_failed`."""
    refusal: str = ""
    """Why the first of them was refused, and of which objects they were."""


class Envelope(Wire):
    """The typed answer of one inventory. The rows themselves stand in the snapshot of `snapshot_digest`."""

    schema_version: Literal[1] = 1
    inventory: str
    status: Status
    completeness: Completeness
    warnings: tuple[Notice, ...] = ()
    scope: Scope
    work: Work
    fields: dict[str, FieldSummary] = Field(default_factory=dict)
    snapshot_digest: str | None = None
    """`sha256:…` of the stored rows; None only when the read failed."""

    @model_validator(mode="after")
    def _claims_no_more_than_was_seen(self) -> Self:
        if (self.status is Status.COMPLETE) != self.completeness.complete:
            msg = "status and completeness disagree"
            raise ValueError(msg)
        if self.completeness.complete:
            if self.work.end_marker is None:
                msg = "a complete answer must name the end marker that was seen"
                raise ValueError(msg)
            if not self.scope.consistency.at_least(Consistency.INTERVAL):
                msg = "pages that do not belong together cannot be complete"
                raise ValueError(msg)
            if any(part.status is not Status.COMPLETE for part in self.scope.parts):
                msg = "an answer of which a part is not complete cannot be complete"
                raise ValueError(msg)
            if self.scope.visibility == "restricted":
                msg = "a read that saw less than the scope cannot be complete"
                raise ValueError(msg)
        if self.status is not Status.FAILED and self.snapshot_digest is None:
            msg = "an answer with rows, even none, must name its snapshot"
            raise ValueError(msg)
        return self

    @property
    def complete(self) -> bool:
        """The one field that decisions read."""
        return self.completeness.complete

    @property
    def empty(self) -> bool:
        """Whether no row was returned; says nothing of what exists unless `complete`."""
        return self.work.rows == 0

    def decision(self) -> Decision:
        """Return what this answer licenses by itself (cases of the kind kept in `cases.jsonl`)."""
        if self.complete:
            blocked = any(notice.blocking for notice in self.warnings)
            return Decision.REFUSE_OR_REQUEST_REVIEW if blocked else Decision.ACT
        way = self.completeness.continuation
        if way is None:
            return Decision.REFUSE_OR_REQUEST_REVIEW
        if way.way is Way.RESTART:
            return Decision.RESTART
        return Decision.CONTINUE_SEARCH
