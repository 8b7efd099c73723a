"""Reading several objects by one list of their keys: which keys can be asked for so, and what the list says of each.

Only an object that the list has exactly once, in an answer that nothing was missing from and nothing speaks against, is
said to be found. Whatever else becomes of a key is left to a read of the one object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fullcount.compiler.catalog import Resource
from fullcount.compiler.types import Kind, Scalar
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import Page
from fullcount.runtime.connectors.http.config import HttpResource
from fullcount.runtime.connectors.http.details import DETAIL
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.objects import HEADERS
from fullcount.runtime.connectors.http.template import path_of
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS

_OF_ONE = (f"{HEADERS}/", f"{DETAIL}/")

_TEXT = Scalar(Kind.TEXT)


def most_keys(settings: HttpResource) -> int:
    """Return how many keys one request may have; 0: each object is read by itself."""
    return 0 if settings.read_many is None else settings.read_many.most


def request_for(
    settings: HttpResource, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
) -> Request | None:
    """Return the request for these keys; None where a list can't answer what is asked, or has no use for the keys."""
    asked = settings.read_many
    if asked is None or any((settings.fields[name].at or "").startswith(_OF_ONE) for name in fields):
        return None
    (name,) = resource.key
    texts = [str(value) for (value,) in keys]
    named = [text for text in texts if text != "" and asked.separator not in text]
    if len(named) < 2:
        return None
    return Request.to(path_of(asked.path, {name: (asked.separator.join(named), _TEXT)}))


def rows(page: Page, resource: Resource, fields: Sequence[str]) -> Iterator[Mapping[str, Cell]]:
    """Yield the objects of a page as cells."""
    for index in range(page.rows):
        yield {
            name: coerce_cell(
                resource.fields[name],
                page.columns[name][index],
                page.states[name][index] if name in page.states else None,
            )
            for name in fields
        }


def objects(
    page: Page, resource: Resource, fields: Sequence[str]
) -> Iterator[tuple[tuple[Value, ...], Mapping[str, Cell]]]:
    """Yield the objects of a page with their keys."""
    for cells in rows(page, resource, tuple(dict.fromkeys((*resource.key, *fields)))):
        key = tuple(value for name in resource.key if (value := cells[name].value) is not None)
        yield key, {name: cells[name] for name in fields}


def is_whole(page: Page) -> bool:
    """Whether nothing is missing from a page and no warning speaks against what it says."""
    return len(page.reasons) == 0 and all(notice.code not in BLOCKING_WARNINGS for notice in page.warnings)
