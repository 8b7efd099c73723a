"""The `files` connector as the compiler and the engine see it. No I/O here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from fullcount.compiler.catalog import Closure, Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import TEXT, FieldType
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.connectors.files.config import Delete, FilesConfig, FilesResource, Kind
from fullcount.runtime.connectors.files.objects import FIELDS

_PATIENCE = 30.0
"""Seconds for which an apply waits for what is kept no longer to be removed."""
_PATH = {"path": Parameter(FieldType(TEXT), key="path")}
_KNOWN_BY = {**_PATH, "version": Parameter(FieldType(TEXT))}


class FilesConnector:
    """Files and folders below one root."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "files"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return FilesConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`. Folders are listed until two lists in a row are equal."""
        return {
            name: Resource(
                source=source,
                name=name,
                fields=FIELDS[each.kind],
                key=("path",),
                consistency=Consistency.INTERVAL,
                visibility=Visibility.VOUCHED,
                incarnation="incarnation",
                version="version",
                lookup_fields=frozenset({"path"}),
                operations=_operations(each),
            )
            for name, each in _settings(config).resources.items()
        }

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`."""
        from fullcount.runtime.connectors.files.reader import FilesReader

        return await FilesReader.open(_settings(config))

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`."""
        from fullcount.runtime.connectors.files.actor import FilesActor

        return await FilesActor.open(_settings(config))

    def let_go(self, source: str, config: BaseModel, over: Callable[[], frozenset[str]]) -> int:
        """See `KeepsObjects.let_go`. A mount that does not answer is left for the next time."""
        settings = _settings(config)
        if settings.quarantine is None:
            return 0
        from fullcount.runtime.connectors.files.letting_go import kept_for_a_time, let_go
        from fullcount.runtime.connectors.files.worker import within

        about = str(settings.quarantine)
        kept = within(_PATIENCE, about, lambda: kept_for_a_time(settings))
        if kept is None or len(kept) == 0:
            return 0
        gone = kept & over()
        return (within(_PATIENCE, about, lambda: let_go(settings, gone)) or 0) if len(gone) > 0 else 0

    def not_kept(self, source: str, config: BaseModel, backups: Sequence[Mapping[str, Any]]) -> Sequence[str | None]:
        """See `KeepsObjects.not_kept`."""
        from fullcount.runtime.connectors.files.looking_in import no_answer, wanted_by, why_not_kept
        from fullcount.runtime.connectors.files.worker import within

        settings = _settings(config)
        wanted = [wanted_by(content) for content in backups]
        found = within(_PATIENCE, str(settings.quarantine), lambda: why_not_kept(settings, wanted))
        if found is None:
            raise no_answer(settings)
        return found


def _operations(settings: FilesResource) -> dict[str, Operation]:
    """Return what can be done to an object: `delete` and `move`, each with its way back."""
    along = Closure.NONE if settings.kind is Kind.FILE else Closure.COMPUTED
    quarantined = settings.delete is Delete.QUARANTINE
    found: list[Operation] = []
    if settings.delete is not None:
        found.append(
            Operation(
                "delete",
                _PATH,
                Effect.DELETE,
                Idempotency.PRECONDITION,
                reversible=quarantined,
                closure=along,
                backup=quarantined,
            )
        )
    if quarantined:
        found += [_back("put_back", "delete"), _back("restore", "delete", restores=True)]
    if settings.move:
        found += [
            Operation("move", _PATH, Effect.DELETE, Idempotency.PRECONDITION, reversible=True, closure=along),
            _back("move_back", "move"),
        ]
    return {operation.name: operation for operation in found}


def _back(name: str, undoes: str, *, restores: bool = False) -> Operation:
    return Operation(
        name,
        _PATH if restores else _KNOWN_BY,
        Effect.CREATE,
        Idempotency.NATURAL,
        reversible=True,
        undoes=frozenset({undoes}),
        restores=restores,
        sets_anew=frozenset({"changed", "version"}),  # the system notes each move
    )


def _settings(config: BaseModel) -> FilesConfig:
    if not isinstance(config, FilesConfig):
        msg = "the files connector was handed the configuration of another one"
        raise TypeError(msg)
    return config
