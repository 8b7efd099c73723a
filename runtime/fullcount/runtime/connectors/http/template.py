"""Filling the places of paths and bodies with canonical values.

Guarantees: a value goes into a path percent-encoded as a whole, so that no value can add a step or a parameter; a text
of a body that is one place becomes the value with its own type; a place without a known value is an error, never empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fullcount.compiler.types import Type
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.http.config import PLACE
from fullcount.runtime.plan.cells import to_json

Known = Mapping[str, tuple[Value | None, Type]]
"""The places' values with their types; None: there is no known value."""


class NoValueError(LookupError):
    """A place has no known value."""


def path_of(template: str, known: Known) -> str:
    """Return a path. Raises `NoValueError`."""
    return PLACE.sub(lambda found: quote(_text(found[1], known), safe=""), template)


def body_of(template: Any, known: Known) -> Any:
    """Return a body. Raises `NoValueError`."""
    if isinstance(template, Mapping):
        return {name: body_of(value, known) for name, value in template.items()}
    if isinstance(template, list):
        return [body_of(value, known) for value in template]
    if not isinstance(template, str):
        return template
    whole = PLACE.fullmatch(template)
    if whole is not None:
        return _json(whole[1], known)
    return PLACE.sub(lambda found: _text(found[1], known), template)


def _json(name: str, known: Known) -> Any:
    value, type_ = known.get(name, (None, None))
    if value is None or type_ is None:
        raise NoValueError(name)
    return to_json(value, type_)


def _text(name: str, known: Known) -> str:
    value = _json(name, known)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text in {"", ".", ".."}:  # as a step of a path each of these would name another one
        raise NoValueError(name)
    return text
