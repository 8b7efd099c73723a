"""Reading several objects by one list of their keys: which keys can be asked for so, and what the list says of each.

Only an object that the list has exactly once, in an answer that nothing was missing from and nothing speaks against, is
said to be found. Whatever else becomes of a key is left to a read of the one object. That there is no object of a key
is said to a look-up alone, only where it is declared that the list speaks of every key, and only by an answer that came
to its end and has no object that was not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullcount.compiler.catalog import Resource
from fullcount.compiler.types import Kind, Scalar
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import Matches, Page
from fullcount.runtime.connectors.http.config import HttpMany, HttpResource
from fullcount.runtime.connectors.http.details import DETAIL
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.objects import HEADERS
from fullcount.runtime.connectors.http.template import path_of
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Reason
from fullcount.runtime.evidence.envelope import Incompleteness

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
    named = [str(value) for (value,) in keys if can_be_named(asked, value)]
    if len(named) < 2:
        return None
    return Request.to(path_of(asked.path, {name: (asked.separator.join(named), _TEXT)}))


def can_be_named(asked: HttpMany, value: Value) -> bool:
    """Whether a key can be one of a list of keys."""
    return str(value) != "" and asked.separator not in str(value)


@dataclass(frozen=True, slots=True)
class Listed:
    """The objects of an answer from which nothing is missing, by key; `()` for those whose key is not known.

    `ended`: it said that it came to its end.
    """

    objects: Mapping[tuple[Value, ...], Sequence[Mapping[str, Cell]]]
    ended: bool

    def once(self) -> dict[tuple[Value, ...], Mapping[str, Cell]]:
        """Return the objects that it has exactly once."""
        return {key: same[0] for key, same in self.objects.items() if len(same) == 1}


def matches(asked: HttpMany, listed: Listed, values: Sequence[Value]) -> dict[Value, Matches]:
    """Return what an answer says to look-ups of the key; nothing where it is not what was asked for."""
    if not listed.ended or not set(listed.objects) <= {(value,) for value in values}:
        return {}
    found = {value: Matches((cells,), complete=True) for (value,), cells in listed.once().items()}
    if asked.answers_each:
        gone = [value for value in values if can_be_named(asked, value) and (value,) not in listed.objects]
        found |= {value: Matches((), complete=True) for value in gone}
    return found


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


def miscounted(last: Page, rows: int) -> Incompleteness | None:
    """Return the reason why an answer of so many rows is not whole by the total that its own last page tells."""
    if last.total is None or not last.total.exact or last.total.value == rows:
        return None
    detail = f"the source says that there are {last.total.value}, and returned {rows}"
    return Incompleteness(code=Reason.COUNT_MISMATCH, detail=detail)


def is_whole(page: Page) -> bool:
    """Whether nothing is missing from a page and no warning speaks against what it says."""
    return len(page.reasons) == 0 and all(notice.code not in BLOCKING_WARNINGS for notice in page.warnings)
