"""The recheck: one object read live, and the whole question put again, right before the act.

Only `still_true` goes on, and it is only given when everything was proven again on what the source says now: the same
incarnation, in scope, the rule true, no exemption, no floor. The rule runs with the plan's `now` and parameters. What
other inventories must say is looked up live where the source can answer for all matching rows; where it can't be asked
so, the stored snapshot stands in, as long as its certificate is still fresh. Whatever is not known makes the object
*undecided*. Nothing here writes.

Details name fields and inventories, never values: those come from objects and may hold anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from fullcount.compiler import ir
from fullcount.compiler.catalog import Resource
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import TruthOf, compile_truth
from fullcount.compiler.lower.lookups import Lookup
from fullcount.compiler.lower.world import Bindings, Equal, Related
from fullcount.compiler.program import Inventory, Proposal, Workflow
from fullcount.compiler.values import Cell, FieldState, Row, Value, present
from fullcount.runtime.act.floors import Floors
from fullcount.runtime.act.live import NOTHING_KNOWN, LiveWorld, decide
from fullcount.runtime.act.ranks import Ranks
from fullcount.runtime.collect.canonical import as_declared
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotMissing
from fullcount.runtime.connectors.base import Existence, Matches, SourceError, SourceReader
from fullcount.runtime.evidence.envelope import Incompleteness


class Standing(StrEnum):
    """What the live object says of the plan."""

    STILL_TRUE = "still_true"
    CHANGED = "changed"
    GONE = "gone"
    RECREATED = "recreated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Planned:
    """One row of the plan: the object's key and the fields as they were read then, in canonical form."""

    key: tuple[Value, ...]
    cells: Row


@dataclass(frozen=True, slots=True)
class Recheck:
    """The outcome, the live cells when the object was found, and why, in words.

    `answered` is False where a source gave no answer: a later run may well decide, so nothing final follows from it.
    """

    outcome: Standing
    cells: Row = field(default_factory=dict)
    detail: str = ""
    answered: bool = True


class Snapshot(Protocol):
    """The stored rows of one inventory."""

    def related(self, equal: Equal) -> Related:
        """Return the rows as `World.rows` asks for them. Blocks. `complete` as certified."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """A snapshot that may stand in for live answers until `fresh_until`; None: nothing says how long, so never."""

    snapshot: Snapshot
    fresh_until: datetime | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a recheck may ask: readers by source, resources by source and name, and stored snapshots by inventory."""

    reader: Callable[[str], SourceReader]
    resources: Mapping[tuple[str, str], Resource]
    stored: Mapping[str, Stored]
    clock: Callable[[], datetime]


def fields_to_read(inventory: Inventory) -> tuple[str, ...]:
    """Return every field of an inventory, the incarnation and the version of its resource among them."""
    wanted = dict.fromkeys((*inventory.fields, *inventory.key))
    for extra in (inventory.incarnation, inventory.version):
        if extra is not None:
            wanted[extra] = None
    return tuple(wanted)


