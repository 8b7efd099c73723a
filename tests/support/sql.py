"""Real SQL sources for tests: a configuration, its reader and actor, and a scan read to its end."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullcount.compiler import ir
from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.connectors.base import ActCall, ActResult, Existence, Page, Question, Scan, ScanInfo
from fullcount.runtime.connectors.sql import CONNECTOR

ACCOUNTS: dict[str, Any] = {
    "table": "accounts",
    "key": ["id"],
    "incarnation": "entry_uuid",
    "version": "row_version",
    "version_managed": True,
    "fields": {
        "id": "text",
        "entry_uuid": "text",
        "row_version": "int",
        "owner": "text?",
        "environment": "text",
        "last_login": "timestamp?",
        "locked": "bool",
    },
    "writable": ["locked", "owner"],
    "deletable": True,
}

CREATE_ACCOUNTS = """
    CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, row_version INTEGER NOT NULL,
                           owner TEXT, environment TEXT NOT NULL, last_login TEXT, locked BOOLEAN NOT NULL)
"""


@dataclass(frozen=True)
class Read:
    """Everything that one scan said."""

    info: ScanInfo
    pages: tuple[Page, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, as natural values."""
        return [
            {name: column[index] for name, column in page.columns.items()}
            for page in self.pages
            for index in range(page.rows)
        ]

    @property
    def keys(self) -> list[Any]:
        """The values of the first field of the question."""
        first = next(iter(self.pages[0].columns))
        return [row[first] for row in self.rows]

    @property
    def end(self) -> str | None:
        """The end marker of the last page."""
        return self.pages[-1].end

    @property
    def total(self) -> int:
        """The exact total that the last page told."""
        total = self.pages[-1].total
        assert total is not None
        assert total.exact
        return total.value

    @property
    def codes(self) -> list[str]:
        """The codes of every reason, the scan's and the pages'."""
        pages = (reason.code for page in self.pages for reason in page.reasons)
        return [*(reason.code for reason in self.info.reasons), *pages]

    def states(self, name: str) -> list[FieldState | None]:
        """The states of a column, page after page."""
        return [state for page in self.pages for state in page.states.get(name, [None] * page.rows)]


@dataclass(frozen=True)
class Source:
    """One configured SQL source with one resource in use."""

    settings: Mapping[str, Any]
    resource_name: str = "accounts"
    opened: dict[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> Any:
        """The checked configuration."""
        return CONNECTOR.config_model.model_validate(dict(self.settings))

    @property
    def resource(self) -> Resource:
        """The declared resource."""
        return CONNECTOR.resources("directory", self.config)[self.resource_name]

    async def reader(self) -> Any:
        """The source's reader, opened once and closed by `close`."""
        if "reader" not in self.opened:
            self.opened["reader"] = await CONNECTOR.open_reader("directory", self.config)
        return self.opened["reader"]

    async def actor(self) -> Any:
        """The source's actor, opened once and closed by `close`."""
        if "actor" not in self.opened:
            self.opened["actor"] = await CONNECTOR.open_actor("directory", self.config)
        return self.opened["actor"]

    @asynccontextmanager
    async def scan(
        self, scope: ir.Expr | None = None, *, page_rows: int = 10, fields: Any = None
    ) -> AsyncIterator[Scan]:
        """Open a scan on a connection of its own."""
        asked = tuple(self.resource.fields) if fields is None else tuple(fields)
        reader = await self.reader()
        async with reader.scan(Question("accounts", self.resource, asked, scope, 0, page_rows)) as scan:
            yield scan

    async def read_all(self, scope: ir.Expr | None = None, *, page_rows: int = 10, fields: Any = None) -> Read:
        """Scan to the end."""
        async with self.scan(scope, page_rows=page_rows, fields=fields) as scan:
            return Read(scan.info, tuple(await rest_of(scan)))

    async def see(self, *key: Any) -> Mapping[str, Cell]:
        """Read one row that must be there, every field."""
        reading = await (await self.reader()).read(self.resource, key, tuple(self.resource.fields))
        assert reading.existence is Existence.FOUND
        return reading.cells

    async def call(
        self, operation: str, *key: Any, seen: Mapping[str, Cell] | None = None, **arguments: Any
    ) -> ActCall:
        """A call on a row as it is seen now, or was `seen` before."""
        expected = await self.see(*key) if seen is None else seen
        named = dict(zip(self.resource.key, key, strict=True))
        return ActCall(self.resource, operation, key, {**named, **arguments}, expected, "key")

    async def perform(self, call: ActCall) -> ActResult:
        """Perform a call."""
        return await (await self.actor()).perform(call)

    async def close(self) -> None:
        """Close everything that was opened."""
        while self.opened:
            _, side = self.opened.popitem()
            await side.close()


async def rest_of(scan: Scan, cursor: str | None = None) -> list[Page]:
    """Fetch from `cursor` until there is no next page."""
    pages = [await scan.fetch(cursor)]
    while pages[-1].cursor is not None:
        pages.append(await scan.fetch(pages[-1].cursor))
    return pages


def account(index: int, **changes: Any) -> tuple[Any, ...]:
    """A row of the accounts table, in the order of its columns."""
    row = {
        "id": f"a{index:04}",
        "entry_uuid": f"uuid-{index}",
        "row_version": 1,
        "owner": f"p{index % 7}" if index % 3 else None,
        "environment": "production" if index % 2 else "test",
        "last_login": "2026-11-01T08:00:00+00:00" if index % 4 else None,
        "locked": 0,
        **changes,
    }
    return tuple(row.values())


def sqlite_settings(path: Path, resource: Mapping[str, Any] = ACCOUNTS, **settings: Any) -> dict[str, Any]:
    """The configuration of a source on an SQLite file."""
    return {"url": f"sqlite:///{path}", "resources": {"accounts": dict(resource)}, **settings}


class File:
    """An SQLite file, written to as its application would: by a connection of its own, committed at once."""

    def __init__(self, path: Path, *statements: str) -> None:
        self.path = path
        self.write(*statements)

    def write(self, *statements: str) -> None:
        """Run statements and commit."""
        connection = sqlite3.connect(self.path)
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def insert(self, *rows: tuple[Any, ...], table: str = "accounts") -> None:
        """Insert rows and commit."""
        connection = sqlite3.connect(self.path)
        with connection:
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        connection = sqlite3.connect(self.path)
        found = connection.execute(query).fetchall()
        connection.close()
        return found
