"""One request and its reply, as values: what the rules of a dialect are asked about.

Guarantees: nothing here does I/O; a body that can't be decoded (`decoding.py`) says in which way (broken off, or of
another kind), and never passes for an empty one.
"""

from __future__ import annotations

import csv
import io
import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from fullcount.runtime.connectors.http.forms import Wait

OPERATION_HEADER = "x-amz-target"
"""The header by which APIs of the AWS kind name the operation: `Service_Version.Operation`."""


_LONGEST_WAIT = 1e9
"""Seconds; who says to wait for longer than thirty years says no more than that."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `path` has no query and no host; `resumed`: it carries a cursor, `cursor` is its text."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    resumed: bool = False
    cursor: str | None = None

    @classmethod
    def to(
        cls, target: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: Any = None
    ) -> Request:
        """Return the request for a path with its query, or for an address, of which host and scheme are left out."""
        path, query = split_target(target)
        lowered = {name.lower(): value for name, value in (headers or {}).items()}
        return cls(method, path, query, lowered, body)

    @property
    def operation(self) -> str | None:
        """The operation that stands beside the path, if there is one."""
        named = self.headers.get(OPERATION_HEADER)
        return None if named is None else named.rpartition(".")[2]

    @property
    def target(self) -> str:
        """Path and query, as they are sent."""
        return self.path if self.query == () else f"{self.path}?{urlencode(self.query, safe='$,:/')}"

    @property
    def place(self) -> tuple[Any, ...]:
        """What is asked for, however it is written: two requests with one `place` have one answer."""
        steps = tuple(unquote(step) for step in self.path.split("/"))
        return (
            self.method,
            steps,
            tuple(sorted(self.query)),
            json.dumps(self.body, sort_keys=True, default=str),
            self.operation,
        )

    def asked(self, name: str) -> str | None:
        """Return a query parameter's last value."""
        return next((value for key, value in reversed(self.query) if key == name), None)

    def with_query(self, name: str, value: str) -> Request:
        """Return the request with a query parameter set."""
        kept = tuple((key, old) for key, old in self.query if key != name)
        return replace(self, query=(*kept, (name, value)))

    @property
    def summary(self) -> str:
        """What a message says of it: no query, no header, so that no secret gets into a message."""
        return f"{self.method} {self.path if self.operation is None else self.operation}"


def split_target(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return path and query of an address or of a path. Raises `ValueError` for what is neither."""
    parts = urlsplit(target)
    return parts.path or "/", tuple(parse_qsl(parts.query, keep_blank_values=True))


class Fault(StrEnum):
    """What is wrong with a body."""

    BROKEN = "broken"
    """It breaks off, or is damaged: it may be whole the next time."""
    FOREIGN = "foreign"
    """It is of another kind than the API's, such as a page of a proxy."""
    AMBIGUOUS = "ambiguous"
    """An object in it has a name twice, and readers keep one of the two."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `body` is decoded; None with a `fault` if it can't be. `failed`: no reply at all, and why."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    fault: Fault | None = None
    failed: str | None = None
    text: str | None = None
    """What `body` was decoded from, if it may be parsed once more (see `decoding.Decoded`)."""

    def wait(self, where: Sequence[Wait], now: datetime) -> float | None:
        """Return how many seconds the reply says to wait; None if it does not say."""
        for place in where:
            text = self.headers.get(place.header)
            seconds = None if text is None else _seconds(text.strip(), place.kind, now)
            if seconds is not None:
                return min(max(0.0, seconds), _LONGEST_WAIT)
        return None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its reply, and what earlier replies and the question add to it."""

    request: Request
    reply: Reply
    facts: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    host: str = ""


def table(text: str) -> list[dict[str, str]] | None:
    """Return the rows of a table in CSV, plain or in base64; None if it is neither."""
    if "," not in text:
        try:
            text = b64decode(text, validate=True).decode()
        except (NotBase64, UnicodeDecodeError, ValueError):
            return None
    reader = csv.DictReader(io.StringIO(text))
    rows = list(reader)
    broken = reader.fieldnames is None or any(None in row or None in row.values() for row in rows)
    return None if broken else rows


def _seconds(text: str, kind: str, now: datetime) -> float | None:
    try:
        if kind == "clock":
            hours, minutes, seconds = text.split(":")
            return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        if text.replace(".", "", 1).isdecimal():
            return float(text) - now.timestamp() if kind == "epoch" else float(text)
        moment = datetime.fromisoformat(text) if kind == "epoch" else parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()


def links(header: str) -> dict[str, str]:
    """Return the addresses of a `Link` header by their relation."""
    found: dict[str, str] = {}
    for address, parameters in re.findall(r"<([^<>]*)>([^<]*)", header):
        for parameter in parameters.rstrip(", ").split(";"):
            name, _, value = parameter.strip().partition("=")
            if name.lower() == "rel":
                for relation in value.strip().strip('"').split():
                    found.setdefault(relation.lower(), address)
    return found


def host_of(address: str) -> str:
    """Return the host of an address; empty if it names none, the address if it is none."""
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:
        return address.lower()
