"""What readings amount to for warnings: the one rule by which the store counts, and by which it is verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.payloads import EnvelopeKept

Row = Mapping[str, Any]


def rows_after(before: Mapping[str, Row], said: EnvelopeKept, at: int) -> dict[str, Row]:
    """Return the rows of an inventory by code, as they are after a reading at an instant in microseconds.

    A complete reading without a warning ends its row of runs; one that is not complete says nothing of what it lacks.
    An entry of an older version says nothing at all.
    """
    if said.warnings is None:
        return dict(before)
    after = {
        code: {**row, "runs": 0} if said.complete and code not in said.warnings else row for code, row in before.items()
    }
    for code in said.warnings:
        known = before.get(code)
        runs = 0 if known is None else known["runs"]
        after[code] = {
            "workflow": said.workflow,
            "inventory": said.inventory,
            "code": code,
            "resource": said.resource,
            "owner": said.owner,
            "first_seen_at": at if known is None else known["first_seen_at"],
            "since_at": at if known is None or runs == 0 else known["since_at"],
            "last_seen_at": at,
            "runs": runs + 1,
        }
    return after


def seen(state: State, entry: Entry, said: EnvelopeKept) -> None:
    """Count the warnings of a reading."""
    of = (said.workflow, said.inventory)
    ours = {code: state.warnings[*of, code].columns for code in state.warned.get(of, ())}
    for code, row in rows_after(ours, said, entry.at).items():
        key = (*of, code)
        if code not in ours:
            state.add(state.warnings, key, entry, dict(row))
            state.warned.setdefault(of, set()).add(code)
        elif row != ours[code]:
            state.warnings[key].set(entry, **row)
