"""The report of a run as values: what happened, by whose yes, on which evidence, and what every object came to.

This is also the allow-list of what a report may hold of objects: their keys, and of each act its operation, outcome,
reason, the message that came with it and its instants. No field that was read of an object, no parameter of an act and
nothing that an undo needs has a place here, so no renderer can let one out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

OUTCOMES: Final = ("unknown", "failed", "refused", "changed", "already_gone", "not_started", "done")
"""The order in which a person wants to hear of them: what needs attention comes first."""


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """One object of the plan. `outcome` is `proposed` where nothing was applied, `not_started` where that had begun."""

    key: tuple[Any, ...]
    outcome: str
    reason: str
    """The code, empty where there is none."""
    reason_text: str
    detail: str
    step: str
    operation: str
    meant_at: datetime | None
    ended_at: datetime | None
    run_id: str


@dataclass(frozen=True, slots=True)
class ApprovalLine:
    """One yes, or a rule's decision, or that it was taken back. `signed_by` is the fingerprint of the key."""

    who: str
    what: str
    at: datetime | None
    until: datetime | None
    signed_by: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """What was read of one inventory."""

    inventory: str
    resource: str
    complete: bool
    rows: int
    claims: tuple[str, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    snapshot: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run over the same plan: how it ended, what stopped it, and from when on it could be gone on with."""

    run_id: str
    kind: str
    by: str
    started_at: datetime
    finished_at: datetime | None
    state: str
    exit: int | None
    stopped_by: str
    message: str
    resumes_at: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a run, or an act of it, was refused."""

    code: str
    title: str
    message: str
    ways_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What a report says of the plan. `sums` are those of its document; None: the document can't be read."""

    plan_id: str
    digest: str
    proposal: str
    state: str
    describe: str
    owner: str
    operation: str
    undo: str
    target: str
    candidates: int
    sums: Mapping[str, int] | None
    cap: int | None
    taken_back: int
    """How many of its objects undos took back."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything but the objects, which are read one after the other by `objects`.

    `counts`: how many of the plan's objects ended how; they must add up to `planned`, or the report is `invalid`.
    """

    workspace: str
    run: RunLine
    workflow: str
    plan: PlanFacts | None
    planned: int
    counts: Mapping[str, int]
    invalid: str | None
    """Why the record can't be relied on, as far as a report sees it; None: nothing is wrong with the sums."""
    approvals: tuple[ApprovalLine, ...]
    evidence: tuple[EvidenceLine, ...]
    runs: tuple[RunLine, ...]
    refused: tuple[Refused, ...]
    canary: str
    run_head: str
    head: str
    made_at: datetime
    objects: Callable[[], Iterator[ObjectLine]]

    @property
    def undo(self) -> bool:
        """Whether it is of an undo."""
        return self.run.kind == "undo"
