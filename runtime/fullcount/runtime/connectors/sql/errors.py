"""What a database's refusal means for a read: one reason per cause, told by SQLSTATE or by SQLite's error code.

Guarantees: messages carry the database's own primary message, never a statement's parameters and never a password.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness

_AGAIN = Continuation(way=Way.RESTART, preserves_snapshot=False, hint="begin the read anew: its state is gone")
_LONGER = Continuation(
    way=Way.RETRY_WITH_DEADLINE,
    preserves_snapshot=False,
    hint="raise `statement_timeout` of the source, or the deadline",
)

_BY_STATE = {
    "57014": Reason.TIME_BUDGET_EXCEEDED,
    "40001": Reason.SNAPSHOT_CHANGED,
    "40P01": Reason.SNAPSHOT_CHANGED,
    "42501": Reason.VISIBILITY_RESTRICTED,
    "42P01": Reason.EXISTENCE_UNKNOWN,  # a schema that the role may not use is passed over in the search path
    "34000": Reason.CURSOR_EXPIRED,
    "72000": Reason.CURSOR_EXPIRED,
    "42703": Reason.MALFORMED_RESPONSE,
}
_BY_CLASS = {
    "08": Reason.SOURCE_UNAVAILABLE,
    "53": Reason.SOURCE_UNAVAILABLE,
    "55": Reason.SOURCE_UNAVAILABLE,
    "57": Reason.SOURCE_UNAVAILABLE,
    "58": Reason.SOURCE_UNAVAILABLE,
    "28": Reason.AUTH_FAILED,
}


def reason_of_state(state: str) -> Reason:
    """Return what a SQLSTATE of PostgreSQL means for a read."""
    return _BY_STATE.get(state) or _BY_CLASS.get(state[:2], Reason.MALFORMED_RESPONSE)


_LOGIN_REFUSED = ("authentication failed", "no pg_hba.conf entry", "no password supplied", "is not permitted to log in")
"""Refused log-ins reach the client without a SQLSTATE, as text of the server."""

_SQLITE_SICK = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the database refused. `code` is a SQLSTATE or the name of a SQLite code; empty if it gave none."""

    reason: Reason
    code: str
    message: str
    answered: bool
    """Whether the server itself said so; False when the connection broke, and nobody knows what it did."""


def cause_of(error: DBAPIError, secret: str | None = None) -> Cause:
    """Return what a driver's exception means; `secret` is struck out of its message."""
    original = error.orig
    found = _sqlite(original) if isinstance(original, sqlite3.Error) else _postgres(error)
    if secret:
        return Cause(found.reason, found.code, found.message.replace(secret, "***"), found.answered)
    return found


def source_error(error: DBAPIError, doing: str, *, within_scan: bool = False, secret: str | None = None) -> SourceError:
    """Return the error to raise. Within a scan nothing can be tried again: the pinned state went with the failure."""
    cause = cause_of(error, secret)
    transient = cause.reason in {Reason.SOURCE_UNAVAILABLE, Reason.SNAPSHOT_CHANGED}
    way = _AGAIN if within_scan and transient else None
    if cause.reason is Reason.TIME_BUDGET_EXCEEDED:
        way = _LONGER
    detail = f"{doing}: {cause.message}"
    reason = Incompleteness(code=cause.reason, detail=detail, data={"database_code": cause.code} if cause.code else {})
    return SourceError(reason, retryable=transient and not within_scan, continuation=way)


def unfit(code: str, detail: str) -> SourceError:
    """Return the error of a declaration that does not fit the database; `code` is the FC code that explains it."""
    return SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail, data={"finding": code}))


def _sqlite(error: sqlite3.Error) -> Cause:
    full: int | None = getattr(error, "sqlite_errorcode", None)  # not set where the module itself found the fault
    name = getattr(error, "sqlite_errorname", "")
    text = str(error)
    code = None if full is None else full & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        reason = Reason.TIME_BUDGET_EXCEEDED
    elif code in _SQLITE_SICK or code == sqlite3.SQLITE_ERROR or code is None:
        reason = Reason.MALFORMED_RESPONSE
    elif code in {sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        reason = Reason.VISIBILITY_RESTRICTED
    else:
        reason = Reason.SOURCE_UNAVAILABLE
    return Cause(reason, name, text, answered=True)


def _postgres(error: DBAPIError) -> Cause:
    original = error.orig
    state: str = getattr(original, "sqlstate", None) or ""
    diag = getattr(original, "diag", None)
    primary = getattr(diag, "message_primary", None)
    text = str(primary or original).strip().splitlines()
    message = text[0] if text else "no message"
    if state:
        return Cause(reason_of_state(state), state, message, answered=not state.startswith(("08", "57P")))
    whole = " ".join(text)
    if any(sign in whole for sign in _LOGIN_REFUSED) or ("role" in whole and "does not exist" in whole):
        return Cause(Reason.AUTH_FAILED, "", whole, answered=True)
    if error.connection_invalidated or type(original).__name__ in {"OperationalError", "ConnectionTimeout"}:
        return Cause(Reason.SOURCE_UNAVAILABLE, "", whole or message, answered=False)
    return Cause(Reason.MALFORMED_RESPONSE, "", message, answered=True)
