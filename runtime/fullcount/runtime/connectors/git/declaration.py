"""The `git` connector as the compiler and the engine see it. No I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fullcount.compiler.catalog import Closure, Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import BOOL, TEXT, TIMESTAMP, FieldType
from fullcount.runtime.connectors.base import SourceActor, SourceReader
from fullcount.runtime.workspace.secrets import RootedPath

BRANCH_FIELDS: Mapping[str, FieldType] = {
    "name": FieldType(TEXT),
    "sha": FieldType(TEXT),
    "author": FieldType(TEXT),
    "author_email": FieldType(TEXT),
    "last_commit": FieldType(TIMESTAMP),
    "merged": FieldType(BOOL),
    "merged_by_content": FieldType(BOOL),
    "is_base": FieldType(BOOL),
    "checked_out": FieldType(BOOL),
    "protected": FieldType(BOOL),
    "upstream": FieldType(TEXT, optional=True),
}
"""`author` and `last_commit` are those of the branch's last commit (its committer date). `protected`: `delete` would
refuse it. `upstream` is the configured remote branch, `origin/topic`."""


class GitConfig(BaseModel):
    """What `[sources.NAME]` may say when `connector = "git"`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repository: RootedPath
    """A bare repository, or the top folder of a work tree."""
    base: Annotated[str, StringConstraints(min_length=1)]
    """The branch that others are merged into."""
    protected: list[str] = []
    """Branches that are never deleted, as patterns: `release/*`."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """The longest that one call of git may take, in seconds."""


class GitConnector:
    """Branches of a git repository."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "git"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return GitConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        _settings(config)
        key = {"name": Parameter(BRANCH_FIELDS["name"], key="name")}
        delete = Operation(
            "delete", key, Effect.DELETE, Idempotency.PRECONDITION, reversible=True, closure=Closure.NONE
        )
        restore = Operation(
            "restore",
            {**key, "sha": Parameter(BRANCH_FIELDS["sha"])},
            Effect.CREATE,
            Idempotency.NATURAL,
            reversible=True,
            undoes=frozenset({"delete"}),
        )
        branches = Resource(
            source=source,
            name="branches",
            fields=BRANCH_FIELDS,
            key=("name",),
            consistency=Consistency.INTERVAL,
            visibility=Visibility.VOUCHED,
            version="sha",
            lookup_fields=frozenset({"name", "sha", "author", "author_email", "upstream"}),
            operations={"delete": delete, "restore": restore},
            counted=True,
        )
        return {"branches": branches}

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`."""
        from fullcount.runtime.connectors.git.reader import GitReader

        return await GitReader.open(source, _settings(config))

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`."""
        from fullcount.runtime.connectors.git.actor import GitActor

        return await GitActor.open(source, _settings(config))


def _settings(config: BaseModel) -> GitConfig:
    if not isinstance(config, GitConfig):
        msg = "the git connector was handed the configuration of another one"
        raise TypeError(msg)
    return config
