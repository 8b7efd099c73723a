"""The writing side of an HTTP source: one request on one object, under a condition.

Guarantees: nothing is sent twice; a write is conditional by the API's own means where the configuration names them, and
else follows on a comparison of the object with what was seen; a lost answer is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fullcount.compiler.catalog import Effect
from fullcount.compiler.types import Type
from fullcount.compiler.values import Value, present
from fullcount.runtime.connectors.base import (
    ActCall,
    ActResult,
    ErrorClass,
    Existence,
    Outcome,
    Reading,
    SourceError,
)
from fullcount.runtime.connectors.effects import fields_set
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.config import HttpConfig, HttpOperation, HttpResource
from fullcount.runtime.connectors.http.exchange import Exchange, Request
from fullcount.runtime.connectors.http.objects import key_known, read_object
from fullcount.runtime.connectors.http.opening import asked_identity, open_client
from fullcount.runtime.connectors.http.outcome import Written, judge_write
from fullcount.runtime.connectors.http.scan import operation_for
from fullcount.runtime.connectors.http.speaking import spoken
from fullcount.runtime.connectors.http.template import NoValueError, body_of, path_of
from fullcount.runtime.connectors.http.whole import content_of, restoring, sent_back, still_is, whole_object
from fullcount.runtime.connectors.sql.precondition import (
    delete_took_effect,
    difference,
    is_known,
    update_took_effect,
)
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.plan.cells import to_json


class HttpActor:
    """Writes on single objects. See `SourceActor`."""

    def __init__(self, config: HttpConfig, client: HttpClient) -> None:
        self._config, self._client = config, client
        self._dialect = spoken(config)

    @classmethod
    def open(cls, config: HttpConfig) -> HttpActor:
        """Make the connection pool; nothing is contacted yet. Raises `WorkspaceError` FC605."""
        return cls(config, open_client(config, config.act_auth or config.auth))

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return await asked_identity(self._config, self._config.act_auth or self._config.auth, self._client)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        return await self.write(call)

    async def write(self, call: ActCall) -> ActResult:
        """Do the one write of a call: of this source, or of the part of one that this configuration is."""
        settings = self._config.resources[call.resource.name]
        operation = settings.operations.get(call.operation)
        if operation is None:
            return ActResult(Outcome.REFUSED, None, f"`{call.resource.name}` has no operation `{call.operation}`")
        if operation.restores or call.backup is not None:
            stands_against = await self._unlike(call, settings, operation)
            if stands_against is not None:
                return stands_against
        try:
            request = _request(call, settings, operation)
        except NoValueError as error:
            detail = f"`{error}` has no known value, so the request can't be made"
            return ActResult(Outcome.REFUSED, ActReason.PRECONDITION_FAILED, detail)
        if operation.precondition == "compare" and operation.effect is not Effect.CREATE:
            stands_against = await self._compared(call, settings)
            if stands_against is not None:
                return stands_against
        try:
            reply = await self._client.send(request)
        except SourceError as error:  # a credential could not be had, or our own allowance is used up
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        rules = operation_for(self._dialect, request)
        return _result(judge_write(rules, Exchange(request, reply, host=self._client.host)), call)

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """See `TakesBackups.back_up`."""
        settings = self._config.resources[call.resource.name]
        return await whole_object(self._dialect, self._client, settings, call.resource, call.key)

    async def _unlike(self, call: ActCall, settings: HttpResource, operation: HttpOperation) -> ActResult | None:
        """Return why the write must not happen: the object is not what its backup holds, or its place is taken."""
        kept = content_of(call)
        back = operation if operation.restores else restoring(settings, call.operation)
        if kept is None or back is None:
            return ActResult(Outcome.REFUSED, None, "what its backup holds is not known")
        try:
            now = await self.back_up(call)
        except SourceError as error:
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        if operation.restores:
            if now is None:
                return None
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "an object stands under its key again")
        if now is None:
            return ActResult(Outcome.ALREADY_GONE)
        if now == kept:
            return None
        return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed since its backup was taken")

    async def _compared(self, call: ActCall, settings: HttpResource) -> ActResult | None:
        """Return why the write must not happen, as the object is now."""
        try:
            now = await self._read(call, settings, ())
        except SourceError as error:
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        if now.existence is Existence.GONE:
            return ActResult(Outcome.ALREADY_GONE)
        if now.existence is Existence.UNKNOWN:
            said = ", ".join(reason.code for reason in now.reasons)
            return ActResult(Outcome.REFUSED, ActReason.PRECONDITION_FAILED, f"it can't be compared: {said}")
        found = difference(call, now.cells)
        if found is None:
            return None
        outcome = Outcome.CHANGED if found.verifiable else Outcome.REFUSED
        return ActResult(outcome, ActReason.PRECONDITION_FAILED, found.detail)

    async def _read(self, call: ActCall, settings: HttpResource, also: Iterable[str]) -> Reading:
        marks = [name for name in (settings.incarnation, settings.version) if name is not None]
        named = dict.fromkeys((*call.expected, *call.resource.key, *marks, *also))
        fields = [name for name in named if name in settings.fields]
        return await read_object(self._dialect, self._client, settings, call.resource, call.key, fields)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the source can't be asked."""
        if len(call.key) == 0:
            return None  # what was made has a key that only the lost answer told
        settings = self._config.resources[call.resource.name]
        operation = settings.operations[call.operation]
        if operation.restores:
            whole, kept = await self.back_up(call), content_of(call)
            if whole is None:
                return False
            return True if kept is not None and still_is(kept, whole, operation) else None
        sets = fields_set(call.resource, call.resource.operations[call.operation], call.arguments)
        wanted = sets.fields
        now = await self._read(call, settings, wanted)
        if now.existence is Existence.UNKNOWN:
            return None
        cells = now.cells if now.existence is Existence.FOUND else None
        effect = call.resource.operations[call.operation].effect
        if effect is Effect.DELETE:
            return delete_took_effect(call, cells)
        if effect is Effect.CREATE:
            return False if cells is None else None
        took = update_took_effect(call, wanted, cells, managed=False)
        if not sets.more:
            return took
        before = call.expected
        if took and not any(is_known(before.get(n)) and before[n] != present(value) for n, value in wanted.items()):
            return None  # what it is known to set may have stood there before
        # what nobody says that it sets may be where nobody looks
        return None if took is False and call.resource.version is None else took

    async def close(self) -> None:
        """See `SourceActor.close`."""
        await self._client.close()


