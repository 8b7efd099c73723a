"""From the text of a reply to its value: JSON or XML, decoded once.

Guarantees: what can't be decoded says in which way it can't (broken off, or of another kind), never passes for an empty
body. JSON is read fast and never less exactly than it is written: integers of any size stay integers, a number with a
point or an exponent is the `Decimal` that stands there. What the fast parser refuses, Python's own is asked about, so
that what can be read does not hang on the parser; what the fast one takes, both read alike. An object that has a name
twice is ambiguous: readers keep one of the two, and nobody can say which was meant.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from xml.etree import ElementTree

import msgspec

from fullcount.runtime.connectors.http.exchange import Fault

_FAST = msgspec.json.Decoder(float_hook=Decimal)


class BrokenTextError(ValueError):
    """The text is not JSON, or goes beyond what can be held."""


class TwiceError(Exception):
    """An object has a name twice."""


def decode(text: str, content_type: str, xml_lists: Sequence[str] = ()) -> tuple[Any, Fault | None]:
    """Return a reply's text as a value, and what is wrong with it if it can't be one."""
    stripped = text.strip()
    if stripped == "":
        return None, None
    if stripped.startswith("<"):
        return _xml(stripped, xml_lists)
    try:
        return _json(stripped), None
    except TwiceError:
        return None, Fault.AMBIGUOUS
    except BrokenTextError:
        plain = "json" not in content_type and stripped[:1] not in {"{", "[", '"'}
        return None, Fault.FOREIGN if plain else Fault.BROKEN


def _json(text: str) -> Any:
    try:
        value = _FAST.decode(text)
    except (msgspec.DecodeError, RecursionError, InvalidOperation):
        return _by_the_book(text)
    return value if _surely_once(text, value) else _by_the_book(text)


_ODD: Final = ((" ", " :"), ("\n", "\n:"), ("\t", "\t:"), ("\r", "\r:"), ("\\", "\\u0022"))
"""Ways to write a name's end, or a quote, that a count of `":` would not see; first what is looked for more quickly."""


def _surely_once(text: str, value: Any) -> bool:
    """Whether no name was lost: as many of them stand in the text as in what was made of it. False: look closely."""
    if any(part in text and odd in text for part, odd in _ODD):
        return False
    try:
        return text.count('":') == msgspec.json.encode(value).count(b'":')
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def _by_the_book(text: str) -> Any:
    """Take what few parsers do, such as `NaN` and half a surrogate pair: what comes of it, the field's type decides."""
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=_each_once)
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise BrokenTextError(str(error)) from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError
    return found


def _xml(text: str, lists: Sequence[str]) -> tuple[Any, Fault | None]:
    if text[:200].lower().lstrip("<!").startswith(("doctype html", "html")) or "<!ENTITY" in text:
        return None, Fault.FOREIGN
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above, and expat bounds expansion
    except ElementTree.ParseError:
        return None, Fault.BROKEN
    value = _element(root, frozenset(lists)) if len(root) > 0 or (root.text or "").strip() != "" else {}
    return ({_local(root.tag): value} if _local(root.tag) == "Error" else value), None


def _element(element: ElementTree.Element, lists: frozenset[str]) -> Any:
    children = list(element)
    if len(children) == 0:
        return element.text or ""
    found: dict[str, Any] = {name: [] for name in lists} if len(lists) > 0 else {}
    for child in children:
        name, value = _local(child.tag), _element(child, frozenset())
        if name in lists:
            found[name].append(value)
        else:
            found[name] = value
    return found


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
