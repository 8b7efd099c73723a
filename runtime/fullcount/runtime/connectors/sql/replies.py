"""What PostgreSQL's answers say of a read and of a guarded write, statement by statement. Pure.

Guarantees: a SQLSTATE means here what it means in `errors.py`. A read is complete only if its last statement ended
well, was not cut by a LIMIT of its own, no policy filtered its rows, and an exact count in the same snapshot agrees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.runtime.connectors.judged import Judged, runs_late
from fullcount.runtime.connectors.sql.errors import reason_of_state
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

_LIMIT = re.compile(
    r"\blimit\s+(\d+)|\bfetch\s+(?:first|next)\s+(\d+)\s+rows?\b|^\s*fetch\s+(?:forward\s+)?(\d+)\b", re.IGNORECASE
)
_UNTOLD_LIMIT = re.compile(r"\b(?:limit|fetch\s+(?:first|next))\s+(?:[$:@%?]|\()", re.IGNORECASE)
"""A limit whose number stands elsewhere."""
_SAMPLE = re.compile(r"\btablesample\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+([\w.\"]+)", re.IGNORECASE)
_OFFSET = re.compile(r"\boffset\s+[1-9]", re.IGNORECASE)
_ANY_OFFSET = re.compile(r"\boffset\s+\d", re.IGNORECASE)
_ORDER = re.compile(r"\border\s+by\b", re.IGNORECASE)
_COUNT = re.compile(r"^\s*select\s+count\(", re.IGNORECASE)
_PROBE = re.compile(r"row_security_active|pg_is_in_recovery|pg_export_snapshot|has_\w+_privilege", re.IGNORECASE)
_ASKED = re.compile(r"^\s*select\s+(row_security_active|pg_is_in_recovery|has_\w+_privilege)\b", re.IGNORECASE)
_SELECT = re.compile(r"^\s*(with|select|table|fetch|execute)\b", re.IGNORECASE)
_PINNED = frozenset({"repeatable read", "serializable"})
_LOST = ("08", "57P")
"""Classes of states after which nobody knows what a write did."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and its answer. `state` None: no answer came."""

    sql: str
    state: str | None
    rows: Sequence[Sequence[Any]] | None = None
    rowcount: int | None = None
    transaction: str | None = None
    failed: str = ""


def judge_read(statements: Sequence[Statement]) -> Judged:
    """Return what a read amounts to."""
    judged = Judged()
    counted: tuple[int, str | None] | None = None
    lists: list[Statement] = []
    for statement in statements:
        if statement.state != "00000":
            _refused(statement, judged)
            return judged
        if _COUNT.match(statement.sql) and statement.rows and not _PROBE.match(statement.sql):
            number = next(iter(statement.rows[0]), None)
            if not isinstance(number, int):
                judged.because(Reason.MALFORMED_RESPONSE, detail="a count that is no number")
                return judged
            counted = (number, statement.transaction)
            _probed(statement, judged)  # a count may be asked for in one breath with what its rows are
        elif _COUNT.match(statement.sql) or _PROBE.search(statement.sql):
            first = next(iter(statement.rows[0]), None) if statement.rows else None
            if first is None or (_ASKED.search(statement.sql) and not isinstance(first, bool)):
                judged.because(Reason.MALFORMED_RESPONSE, detail="what was asked before the list has no answer")
                return judged
            _probed(statement, judged)
        elif _SELECT.match(statement.sql):
            if statement.rows is None:
                judged.because(Reason.MALFORMED_RESPONSE, detail="a query that succeeded gave no result")
            lists.append(statement)
    _rows(lists, counted, judged)
    if len(lists) == 0 and counted is None and len(judged.reasons) == 0:
        judged.because(Reason.COMPLETENESS_UNPROVABLE, detail="nothing was listed")
    return judged


def _refused(statement: Statement, judged: Judged) -> None:
    if statement.state is None:
        late = runs_late(statement.failed)
        judged.because(Reason.TIME_BUDGET_EXCEEDED if late else Reason.SOURCE_UNAVAILABLE, detail=statement.failed)
    else:
        judged.because(reason_of_state(statement.state), detail=f"SQLSTATE {statement.state}")


