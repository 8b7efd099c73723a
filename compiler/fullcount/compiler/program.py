"""The checked program: what the compiler hands to the runtime, a value without names left to resolve.

`document.py` turns it into plain JSON and back; its digest (spans left out) is part of every plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal

from fullcount.compiler import ir
from fullcount.compiler.claims import Claim, Consistency, Direction
from fullcount.compiler.types import FieldType, Type
from fullcount.compiler.values import Value
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter; without a default it must be given."""

    name: str
    type: Type
    default: Value | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to run. Exactly one of `cron` and `every` (microseconds) is set; `catch_up` in microseconds."""

    cron: str | None
    every: int | None
    timezone: str
    catch_up: int | None


@dataclass(frozen=True, slots=True)
class Across:
    """One way in which an inventory is split: by values that are written out, or by a field of another inventory.

    Exactly one of `values` and `inventory` is set; `listed` is the field of that inventory which holds the values.
    """

    name: str
    values: tuple[str, ...] | None
    inventory: str | None
    listed: str | None
    span: Span = field(default=ir.NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Inventory:
    """One question put to a source. `fields` are the declared ones, key and incarnation among them.

    `scope` and `expects` use the row variable `ir.SELF`. `version` is the resource's version field, if it has one; it
    is read with the object even if no rule mentions it. `deadline` in microseconds. `normalized`: the rules by which
    fields of the key are spelled, in the order in which they are applied; the rules of the workflow have them already.
    """

    name: str
    source: str
    resource: str
    key: tuple[str, ...]
    incarnation: str | None
    version: str | None
    fields: Mapping[str, FieldType]
    scope: ir.Expr | None
    deadline: int | None
    expects: tuple[ir.Expr, ...]
    consistency: Consistency
    lookup_fields: frozenset[str]
    span: Span = field(default=ir.NOWHERE, compare=False)
    across: tuple[Across, ...] = ()
    """The partitions that it is read in, one scan for each combination; complete only if every one of them is."""
    normalized: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def clock_mark(self) -> str | None:
        """The field that a clock of a graduated act is bound to: the incarnation, else the version, else none."""
        return self.version if self.incarnation is None else self.incarnation


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an inventory by a proposal, its direction, and the claims that the direction needs.

    `span` is the whole expression, `head` the part that names the inventory.
    """

    inventory: str
    direction: Direction
    claims: tuple[Claim, ...]
    span: Span = field(default=ir.NOWHERE, compare=False)
    head: Span = field(default=ir.NOWHERE, compare=False)
    names_parts: bool = False
    """Whether it is used because it names the parts that another inventory is read in."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Caps. Both halves hold, the stricter wins; 0 means none at all; a percentage is of the base inventory."""

    count: int | None
    percent: Decimal | None


@dataclass(frozen=True, slots=True)
class Exemption:
    """What keeps an object whatever the rule says: a configured list, or a condition that is not proven false."""

    list_name: str | None
    condition: ir.Expr | None


