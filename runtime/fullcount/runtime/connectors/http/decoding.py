"""From the text of a reply to its value: JSON or XML, decoded once.

Guarantees: what can't be decoded says in which way it can't (broken off, or of another kind), never passes for an empty
body. JSON is read fast and never less exactly than it is written: integers of any size stay integers, a number with a
point or an exponent is the `Decimal` that stands there. What the fast parser refuses, Python's own is asked about, so
that what can be read does not hang on the parser; what the fast one takes, both read alike.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from xml.etree import ElementTree

import msgspec

from fullcount.runtime.connectors.http.exchange import Fault

_FAST = msgspec.json.Decoder(float_hook=Decimal)


class BrokenTextError(ValueError):
    """The text is not JSON, or goes beyond what can be held."""


def decode(text: str, content_type: str, xml_lists: Sequence[str] = ()) -> tuple[Any, Fault | None]:
    """Return a reply's text as a value, and what is wrong with it if it can't be one."""
    stripped = text.strip()
    if stripped == "":
        return None, None
    if stripped.startswith("<"):
        return _xml(stripped, xml_lists)
    try:
        return _json(stripped), None
    except BrokenTextError:
        plain = "json" not in content_type and stripped[:1] not in {"{", "[", '"'}
        return None, Fault.FOREIGN if plain else Fault.BROKEN


def _json(text: str) -> Any:
    try:
        return _FAST.decode(text)
    except (msgspec.DecodeError, RecursionError, InvalidOperation):
        return _by_the_book(text)


def _by_the_book(text: str) -> Any:
    """Take what few parsers do, such as `NaN` and half a surrogate pair: what comes of it, the field's type decides."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise BrokenTextError(str(error)) from error


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
