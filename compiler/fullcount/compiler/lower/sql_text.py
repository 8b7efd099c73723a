"""SQL text for DuckDB: identifiers, literals and columns. The one place where text enters a statement.

Whatever a name or value holds (quotes, line feeds, NUL, any code point), it stays one identifier or one literal. What
cannot be written down is refused with ValueError, never changed. Nothing here depends on a setting of the session.
"""

from __future__ import annotations

from decimal import Decimal

from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import DECIMAL_PRECISION, DECIMAL_SCALE, INT_MAX, INT_MIN, STATE_SUFFIX, Value

_SCALAR_TYPES = {
    Kind.TEXT: "VARCHAR",
    Kind.INT: "BIGINT",
    Kind.DECIMAL: f"DECIMAL({DECIMAL_PRECISION},{DECIMAL_SCALE})",
    Kind.BOOL: "BOOLEAN",
    Kind.TIMESTAMP: "BIGINT",
    Kind.DATE: "BIGINT",
    Kind.DURATION: "BIGINT",
    Kind.SIZE: "BIGINT",
}


def sql_type(of_type: Type) -> str:
    """Return the DuckDB type of a canonical value."""
    match of_type:
        case Scalar(kind=kind):
            if kind not in _SCALAR_TYPES:
                raise ValueError(f"a value of type {of_type} has no place in a rule")
            return _SCALAR_TYPES[kind]
        case ListOf(item=item):
            return f"{sql_type(item)}[]"
        case MapOf(value=value):
            return f"MAP(VARCHAR, {sql_type(value)})"
        case RecordOf(parts=parts):
            return f"STRUCT({', '.join(f'{identifier(part.name)} {sql_type(part.type.type)}' for part in parts)})"


def null(of_type: Type) -> str:
    """Return a typed NULL."""
    return f"CAST(NULL AS {sql_type(of_type)})"


def identifier(name: str) -> str:
    """Quote a name."""
    _check(name)
    if "\0" in name:
        raise ValueError("a name cannot hold a NUL character")
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Quote a text. NUL has no notation of its own within quotes, so it is put between the parts."""
    _check(value)
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


def literal(value: Value, of_type: Type) -> str:
    """Write a canonical value of a type."""
    match of_type, value:
        case Scalar(kind=Kind.TEXT), str():
            return text(value)
        case Scalar(kind=Kind.BOOL), bool():
            return "TRUE" if value else "FALSE"
        case Scalar(kind=Kind.DECIMAL), Decimal() if value.is_finite():
            return f"CAST('{value:f}' AS {sql_type(of_type)})"
        case Scalar(kind=kind), int() if not isinstance(value, bool) and kind not in _NOT_WHOLE:
            if not INT_MIN <= value <= INT_MAX:
                raise ValueError(f"`{value}` does not fit in 64 bits")
            return f"CAST('{value}' AS {sql_type(of_type)})"
        case ListOf(item=item), tuple():
            return f"CAST([{', '.join(literal(v, item) for v in value)}] AS {sql_type(of_type)})"
        case MapOf(value=held), dict():
            entries = ", ".join(f"{text(k)}: {literal(v, held)}" for k, v in value.items())
            return f"CAST(MAP {{{entries}}} AS {sql_type(of_type)})"
        case _:
            raise ValueError(f"`{value!r}` is not a value of type {of_type}")


_NOT_WHOLE = frozenset({Kind.TEXT, Kind.BOOL, Kind.DECIMAL, Kind.PERCENT})


def bound(value: str, variable: str, expression: str) -> str:
    """Return an expression over a variable that stands for a value; the value is written, and computed, once."""
    return f"list_transform([{value}], lambda {variable}: {expression})[1]"


def column(alias: str, name: str, of_type: Type) -> str:
    """Return the canonical value of a snapshot's column; NULL unless the field is present."""
    return _canonical(f"{alias}.{identifier(name)}", of_type, 0)


def state(alias: str, name: str) -> str:
    """Return the state code of a snapshot's field."""
    return f"{alias}.{identifier(name + STATE_SUFFIX)}"


def canonical(sql: str, of_type: Type) -> str:
    """Turn a value as it is stored in a snapshot into the canonical one."""
    return _canonical(sql, of_type, 0)


def _canonical(sql: str, of_type: Type, depth: int) -> str:
    match of_type:
        case Scalar(kind=Kind.TIMESTAMP):
            return f"epoch_us({sql})"
        case Scalar(kind=Kind.DATE):
            return f"CAST({sql} - DATE '1970-01-01' AS BIGINT)"
        case ListOf(item=item) if _stored_otherwise(item):
            return f"list_transform({sql}, lambda e{depth}: {_canonical(f'e{depth}', item, depth + 1)})"
        case RecordOf(parts=parts) if _stored_otherwise(of_type):
            made = ", ".join(
                f"{identifier(part.name)} := {_canonical(extracted(sql, part.name), part.type.type, depth)}"
                for part in parts
            )
            return f"CASE WHEN {sql} IS NOT NULL THEN struct_pack({made}) END"
        case _:
            return sql


def extracted(sql: str, part: str) -> str:
    """Return a part of a record; NULL where the part, or the record, has no value."""
    return f"struct_extract({sql}, {text(part)})"


def _stored_otherwise(of_type: Type) -> bool:
    match of_type:
        case Scalar(kind=kind):
            return kind in (Kind.TIMESTAMP, Kind.DATE)
        case ListOf(item=item):
            return _stored_otherwise(item)
        case MapOf():
            return False
        case RecordOf(parts=parts):
            return any(_stored_otherwise(part.type.type) for part in parts)


def _check(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"`{value!r}` holds half of a surrogate pair, which is not text") from error
