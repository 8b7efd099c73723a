"""The `http` connector as the compiler and the engine see it. No I/O and no HTTP library here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from fullcount.compiler.catalog import Closure, Effect, Operation, Parameter, Resource, Visibility
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.connectors.http.config import HttpConfig, HttpOperation, HttpResource, places_of
from fullcount.runtime.connectors.http.effects import effects_of
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.connectors.http.partitions import is_split, partitions_of
from fullcount.runtime.connectors.http.speaking import declared_consistency, fingerprint, spoken
from fullcount.runtime.connectors.in_parts import NAME


class HttpConnector:
    """Lists and objects of HTTP APIs."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "http"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return HttpConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        settings = _settings(config)
        dialect = spoken(settings)
        return {
            name: _resource(source, name, dialect, each, partitions_of(settings, name))
            for name, each in settings.resources.items()
        }

    def rests_on(self, config: BaseModel) -> str | None:
        """See `RestsOnFiles.rests_on`: a dialect of one's own. A shipped one is part of the version of Fullcount."""
        settings = _settings(config)
        return None if settings.dialect_file is None else fingerprint(spoken(settings))

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`. Raises `WorkspaceError` FC605 for a secret that is not there."""
        settings = _settings(config)
        if is_split(settings):
            from fullcount.runtime.connectors.http.split import SplitReader

            return SplitReader.open(settings)
        from fullcount.runtime.connectors.http.reader import HttpReader

        return HttpReader.open(settings)

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`. Raises `WorkspaceError` FC605 for a secret that is not there."""
        settings = _settings(config)
        if is_split(settings):
            from fullcount.runtime.connectors.http.split import SplitActor

            return SplitActor.open(settings)
        from fullcount.runtime.connectors.http.actor import HttpActor

        return HttpActor.open(settings)


def _settings(config: BaseModel) -> HttpConfig:
    if not isinstance(config, HttpConfig):
        msg = "the http connector was handed the configuration of another one"
        raise TypeError(msg)
    return config


def _resource(source: str, name: str, dialect: Dialect, settings: HttpResource, names: Sequence[str]) -> Resource:
    return Resource(
        source=source,
        name=name,
        fields={field: each.type for field, each in settings.fields.items()},
        key=tuple(settings.key),
        consistency=declared_consistency(dialect, settings),
        visibility=Visibility.VOUCHED if dialect.visibility == "all" else Visibility.UNKNOWN,
        incarnation=settings.incarnation,
        version=settings.version,
        lookup_fields=frozenset(settings.lookup),
        operations={
            operation: _operation(operation, settings, each) for operation, each in settings.operations.items()
        },
        counted=settings.count is not None,
        partitions=dict.fromkeys(names, NAME),
    )


def _operation(name: str, resource: HttpResource, settings: HttpOperation) -> Operation:
    keys = resource.key
    if settings.effect is Effect.CREATE and not settings.restores:
        places = {*places_of(settings.path), *places_of(settings.body)}
        keys = [field for field in keys if field in places]  # without any, the source gives what is new its key
    parameters = {field: Parameter(resource.fields[field].type, key=field) for field in keys}
    parameters |= {parameter: Parameter(type_) for parameter, type_ in settings.parameters.items()}
    others = [other for other in resource.operations.values() if name in other.undoes]
    undone = any(not other.restores for other in others)
    reversible = settings.reversible
    if reversible is None:
        reversible = undone or (settings.effect is Effect.UPDATE and name in settings.undoes)
    effects = effects_of(resource, settings)
    return Operation(
        name=name,
        parameters=parameters,
        effect=settings.effect,
        idempotency=settings.idempotency,
        reversible=reversible,
        undoes=frozenset(settings.undoes),
        closure=Closure.UNKNOWN if settings.closure is None else settings.closure,
        backup=any(other.restores for other in others),
        restores=settings.restores,
        escalates=settings.escalates,
        key_life=None if settings.key_life is None else int(settings.key_life * 1_000_000),
        sets_anew=_set_anew(resource, settings) if settings.restores else frozenset(),
        sets=effects.sets,
        given=effects.given,
        sets_more=effects.more,
    )


def _set_anew(resource: HttpResource, settings: HttpOperation) -> frozenset[str]:
    """Return the fields that stand where the API sets something of itself: in such a member, or in a header."""
    own = {*settings.set_by_source, "$headers"}
    return frozenset(name for name, field in resource.fields.items() if (field.at or name).partition("/")[0] in own)