class Rechecker:
    """The compiled questions of one proposal, to be put to one object after another.

    Raises KeyError when a parameter of the rule is not bound.
    """

    def __init__(
        self,
        workflow: Workflow,
        proposal: Proposal,
        bindings: Bindings,
        around: Surroundings,
        also: Callable[[], Iterable[str]] = tuple,
        floors: Floors | None = None,
    ) -> None:
        """`also` names further fields to read of each object, which decide nothing here: the guard looks at them.

        Raises ValueError for a proposal with floors and nobody to ask about them.
        """
        if len(proposal.keeps) > 0 and floors is None:
            msg = "a proposal with `keep` is rechecked against its floors"
            raise ValueError(msg)
        self._floors = floors
        self._inventories = workflow.inventories
        self._base = workflow.inventories[proposal.inventory]
        self._around = around
        self._row = proposal.row
        self._rule = compile_truth(proposal.where, bindings)
        self._scope: TruthOf | None = None if self._base.scope is None else compile_truth(self._base.scope, bindings)
        self._ranks = Ranks(proposal, bindings)
        self._excepts = tuple(compile_truth(condition, bindings) for condition in proposal.exemptions)
        self._asked_of_base = _fields_of_base(proposal.deciding, self._base)
        self._also = also
        self.fields = fields_to_read(self._base)
        """What an act on the object is conditional on."""
        self._resource = around.resources[self._base.source, self._base.resource]

    async def __call__(self, planned: Planned) -> Recheck:
        """Read the object and decide again. Raises what a connector raises beyond its contract."""
        reader = self._around.reader(self._base.source)
        try:
            wanted = tuple(dict.fromkeys((*self.fields, *sorted(self._also()))))
            reading = await reader.read(self._resource, planned.key, wanted)
        except SourceError as error:
            return Recheck(Standing.UNDECIDED, detail=_unread((error.reason,)), answered=False)
        match reading.existence:
            case Existence.GONE:
                return Recheck(Standing.GONE, detail="the object is no longer there")
            case Existence.UNKNOWN:
                return Recheck(Standing.UNDECIDED, detail=_unread(reading.reasons))
            case Existence.FOUND:
                pass
        live = {name: reading.cells.get(name, _NOT_GIVEN) for name in wanted}
        return await self._judge(planned, as_asked(live, self._base))

    async def _judge(self, planned: Planned, live: Row) -> Recheck:
        other = self._other_object(planned, live)
        if other is not None:
            return other
        asked = _Asked(self._around, self._inventories)
        own, alone = {self._row: live}, {ir.SELF: live}
        verdicts: list[tuple[bool | None, str]] = []
        if self._scope is not None:
            verdicts.append((await asked.decide(self._scope, alone), "the object has left the scope"))
        verdicts.append((await asked.decide(self._rule, own), "the rule no longer holds"))
        for condition in self._excepts:
            exempt = await asked.decide(condition, own)
            verdicts.append((None if exempt is None else not exempt, "an exemption holds for the object by now"))
        unplaced: list[str] = []
        for kept, words in [] if self._floors is None else await self._floors.keep(live):
            verdicts.append((None if kept is None else not kept, words))
            if kept is None:
                unplaced.append(words)
        for same, words in self._ranks.hold(planned.cells, live):
            verdicts.append((same, words))
            if same is None:
                unplaced.append(words)
        moved = self._moved(planned, live)
        for truth, words in verdicts:
            if truth is False:
                return Recheck(Standing.CHANGED, live, _because(words, moved, asked.of))
        if any(truth is None for truth, _ in verdicts):
            why = self._why_undecided(live, asked, unplaced)
            return Recheck(Standing.UNDECIDED, live, why, answered=not asked.silent)
        return Recheck(Standing.STILL_TRUE, live, _because("still due", moved, ()) if moved else "")

    def _other_object(self, planned: Planned, live: Row) -> Recheck | None:
        """Whether what is found under the key is another object than the planned one, or can't be told."""
        for name, value in zip(self._base.key, planned.key, strict=True):
            if live[name] != present(value):
                return Recheck(Standing.UNDECIDED, live, f"the source answered with another `{name}` than was asked")
        name_of = self._base.incarnation
        if name_of is None:
            return None
        then, now = planned.cells.get(name_of), live[name_of]
        if then is None or then.state is not FieldState.PRESENT or now.state is not FieldState.PRESENT:
            return Recheck(
                Standing.UNDECIDED, live, f"`{name_of}` is not known, so this may be another object under the same key"
            )
        if then.value != now.value:
            return Recheck(Standing.RECREATED, live, f"another object under the same key: `{name_of}` differs")
        return None

    def _moved(self, planned: Planned, live: Row) -> tuple[str, ...]:
        """Return the fields that differ from the plan, those that the rule reads first."""
        moved = [name for name, cell in live.items() if name in planned.cells and planned.cells[name] != cell]
        return tuple(sorted(moved, key=lambda name: (name not in self._asked_of_base, name)))

    def _why_undecided(self, live: Row, asked: _Asked, unplaced: Sequence[str]) -> str:
        known = (FieldState.PRESENT, FieldState.ABSENT)
        dark = [
            f"`{name}`: {live[name].state}" for name in sorted(self._asked_of_base) if live[name].state not in known
        ]
        return "; ".join((*dark, *asked.unanswered, *unplaced)) or "the rule could be neither proven nor disproven"


