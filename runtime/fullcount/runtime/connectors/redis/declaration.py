"""The `redis` connector as the compiler and the engine see it. No I/O and no Redis library here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fullcount.compiler.catalog import Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import DURATION, TEXT, TIMESTAMP, FieldType
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.secrets import RootedPath, Secret

KEY_FIELDS: Mapping[str, FieldType] = {
    "key": FieldType(TEXT),
    "type": FieldType(TEXT),
    "expires_at": FieldType(TIMESTAMP, optional=True),
    "idle": FieldType(DURATION),
}
"""`type`: `string`, `list`, `hash`, `stream`, … `expires_at`: absent where a key has no time to live. `idle`: how long
ago it was last read or written by anybody, which a server that evicts by frequency does not record."""

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class RedisResource(BaseModel):
    """Some of the keys of the database."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: Annotated[str, StringConstraints(min_length=1)]
    """Which keys, as Redis's own pattern: `session:*`. All of them is `*`, and has to be said."""


class RedisConfig(BaseModel):
    """What `[sources.NAME]` may say when `connector = "redis"`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Annotated[str, StringConstraints(min_length=1)]
    port: Annotated[int, Field(gt=0, lt=65_536)] = 6379
    db: Annotated[int, Field(ge=0)] = 0
    user: Annotated[str, StringConstraints(min_length=1)] | None = None
    password: Secret | None = None
    tls: bool = False
    ca_file: RootedPath | None = None
    plain: bool = False
    """Whether the password may go over a connection that others can read. Never needed on the same machine."""
    timeout: Annotated[float, Field(gt=0)] = 30.0
    """The longest that one reply may take, in seconds."""
    count: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """How many keys the server looks at for one page; it answers nobody else meanwhile."""
    resources: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], RedisResource],
        Field(min_length=1),
    ]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.user is not None and self.password is None:
            msg = "`user` needs a `password`"
            raise SettingError(msg, help='as `password = { env = "REDIS_PASSWORD" }`')
        if self.ca_file is not None and not self.tls:
            msg = "`ca_file` is of no use without `tls = true`"
            raise SettingError(msg)
        if self.password is not None and not self.tls and not self.plain and self.host not in _LOCAL:
            msg = "the password would go over a connection that others can read"
            raise SettingError(msg, code="FC607", help="say `tls = true`, or `plain = true` if you must")
        return self


class RedisConnector:
    """Keys of one database of one server."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "redis"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return RedisConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        return {
            name: Resource(
                source=source,
                name=name,
                fields=KEY_FIELDS,
                key=("key",),
                consistency=Consistency.INTERVAL,
                visibility=Visibility.VOUCHED,
                lookup_fields=frozenset({"key"}),
            )
            for name in _settings(config).resources
        }

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`. Raises `WorkspaceError` FC605 for a secret that is not there, FC611."""
        _needs_library(source)
        from fullcount.runtime.connectors.redis.reader import RedisReader

        return await RedisReader.open(_settings(config))

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`: it refuses every write. Raises as `open_reader` does."""
        _needs_library(source)
        from fullcount.runtime.connectors.redis.actor import RedisActor
        from fullcount.runtime.connectors.redis.reader import RedisReader

        return RedisActor(await RedisReader.open(_settings(config)))


def _needs_library(source: str) -> None:
    try:
        import redis  # noqa: F401 - to say what to install
    except ModuleNotFoundError:
        message = f"source `{source}` is a Redis server, and the package `redis` is not installed"
        raise WorkspaceError("FC611", message, help="pip install 'fullcount[redis]'") from None


def _settings(config: BaseModel) -> RedisConfig:
    if not isinstance(config, RedisConfig):
        msg = "the redis connector was handed the configuration of another one"
        raise TypeError(msg)
    return config
