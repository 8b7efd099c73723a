"""A source that is split into databases of one shape: one for each region, each account, by a template of its address.

    [sources.fleet]
    connector  = "sql"
    partitions = ["region"]
    url        = "sqlite:///data/{region}.db"

Guarantees: every value of a partition leads to a database of its own, and only a plain word can be a value, so that
none of them can lead to another path, host or option. No I/O and no database library here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.in_parts import check_fields, check_names, not_covered
from fullcount.runtime.workspace.errors import SettingError

if TYPE_CHECKING:
    from fullcount.runtime.connectors.sql.config import SqlConfig, SqlResource
    from fullcount.runtime.workspace.secrets import DatabaseUrl

_HOLE = re.compile(r"\{([^{}]*)\}")
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_partitions(config: SqlConfig) -> None:
    """Raise `SettingError` for partitions that the addresses and the resources do not fit."""
    names = config.partitions
    if len(names) == 0:
        return
    check_names(names)
    for setting, address in (("url", config.url), ("act_url", config.act_url)):
        if address is not None:
            _check_address(setting, address, names)
    for resource, table in config.resources.items():
        _check_resource(resource, table, names)


def _check_address(setting: str, address: DatabaseUrl, names: list[str]) -> None:
    if address.url is None:
        msg = f"`{setting}` stands elsewhere as a whole, and the parts need one address each"
        help_text = 'url = { url = "postgresql://user@host/fleet_{region}", password = { env = "NAME" } }'
        raise SettingError(msg, help=help_text)
    holes = _HOLE.findall(address.url)
    for name in names:
        if name not in holes:
            msg = f"`{setting}` has no `{{{name}}}`, so every `{name}` would be the same database"
            raise SettingError(msg, help=f"as `sqlite:///data/{{{name}}}.db`")
    for hole in holes:
        if hole not in names:
            msg = f"`{setting}` has `{{{hole}}}`, which `partitions` does not name"
            raise SettingError(msg)


def _check_resource(resource: str, table: SqlResource, names: list[str]) -> None:
    check_fields(resource, table.fields, names)
    for name in names:
        where = f"`resources.{resource}.fields.{name}`"
        if name in {*table.writable, table.incarnation, table.version}:
            msg = f"{where} names the part that a row is in, which is not a column of its table"
            raise SettingError(msg, help="take it out of `writable`, `incarnation` and `version`")
    if set(table.key) <= set(names):
        msg = f"the key of `resources.{resource}` names parts only: in its own table no row could be told from another"
        raise SettingError(msg)


def of_part(config: SqlConfig, part: Mapping[str, str]) -> SqlConfig:
    """Return the configuration of one part. Raises `SourceError` for a part that is not named in full or not a word."""
    if set(part) != set(config.partitions):
        named = ", ".join(f"`{name}`" for name in config.partitions)
        raise SourceError(not_covered(f"a part of this source is named by {named}"))
    for name, value in part.items():
        if _VALUE.fullmatch(value) is None:
            detail = f"a `{name}` that is not a plain word of letters, digits, `.`, `_` and `-` names no part"
            raise SourceError(not_covered(detail))

    def addressed(address: DatabaseUrl) -> DatabaseUrl:
        return address.model_copy(update={"url": _HOLE.sub(lambda hole: part[hole[1]], address.url or "")})

    return config.model_copy(
        update={
            "partitions": [],
            "url": addressed(config.url),
            "act_url": None if config.act_url is None else addressed(config.act_url),
            "resources": {name: _own_columns(table, part) for name, table in config.resources.items()},
        }
    )


def _own_columns(table: SqlResource, part: Mapping[str, str]) -> SqlResource:
    fields = {name: of for name, of in table.fields.items() if name not in part}
    return table.model_copy(update={"fields": fields, "key": [name for name in table.key if name not in part]})
