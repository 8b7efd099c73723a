"""What a recording's client asked for: the list with its pages, what it asked beside them, the names of the objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.runtime.conformance.case import Step
from fullcount.runtime.conformance.recording import HOST, Recording, request_of
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request
from fullcount.runtime.connectors.http.following import cursor_of
from fullcount.runtime.connectors.http.forms import Dialect, Operation
from fullcount.runtime.connectors.http.page import read_page
from fullcount.runtime.connectors.http.scan import keyed, operation_for
from fullcount.runtime.evidence.codes import Reason


@dataclass(frozen=True, slots=True)
class Recorded:
    """`starts`: the first request of each part. `probes` and `details`: whether and which of them were recorded."""

    pages: tuple[Step, ...]
    aside: tuple[Step, ...]
    starts: tuple[Request, ...]
    probes: tuple[str, ...]
    details: bool
    key: str
    """The place at which the objects have their names; empty: they have none, and are their own."""
    names: frozenset[str]


async def recorded(steps: Sequence[Step], dialect: Dialect) -> Recorded:
    """Return what a recording holds, as a dialect reads it."""
    operations = [(step, operation_for(dialect, request_of(step))) for step in await _polled(steps, dialect)]
    detailed = any(operation.detail is not None for _, operation in operations)
    pages: list[Step] = []
    aside: list[Step] = []
    probes: list[str] = []
    details = False
    for number, (step, operation) in enumerate(operations):
        more = number + 1 < len(operations)
        if operation.opens and more and await _refusal(step, dialect) is None:
            continue  # it began what a later request fetches
        if operation.kind == "probe":
            aside.append(step)
            probes.append(request_of(step).target)
        elif detailed and operation.detail is None and len(pages) > 0:
            aside.append(step)
            details = True
        else:
            pages.append(step)
    if len(pages) == 0:  # nothing but probes: then they are what was asked for
        pages, aside, probes = list(steps), [], []
    first = request_of(pages[0])
    starts = tuple(map(request_of, pages)) if operation_for(dialect, first).parts else (first,)
    key, names = await _names(pages, dialect)
    return Recorded(tuple(pages), tuple(aside), starts, tuple(probes), details, key, names)


async def _polled(steps: Sequence[Step], dialect: Dialect) -> list[Step]:
    """Leave out each reply that came to nothing yet, where its client asked the very same again."""
    kept: list[Step] = []
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        again = following is not None and following.request == step.request
        if not (again and await _came_to_nothing(step, dialect)):
            kept.append(step)
    return kept


async def _came_to_nothing(step: Step, dialect: Dialect) -> bool:
    error = await _refusal(step, dialect)
    return error is not None and (error.retryable or error.reason.code is Reason.RESULT_NOT_READY)


async def _refusal(step: Step, dialect: Dialect) -> SourceError | None:
    request = request_of(step)
    operation = operation_for(dialect, request)
    try:
        read_page(operation, Exchange(request, await reply_to(step, operation.xml_lists)))
    except SourceError as error:
        return error
    return None


def shows_two_states(steps: Sequence[Step], dialect: Dialect) -> bool:
    """Whether pages were asked for without what pins them to the first one's state, and come from another one.

    The connector pins them itself; a client that did not has pages of no one state.
    """
    states: set[str] = set()
    for number, step in enumerate(steps):
        request = request_of(step)
        for place, source in _held(operation_for(dialect, request)).items():
            state = paths.first(step.response.body, source)
            if state is not None and (number == 0 or paths.first(request.body, place) in (None, "", "0", 0)):
                states.add(str(state))
    return len(states) > 1


async def leaves_a_page_out(steps: Sequence[Step], dialect: Dialect) -> bool:
    """Whether a page was asked for by another cursor than the page before it gave: that one was not followed."""
    given: str | None = None
    for step in steps:
        request = request_of(step)
        operation = operation_for(dialect, request)
        asked = cursor_of(operation, request)
        if given is not None and asked is not None and asked != given:
            return True
        try:
            said = read_page(operation, Exchange(request, await reply_to(step, operation.xml_lists)))
        except SourceError:
            given = None
            continue
        following = said.following
        given = None if following is None else cursor_of(operation, following.request)
    return False


def _held(operation: Operation) -> dict[str, str]:
    return {place: source for cursor in operation.cursor for place, source in cursor.hold.items()}


async def _names(pages: Sequence[Step], dialect: Dialect) -> tuple[str, frozenset[str]]:
    operation: Operation | None = None
    items: list[Any] = []
    for step in pages:
        request = request_of(step)
        fitting = operation_for(dialect, request)
        try:
            items += read_page(fitting, Exchange(request, await reply_to(step, fitting.xml_lists))).items
        except SourceError:
            continue
        operation = fitting
    key = "" if operation is None else keyed(operation, items) or ""
    return key, frozenset(str(value) for item in items if (value := paths.first(item, key)) is not None)


async def reply_to(step: Step, xml_lists: Sequence[str] = ()) -> Reply:
    """Return a recorded reply as the real client takes it."""
    return await HttpClient(Recording([step], []), f"https://{HOST}", {}).send(request_of(step), xml_lists)
