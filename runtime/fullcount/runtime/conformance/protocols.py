"""Cases of protocols that are not HTTP: from their recorded words to the decision functions of their connectors.

An answer that is not of its protocol's form is `MALFORMED_RESPONSE`, and nothing of it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from fullcount.compiler.values import FieldState
from fullcount.runtime.conformance.case import Case, Step
from fullcount.runtime.conformance.verdict import Verdict
from fullcount.runtime.connectors.files import replies as filesystem
from fullcount.runtime.connectors.judged import Judged
from fullcount.runtime.connectors.kafka import replies as kafka
from fullcount.runtime.connectors.ldap import replies as ldap
from fullcount.runtime.connectors.redis import replies as redis
from fullcount.runtime.evidence.codes import Reason


def is_known(api: str) -> bool:
    """Whether an API is one of the protocols here, or of the family of one."""
    return _decider(api) is not None


def verdict_of(case: Case) -> Verdict | None:
    """Return the verdict on a case whose protocol has decision functions; None for an API over HTTP."""
    decide = _decider(case.api)
    if decide is None:
        return None
    if case.phase == "read":
        case = case.model_copy(update={"exchange": _asked_last(case.exchange)})
    try:
        return _verdict(decide(case), case)
    except ValidationError as error:
        judged = Judged()
        first = error.errors()[0]
        judged.because(Reason.MALFORMED_RESPONSE, detail=f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        return _verdict(judged, case)


def _asked_last(steps: Sequence[Step]) -> list[Step]:
    """Leave out each answer that failed, where its client asked the very same again."""
    followed = zip(steps, [*steps[1:], None], strict=True)
    return [step for step, then in followed if then is None or then.request != step.request or _is_good(step)]


def _is_good(step: Step) -> bool:
    status = step.response.status
    return status in (0, "00000") or _is_ok(status)


def _verdict(judged: Judged, case: Case) -> Verdict:
    states = {}
    for name in case.fields:
        otherwise = FieldState.ABSENT if len(judged.reasons) == 0 else FieldState.SOURCE_FAILED
        states[name] = judged.states.get(name, otherwise)
    return Verdict(frozenset(judged.reasons), judged.way, frozenset(judged.warnings), states, tuple(judged.details))


class _Body(BaseModel):
    """What the body of an answer has to look like; what a protocol says besides is in `model_extra`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    client_error: StrictStr | None = None
    error: StrictStr | None = None

    @property
    def failed(self) -> str:
        """Why no answer came."""
        return "no answer" if self.client_error is None else self.client_error


def _given(step: Step) -> Any:
    """Return the body of an answer; one that has none says nothing, whatever is there has to be of the form."""
    return {} if step.response.body is None else step.response.body


def _body(step: Step) -> Mapping[str, Any]:
    return _Body.model_validate(_given(step)).model_dump(exclude_unset=True)


# --- LDAP -------------------------------------------------------------------------------------------------------------


class _Entry(BaseModel):
    dn: StrictStr = Field(min_length=1)
    attributes: dict[str, Any] = {}


class _Found(_Body):
    entries: list[_Entry] | None = None
    references: list[StrictStr] | None = Field(None, alias="searchResRef")


class _Listed(_Found):
    entries: list[_Entry]
    """What a search that succeeded found is always there, if only as nothing."""


class _Page(BaseModel):
    cookie: StrictStr | None = None


class _Result(BaseModel):
    code: int | None


def _ldap(case: Case) -> Judged:
    if case.phase == "act":
        writing = [step for step in case.exchange if step.request.get("op") != "search"] or case.exchange
        last = writing[-1]
        return ldap.judge_write(_number(last.response.status), last.request.get("controls", ()))
    searching = [step for step in case.exchange if step.request.get("op", "search") == "search"]
    refused = [step for step in case.exchange if step not in searching and step.response.status != 0]
    replies = [_search(step) for step in [*refused, *searching]]
    return ldap.judge_search(
        replies, case.fields, active_directory="active_directory" in case.api.lower().replace("-", "_")
    )


def _search(step: Step) -> ldap.SearchReply:
    form = _Listed if step.response.status == 0 else _Found
    body, request = form.model_validate(_given(step)), step.request
    control = step.response.headers.get(f"control:{ldap.PAGED}")
    entries = body.entries or []
    return ldap.SearchReply(
        code=_number(step.response.status),
        entries=[_many(entry.attributes) for entry in entries],
        names=[entry.dn for entry in entries],
        references=body.references or (),
        cookie=None if control is None else _Page.model_validate(control).cookie or "",
        resumed=bool(request.get("cookie")),
        paged="page" in request,
        asked=request.get("attributes") or (),
        failed=body.failed,
        search="|".join(str(request.get(name, "")) for name in ("base", "scope", "filter")),
    )


def _many(attributes: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: value if isinstance(value, list) else [value] for name, value in attributes.items()}


def _number(status: int | str | None) -> int | None:
    return _Result.model_validate({"code": status}).code


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


