"""A connector over a dict that keeps its contract, and can be told to break one rule of it.

`MemoryConnector(store, lie="…")`: the lie bears the name of the check that must find it (see `LIES`).
"""

from __future__ import annotations

import asyncio
import copy
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict
from tests.support.fake_source import parse_fields, rows_page

from fullcount.compiler.catalog import Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import Cell
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import (
    ActResult,
    Existence,
    Matches,
    Outcome,
    Page,
    Reading,
    ScanInfo,
    SourceError,
    Total,
)
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.testing import CHECKS, Act, Bed, Fault
from fullcount.runtime.testing.conformance import name_of

FIELDS = parse_fields("id: text, made: int, rev: int, owner: text?")
LIES = tuple(name_of(check) for check in CHECKS)
SECRET = "hunter2"


class MemoryConfig(BaseModel):
    """What the source may be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    most: int | None = None


@dataclass
class Store:
    """The source itself: its objects, and how it is doing."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    buried: dict[str, dict[str, Any]] = field(default_factory=dict)
    fails_at: int | None = None
    down: bool = False
    silent: bool = False
    hides: bool = False
    loses: bool = False
    shut: bool = False
    births: int = 0

    def make(self, key: str, owner: str | None) -> None:
        """Make an object, another one than any before."""
        self.births += 1
        self.objects[key] = {"id": key, "made": self.births, "rev": 1, "owner": owner}

    def change(self, key: str, owner: str | None) -> None:
        """Change an object."""
        self.objects[key] |= {"owner": owner, "rev": self.objects[key]["rev"] + 1}

    def remove(self, key: str) -> None:
        """Remove an object."""
        self.buried[key] = self.objects.pop(key)

    @contextmanager
    def state(self, **values: Any):
        """Be in a state for a while."""
        before = {name: getattr(self, name) for name in values}
        vars(self).update(values)
        yield
        vars(self).update(before)


def failed(detail: str = "the source is down") -> SourceError:
    """Return what a source raises that does not answer."""
    return SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))


@dataclass
class MemoryConnector:
    """See the module's text."""

    store: Store
    lie: str = ""
    name = "memory"
    version = "1"
    config_model = MemoryConfig

    def resources(self, source: str, config: BaseModel) -> dict[str, Resource]:
        """See `Connector.resources`."""
        lies = self.lie == "the_declaration_is_complete_and_fits_together"
        own = Operation(
            "own",
            {"id": Parameter(FIELDS["id"], key="id"), "owner": Parameter(FIELDS["owner"])},
            Effect.UPDATE,
            Idempotency.PRECONDITION,
            reversible=False,
        )
        things = Resource(
            source=source,
            name="things",
            fields=FIELDS,
            key=("id",),
            consistency=Consistency.PINNED,
            visibility=Visibility.VOUCHED,
            incarnation="birth" if lies else "made",
            version="rev",
            lookup_fields=frozenset({"owner"}),
            operations={"own": own},
            counted=True,
        )
        return {"things": things}

    async def open_reader(self, source: str, config: Any) -> Reader:
        """See `Connector.open_reader`."""
        lies = self.lie == "a_reading_session_can_not_act"
        return Actor(self, config) if lies else Reader(self, config)

    async def open_actor(self, source: str, config: Any) -> Actor:
        """See `Connector.open_actor`."""
        return Actor(self, config)