def _request(call: ActCall, settings: HttpResource, operation: HttpOperation) -> Request:
    """Return the request of a call. Raises `NoValueError`."""
    resource = call.resource
    known: dict[str, tuple[Value | None, Type]] = {}
    if len(call.key) > 0:
        known |= key_known(resource, call.key)
    for name, parameter in resource.operations[call.operation].parameters.items():
        if parameter.key is None:
            known[name] = (call.arguments.get(name), parameter.type.type)
    for name, cell in call.expected.items():
        if name in resource.fields:
            known[f"${name}"] = (cell.value, resource.fields[name].type)
    headers: dict[str, str] = {}
    if operation.precondition == "if_match" and settings.version is not None:
        seen = call.expected.get(settings.version)
        if seen is None or seen.value is None:
            raise NoValueError(settings.version)
        headers["if-match"] = _validator(seen.value)
    if operation.key_header is not None:
        headers[operation.key_header.lower()] = call.idempotency_key
    request = Request.to(path_of(operation.path, known), operation.method, headers)
    kept = content_of(call) if operation.restores else None
    if kept is not None:
        return replace(request, body=sent_back(kept, operation))
    return replace(request, body=None if operation.body is None else body_of(operation.body, known))


def _validator(version: Value) -> str:
    """Return an entity tag: as it is if it is one, else in the quotation marks that make it one."""
    text = str(version)
    return text if text.startswith(('"', 'W/"')) else f'"{text}"'


def _result(written: Written, call: ActCall) -> ActResult:
    reason = written.reason if isinstance(written.reason, ActReason) else None
    trouble = None
    if written.outcome is Outcome.FAILED and isinstance(written.reason, Reason):
        trouble = _TROUBLES.get(written.reason)
    return ActResult(written.outcome, reason, written.detail, _before(call), trouble, written.after)


_TROUBLES = {Reason.RATE_LIMITED: ErrorClass.THROTTLE, Reason.SOURCE_UNAVAILABLE: ErrorClass.TRANSIENT}


def _before(call: ActCall) -> dict[str, Any]:
    """Return what was seen of the object, for whoever takes the act back."""
    return {
        name: to_json(cell.value, call.resource.fields[name].type)
        for name, cell in call.expected.items()
        if cell.value is not None and name in call.resource.fields
    }
