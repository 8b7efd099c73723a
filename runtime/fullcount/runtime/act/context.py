"""What acting needs from outside, and what it reports: values and small seams, no behaviour.

Nothing here opens anything. `open_actor` is called only once a plan has been found approved and nothing else is in the
way, so that credentials for acting are not even read for a plan that can't be applied.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from fullcount.compiler.catalog import Resource
from fullcount.compiler.program import Protection, Quorum, Workflow
from fullcount.runtime.act.moved import Moved
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.signing import UNSIGNED, Signing
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.connectors.base import Outcome, SourceActor, SourceReader
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import StoredPlan
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.freezes import Freeze

LEASE_TIME = timedelta(seconds=30)
"""How long a run that died keeps others from going on with its plan."""


class SnapshotFiles(Protocol):
    """Where stored snapshots are found."""

    @property
    def root(self) -> Path:
        """The folder of all of them."""
        ...

    def path(self, digest: str) -> Path:
        """Return the checked file of a digest. Raises when it is missing or was changed."""
        ...


@dataclass(slots=True)
class StopSignal:
    """Asks a run to stop: it takes up nothing new, finishes what is under way and reports truthfully."""

    reason: str | None = None

    def request(self, reason: str) -> None:
        """Ask; the first reason stays."""
        if self.reason is None:
            self.reason = reason


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come, for people who wait. `waits_until`: it waits for its canary."""

    finished: int
    planned: int
    counts: Mapping[Outcome, int]
    waits_until: datetime | None = None


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _nothing_automatic() -> int:
    return 0


def _nobody_more() -> int:
    return 1


def _as_the_act() -> None:
    return None


def _nothing_signed() -> Signing:
    return UNSIGNED


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """Everything that applying one plan needs, an undo as well, or reading what one would find.

    `workflow` is the one of the plan's own program. `resources` are by source and name. `versions` are those running
    now: `engine`, and each source's connector by source name. `exemptions` reads a list anew at each call, `roles` who
    is in which role, `protections` what the workspace protects of the plan's base inventory, `freezes` when nothing may
    be done; each raises when it can't. `exemption_tables` are the lists that stand in a source, read by a question.
    `backups` is where objects are stored before they are acted on. `named`: somebody named each object that an undo is
    about. `stop` asks the run to stop. `automatic_approval` reads how many objects a plan may have that its workflow's
    own rule approved, `irreversible_approvals` how many people must have approved what can't be taken back, `signing`
    what the workspace asks for of signatures, and `undo_quorums` who must approve an undo (None: as its act).
    """

    store: Store
    plan: StoredPlan
    workflow: Workflow
    person: Person
    reader: Callable[[str], SourceReader]
    open_actor: Callable[[str], Awaitable[SourceActor]]
    resources: Mapping[tuple[str, str], Resource]
    snapshots: SnapshotFiles
    backups: BackupFiles
    exemptions: Callable[[str], Sequence[Exemption]]
    roles: Callable[[], Mapping[str, Sequence[str]]]
    protections: Callable[[], tuple[Protection, ...]]
    freezes: Callable[[], tuple[Freeze, ...]]
    versions: Mapping[str, str]
    clock: Callable[[], datetime] = _utc_now
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    progress: Callable[[Progress], None] | None = None
    stop: StopSignal = field(default_factory=StopSignal)
    lease_time: timedelta = LEASE_TIME
    slot_id: str | None = None
    automatic_approval: Callable[[], int] = _nothing_automatic
    signing: Callable[[], Signing] = _nothing_signed
    exemption_tables: Mapping[str, Callable[[], Awaitable[Sequence[Exemption]]]] = field(default_factory=dict)
    irreversible_approvals: Callable[[], int] = _nobody_more
    undo_quorums: Callable[[], tuple[Quorum, ...] | None] = _as_the_act
    named: bool = False


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """How the act on one object ended. `key` in JSON values, as in the plan.

    `moved`: what had changed since the plan of an object that was still due and is done.
    """

    key: tuple[Any, ...]
    outcome: Outcome
    reason: str | None = None
    detail: str = ""
    moved: tuple[Moved, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplyReport:
    """What came of applying a plan.

    `candidates` is what the counts must add up to: the plan's rows.
    `stopped_by` says why it did not go on to the end, or did not begin. `repeated`: everything had been done before.
    `resumes_at`: it is only paused, and can be gone on with from then on.
    """

    plan_id: str
    run_id: str | None
    candidates: int
    counts: Mapping[Outcome, int]
    rows: tuple[RowOutcome, ...]
    exit: Exit
    stopped_by: Finding | None = None
    repeated: bool = False
    resumes_at: datetime | None = None

    @property
    def moved(self) -> tuple[RowOutcome, ...]:
        """The objects that were acted on although they had changed since the plan: the rule still held for them."""
        return tuple(row for row in self.rows if len(row.moved) > 0)

    @property
    def sums_hold(self) -> bool:
        """Whether `candidates = done + already_gone + changed + refused + failed + unknown + not_started`."""
        return self.candidates == sum(self.counts.values()) == len(self.rows)
