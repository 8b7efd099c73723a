"""What `[sources.NAME]` may say when `connector = "sql"`. Imports nothing heavy: `check` reads this."""

from __future__ import annotations

from typing import Annotated, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fullcount.compiler.types import FieldType, Kind, Scalar
from fullcount.runtime.connectors.field_types import FieldTypeSetting, can_identify
from fullcount.runtime.connectors.sql.partitions import check_partitions
from fullcount.runtime.workspace.errors import SettingError, did_you_mean
from fullcount.runtime.workspace.secrets import DatabaseUrl


def _a_timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        msg = f"there is no time zone `{name}`"
        raise SettingError(msg, help='as `"UTC"` or `"Europe/Berlin"`') from None
    return name


_Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Identifier = Annotated[str, StringConstraints(min_length=1)]


class SqlResource(BaseModel):
    """One table, and what of it may be read and written. Fields are columns of the same name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: _Identifier
    db_schema: _Identifier | None = Field(default=None, alias="schema")
    key: Annotated[list[_Word], Field(min_length=1)]
    incarnation: _Word | None = None
    version: _Word | None = None
    version_managed: bool = False
    """Whether each update by Fullcount adds 1 to the version; else a trigger or the application does."""
    fields: dict[_Word, FieldTypeSetting]
    writable: list[_Word] = []
    deletable: bool = False
    known_triggers: list[_Identifier] = []
    """Triggers and rules of the table that may run at a write: somebody has looked at what else they change."""
    view: bool = False
    """Whether `table` is something that may hide rows without a word: a view, a foreign or virtual table."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        named = [("key", name) for name in self.key] + [("writable", name) for name in self.writable]
        named += [(role, name) for role in ("incarnation", "version") if (name := getattr(self, role)) is not None]
        for role, name in named:
            if name not in self.fields:
                msg = f"`{role}` names `{name}`, which `fields` does not have"
                raise SettingError(msg, help=did_you_mean(name, self.fields))
        for role, name in named:
            field = self.fields[name]
            if role in {"key", "incarnation"} and (field.optional or not can_identify(field)):
                msg = f"`{name}` is `{field}`, and a {role} must be one value that is always there"
                raise SettingError(msg)
        if len(set(self.key)) != len(self.key):
            msg = "`key` names a field twice"
            raise SettingError(msg)
        fixed = {*self.key, self.incarnation, self.version} & set(self.writable)
        if fixed:
            msg = f"`{min(str(name) for name in fixed)}` can't be writable: it says which object this is"
            raise SettingError(msg)
        if self.version_managed and (self.version is None or self.fields[self.version] != _INT):
            msg = "`version_managed` needs a `version` field of type `int`"
            raise SettingError(msg)
        if self.view and (self.writable or self.deletable):
            msg = "a view can be read, not acted on: which rows a write reaches is not known"
            raise SettingError(msg, help="declare the table as a resource of its own")
        return self


_INT = FieldType(Scalar(Kind.INT), optional=False)


class SqlConfig(BaseModel):
    """One database, with a credential for reading and, where there is one, another for acting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: DatabaseUrl
    act_url: DatabaseUrl | None = None
    """Where writes go, with which credential; by default the same as `url`."""
    timezone: Annotated[str, AfterValidator(_a_timezone)] | None = None
    """What times without an offset mean. Without it they are not instants, and reading one as such fails."""
    max_rows: Annotated[int, Field(ge=0)] | None = None
    """A cap of our own on every read; what it cuts off is said (`CLIENT_LIMIT_REACHED`)."""
    statement_timeout: Annotated[float, Field(gt=0)] | None = None
    """The longest that one statement may take, in seconds."""
    busy_timeout: Annotated[float, Field(ge=0)] = 5.0
    """How long to wait for a lock of another writer, in seconds."""
    connect_timeout: Annotated[float, Field(gt=0)] = 10.0
    """How long to wait for a server to answer, in seconds."""
    partitions: list[_Word] = []
    """What the source is split by: one database for each combination of values, named by `{region}` in the address."""
    resources: Annotated[dict[_Word, SqlResource], Field(min_length=1)]

    @model_validator(mode="after")
    def _split_clearly(self) -> Self:
        check_partitions(self)
        return self


def can_look_up(field: FieldType) -> bool:
    """Whether a field can be asked for by value: a plain value with one spelling in the database."""
    return isinstance(field.type, Scalar) and field.type.kind in {Kind.TEXT, Kind.INT, Kind.BOOL}
