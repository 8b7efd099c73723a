"""PostgreSQL's catalogue: what a table is, who may see it, and whether its key can carry a scan."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from fullcount.compiler.catalog import Resource
from fullcount.compiler.types import FieldType, Kind, ListOf, MapOf, RecordOf
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.described import Column, Described, missing_table, require_columns
from fullcount.runtime.connectors.sql.errors import unfit

_KINDS = {"r": "table", "p": "table", "v": "view", "m": "materialized view", "f": "foreign table"}

_RELATION = text("""
    SELECT c.oid, n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
           row_security_active(c.oid) AS hides_rows,
           pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') AS lockable,
           c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) AS has_heirs,
           EXISTS (SELECT FROM pg_catalog.pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class p ON p.oid = t.relid
                   WHERE p.relkind = 'f') AS partly_foreign
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = pg_catalog.to_regclass(:name)
""")

_COLUMNS = text("""
    SELECT a.attname AS name, a.attnotnull AS not_null,
           pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,
           pg_catalog.format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS type,
           (CASE WHEN t.typtype = 'd' THEN b.typtype ELSE t.typtype END) = 'e' AS is_enum,
           coalesce(NOT l.collisdeterministic, false) AS is_vague
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    WHERE a.attrelid = :oid AND a.attnum > 0 AND NOT a.attisdropped
""")

_UNIQUE = text("""
    SELECT ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])) AS columns
    FROM pg_catalog.pg_index i
    WHERE i.indrelid = :oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
""")


def describe_table(connection: Connection, resource: Resource, settings: SqlResource) -> Described:
    """See `described.describe`."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    parts = [settings.table] if settings.db_schema is None else [settings.db_schema, settings.table]
    named = ".".join(parts)
    relation = connection.execute(_RELATION, {"name": ".".join(map(quote, parts))}).one_or_none()
    if relation is None:
        raise missing_table(resource, named)
    kind = _KINDS.get(relation.kind)
    if kind is None:
        raise unfit("FC608", f"`{resource.source}.{resource.name}`: `{named}` is neither a table nor a view")
    if kind == "table" and relation.partly_foreign:
        kind = "table with foreign partitions"
    place = f"{relation.schema}.{relation.name}"
    found = {row.name: row for row in connection.execute(_COLUMNS, {"oid": relation.oid})}
    require_columns(resource, place, found)
    for name, declared in resource.fields.items():
        if not _fits(declared, found[name]):
            detail = f"`{resource.source}.{resource.name}.{name}` is declared as `{declared}`"
            raise unfit("FC608", f"{detail}, and the column of {place} is `{found[name].type}`")
    unique = [set(row.columns) for row in connection.execute(_UNIQUE, {"oid": relation.oid})]
    return Described(
        schema=relation.schema,
        name=relation.name,
        kind=kind,
        columns={name: _column(found[name]) for name in resource.fields},
        # a table that others inherit from lists their rows too, and its index knows nothing of them
        key_is_unique=not relation.has_heirs and any(columns <= set(resource.key) for columns in unique),
        hides_rows=relation.hides_rows,
        lockable=relation.lockable,
    )


def _column(row: Any) -> Column:
    return Column(
        name=row.name,
        type="enum" if row.is_enum else row.type,
        not_null=row.not_null,
        readable=row.readable,
        # under a nondeterministic collation different texts are equal; byte order keeps them apart
        collation="C" if row.is_vague else None,
    )


_JSON = frozenset({"json", "jsonb"})
_WHOLE = frozenset({"smallint", "integer", "bigint", "numeric"})
_TEXT = frozenset({"text", "character varying", "character", "citext", "uuid", "inet", "cidr", "name", "macaddr"})
_TYPES: dict[Kind, frozenset[str]] = {
    Kind.TEXT: _TEXT,
    Kind.INT: _WHOLE,
    Kind.SIZE: _WHOLE,
    Kind.DECIMAL: _WHOLE | {"real", "double precision"},
    Kind.BOOL: frozenset({"boolean"}),
    Kind.TIMESTAMP: frozenset({"timestamp with time zone", "timestamp without time zone"}),
    Kind.DATE: frozenset({"date"}),
    Kind.DURATION: frozenset({"interval"}),
}


def _fits(declared: FieldType, column: Any) -> bool:
    if isinstance(declared.type, MapOf | RecordOf):
        return column.type in _JSON
    if isinstance(declared.type, ListOf):
        return column.type in _JSON or column.type.endswith("[]")
    return column.type in _TYPES[declared.type.kind] or (declared.type.kind is Kind.TEXT and column.is_enum)
