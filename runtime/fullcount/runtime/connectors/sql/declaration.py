"""The `sql` connector as the compiler and the engine see it. No I/O and no database library here."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fullcount.compiler.catalog import Closure, Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.connectors.in_parts import NAME
from fullcount.runtime.connectors.sql.config import SqlConfig, SqlResource, can_look_up


class SqlConnector:
    """Tables of SQLite and PostgreSQL databases."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "sql"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return SqlConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        settings = _settings(config)
        return {name: _resource(source, name, table, settings) for name, table in settings.resources.items()}

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`. Raises `WorkspaceError` FC605, FC607 or FC611 before anything is contacted."""
        settings = _settings(config)
        if len(settings.partitions) > 0:
            from fullcount.runtime.connectors.sql.split import SplitReader

            return SplitReader(source, settings)
        from fullcount.runtime.connectors.sql.reader import SqlReader

        return await SqlReader.open(source, settings)

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`. Raises `WorkspaceError` FC605, FC607 or FC611 before anything is contacted."""
        settings = _settings(config)
        if len(settings.partitions) > 0:
            from fullcount.runtime.connectors.sql.split import SplitActor

            return SplitActor(source, settings)
        from fullcount.runtime.connectors.sql.actor import SqlActor

        return await SqlActor.open(source, settings)


def _settings(config: BaseModel) -> SqlConfig:
    if not isinstance(config, SqlConfig):
        msg = "the sql connector was handed the configuration of another one"
        raise TypeError(msg)
    return config


def _resource(source: str, name: str, table: SqlResource, settings: SqlConfig) -> Resource:
    split = len(settings.partitions) > 0
    return Resource(
        source=source,
        name=name,
        fields=dict(table.fields),
        key=tuple(table.key),
        consistency=Consistency.PINNED,
        visibility=Visibility.UNKNOWN if table.view else Visibility.VOUCHED,
        incarnation=table.incarnation,
        version=table.version,
        # no part speaks for the others, so nothing is looked up in a source that is split, nor counted
        lookup_fields=frozenset(field for field, of in table.fields.items() if can_look_up(of) and not split),
        operations={operation.name: operation for operation in _operations(table)},
        counted=not split,
        partitions=dict.fromkeys(settings.partitions, NAME),
    )


def _operations(table: SqlResource) -> list[Operation]:
    key = {field: Parameter(table.fields[field], key=field) for field in table.key}
    found = []
    if table.writable:
        columns = {field: Parameter(table.fields[field], required=False) for field in table.writable}
        found.append(
            Operation(
                name="update",
                parameters={**key, **columns},
                effect=Effect.UPDATE,
                idempotency=Idempotency.PRECONDITION,
                reversible=True,
                undoes=frozenset({"update"}),
            )
        )
    if table.deletable:
        found.append(
            Operation(
                name="delete",
                parameters=key,
                effect=Effect.DELETE,
                idempotency=Idempotency.PRECONDITION,
                reversible=False,
                closure=Closure.COMPUTED,
                backup=True,
            )
        )
        found.append(
            Operation(
                name="restore",
                parameters=key,
                effect=Effect.CREATE,
                idempotency=Idempotency.NATURAL,
                reversible=False,
                undoes=frozenset({"delete"}),
                restores=True,
            )
        )
    return found
