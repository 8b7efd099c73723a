"""What a connector must be: a declaration without I/O, a reader, and an actor.

Reading and acting are separate objects with separate credentials; a dry run is handed a reader and nothing else, so
there is no method it could act with. A connector never retries, never pages by itself and never decides completeness:
it reports what the source said on one page, and `collect` draws the conclusion (R11).

Values are natural Python values (`str`, `int`, `Decimal`, `bool`, aware `datetime`, `date`, `timedelta`, `list`,
`dict`); `collect` turns them into canonical ones and is strict about their types. `None` in a value column means that
the source positively said "no value"; anything less than that must be said with a state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from fullcount.compiler import ir
from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice


@dataclass(frozen=True, slots=True)
class Question:
    """What to list. `scope` is over `ir.SELF` with parameters already bound to constants.

    A connector that can push a part of the scope down may do so; the collector checks the whole in any case.
    `now` is in microseconds since the epoch.
    """

    inventory: str
    resource: Resource
    fields: tuple[str, ...]
    scope: ir.Expr | None
    now: int
    page_rows: int = 5_000
    partition: Mapping[str, str] = field(default_factory=dict)
    """The part to list of a source that is split (`region`: `eu-west-1`); `fields` and `scope` leave its names out."""


@dataclass(frozen=True, slots=True)
class Total:
    """What the source says how many objects there are, within the same scope and snapshot."""

    value: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page, by columns: every field of the question has a list, all of one length.

    `states`: for columns where some cells are not known; None in the list means present or absent by the value.
    `end` names the affirmative end marker of the connector's contract; a page that has neither `end` nor `cursor`
    makes the read unprovable. `reasons` are what the source itself said is missing.
    """

    columns: Mapping[str, Sequence[Any]]
    rows: int
    states: Mapping[str, Sequence[FieldState | None]] = field(default_factory=dict)
    cursor: str | None = None
    end: str | None = None
    total: Total | None = None
    reasons: tuple[Incompleteness, ...] = ()
    warnings: tuple[Notice, ...] = ()
    continuation: Continuation | None = None
    """The way on for the reasons of this page; None: the usual one of each."""
    dead_end: bool = False
    """There is no way on for the reasons of this page: nothing but asking helps."""
    unless_continued: tuple[Incompleteness, ...] = ()
    """What is missing only as long as the next page is not read."""


@dataclass(frozen=True, slots=True)
class ScanInfo:
    """What holds for the whole scan, known once it is open."""

    consistency: Consistency
    visibility: str
    """`all`, `restricted` or `unknown`: what the connector verified of this identity on this resource."""
    scope_pushed_down: bool = False
    snapshot_token: str | None = None
    reasons: tuple[Incompleteness, ...] = ()
    warnings: tuple[Notice, ...] = ()
    as_of: datetime | None = None
    """The instant that the answer speaks of, where the source says that it is an earlier one than that of the read."""
    confirm: bool = False
    """The pages may shift, and the source can be read again: equal passes in a row raise `unstable` to `interval`."""
    shifts: bool = False
    """Paging by position: a row that is returned twice tells of another one that was returned by no page."""


class Scan(Protocol):
    """An open read of one question, bound to one snapshot where the source has one."""

    @property
    def info(self) -> ScanInfo:
        """Return what holds for the whole scan."""
        ...

    async def fetch(self, cursor: str | None) -> Page:
        """Return the page at `cursor` (None: the first). Raises `SourceError`."""
        ...


class SourceError(Exception):
    """The source did not answer, or not in a way its contract gives meaning to.

    `reason` says which; `retryable` whether the same call may be tried again within the budget.
    """

    def __init__(
        self, reason: Incompleteness, *, retryable: bool = False, continuation: Continuation | None = None
    ) -> None:
        super().__init__(f"{reason.code}: {reason.detail}")
        self.reason = reason
        self.retryable = retryable
        self.continuation = continuation


