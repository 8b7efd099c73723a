"""A small clean-up to act on, built by hand: accounts that nobody owns are locked or deleted.

world = Orphans()                      # accounts and people in a `FakeSource`, everything due
rechecker = world.rechecker()
row = world.planned("a1")              # the account as it is now, as a plan would hold it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.support.fake_source import (
    FakeClock,
    FakeSource,
    FakeTable,
    delete_operation,
    equals,
    fake_inventory,
    fake_resource,
    restore_operation,
    update_operation,
)

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Complete, Direction, Fresh, Snapshot, Visible
from fullcount.compiler.lower.world import Bindings, Equal, Related
from fullcount.compiler.types import BOOL, DURATION, TEXT, FieldType, Type
from fullcount.compiler.values import FieldState, Row
from fullcount.runtime.act.recheck import Planned, Rechecker, Stored, Surroundings, fields_to_read

DAY = 86_400_000_000
HOUR = 3_600_000_000


def field_of(row: str, resource: Resource, name: str) -> ir.Field:
    """Return `row.name`."""
    declared = resource.fields[name]
    return ir.Field(row, resource.name, name, declared.type, declared.optional)


def absent(operand: ir.Expr) -> ir.Expr:
    """Return `operand is absent`."""
    return ir.IsState(operand, "absent")


def nobody(people: Resource, *conditions: ir.Expr) -> ir.Expr:
    """Return `no people as p where (…)`."""
    where = conditions[0] if len(conditions) == 1 else ir.And(conditions)
    return ir.Not(ir.Some(people.name, "p", where))


@dataclass
class SnapshotRows:
    """A stored snapshot made of rows."""

    rows: tuple[Row, ...]
    complete: bool = True
    asked: list[Equal] = field(default_factory=list)

    def related(self, equal: Equal) -> Related:
        """Return the rows that fit, those without a value among them."""
        self.asked.append(equal)
        fitting = [row for row in self.rows if all(row[n].value in (None, v) for n, v in equal)]
        return Related(fitting, self.complete)


class Orphans:
    """Accounts `a1`, `a2`, … that are in production, idle since long and owned by nobody; people `p1`, `p2`, …"""

    def __init__(self, accounts: int = 3, people: int = 2, *, look_up: bool = True, **changes: Any) -> None:
        self.clock = FakeClock()
        self.accounts = fake_resource(
            "accounts",
            "id: text, uuid: text, owner: text?, environment: text, last_login: timestamp?, locked: bool, version: int",
            incarnation="uuid",
            version="version",
            operations=(
                update_operation("update", locked="bool"),
                delete_operation("delete"),
                restore_operation("restore"),
            ),
        )
        self.people = fake_resource("people", "id: text, active: bool", lookup_fields=("id",) if look_up else ())
        self.account_table = FakeTable(self.accounts, [self.account(i) for i in range(1, accounts + 1)])
        self.people_table = FakeTable(self.people, [{"id": f"p{i}", "active": True} for i in range(1, people + 1)])
        self.source = FakeSource(self.account_table, self.people_table)
        self.others: dict[str, FakeSource] = {}
        """Further sources that are acted on, by name."""
        self.stored: dict[str, Stored] = {}
        self.now_micros = int(self.clock.start.timestamp()) * 1_000_000
        self.workflow = self._workflow(**changes)

    def account(self, number: int, **values: Any) -> dict[str, Any]:
        """Return an account that is due."""
        row: dict[str, Any] = {
            "id": f"a{number}",
            "uuid": f"uuid-{number}",
            "owner": f"gone-{number}",
            "environment": "production",
            "last_login": self.clock.start - timedelta(days=200),
            "locked": False,
            "version": 1,
        }
        return row | values

    def rule(self) -> ir.Expr:
        """Return the rule: idle, and no active person is the owner."""
        a, p = self.accounts, self.people
        idle = ir.Compare(
            "<",
            ir.Else(field_of("a", a, "last_login"), ir.Const(0, a.fields["last_login"].type), ir.TIMESTAMP, False),
            ir.Arith("-", ir.Now(), ir.Param("idle", DURATION), ir.TIMESTAMP),
        )
        owner = field_of("a", a, "owner")
        person = nobody(p, ir.Compare("==", field_of("p", p, "id"), owner), field_of("p", p, "active"))
        return ir.And((idle, ir.Or((absent(owner), person))))

    def _workflow(
        self,
        *,
        rule: ir.Expr | None = None,
        excepts: Iterable[program.Exemption] = (),
        protections: Iterable[program.Protection] = (),
        keeps: Iterable[program.Keep] = (),
        operation: str = "update",
        arguments: dict[str, ir.Expr] | None = None,
        undo: bool = True,
        rate: Decimal | None = None,
        concurrency: int = 4,
        stop: program.Stop | None = None,
        limit: program.Limit | None = None,
        windows: Iterable[program.Window] = (),
        canary: program.Canary | None = None,
        verify_age: int = 1,
        backup: int | None = None,
        quorum: int = 1,
    ) -> program.Workflow:
        a = self.accounts
        inventory = fake_inventory(a, scope=equals(a, "environment", "production"))
        people = fake_inventory(self.people)
        key = {"id": field_of("a", a, "id")}
        lock = {"locked": ir.Const(True, BOOL)} if operation == "update" else {}
        call = program.OperationCall(
            "fake",
            "accounts",
            operation,
            key | lock if arguments is None else arguments,
            operation == "update" or backup is not None,
            deletes=operation == "delete",
        )
        taken_back = program.OperationCall(
            "fake", "accounts", "update", key | {"locked": ir.Const(False, BOOL)}, reversible=True
        )
        if backup is not None:
            taken_back = program.OperationCall("fake", "accounts", "restore", key, reversible=True, from_backup=True)
        proposal = program.Proposal(
            name="disable",
            inventory="accounts",
            row="a",
            where=self.rule() if rule is None else rule,
            excepts=tuple(excepts),
            limit=limit,
            show=(),
            uses=(
                program.Use("accounts", Direction.BASE, (Complete(), Fresh(None))),
                program.Use("people", Direction.ABSENCE, (Complete(), Snapshot(), Visible(), Fresh(None))),
            ),
            where_text="idle and no active owner",
            protections=tuple(protections),
            keeps=tuple(keeps),
        )
        return program.Workflow(
            name="disable_orphans",
            describe="Disable accounts that nobody owns.",
            owner="iam-team",
            schedule=None,
            params=(program.Param("idle", DURATION, 90 * DAY),),
            inventories={"accounts": inventory, "people": people},
            verifies={
                "accounts": (Complete(), Snapshot(), Visible(), Fresh(verify_age * HOUR)),
                "people": (Complete(), Snapshot(), Visible(), Fresh(24 * HOUR)),
            },
            proposals=(proposal,),
            approvals=(
                program.Approval("disable", (program.Quorum(quorum, "iam-admin", not_by_author=False),), 3 * 24 * HOUR),
            ),
            acts=(
                program.Act(
                    proposal="disable",
                    call=call,
                    undo=taken_back if undo and (operation == "update" or backup is not None) else None,
                    rate=rate,
                    concurrency=concurrency,
                    stop=stop,
                    windows=tuple(windows),
                    canary=canary,
                    backup=None if backup is None else program.Backup(backup),
                ),
            ),
        )

    @property
    def bindings(self) -> Bindings:
        """What the plan fixed."""
        return Bindings({"idle": 90 * DAY}, self.now_micros)

    @property
    def resources(self) -> dict[tuple[str, str], Resource]:
        """Return the declared resources."""
        others = [table.resource for source in self.others.values() for table in source.tables.values()]
        return {(r.source, r.name): r for r in (self.accounts, self.people, *others)}

    def replace_proposal(self, **changes: Any) -> None:
        """Change the proposal of the workflow."""
        (proposal,) = self.workflow.proposals
        self.workflow = replace(self.workflow, proposals=(replace(proposal, **changes),))

    def add_field(self, name: str, of: Type, values: dict[str, Any]) -> None:
        """Let the source have one more field of accounts than the workflow reads."""
        self.accounts = replace(self.accounts, fields={**self.accounts.fields, name: FieldType(of)})
        self.account_table.resource = self.accounts
        for key, value in values.items():
            self.account_table.objects[key,][name] = value

    @property
    def sources(self) -> dict[str, FakeSource]:
        """Return every source by name."""
        return {"fake": self.source, **self.others}

    def reader(self, source: str) -> FakeSource:
        """Return the reading side."""
        return self.sources[source]

    def surroundings(self) -> Surroundings:
        """Return what a recheck may ask."""
        return Surroundings(self.reader, self.resources, self.stored, self.clock)

    def rechecker(self) -> Rechecker:
        """Return the compiled recheck."""
        return Rechecker(self.workflow, self.workflow.proposals[0], self.bindings, self.surroundings())

    def planned(self, key: str) -> Planned:
        """Return the account as it is now, as a plan would hold it."""
        table = self.account_table
        cells = table.cells(table.objects[key,], fields_to_read(self.workflow.inventories["accounts"]))
        return Planned((key,), cells)

    def people_rows(self) -> tuple[Row, ...]:
        """Return the people as a snapshot would hold them now."""
        table = self.people_table
        return tuple(table.cells(row, self.people.fields) for row in table.objects.values())

    def store_people(self, *, complete: bool = True, fresh_hours: float | None = 24) -> SnapshotRows:
        """Keep the people as they are now as the stored snapshot."""
        snapshot = SnapshotRows(self.people_rows(), complete)
        until = None if fresh_hours is None else self.clock() + timedelta(hours=fresh_hours)
        self.stored["people"] = Stored(snapshot, until)
        return snapshot


__all__ = ["TEXT", "FieldState", "Orphans", "SnapshotRows", "absent", "field_of", "nobody"]
