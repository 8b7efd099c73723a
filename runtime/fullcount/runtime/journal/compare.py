"""Comparing the tables with what the journal says of them: every row, every column, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session

from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.journal.expected import Expected, Key, State
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.plan.digest import CanonicalError, sha256_text
from fullcount.runtime.store import tables
from fullcount.runtime.store.ledger_rows import journaled

_SHOWN = 40


def compare_tables(state: State, session: Session) -> dict[str, int]:
    """Compare everything but the plans' documents and their acts' keys; return how many rows were compared."""
    compare = _Comparison(state, session)
    compare.table("run", About.RUN, tables.Run, ("run_id",), state.runs)
    compare.table("envelope", About.EVIDENCE, tables.Evidence, ("envelope_id",), state.envelopes, _document)
    compare.table("certificate", About.EVIDENCE, tables.Certificate, ("certificate_id",), state.certificates, _document)
    compare.table("plan", About.PLAN, tables.Plan, ("plan_id",), state.plans, _document)
    compare.table("approval", About.APPROVAL, tables.ApprovalRound, ("round_id",), state.rounds, _key)
    compare.table("vote", About.APPROVAL, tables.ApprovalVote, ("round_id", "uid", "at"), state.votes)
    compare.table("act", About.ACT, tables.Act, ("plan_id", "kind", "object_key"), state.acts, _act_of(state))
    compare.table("step", About.ACT, tables.StepState, ("workflow", "proposal", "object_key"), state.steps)
    compare.table("canary", About.ACT, tables.Canary, ("plan_id",), state.canaries)
    compare.table("notice", About.RUN, tables.Notice, ("notice_id",), state.notices, _body)
    compare.table("warning", About.EVIDENCE, tables.SeenWarning, ("workflow", "inventory", "code"), state.warnings)
    compare.table("lease", About.COORDINATION, tables.Lease, ("name",), state.leases, _no_end)
    compare.table("slot", About.COORDINATION, tables.Slot, ("slot_id",), state.slots)
    compare.table("control", About.COORDINATION, tables.Control, ("name",), state.controls)
    return compare.counted


Change = Callable[[dict[str, Any]], None]


def _document(row: dict[str, Any]) -> None:
    """What is journalled of a document is its hash; the column that repeats it must not be believed."""
    document = row.pop("document")
    if row["sha256"] == hash_of(document):
        return
    row["sha256"] = f"the hash of another text, {hash_of(document)}"


def _body(row: dict[str, Any]) -> None:
    """What is journalled of a notice's words is their hash."""
    body = row.pop("body")
    if row["sha256"] != hash_of(body):
        row["sha256"] = f"the hash of another text, {hash_of(body)}"


def _key(row: dict[str, Any]) -> None:
    key = row.pop("key")
    # what stands there may have been made a value of any type
    found = None if key is None else sha256_text(key) if isinstance(key, bytes) else "not a key"
    if found != row["key_sha256"]:
        row["key_sha256"] = "the hash of another key"


def _before(row: dict[str, Any]) -> None:
    before = row.pop("before")
    row["before_sha256"] = None if before is None else hash_of(before)


def _act_of(state: State) -> Change:
    """What is journalled of sealed parameters are the arguments; the hash of all of them is held against the seal."""

    def change(row: dict[str, Any]) -> None:
        _before(row)
        key = (row["plan_id"], row["kind"], row["object_key"])
        text, expected = row["parameters"], state.acts.get(key)
        if expected is None or key not in state.sealed or row["parameters_sha256"] != hash_of(text):
            return
        try:
            shown = canonical_text(journaled(text))
        except (CanonicalError, ValueError, AttributeError):
            return
        if shown == expected["parameters"]:
            row["parameters"] = shown
            expected.columns["parameters_sha256"] = row["parameters_sha256"]

    return change


def _no_end(row: dict[str, Any]) -> None:
    row.pop("expires_at")


def hash_of(text: Any) -> str:
    """Return the hash of a stored text; a value that is no text any more has none."""
    return sha256_text(text.encode()) if isinstance(text, str) else "not a text"


class _Comparison:
    def __init__(self, state: State, session: Session) -> None:
        self._state = state
        self._session = session
        self.counted: dict[str, int] = {}

    def table(
        self,
        name: str,
        about: About,
        table: type[tables.Base],
        key_columns: tuple[str, ...],
        expected: Mapping[Key, Expected],
        change: Change | None = None,
    ) -> None:
        seen: set[Key] = set()
        for row in self._rows(table):
            key = tuple(row[column] for column in key_columns)
            seen.add(key)
            if change is not None:
                change(row)
            self._row(_named(name, key), about, row, expected.get(key))
        for key, missing in expected.items():
            if key not in seen:
                self._wrong(about, missing.seq, f"the {_named(name, key)} that it speaks of is gone from the store")
        self.counted[name] = len(seen)

    def _rows(self, table: type[tables.Base]) -> Iterable[dict[str, Any]]:
        columns: list[InstrumentedAttribute[Any]] = [getattr(table, column.key) for column in table.__table__.columns]
        result = self._session.execute(select(*columns).execution_options(yield_per=1_000))
        return (dict(row) for row in result.mappings())

    def _row(self, name: str, about: About, row: Mapping[str, Any], expected: Expected | None) -> None:
        if expected is None:
            self._wrong(about, None, f"the store has the {name}, of which the journal knows nothing")
            return
        for column, value in row.items():
            wanted = expected[column]
            if value != wanted:
                what = f"the store says {_shown(value)} for the {column} of the {name}, the journal {_shown(wanted)}"
                self._wrong(about, expected.seq, what)

    def _wrong(self, about: About, seq: int | None, what: str) -> None:
        self._state.problems.append(Problem(about, seq, what))


def _named(name: str, key: Key) -> str:
    """Return which one it is: of an act, for one, the plan, what kind of act, and the object."""
    return f"{name} {' '.join(f'`{part}`' for part in key)}"


def _shown(value: Any) -> str:
    text = "nothing" if value is None else f"`{value}`"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…`"