class Reader:
    """See `SourceReader`."""

    where = "here"

    def __init__(self, connector: MemoryConnector, config: MemoryConfig) -> None:
        self.store, self.lie, self.config = connector.store, connector.lie, config
        self.first: dict[str, Any] = {}

    async def identity(self) -> dict[str, str]:
        """See `SourceReader.identity`."""
        lies = self.lie == "an_identity_names_the_target_and_no_secret"
        return {"target.place": self.where if lies else "memory", "user": "reader"}

    @asynccontextmanager
    async def scan(self, question: Any):
        """See `SourceReader.scan`."""
        yield Scan(self, question)

    def _up(self) -> None:
        if self.store.down:
            raise failed()

    async def read(self, resource: Any, key: Any, fields: Any) -> Reading:
        """See `SourceReader.read`."""
        if self.store.down and self.lie == "a_look_that_fails_says_nothing_of_absence":
            return Reading(Existence.GONE)
        self._up()
        row = self.store.objects.get(key[0])
        if row is None and self.lie == "an_object_that_is_gone_is_not_found":
            row = self.store.buried[key[0]]
        if row is None:
            return Reading(Existence.GONE)
        if self.lie == "an_object_is_read_as_it_is_now":
            row = self.first.setdefault(key[0], dict(row))
        if self.lie == "a_recreated_object_is_another_one":
            row = {**row, "made": 1, "rev": 1}
        return Reading(Existence.FOUND, cells(row, fields))

    async def lookup(self, resource: Any, name: str, value: Any, fields: Any) -> Matches:
        """See `SourceReader.lookup`."""
        self._up()
        kinds = (value,) if self.lie == "a_look_up_finds_all_that_match_or_may" else (value, None)
        return Matches(tuple(cells(row, fields) for row in self.store.objects.values() if row[name] in kinds), True)

    def most_keys(self, resource: Any) -> int:
        """See `ReadsMany.most_keys`: fewer than there are."""
        return 4

    async def read_many(self, resource: Any, keys: Any, fields: Any) -> dict[Any, Any]:
        """See `ReadsMany.read_many`."""
        if not self.store.down:
            stale = self.lie == "objects_read_together_are_as_each_is_alone"
            objects = {**self.store.objects, **(self.store.buried if stale else {})}
            return {key: cells(objects[key[0]], fields) for key in keys if key[0] in objects}
        raise failed()

    def most_values(self, resource: Any, name: str) -> int:
        """See `LooksUpMany.most_values`."""
        return 4

    async def lookup_many(self, resource: Any, name: str, values: Any, fields: Any) -> dict[Any, Matches]:
        """See `LooksUpMany.lookup_many`."""
        if self.store.down and self.lie == "what_is_asked_together_and_fails_says_nothing":
            return {value: Matches((), complete=True) for value in values}
        self._up()
        narrow = self.lie == "look_ups_together_say_what_each_says_alone"
        rows = self.store.objects.values()
        return {
            value: Matches(
                tuple(cells(row, fields) for row in rows if row[name] == value or (row[name] is None and not narrow)),
                complete=True,
            )
            for value in values
        }

    async def unfit(self, resource: Any, operation: str) -> Incompleteness | None:
        """See `ForeseesActing.unfit`."""
        lies = self.lie == "what_keeps_from_acting_is_foreseen"
        return failed("nobody can be owner now").reason if self.store.shut and not lies else None

    async def count(self, resource: Any) -> int:
        """See `SourceReader.count`."""
        self._up()
        there = len(self.store.objects)
        return self.first.setdefault("count", there) if self.lie == "a_count_is_of_what_is_there" else there

    async def close(self) -> None:
        """See `SourceReader.close`."""


class Scan:
    """See `Scan`. Pages by position over a copy of all objects."""

    def __init__(self, reader: Reader, question: Any) -> None:
        self.reader, self.question, self.store = reader, question, reader.store
        self.live = reader.lie == "changes_between_pages_break_no_promise"
        self.copy = copy.deepcopy(self.store.objects)
        self.given, self.fetched = {None}, 0
        hides = self.store.hides and reader.lie != "objects_that_are_hidden_are_missed"
        self.info = ScanInfo(Consistency.PINNED, visibility="restricted" if hides else "all", snapshot_token="s")

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        lie = self.reader.lie
        self.fetched += 1
        if self.store.silent:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lie != "the_deadline_holds_while_a_source_is_silent":
                    raise
                return rows_page(self.question.fields, [], end="end")
        if self.store.fails_at is not None and self.fetched >= self.store.fails_at:
            if lie == "a_list_cut_anywhere_says_why":
                return rows_page(self.question.fields, [], end="end")
            raise failed()
        if cursor not in self.given:
            if lie != "a_cursor_of_another_scan_is_refused":
                raise SourceError(Incompleteness(code=Reason.CURSOR_EXPIRED, detail="not of this scan"))
            cursor = None
        return self._page(0 if cursor is None else int(cursor), lie)

    def _page(self, start: int, lie: str) -> Page:
        rows = [row for _, row in sorted((self.store.objects if self.live else self.copy).items())]
        rows = rows[2:] if self.store.hides else rows
        most = self.reader.config.most
        capped = most is not None and len(rows) > most
        whole, rows = len(rows), rows[:most] if capped else rows
        stop = start + self.question.page_rows
        more = stop < len(rows)
        self.given.add(str(stop))
        if lie == "a_whole_list_is_complete_at_any_page_size":
            rows = [{**row, "owner": "nobody"} for row in rows]
        if len(rows) == 0 and lie == "nothing_there_is_complete_and_empty":
            return rows_page(self.question.fields, [])
        if capped and not more and lie != "our_own_limits_are_said":
            reason = Incompleteness(code=Reason.CLIENT_LIMIT_REACHED, detail="no more than that is read")
            return rows_page(self.question.fields, rows[start:stop], reasons=(reason,))
        told = lie == "the_end_is_said_once_and_never_beside_a_cursor" or not more
        total = None if self.live else Total(len(rows) if lie == "our_own_limits_are_said" else whole, exact=True)
        cursor = str(stop) if more else None
        return rows_page(
            self.question.fields, rows[start:stop], cursor=cursor, end="end" if told else None, total=total
        )