def _probed(statement: Statement, judged: Judged) -> None:
    """Note what is known before the list: a policy that filters, a server that lags."""
    row = list(statement.rows[0]) if statement.rows else []
    text = statement.sql.lower()
    if "row_security_active" in text and any(cell is True for cell in row):
        judged.because(Reason.VISIBILITY_RESTRICTED, detail="a row security policy filters what is returned")
    if "pg_is_in_recovery" in text and any(cell is True for cell in row):
        judged.warn(WarningCode.STALE_READ)
    if "_privilege" in text and row[:1] == [False]:
        judged.because(Reason.VISIBILITY_RESTRICTED, detail="the role lacks a right")


def _rows(lists: Sequence[Statement], counted: tuple[int, str | None] | None, judged: Judged) -> None:
    if len(lists) == 0:
        return
    pinned = all(one.transaction in _PINNED for one in lists)
    if not pinned:
        judged.warn(WarningCode.NO_SNAPSHOT)
    got = sum(len(one.rows or ()) for one in lists)
    keys = [repr(row[0]) for one in lists for row in one.rows or () if len(row) > 0]
    if len(set(keys)) < len(keys):
        judged.warn(WarningCode.DUPLICATE_ITEMS)
    by_position = any(_OFFSET.search(one.sql) for one in lists)
    if by_position or (len(lists) > 1 and any(_ANY_OFFSET.search(one.sql) for one in lists)):
        ordered = all(_ORDER.search(one.sql) for one in lists)
        if not ordered or not pinned:
            judged.because(Reason.UNSTABLE_ORDER, Way.RESTART, "paging by position over rows that may move")
    _limits(lists, judged)
    if counted is None:
        judged.warn(WarningCode.TOTAL_ABSENT)
    elif counted[0] != len(set(keys)) and len(judged.reasons) == 0:
        judged.because(Reason.COUNT_MISMATCH, detail=f"{got} rows, and {counted[0]} by their count")


def _limits(lists: Sequence[Statement], judged: Judged) -> None:
    """Note what was cut by the statements themselves: of each table, by the last one that reads it."""
    for last in {_table(one): one for one in lists}.values():
        if len(judged.reasons) > 0:
            return
        limit = _LIMIT.search(last.sql)
        most = None if limit is None else int(next(filter(None, limit.groups())))
        if most is not None and len(last.rows or ()) >= most:
            judged.because(Reason.CLIENT_LIMIT_REACHED, Way.NEXT_CURSOR, f"as many rows as the LIMIT of {most}")
        elif most is None and _UNTOLD_LIMIT.search(last.sql):
            judged.because(Reason.COMPLETENESS_UNPROVABLE, detail="a LIMIT of which the number is not told")
        elif _SAMPLE.search(last.sql):
            judged.because(Reason.SCOPE_NOT_COVERED, detail="a sample of the table was read")


def _table(statement: Statement) -> str:
    found = _FROM.search(statement.sql)
    return "" if found is None else found[1].lower()


def judge_write(statements: Sequence[Statement]) -> Judged:
    """Return what a guarded write amounts to: the last statement that wrote decides."""
    judged = Judged()
    last = next((one for one in reversed(statements) if _writes(one.sql)), statements[-1])
    failed = next((one for one in statements if one.state != "00000"), None)
    if failed is not None:
        if failed.state is None or failed.state.startswith(_LOST):
            judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, "the connection broke after it was sent")
        elif failed.state.startswith(("40", "55", "23")):
            judged.because(ActReason.PRECONDITION_FAILED, detail=f"SQLSTATE {failed.state}")
        else:
            judged.because(reason_of_state(failed.state), detail=f"SQLSTATE {failed.state}")
    elif _writes(last.sql) and _written(last) is None:
        judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, "how many rows were written was not said")
    elif _written(last) == 0:
        judged.because(ActReason.PRECONDITION_FAILED, detail="no row is as it was when it was approved")
    elif (_written(last) or 0) > 1:
        judged.because(ActReason.COLLATERAL_CHANGE, detail=f"{_written(last)} rows were written")
    return judged


def _written(statement: Statement) -> int | None:
    """Return how many rows a write says that it wrote: by its count, or by the rows that it gives back."""
    if statement.rowcount is not None or statement.rows is None:
        return statement.rowcount
    return len(statement.rows)


def _writes(sql: str) -> bool:
    return re.match(r"\s*(with\b.*\b)?(delete|update|insert|merge)\b", sql, re.IGNORECASE | re.DOTALL) is not None
