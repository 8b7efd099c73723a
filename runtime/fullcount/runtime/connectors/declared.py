"""Sources that are only declared: what they have stands in `fullcount.toml`, and nothing says how to reach them.

    [sources.aws]
    connector = "declared"

    [sources.aws.resources.volumes]
    key = ["id"]
    consistency = "interval"
    visibility = "vouched"
    fields = { id = "text", state = "text", created = "timestamp", attached_at = "timestamp?" }

    [sources.aws.resources.volumes.operations.delete]
    effect = "delete"
    idempotency = "natural"
    parameters = { VolumeId = { type = "text", key = "id" } }

With that, workflows over them can be written, checked and tested before a connector exists, or where none can be
reached. The tables above are `catalog.Resource`, `Operation` and `Parameter` as a configuration writes them, and no
model of their own. What would widen trust (how pages hang together, whether hidden objects would be noticed, whether a
repeated call is harmless) has no default. There is no way to read or to act: asking for one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from fullcount.compiler.catalog import Closure, Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.connectors.field_types import FieldTypeSetting, can_identify
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError, did_you_mean

_Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Path = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DeclaredParameter(_Declared):
    """See `catalog.Parameter`."""

    type: FieldTypeSetting
    required: bool = True
    key: _Word | None = None


def _in_full(written: Any) -> Any:
    """Return `"text"` as `{ type = "text" }`."""
    return {"type": written} if isinstance(written, str) else written


class DeclaredOperation(_Declared):
    """See `catalog.Operation`."""

    effect: Effect
    idempotency: Idempotency
    parameters: dict[_Word, Annotated[DeclaredParameter, BeforeValidator(_in_full)]]
    reversible: bool = False
    undoes: list[_Word] = []
    closure: Closure = Closure.UNKNOWN
    """What else goes with an object that it deletes; what nobody says is not known, and nothing is deleted then."""
    backup: bool = False
    restores: bool = False
    escalates: bool = False
    """Whether doing it again does more than doing it once, as a second delete that destroys. It is never repeated."""
    key_life: Annotated[float, Field(gt=0)] | None = None
    """How long the target knows an idempotency key again, in seconds. Without it no call is repeated on its key."""
    sets_anew: list[_Word] = []
    """Fields that an object which it restores does not have back."""


class DeclaredResource(_Declared):
    """See `catalog.Resource`."""

    key: Annotated[list[_Word], Field(min_length=1)]
    fields: dict[_Word, FieldTypeSetting]
    consistency: Consistency
    visibility: Visibility
    incarnation: _Word | None = None
    version: _Word | None = None
    lookup: list[_Word] = []
    counted: bool = False
    partitions: list[_Word] = []
    """The fields by which the source is split: `across` names the parts."""
    operations: dict[_Word, DeclaredOperation] = {}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        named = [*(("key", name) for name in self.key), *(("lookup", name) for name in self.lookup)]
        named += [("partitions", name) for name in self.partitions]
        named += [(role, name) for role in ("incarnation", "version") if (name := getattr(self, role)) is not None]
        for role, name in named:
            if name not in self.fields:
                msg = f"`{role}` names `{name}`, which `fields` does not have"
                raise SettingError(msg, help=did_you_mean(name, self.fields))
            field = self.fields[name]
            if role in {"key", "incarnation", "partitions"} and (field.optional or not can_identify(field)):
                msg = f"`{name}` is `{field}`, and a {role} must be one value that is always there"
                raise SettingError(msg)
        if len(set(self.key)) != len(self.key):
            msg = "`key` names a field twice"
            raise SettingError(msg)
        for name, operation in self.operations.items():
            self._check_operation(name, operation)
        return self

    def _check_operation(self, name: str, operation: DeclaredOperation) -> None:
        anew = next((field for field in operation.sets_anew if field not in self.fields), None)
        if anew is not None or (len(operation.sets_anew) > 0 and not operation.restores):
            msg = f"`sets_anew` of `{name}` names `{anew}`, which `fields` does not have"
            if anew is None:
                msg = f"`sets_anew` of `{name}` is about what is restored, and nothing is"
            raise SettingError(
                msg, help="add `restores = true`, or remove it" if anew is None else did_you_mean(anew, self.fields)
            )
        keys = [parameter.key for parameter in operation.parameters.values() if parameter.key is not None]
        unknown = next((key for key in keys if key not in self.key), None)
        if unknown is not None:
            msg = f"a parameter of `{name}` is said to be the key field `{unknown}`, which is not in `key`"
            raise SettingError(msg, help=did_you_mean(unknown, self.key))
        missing = next((key for key in self.key if key not in keys), None)
        makes = operation.effect is Effect.CREATE and len(keys) == 0  # the source gives what is new its key
        if missing is not None and not makes:
            msg = f"no parameter of `{name}` is given the key field `{missing}`, so it names no object"
            raise SettingError(msg, help=f'as `parameters = {{ {missing} = {{ type = "text", key = "{missing}" }} }}`')
        undone = next((other for other in operation.undoes if other not in self.operations), None)
        if undone is not None:
            msg = f"`{name}` is said to undo `{undone}`, which is not among the operations"
            raise SettingError(msg, help=did_you_mean(undone, self.operations))


class DeclaredConfig(_Declared):
    """What `[sources.NAME]` may say when `connector = "declared"`."""

    resources: Annotated[dict[_Path, DeclaredResource], Field(min_length=1)]


class DeclaredConnector:
    """Resources and operations without a way to reach them."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "declared"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return DeclaredConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        if not isinstance(config, DeclaredConfig):
            msg = "the declared connector was handed the configuration of another one"
            raise TypeError(msg)
        return {name: _resource(source, name, declared) for name, declared in config.resources.items()}

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """Raises `WorkspaceError` FC640: there is nothing to read from."""
        raise _only_declared(source, "nothing can be read from it")

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """Raises `WorkspaceError` FC640: there is nothing to act on."""
        raise _only_declared(source, "nothing can be acted on there")


def _only_declared(source: str, so: str) -> WorkspaceError:
    return WorkspaceError(
        "FC640",
        f"source `{source}` is only declared, so {so}",
        help="give it a connector that speaks to the real system; until then: check, fmt, evidence, graph, test",
    )


def _resource(source: str, name: str, declared: DeclaredResource) -> Resource:
    return Resource(
        source=source,
        name=name,
        fields=dict(declared.fields),
        key=tuple(declared.key),
        consistency=declared.consistency,
        visibility=declared.visibility,
        incarnation=declared.incarnation,
        version=declared.version,
        lookup_fields=frozenset(declared.lookup),
        operations={each: _operation(each, operation) for each, operation in declared.operations.items()},
        counted=declared.counted,
        partitions={name: declared.fields[name] for name in declared.partitions},
    )


def _operation(name: str, declared: DeclaredOperation) -> Operation:
    return Operation(
        name=name,
        parameters={each: Parameter(p.type, p.required, p.key) for each, p in declared.parameters.items()},
        effect=declared.effect,
        idempotency=declared.idempotency,
        reversible=declared.reversible,
        undoes=frozenset(declared.undoes),
        closure=declared.closure,
        backup=declared.backup,
        restores=declared.restores,
        escalates=declared.escalates,
        key_life=None if declared.key_life is None else int(declared.key_life * 1_000_000),
        sets_anew=frozenset(declared.sets_anew),
    )


CONNECTOR = DeclaredConnector()