class Actor(Reader):
    """See `SourceActor`."""

    where = "there"

    async def perform(self, call: Any) -> ActResult:
        """See `SourceActor.perform`."""
        lie, store, (key,) = self.lie, self.store, call.key
        if store.shut:
            return ActResult(Outcome.FAILED)
        row = store.objects.get(key)
        if row is None:
            if lie == "an_object_that_is_gone_is_not_made_again":
                store.make(key, call.arguments["owner"])
            return ActResult(Outcome.ALREADY_GONE)
        now = cells(row, call.expected)
        if lie == "an_object_that_was_made_again_is_left_alone":
            now |= {"made": call.expected["made"], "rev": call.expected["rev"]}
        careless = {"an_object_that_changed_is_left_alone", "doing_it_twice_is_doing_it_once"}
        if now != dict(call.expected) and lie not in careless:
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed")
        if lie != "an_act_does_what_it_says_and_nothing_else":
            store.change(key, call.arguments["owner"])
        if store.loses:
            lies = lie == "a_lost_answer_is_unknown_and_told_by_reading"
            return ActResult(Outcome.FAILED) if lies else ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
        return ActResult(Outcome.DONE)

    async def took_effect(self, call: Any) -> bool | None:
        """See `SourceActor.took_effect`."""
        row = self.store.objects.get(call.key[0])
        return None if row is None else row["owner"] == call.arguments["owner"]


def cells(row: Any, fields: Any) -> dict[str, Cell]:
    """Return canonical cells."""
    return {name: coerce_cell(FIELDS[name], row[name]) for name in fields}


def memory_bed(lie: str = "") -> Bed:
    """Return a bed of seven objects, of which two have no owner."""
    store = Store()
    for number in range(7):
        store.make(f"t{number}", None if number in {2, 5} else f"p{number % 2}")
    return Bed(
        connector=MemoryConnector(store, lie),
        config=MemoryConfig(),
        resource="things",
        rows=lambda: {(key,): dict(row) for key, row in store.objects.items()},
        put=lambda: (store.make(f"n{store.births}", "p9"), (f"n{store.births - 1}",))[1],
        remove=lambda key: store.remove(key[0]),
        change=lambda key: store.change(key[0], "changed"),
        faults=[
            Fault(
                name="the source fails",
                begin=lambda number: store.state(fails_at=number),
                reasons=frozenset({Reason.SOURCE_UNAVAILABLE}),
            )
        ],
        empty=store.objects.clear,
        recreate=lambda key: store.make(key[0], store.objects[key[0]]["owner"]),
        hang=lambda: store.state(silent=True),
        outage=lambda: store.state(down=True),
        unfit=lambda: store.state(shut=True),
        hide=lambda: store.state(hides=True),
        capped=MemoryConfig(most=3),
        act=Act(operation="own", arguments=lambda key: {"owner": "me"}, lose_reply=lambda: store.state(loses=True)),
        secrets=(SECRET,),
    )