class Existence(StrEnum):
    """What a look at one object said of its being there."""

    FOUND = "found"
    GONE = "gone"
    UNKNOWN = "unknown"
    """'Not found' that may mean 'not allowed' (`EXISTENCE_UNKNOWN`), or no answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One object, read live. `cells` has every asked field when found."""

    existence: Existence
    cells: Mapping[str, Cell] = field(default_factory=dict)
    reasons: tuple[Incompleteness, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """The answer of a targeted look-up: every object whose field equals the value or has none, if `complete`."""

    rows: tuple[Mapping[str, Cell], ...]
    complete: bool
    reasons: tuple[Incompleteness, ...] = ()


class SourceReader(Protocol):
    """The reading side of a source. It has no way to write."""

    async def identity(self) -> Mapping[str, str]:
        """Return who reads, and where: stable facts that tell one target from another, without secrets."""
        ...

    def scan(self, question: Question) -> AbstractAsyncContextManager[Scan]:
        """Open a read. Raises `SourceError` on entry."""
        ...

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """Read one object live, from the system of record."""
        ...

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """Find every object whose `field` (one of `lookup_fields`) equals `value` or has no value."""
        ...

    async def count(self, resource: Resource) -> int:
        """Return an independent exact count, for `count agrees with`. Raises `SourceError`."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class ReadsMany(Protocol):
    """A reader of a source that can be asked for several objects at once, by a list of their keys.

    It speaks of what it found and of nothing else: that an object is gone is never concluded from such a list.
    """

    def most_keys(self, resource: Resource) -> int:
        """Return how many keys one question may have; below 2 each object is read by itself."""
        ...

    async def read_many(
        self, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
    ) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
        """Return the cells of the objects found, live, by key. Raises `SourceError`."""
        ...


@runtime_checkable
class LooksUpMany(Protocol):
    """A reader of a source that can answer several look-ups of one field at once.

    Each answer is the one that a look-up of its own would give, or there is none. That nothing matches a value is said
    only where the whole answer is known to be there and to speak of that value.
    """

    def most_values(self, resource: Resource, field: str) -> int:
        """Return how many values one question may have; below 2 each is looked up by itself."""
        ...

    async def lookup_many(
        self, resource: Resource, field: str, values: Sequence[Value], fields: Sequence[str]
    ) -> Mapping[Value, Matches]:
        """Return what matches, by value; what is left out is to be looked up by itself. Raises `SourceError`."""
        ...


@dataclass(frozen=True, slots=True)
class Collateral:
    """What a write of one operation sets off at the source besides its one object, each as a phrase for people.

    `known` are those that the source's configuration names; what is in `unknown` nobody has vouched for, and the actor
    refuses the write (`COLLATERAL_CHANGE`).
    """

    unknown: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    way_on: str = ""
    """What to do about the unknown ones."""


@runtime_checkable
class ForeseesCollateral(Protocol):
    """A reader of a source where a write can set off more than itself: triggers and rules of a database.

    A plan asks it, so that people see beforehand what the actor would refuse. Sources that have nothing of the kind
    don't have it.
    """

    async def collateral(self, resource: Resource, operation: str) -> Collateral:
        """Return what a write of this operation sets off. Raises `SourceError`."""
        ...


@runtime_checkable
class ForeseesActing(Protocol):
    """A reader that can see, without a way to act, that what acting needs besides the objects is not fit for it.

    A plan asks it, so that nobody approves what can't be applied. Whoever acts looks again.
    """

    async def unfit(self, resource: Resource, operation: str) -> Incompleteness | None:
        """Return what would keep this operation from being done at all; None: nothing that can be seen from here.

        Never writes. Raises `SourceError`.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """An object as a connector took it, under which digest it is stored, and for how long (microseconds).

    `content` is None where only the digest is known: what rests on the content must not be done then.
    """

    sha256: str
    kept: int
    content: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ClosureFound:
    """What goes with one object when it is deleted. `unknown`: why that can't be told; nothing else is said then.

    `counts`: how many others go or change, by what and where (`deletes main.grants`). `own`: the keys of objects of the
    same resource among these, which are in no count. `first`: those of objects that refer to it, whatever becomes of
    them, and that have to go before it.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    own: tuple[tuple[Value, ...], ...] = ()
    first: tuple[tuple[Value, ...], ...] = ()
    unknown: str | None = None


@runtime_checkable
class ForeseesClosure(Protocol):
    """A reader of a source that can look up what goes with an object."""

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """Return what goes with each of these objects, in their order. Raises `SourceError`."""
        ...


class Outcome(StrEnum):
    """How the act on one object ended (design section 5). Every planned object has exactly one in the end."""

    DONE = "done"
    ALREADY_GONE = "already_gone"
    CHANGED = "changed"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class ActCall:
    """One write on one object.

    `expected` are the cells seen at the recheck, one per field that was read (version and incarnation among them): the
    precondition. The connector makes the write conditional on the version where the resource has one, else on all of
    them. `idempotency_key` is the same for every retry of this act.

    Without a key and without expected cells it makes something new, to which the source gives a key: a message, a
    snapshot.
    """

    resource: Resource
    operation: str
    key: tuple[Value, ...]
    arguments: Mapping[str, Value]
    expected: Mapping[str, Cell]
    idempotency_key: str
    backup: StoredBackup | None = None
    """The object as it was stored right before; the write happens only if all of it still is so. Of an operation that
    restores, what it restores."""
    closure: Mapping[str, int] | None = None
    """What may go along besides, by place and number, as the plan counted it; None: nothing may."""


class ErrorClass(StrEnum):
    """What kind of trouble an act met, which decides whether it may be tried again, and when a run gives up."""

    THROTTLE = "throttle"
    """The target was asked too often, and did nothing."""
    TRANSIENT = "transient"
    """The target was not there, or did nothing for a reason that passes."""
    CONFLICT = "conflict"
    """The object is not as it was seen."""
    PERMANENT = "permanent"
    """The target will answer the same again."""
    UNKNOWN = "unknown"
    """Nobody knows what the target did."""


@dataclass(frozen=True, slots=True)
class ActResult:
    """What came of a write. `before` holds what an undo needs, as JSON-able values.

    `trouble`: the kind of a failure, where the connector knows that nothing was done and why; `after`: the seconds that
    the target asks to wait; `later`: it is known that nothing was done, and a later run may go on with the object.
    """

    outcome: Outcome
    reason: ActReason | None = None
    detail: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    trouble: ErrorClass | None = None
    after: float | None = None
    later: bool = False


class SourceActor(Protocol):
    """The writing side of a source, opened only by the act stage, with the credentials for acting."""

    async def identity(self) -> Mapping[str, str]:
        """Return who writes, and where; the target facts must equal those of the plan."""
        ...

    async def perform(self, call: ActCall) -> ActResult:
        """Do one write, once. Never retries; a lost answer is `unknown`, never a guess."""
        ...

    async def took_effect(self, call: ActCall) -> bool | None:
        """Tell by reading whether this very call took effect; None: it can't be told. Never writes."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class TakesBackups(Protocol):
    """An actor that can hand out a whole object, so that an operation which `restores` can bring it back."""

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """Return the whole object of a call as JSON: the same for the same object; None: there is none.

        Never writes. Raises `SourceError` for an object of which not everything can be read.
        """
        ...


class Connector(Protocol):
    """The declaration: import it and call `resources` without I/O and without heavy imports."""

    @property
    def name(self) -> str:
        """The name used in `connector = "…"`."""
        ...

    @property
    def version(self) -> str:
        """The version that plans are bound to."""
        ...

    @property
    def config_model(self) -> type[BaseModel]:
        """The shape of this connector's part of `[sources.NAME]`."""
        ...

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """Return the declared resources; no I/O."""
        ...

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """Connect for reading. Raises `SourceError`."""
        ...

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """Connect for acting. Raises `SourceError`."""
        ...


@runtime_checkable
class RestsOnFiles(Protocol):
    """A connector whose declaration follows from more than its part of `fullcount.toml`: from files that this names.

    Plans are bound to what stands there, and nothing that follows from it is kept under the bytes of `fullcount.toml`.
    """

    def rests_on(self, config: BaseModel) -> str | None:
        """Return a digest of what was read from files for this configuration; None if it names none."""
        ...


@runtime_checkable
class KeepsObjects(Protocol):
    """A connector that keeps the very objects that were deleted, where the source lets them be moved away: files.

    The backup of such an object names it; the object lies with the source for as long as the backup is kept.
    """

    def let_go(self, source: str, config: BaseModel, over: Callable[[], frozenset[str]]) -> int:
        """Remove what is kept of acts whose time is over, and return how many objects. Raises `SourceError`, `OSError`.

        `over`: the idempotency keys of those acts, by the record. What no act there names stays.
        """
        ...

    def not_kept(self, source: str, config: BaseModel, backups: Sequence[Mapping[str, Any]]) -> Sequence[str | None]:
        """Return why the object of each of these backups is not there, or was changed there; None: it is as it was.

        Writes nothing. Raises `SourceError` where it can't be looked at, which says nothing of any of them.
        """
        ...


@runtime_checkable
class LooksAtKept(Protocol):
    """A reader of a source that keeps objects itself: it can tell whether one is there to be brought back."""

    async def why_not_kept(self, call: ActCall) -> str | None:
        """Return why what a call would bring back is not there, or was changed there.

        None: it is as it was put there, the call brings back nothing of the kind, or this user may not look. Writes
        nothing. Raises `SourceError` where it can't be looked at.
        """
        ...


TARGET_FACTS = "target"
"""Identity keys that start with `target` name the system and must be equal for reader, plan and actor; other keys
(such as the user) may differ between reading and acting."""

TARGET_IDS = "target_id_"
"""Of these, those that begin so are compared like all others, and shown to nobody: numbers that no reader knows."""

TARGET_OBJECTS = f"{TARGET_IDS}objects_"
"""Of these, with the name of a resource behind it: where its objects are and by what they are named. Two resources of
one system that have the same here have the same objects under the same keys. Left out where that can't be told."""