@dataclass(frozen=True, slots=True)
class Keep:
    """The `count` objects that come first in each group stay, whatever the rule says; equals stay together.

    `per` and `by` are over the base row; without `per` all objects are one group. `order` is `newest` (the greatest
    `by` first) or `oldest`. The groups are of every object in the scope of the base inventory. An object is let go only
    if at least `count` others of its group surely come strictly before it; see `lower/sql_floor.py`.
    """

    count: int
    per: ir.Expr | None
    order: str
    by: ir.Expr
    text: str
    """The clause as written, for people."""
    span: Span = field(default=ir.NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Pick:
    """Of the objects that are selected and that nothing keeps, only the first of each group are taken.

    How many: `count`, or `percent` of those of the group, rounded down, and never more than `at_most`. `order` is
    `oldest` or `newest` (by `by`), or `random` (by the digest of `seed` and the key); the key decides between equals.
    `per` and `by` are over the base row. Several are applied one after the other; see `lower/sql_pick.py`.
    """

    count: int | None
    percent: Decimal | None
    at_most: int | None
    order: str
    per: ir.Expr | None
    by: ir.Expr | None
    seed: str | None
    text: str
    """The clause as written, for people."""
    span: Span = field(default=ir.NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the workflow expects of no row, so that a run does not refuse for it; see `assumptions.py`.

    In `sentence` (`some X as x where (…)`) the object that is proposed is called `assumptions.BASE`.
    """

    sentence: ir.Some
    because: str
    text: str
    """The clause as written, without its reason, for people."""
    span: Span = field(default=ir.NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Protection:
    """What keeps an object whatever the rule says, unless `condition` (over the base row) is proven false for it.

    It comes from the workspace, not from the workflow, which can't say anything against it.
    """

    name: str
    condition: ir.Expr
    because: str
    span: Span = field(default=ir.NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """An expression that reviewers see for each row, with its source text as the label."""

    label: str
    value: ir.Expr


@dataclass(frozen=True, slots=True)
class Proposal:
    """Which objects to propose. Fields of the base row use the row variable `row`."""

    name: str
    inventory: str
    row: str
    where: ir.Expr
    excepts: tuple[Exemption, ...]
    limit: Limit | None
    show: tuple[Shown, ...]
    uses: tuple[Use, ...]
    where_text: str
    """The rule as written, for people."""
    span: Span = field(default=ir.NOWHERE, compare=False)
    protections: tuple[Protection, ...] = ()
    keeps: tuple[Keep, ...] = ()
    bounded: bool = False
    """Whether it takes what was found of an inventory that may not have been read to its end (requirement R22)."""
    picks: tuple[Pick, ...] = ()
    expects: tuple[Expectation, ...] = ()

    @property
    def exemptions(self) -> tuple[ir.Expr, ...]:
        """The conditions of `except when`."""
        return tuple(each.condition for each in self.excepts if each.condition is not None)

    @property
    def deciding(self) -> tuple[ir.Expr, ...]:
        """Every expression that decides whether an object is proposed, besides the scope of its inventory."""
        ranked: tuple[Keep | Pick, ...] = (*self.keeps, *self.picks)
        parts = [part for each in ranked for part in (each.per, each.by) if part is not None]
        return (self.where, *self.exemptions, *(each.condition for each in self.protections), *parts)


@dataclass(frozen=True, slots=True)
class Quorum:
    """How many people of which role must agree."""

    count: int
    role: str
    not_by_author: bool


@dataclass(frozen=True, slots=True)
class Automatic:
    """When a plan is approved without anyone being asked: all of this holds. A percentage is of the base inventory."""

    count: int
    percent: Decimal | None
    reversible: bool
    """Whether the rule says so itself; the act has to be reversible in any case."""

    @property
    def text(self) -> str:
        """The conditions, as the language writes them."""
        percent = () if self.percent is None else (f"percent <= {self.percent.normalize():f}%",)
        return " and ".join((f"count <= {self.count}", *percent, *(("reversible",) if self.reversible else ())))


@dataclass(frozen=True, slots=True)
class Approval:
    """Who must agree to a proposal, and how long an approval lives (microseconds).

    With `automatic`, the quorums are what holds where its conditions do not.
    """

    proposal: str
    quorums: tuple[Quorum, ...]
    expires: int
    automatic: Automatic | None = None


@dataclass(frozen=True, slots=True)
class OperationCall:
    """An operation with its arguments as expressions over the base row.

    `own`: it acts on the object; any other makes something new (a message, a snapshot) and leaves the object as it is.
    `deletes`: it deletes the object. `from_backup`: it brings back what a backup holds; only an undo is such a call.
    """

    source: str
    resource: str
    operation: str
    arguments: Mapping[str, ir.Expr]
    reversible: bool
    own: bool = True
    deletes: bool = False
    from_backup: bool = False

    @property
    def address(self) -> tuple[str, str, str]:
        """Which operation it is."""
        return self.source, self.resource, self.operation


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop acting: after so many failures, or so many percent of the plan's rows (rounded down, at least 1)."""

    failures: int | None
    percent: Decimal | None


@dataclass(frozen=True, slots=True)
class AtMost:
    """No more than `count` of a resource, by its source's independent count."""

    count: int
    source: str
    resource: str

    @property
    def address(self) -> str:
        """The resource as it is written."""
        return f"{self.source}.{self.resource}"


@dataclass(frozen=True, slots=True)
class Canary:
    """The first `count` acts, then a wait (microseconds), then a look at whether they still are as they were left.

    `then`: what has to hold besides before the rest is acted on; None: nothing.
    """

    count: int
    wait: int
    then: AtMost | None = None


@dataclass(frozen=True, slots=True)
class Backup:
    """Each object is stored whole before it is acted on, and kept so long after it (microseconds)."""

    kept: int


@dataclass(frozen=True, slots=True)
class Window:
    """When an act may happen: days (0 is Monday) and minutes of the day, `[start, end)`, by the clock of a zone.

    With `end` before `start` it goes on after midnight and belongs to the day on which it began. See `windows.py`.
    """

    days: tuple[int, ...]
    start: int
    end: int
    timezone: str
    text: str
    """The days and times as written, for people."""


RELEASE: Final = "release"
"""The name of what is done to an object that no longer qualifies; no step may have it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a graduated act. `after`: microseconds since the step before it was done.

    For the first step it counts from the plan that first selected the object; 0: it is due at once. `backup`,
    `cascades`, `rehearse`: as of an `Act`, for this step alone.
    """

    label: str
    call: OperationCall
    undo: OperationCall | None
    after: int
    backup: Backup | None = None
    cascades: bool = False
    rehearse: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """What an act calls: one operation with its undo and what is kept of it, or steps with their release."""

    call: OperationCall | None = None
    undo: OperationCall | None = None
    steps: tuple[Step, ...] = ()
    release: OperationCall | None = None
    backup: Backup | None = None
    cascades: bool = False
    rehearse: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """What to do with each approved object. `rate` is acts per second; None: unlimited. No window: at any time.

    Either there is a `call`, or there are `steps`: a graduated act, which does one step of an object at a time. What
    takes something back is of the resource of the proposal's inventory. `undo`, `backup`, `cascades` and `rehearse` are
    those of the one call; whoever asks of both kinds of acts asks by the name of the step: `undos`, `backups`,
    `cascading`, `rehearsed`.
    """

    proposal: str
    call: OperationCall | None
    undo: OperationCall | None
    rate: Decimal | None
    concurrency: int
    stop: Stop | None
    windows: tuple[Window, ...] = ()
    canary: Canary | None = None
    steps: tuple[Step, ...] = ()
    release: OperationCall | None = None
    backup: Backup | None = None
    cascades: bool = False
    """Whether what goes with an object may go, within the limit of the proposal."""
    rehearse: bool = False
    """Whether one object of the canary is restored, compared and acted on again before the rest."""

    @property
    def calls(self) -> Mapping[str | None, OperationCall]:
        """Everything that can be called, by the name of its step; the one operation of a plain act by None."""
        if self.call is not None:
            return {None: self.call}
        found: dict[str | None, OperationCall] = {step.label: step.call for step in self.steps}
        if self.release is not None:
            found[RELEASE] = self.release
        return found

    @property
    def undos(self) -> Mapping[str | None, OperationCall]:
        """What takes a call back, by the name of its step; a release is never taken back."""
        if self.call is not None:
            return {} if self.undo is None else {None: self.undo}
        return {step.label: step.undo for step in self.steps if step.undo is not None}

    @property
    def backups(self) -> Mapping[str | None, Backup]:
        """How long what a call is about to change is kept, whole, by the name of its step; of others nothing is."""
        kept = {None: self.backup} if self.call is not None else {step.label: step.backup for step in self.steps}
        return {name: backup for name, backup in kept.items() if backup is not None}

    @property
    def cascading(self) -> frozenset[str | None]:
        """The calls that may take along what goes with an object, by the names of their steps."""
        if self.call is not None:
            return frozenset({None} if self.cascades else ())
        return frozenset(step.label for step in self.steps if step.cascades)

    @property
    def rehearsed(self) -> tuple[str | None, ...]:
        """The calls whose restore is rehearsed before the rest, by the names of their steps, in order."""
        if self.call is not None:
            return (None,) if self.rehearse else ()
        return tuple(step.label for step in self.steps if step.rehearse)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that may be acted on, each once."""
        return tuple(dict.fromkeys(call.source for call in self.calls.values()))

    @property
    def reversible(self) -> bool:
        """Whether everything that it does to an object can be taken back."""
        return all(call.reversible for name, call in self.calls.items() if name != RELEASE)

    @property
    def left_by_undo(self) -> Mapping[str | None, tuple[str, ...]]:
        """What an undo by the same operation leaves as it was set, by the name of the step, where it leaves anything.

        The key is an argument of both, so that it is never among these.
        """
        left = {
            name: tuple(each for each in self.calls[name].arguments if each not in undo.arguments)
            for name, undo in self.undos.items()
            if self.calls[name].address == undo.address
        }
        return {name: arguments for name, arguments in left.items() if len(arguments) > 0}

    @property
    def irrevocable(self) -> tuple[OperationCall, ...]:
        """Every call that nothing here takes back as a whole and for good, a release included; a backup runs out."""
        undos, left = self.undos, self.left_by_undo
        return tuple(
            call
            for name, call in self.calls.items()
            if not call.reversible or name not in undos or name in left or undos[name].from_backup
        )

    @property
    def final(self) -> tuple[OperationCall, ...]:
        """Every call on an object that `undo` can't take back: what more people are asked for."""
        return tuple(call for name, call in self.calls.items() if name != RELEASE and call.own and not call.reversible)


Event = Literal["waiting", "refused", "done", "stopped"]
EVENTS: Final[tuple[Event, ...]] = ("waiting", "refused", "done", "stopped")
"""What people can be told of: how runs end."""


@dataclass(frozen=True, slots=True)
class Notify:
    """Who is told (a notifier of the workspace), and of which of `EVENTS`."""

    target: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Workflow:
    """One checked clean-up: one base inventory, one proposal, one approval, one act (or a report without an act)."""

    name: str
    describe: str
    owner: str
    schedule: Schedule | None
    params: tuple[Param, ...]
    inventories: Mapping[str, Inventory]
    verifies: Mapping[str, tuple[Claim, ...]]
    proposals: tuple[Proposal, ...]
    approvals: tuple[Approval, ...]
    acts: tuple[Act, ...]
    notifies: tuple[Notify, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Every workflow of one file."""

    workflows: tuple[Workflow, ...]
