"""The made rows that both benchmarks of collecting read, and the question for all of them."""

from __future__ import annotations

from typing import Any

from fullcount.compiler import program
from fullcount.compiler.catalog import Resource

FIELDS = {
    "id": "text",
    "entry_uuid": "text",
    "owner": "text?",
    "team": "text",
    "environment": "text",
    "created": "timestamp",
    "last_login": "timestamp?",
    "locked": "bool",
    "row_version": "int",
}


def made_row(index: int) -> tuple[Any, ...]:
    """Return one row of made data."""
    day = f"2026-{index % 12 + 1:02}-{index % 28 + 1:02}T08:00:00+00:00"
    owner = None if index % 11 == 0 else f"p{index % 5000:05}"
    seen = None if index % 7 == 0 else day
    return (f"svc-{index:08}", f"{index:032x}", owner, f"team-{index % 60}", "production", day, seen, index % 2, 1)


def inventory_of(accounts: Resource) -> program.Inventory:
    """Return the question for every field of every row."""
    return program.Inventory(
        name="accounts",
        source="directory",
        resource="accounts",
        key=accounts.key,
        incarnation=None,
        version=accounts.version,
        fields=accounts.fields,
        scope=None,
        deadline=None,
        expects=(),
        consistency=accounts.consistency,
        lookup_fields=accounts.lookup_fields,
    )
