"""From the text of a reply to its value: JSON or XML, decoded once.

Guarantees: what can't be decoded says in which way it can't (broken off, or of another kind), never passes for an empty
body. JSON is read fast and never less exactly than it is written: integers of any size stay integers, a number with a
point or an exponent is the `Decimal` that stands there. What the fast parser refuses, Python's own is asked about, so
that what can be read does not hang on the parser; what the fast one takes, both read alike. An object that has a name
twice is ambiguous: readers keep one of the two, and nobody can say which was meant.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import msgspec

from fullcount.runtime.connectors.http.exchange import Fault
from fullcount.runtime.connectors.in_text import DECODER


class BrokenTextError(ValueError):
    """The text is not JSON, or goes beyond what can be held."""


class TwiceError(Exception):
    """An object has a name twice."""


class Decoded(NamedTuple):
    """A reply's text as a value, and what is wrong with it if it can't be one.

    `text` is the text of JSON that any parser reads in the same way: nothing in it is twice, and nothing is beyond what
    JSON has.
    """

    value: Any = None
    fault: Fault | None = None
    text: str | None = None


def decode(text: str, content_type: str, xml_lists: Sequence[str] = ()) -> Decoded:
    """Return what a reply's text says."""
    stripped = text.strip()
    if stripped == "":
        return Decoded()
    if stripped.startswith("<"):
        return _xml(stripped, xml_lists)
    try:
        return _json(stripped)
    except TwiceError:
        return Decoded(fault=Fault.AMBIGUOUS)
    except BrokenTextError:
        plain = "json" not in content_type and stripped[:1] not in {"{", "[", '"'}
        return Decoded(fault=Fault.FOREIGN if plain else Fault.BROKEN)


def _json(text: str) -> Decoded:
    try:
        value = DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError, InvalidOperation):
        return Decoded(_by_the_book(text))
    return Decoded(value, text=text) if _surely_once(text, value) else Decoded(_by_the_book(text))


class _Paper(threading.local):
    """What values are written on to be counted: a sheet for each thread, since a new one costs as much as writing."""

    def __init__(self) -> None:
        self.sheet = bytearray()


_paper = _Paper()
_ENCODER: Final = msgspec.json.Encoder()
_SHEET: Final = 4 * 1024 * 1024
"""Bytes of a sheet that is kept."""
_ESCAPED_COLON: Final = "\\u003"
"""How a colon may be written so that no colon stands in the text, and nine other characters."""


def _surely_once(text: str, value: Any) -> bool:
    """Whether no name was lost: as many colons stand in the text as in what was made of it. False: look closely.

    One stands behind each name, all others inside texts, which are kept as they are: what was lost, lost its colons.
    """
    if "\\" in text and _ESCAPED_COLON in text:
        return False
    try:
        _ENCODER.encode_into(value, _paper.sheet)
        return text.count(":") == _paper.sheet.count(b":")
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    finally:
        if len(_paper.sheet) > _SHEET:
            _paper.sheet = bytearray()


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


def _xml(text: str, lists: Sequence[str]) -> Decoded:
    if text[:200].lower().lstrip("<!").startswith(("doctype html", "html")) or "<!ENTITY" in text:
        return Decoded(fault=Fault.FOREIGN)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above, and expat bounds expansion
    except ElementTree.ParseError:
        return Decoded(fault=Fault.BROKEN)
    value = _element(root, frozenset(lists)) if len(root) > 0 or (root.text or "").strip() != "" else {}
    return Decoded({_local(root.tag): value} if _local(root.tag) == "Error" else value)


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
