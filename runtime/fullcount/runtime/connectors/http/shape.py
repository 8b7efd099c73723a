"""Whether a reply has the form that its API promises: which places it must have, and what may stand at them. Pure.

Guarantees: a sign of more, of the end or of a part that failed is read only where it has the form that it can have. A
flag that is another word, a count that is a list, a token that is a mapping say nothing, and what says nothing
is never taken for a no. Null is a value that is not there; it is for `needs` to say that one must be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import number_of
from fullcount.runtime.connectors.http.exchange import Reply, links
from fullcount.runtime.connectors.http.forms import Kind, Operation


def misshapen(operation: Operation, reply: Reply) -> str | None:
    """Return what is wrong with the form of a reply, in words; None if it is as promised."""
    body, led = reply.body, reply.headers.get("link", "")
    if led.strip() != "" and len(links(led)) == 0 and any(cursor.link is not None for cursor in operation.cursor):
        return f"the `Link` header can't be read: `{led[:40]}`"
    if operation.kind == "list":
        for place in operation.needs:
            if paths.first(body, place) is None:
                return f"`{place}` is missing, which every reply of this kind has"
    for place, kind in operation.shape.items():
        for value in paths.find(body, place):
            if value is not None and not _IS_OF[kind](value):
                return f"`{place}` is no {_WORDS[kind]}: `{str(value)[:40]}`"
    return None


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.lower() in {"true", "false"})


def _is_number(value: Any) -> bool:
    number = number_of(value)
    return number is not None and number >= 0


def _is_key(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _is_address(value: Any) -> bool:
    if isinstance(value, Mapping):  # HAL and JSON:API may put the address into an object
        value = value.get("href")
    return isinstance(value, str)


_IS_OF: dict[Kind, Callable[[Any], bool]] = {
    "flag": _is_flag,
    "number": _is_number,
    "text": lambda value: isinstance(value, str),
    "key": _is_key,
    "mapping": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "address": _is_address,
}
_WORDS: dict[Kind, str] = {
    "flag": "true or false",
    "number": "count",
    "text": "text",
    "key": "text or number",
    "mapping": "mapping",
    "list": "list",
    "address": "address",
}