class _Rows(_Body):
    rows: list[list[Any] | dict[str, Any]] | None = None
    rowcount: StrictInt | None = None

    @property
    def by_position(self) -> list[list[Any]] | None:
        """The rows, however the driver that recorded them gives rows."""
        return (
            None if self.rows is None else [row if isinstance(row, list) else list(row.values()) for row in self.rows]
        )


def _postgresql(case: Case) -> Judged:
    from fullcount.runtime.connectors.sql import replies as sql

    statements = []
    for step in case.exchange:
        body = _Rows.model_validate(_given(step))
        statements.append(
            sql.Statement(
                sql=str(step.request.get("sql", "")),
                state=None if step.response.status is None else str(step.response.status),
                rows=body.by_position,
                rowcount=body.rowcount,
                transaction=_lower(step.request.get("tx")),
                failed=body.failed,
            )
        )
    return sql.judge_read(statements) if case.phase == "read" else sql.judge_write(statements)


def _lower(text: Any) -> str | None:
    return text.lower() if isinstance(text, str) else None


# --- file systems -----------------------------------------------------------------------------------------------------


class _Name(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: StrictStr = Field(min_length=1)
    ino: StrictInt | None = None
    nlink: StrictInt | None = None


class _Folder(_Body):
    entries: list[StrictStr | _Name] | None = None
    st_dev: StrictInt | None = None
    ino: StrictInt | None = None
    mtime_ns: StrictInt | None = None
    ctime_ns: StrictInt | None = None


def _is_ok(status: int | str | None) -> bool:
    return isinstance(status, str) and status.lower() == "ok"


def _filesystem(case: Case) -> Judged:
    looks = []
    for step in case.exchange:
        status = step.response.status
        body = _Folder.model_validate(_given(step)).model_dump(exclude_unset=True)
        error = None if _is_ok(status) else str(body.get("client_error", "EIO")) if status is None else str(status)
        entries = body.get("entries")
        facts = {name: value for name, value in body.items() if name != "entries"}
        expected = step.request.get("expect") or {}
        operation, path = str(step.request.get("op", "")), str(step.request.get("path", ""))
        looks.append(filesystem.Look(operation, path, error, entries, facts, expected))
    return filesystem.judge_walk(looks) if case.phase == "read" else filesystem.judge_write(looks)


# --- Redis, Kafka -----------------------------------------------------------------------------------------------------


class _Scanned(_Body):
    keys: list[StrictStr | StrictInt] | None = None
    masters: list[StrictStr] = []


def _redis(case: Case) -> Judged:
    answers = []
    for step in case.exchange:
        status = step.response.status
        body = _Scanned.model_validate(_given(step)).model_dump(exclude_unset=True)
        error = None
        if not _is_ok(status):
            stated = body.get("error") or body.get("client_error")
            error = str(stated if status in {None, "error", "err"} and stated is not None else status or "no answer")
        node = step.request.get("node")
        answers.append(
            redis.Answer(
                command=str(step.request.get("op", "")).upper(),
                node=None if node is None else str(node),
                asked_cursor=step.request.get("cursor"),
                reply=body,
                error=error,
            )
        )
    return redis.judge_scan(answers) if case.phase == "read" else redis.judge_write(answers)


def _kafka(case: Case) -> Judged:
    bodies = [None if step.response.status is None else _with_status(step) for step in case.exchange]
    if case.phase == "act":
        return kafka.judge_write(bodies[-1])
    brokers: list[Any] = []
    answered: list[Any] = []
    for step, body in zip(case.exchange, bodies, strict=True):
        if body is not None:
            for name in ("brokers", "nodes"):
                brokers += map(_broker, body[name]) if isinstance(body.get(name), list) else ()
            answered += [step.request[name] for name in ("broker", "node", "broker_id") if name in step.request]
    return kafka.judge_listing(bodies, brokers, answered)


def _broker(named: Any) -> Any:
    """Return the number of a broker, which some clients give with its address."""
    if not isinstance(named, dict):
        return named
    return next((named[name] for name in ("id", "node_id", "nodeId", "broker_id") if name in named), named)


def _with_status(step: Step) -> Mapping[str, Any]:
    status = step.response.status
    return {**_body(step), **({"error_code": status} if isinstance(status, int) and status != 0 else {})}


_PROTOCOLS: Mapping[str, Callable[[Case], Judged]] = {
    "ldap": _ldap,
    "openldap": _ldap,
    "active_directory": _ldap,
    "postgres": _postgresql,
    "filesystem": _filesystem,
    "redis": _redis,
    "valkey": _redis,
    "kafka": _kafka,
}
"""By the beginning of an API's name: `redis_cluster` and `kafka_admin` are of these as well."""


def _decider(api: str) -> Callable[[Case], Judged] | None:
    called = api.lower().replace("-", "_")
    return next((decide for family, decide in _PROTOCOLS.items() if called.startswith(family)), None)
