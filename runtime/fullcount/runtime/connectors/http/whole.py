"""Whole objects of an API: the JSON of one object, kept before it goes and sent back to restore it.

Guarantees: what is kept is what the API itself returned, with every member of it; a number that could not be sent back
as it was is an error, never rounded. What the API sets of itself (`set_by_source`) is neither sent nor compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import ActCall, Existence, Reading, SourceError
from fullcount.runtime.connectors.http.config import HttpOperation, HttpResource
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.connectors.http.objects import found_object
from fullcount.runtime.connectors.http.scan import Client
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness


async def whole_object(
    dialect: Dialect, client: Client, settings: HttpResource, resource: Resource, key: tuple[Value, ...]
) -> Mapping[str, Any] | None:
    """Return the object as the API has it; None: it is gone. Raises `SourceError` when that can't be told."""
    found = await found_object(dialect, client, settings, resource, key, tuple(resource.key))
    if isinstance(found, Reading):
        if found.existence is Existence.GONE:
            return None
        raise SourceError(found.reasons[0] if found.reasons else _unfit("the object was not returned"))
    item = found.said.items[0]
    if not isinstance(item, Mapping) or "json" not in found.exchange.reply.headers.get("content-type", ""):
        raise SourceError(_unfit("only an object in JSON can be kept whole"))
    return {"object": {name: _exact(value) for name, value in item.items()}}


def sent_back(backup: Mapping[str, Any], operation: HttpOperation) -> dict[str, Any]:
    """Return the object of a backup without what the API sets of itself."""
    return {name: value for name, value in backup["object"].items() if name not in operation.set_by_source}


def restoring(settings: HttpResource, operation: str) -> HttpOperation | None:
    """Return the operation that restores what another one did."""
    others: Iterator[HttpOperation] = (
        each for each in settings.operations.values() if each.restores and operation in each.undoes
    )
    return next(others, None)


def still_is(backup: Mapping[str, Any], now: Mapping[str, Any], operation: HttpOperation) -> bool:
    """Whether an object is what the backup holds, but for what the API sets of itself."""
    return sent_back(backup, operation) == sent_back(now, operation)


def content_of(call: ActCall) -> Mapping[str, Any] | None:
    """Return what the backup of a call holds; None where there is none, or it holds no object."""
    content = None if call.backup is None else call.backup.content
    return content if content is not None and isinstance(content.get("object"), dict) else None


def _exact(value: Any) -> Any:
    match value:
        case Decimal():
            number = float(value)
            if Decimal(repr(number)) != value:
                raise SourceError(_unfit(f"the number {value} can't be sent back as it is"))
            return number
        case Mapping():
            return {name: _exact(each) for name, each in value.items()}
        case list():
            return [_exact(each) for each in value]
    return value


def _unfit(detail: str) -> Incompleteness:
    return Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail)
