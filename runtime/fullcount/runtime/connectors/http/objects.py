"""Reading one object: its request, and what the reply says of its being there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import Existence, Reading, SourceError
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.config import PLACE, HttpDetail, HttpField, HttpResource
from fullcount.runtime.connectors.http.details import DETAIL, Details, Limits
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request
from fullcount.runtime.connectors.http.fields import Place, columns_of
from fullcount.runtime.connectors.http.forms import Detail, Dialect, Operation
from fullcount.runtime.connectors.http.page import VALUE, read_page
from fullcount.runtime.connectors.http.said import Said
from fullcount.runtime.connectors.http.scan import Client, operation_for
from fullcount.runtime.connectors.http.template import Known, NoValueError, path_of
from fullcount.runtime.connectors.in_text import may_stay
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

HEADERS = "$headers"
"""The place of a single read's headers in the object: `$headers/etag`."""
_NOT_FOUND = frozenset({404, 410})


def places_for(settings: HttpResource, fields: Sequence[str]) -> dict[str, Place]:
    """Return where fields stand in an object."""
    return {name: _place(settings.fields[name]) for name in fields}


def _place(field: HttpField) -> Place:
    return Place(field.at, field.json_text, field.missing, may_stay(field.type.type) and not field.json_text)


def detail_of(settings: HttpResource, fields: Sequence[str]) -> Detail | None:
    """Return the further request that fields are taken from, with places of the item instead of names of fields."""
    if settings.detail is None or settings.detail.path is None or not _wants_detail(settings, fields):
        return None
    path = PLACE.sub(lambda found: "{" + (settings.fields[found[1]].at or found[1]) + "}", settings.detail.path)
    return Detail(path=path, method=settings.detail.method)


def _wants_detail(settings: HttpResource, fields: Sequence[str]) -> bool:
    return any((settings.fields[name].at or "").startswith(f"{DETAIL}/") for name in fields)


def limits_of(settings: HttpDetail | None) -> Limits:
    """Return what the further requests may cost."""
    if settings is None:
        return Limits()
    return Limits(settings.at_once, settings.calls, settings.deadline, settings.retries)


def key_known(resource: Resource, key: tuple[Value, ...]) -> Known:
    """Return the places that a key fills."""
    return {name: (value, resource.fields[name].type) for name, value in zip(resource.key, key, strict=True)}


async def read_object(
    dialect: Dialect,
    client: Client,
    settings: HttpResource,
    resource: Resource,
    key: tuple[Value, ...],
    fields: Sequence[str],
) -> Reading:
    """Read one object live. Raises `SourceError` where the source did not answer."""
    found = await found_object(dialect, client, settings, resource, key, fields)
    if isinstance(found, Reading):
        return found
    operation, exchange, said = found.operation, found.exchange, found.said
    whole = {"status": exchange.reply.status, "headers": dict(exchange.reply.headers), "body": exchange.reply.body}
    name = {VALUE: key[0]} if found.named_by_request and len(key) == 1 else {}
    said.items = [{**said.items[0], **name, HEADERS: dict(exchange.reply.headers), DETAIL: whole}]
    further = detail_of(settings, fields)
    if further is not None and (settings.detail is None or settings.detail.path != settings.read):
        said.items = [_named(said.items[0], settings, resource, key)]
        await _of(dialect, client, settings).add(further, operation, exchange.request, said)
        if len(said.found) > 0:
            return Reading(Existence.UNKNOWN, reasons=tuple(found.reason for found in said.found))
    columns, states = columns_of(operation, exchange, said, places_for(settings, fields))
    cells = {
        name: coerce_cell(settings.fields[name].type, column[0], states[name][0] if name in states else None)
        for name, column in columns.items()
    }
    return Reading(Existence.FOUND, cells)


@dataclass(frozen=True, slots=True)
class FoundObject:
    """What the reply to the request for one object held, and by which rules it was read."""

    operation: Operation
    exchange: Exchange
    said: Said
    named_by_request: bool


async def found_object(
    dialect: Dialect,
    client: Client,
    settings: HttpResource,
    resource: Resource,
    key: tuple[Value, ...],
    fields: Sequence[str],
) -> FoundObject | Reading:
    """Ask for one object: what the reply held, or why there is nothing. Raises `SourceError` without an answer."""
    if settings.read is None:
        detail = f"`{resource.name}` has no `read` path, so one object can't be read"
        return Reading(Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail),))
    try:
        target = path_of(settings.read, key_known(resource, key))
    except NoValueError as error:
        detail = f"the key's `{error}` can't be the name of an object"
        return Reading(Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.EXISTENCE_UNKNOWN, detail=detail),))
    request = Request.to(target)
    rules = operation_for(dialect, request)
    names = [settings.fields[name].at or name for name in resource.key if name in settings.fields]
    proof = list(rules.proof) if rules.named_by_request else [*names, *rules.key]
    operation = rules.model_copy(update={"kind": "object", "items": settings.read_at, "proof": proof})
    reply = await client.send(request, operation.xml_lists)
    if settings.not_found_is_gone and reply.failed is None and reply.status in _NOT_FOUND:
        return Reading(Existence.GONE)
    exchange = Exchange(request, reply, asked=frozenset(fields), host=client.host)
    try:
        said = read_page(operation, exchange)
    except SourceError as error:
        if error.retryable:
            raise
        return Reading(Existence.UNKNOWN, reasons=(error.reason,))
    if len(said.items) == 0:
        return Reading(Existence.GONE)
    if len(said.found) > 0:
        return Reading(Existence.UNKNOWN, reasons=tuple(found.reason for found in said.found))
    return FoundObject(operation, exchange, said, rules.named_by_request)


def _named(item: Any, settings: HttpResource, resource: Resource, key: tuple[Value, ...]) -> Any:
    """Return an object with its key where the list has it: a single read may leave out what it was asked by."""
    for name, value in zip(resource.key, key, strict=True):
        place = settings.fields[name].at or name
        if paths.first(item, place) is None:
            item = paths.put(item, place, value)
    return item


def _of(dialect: Dialect, client: Client, settings: HttpResource) -> Details:
    """Return the detail calls for one object alone: the limits of a whole read are not for it."""

    async def send(request: Request) -> tuple[Reply, Operation]:
        rules = operation_for(dialect, request)
        return await client.send(request, rules.xml_lists), rules

    return Details(send, client.host, replace(limits_of(settings.detail), calls=None))