_NOT_GIVEN = Cell(FieldState.NOT_REQUESTED, None)


def as_asked(row: Row, inventory: Inventory) -> Row:
    """Return a live row as the inventory declares it: of records only the parts that it asks for."""
    return {
        name: cell
        if cell.value is None or name not in inventory.fields
        else Cell(cell.state, as_declared(inventory.fields[name].type, cell.value))
        for name, cell in row.items()
    }


class _Asked:
    """The questions put for one object: live where the source can answer in full, else from a fresh snapshot."""

    def __init__(self, around: Surroundings, inventories: Mapping[str, Inventory]) -> None:
        self._around = around
        self._inventories = inventories
        self._world = LiveWorld()
        self.unanswered: dict[str, None] = {}
        self.silent = False
        """Whether a source gave no answer at all: what it would say may still come."""

    @property
    def of(self) -> tuple[str, ...]:
        """The other inventories that were asked."""
        return tuple(dict.fromkeys(question.inventory for question in self._world.answers))

    async def decide(self, truth: TruthOf, env: Mapping[str, Row]) -> bool | None:
        return await decide(truth, env, self._world, self._ask)

    async def _ask(self, question: Lookup) -> Related:
        inventory = self._inventories[question.inventory]
        target = next(((name, value) for name, value in question.equal if name in inventory.lookup_fields), None)
        if target is not None:
            return await self._look_up(inventory, *target)
        return await self._from_snapshot(inventory, question.equal)

    async def _look_up(self, inventory: Inventory, name: str, value: Value) -> Related:
        resource = self._around.resources[inventory.source, inventory.resource]
        wanted = fields_to_read(inventory)
        reader = self._around.reader(inventory.source)
        try:
            matches = await reader.lookup(resource, name, value, wanted)
        except SourceError as error:
            matches = Matches((), complete=False, reasons=(error.reason,))
            self.silent = True
        if not matches.complete:
            codes = ", ".join(reason.code for reason in matches.reasons) or "no reason was given"
            self.unanswered[f"`{inventory.name}` could not be looked up in full by `{name}`: {codes}"] = None
        rows = [as_asked({given: row.get(given, _NOT_GIVEN) for given in wanted}, inventory) for row in matches.rows]
        return Related(rows, matches.complete)

    async def _from_snapshot(self, inventory: Inventory, equal: Equal) -> Related:
        stored = self._around.stored.get(inventory.name)
        if stored is None:
            self.unanswered[f"`{inventory.name}` can't be looked up and has no stored snapshot"] = None
            return NOTHING_KNOWN
        if stored.fresh_until is None or self._around.clock() > stored.fresh_until:
            self.unanswered[f"`{inventory.name}` can't be looked up and its snapshot is no longer fresh"] = None
            return NOTHING_KNOWN
        try:
            return await asyncio.to_thread(stored.snapshot.related, equal)
        except (SnapshotMissing, SnapshotCorrupt) as error:
            self.unanswered[f"`{inventory.name}` can't be looked up, and {error}"] = None
            return NOTHING_KNOWN


def _fields_of_base(expressions: Iterable[ir.Expr], base: Inventory) -> frozenset[str]:
    named: frozenset[str] = frozenset()
    for expression in expressions:
        named |= facts.fields_read(expression).get(base.name, frozenset())
    return named & frozenset(base.fields)


def _unread(reasons: tuple[Incompleteness, ...]) -> str:
    codes = ", ".join(reason.code for reason in reasons)
    return f"the object could not be read: {codes or 'the source does not tell whether it is there'}"


def _because(words: str, moved: tuple[str, ...], asked: tuple[str, ...]) -> str:
    if moved:
        return f"{words}; changed since the plan: {', '.join(f'`{name}`' for name in moved)}"
    if asked:
        return f"{words}; its fields are as planned, `{'`, `'.join(asked)}` says otherwise by now"
    return words
