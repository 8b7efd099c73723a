"""The form of a recorded case: what was exchanged, and what must be made of it.

A case is one line of JSON. `exchange` is a list of requests with their replies: an HTTP status with headers and a body,
a result code of LDAP, an SQLSTATE, the name of an `errno`, or null where no answer came. `expect` is the verdict. The
fields that the question asks for are those that `expect.field_states` names; nothing else of `expect` is looked at
before the verdict stands.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from fullcount.compiler.values import FieldState
from fullcount.runtime.evidence.codes import ActReason, Decision, Reason, WarningCode, Way


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Asked(_Form):
    """What a request has to look like, as far as anything is read of it; each protocol has its own of these."""

    method: StrictStr = "GET"
    path: StrictStr = ""
    operation: StrictStr = ""
    params: dict[str, Any] | None = None
    headers: dict[str, StrictStr | StrictInt | float] = {}
    op: StrictStr = ""
    attributes: list[StrictStr] | None = None
    controls: list[Any] = []
    expect: dict[str, Any] | None = None
    sql: StrictStr = ""
    tx: StrictStr | None = None

    @field_validator("headers", mode="before")
    @classmethod
    def _none_at_all(cls, headers: Any) -> Any:
        return {} if headers is None else headers


class Answer(_Form):
    """One reply, in the words of its protocol."""

    status: StrictInt | StrictStr | None
    headers: dict[str, Any] = {}
    body: Any = None
    encoding: Literal["base64"] | None = None
    """How a body is written that is no text."""

    @field_validator("status", mode="before")
    @classmethod
    def _a_number_however_written(cls, status: Any) -> Any:
        return int(status) if isinstance(status, float) and status.is_integer() else status

    @field_validator("headers", mode="before")
    @classmethod
    def _by_name(cls, headers: Any) -> Any:
        """Some recorders give headers as a list of pairs, in which a name may come again."""
        if not isinstance(headers, list):
            return {} if headers is None else headers
        found: dict[str, str] = {}
        for name, value in (pair for pair in headers if isinstance(pair, list) and len(pair) == 2):
            found[str(name)] = f"{found[str(name)]}, {value}" if str(name) in found else str(value)
        return found

    @model_validator(mode="after")
    def _is_decodable(self) -> Self:
        if self.encoding is not None:
            b64decode(self.body if isinstance(self.body, str) else "!", validate=True)
        return self


class Step(_Form):
    """One request with its reply."""

    request: dict[str, Any]
    response: Answer

    @field_validator("request", mode="after")
    @classmethod
    def _of_the_form(cls, request: dict[str, Any]) -> dict[str, Any]:
        Asked.model_validate(request)
        json.dumps(request, ensure_ascii=False).encode()  # half a character can't be asked for
        return request

    @model_validator(mode="after")
    def _http_answers_by_number(self) -> Self:
        status = self.response.status
        if "op" not in self.request and isinstance(status, str) and not (status.isascii() and status.isdecimal()):
            msg = "the status of an answer over HTTP is a number, or null where none came"
            raise ValueError(msg)
        return self


class Expected(_Form):
    """The verdict that must be reached."""

    complete: bool
    reasons: list[Reason | ActReason]
    continuation: Way | None
    warnings: list[WarningCode] = []

    @field_validator("warnings", mode="before")
    @classmethod
    def _none_at_all(cls, warnings: Any) -> Any:
        return [] if warnings is None else warnings

    field_states: dict[str, FieldState] | None = None
    decision: Decision


class Case(_Form):
    """One case. `client` are settings of the reading side, such as `max_pages`."""

    id: str
    api: str
    phase: Literal["read", "act"]
    story: str = ""
    exchange: list[Step] = Field(min_length=1)
    expect: Expected
    client: dict[str, int] = {}

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the question asks for."""
        return tuple(self.expect.field_states or ())

    @property
    def limits(self) -> dict[str, int]:
        """The reading side's own limits: from `client`, or, in recordings without it, as the story states them."""
        stated = {_CALLED.get(name, name): int(value) for name, value in _LIMIT.findall(self.story)}
        return {**stated, **self.client}


_LIMIT = re.compile(r"\b(max_pages|max_rows|max_items)\s*=\s*(\d+)")
_CALLED = {"max_items": "max_rows"}


class CaseError(ValueError):
    """A line is no case."""


def load(path: Path) -> Iterator[Case]:
    """Yield the cases of a file. Raises `CaseError` with the line, `OSError`."""
    for each in lines_of(path):
        if isinstance(each, CaseError):
            raise each
        yield each


def lines_of(path: Path) -> Iterator[Case | CaseError]:
    """Yield the case of each line of a file, or why a line is none. Raises `OSError`."""
    seen: dict[str, int] = {}
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip() == "":
                continue
            try:
                case = Case.model_validate(json.loads(line))
            except ValidationError as error:
                first = error.errors(include_url=False, include_context=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                said = f"`{where}`: {first['msg']}" if where else first["msg"]
                yield CaseError(f"`{path}`, line {number}: this is no case: {said}")
                continue
            except (ValueError, RecursionError) as error:
                yield CaseError(f"`{path}`, line {number}: this is no case: {error}")
                continue
            if case.id in seen:
                msg = f"`{path}`, line {number}: the case `{case.id}` is there already, in line {seen[case.id]}"
                yield CaseError(msg)
                continue
            seen[case.id] = number
            yield case
