"""One object of a stored snapshot: found by its key as a person writes it, or told why it is not there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.types import Kind, Scalar, Type
from fullcount.compiler.values import Row, Value
from fullcount.runtime import format as fmt
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.cells import NotOfTypeError, from_json, to_json
from fullcount.runtime.text import plain
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.held import Held, rows_of

_CLOSE = 3
_SIMILAR = 0.75


def parse_key(text: str, inventory: program.Inventory) -> tuple[Value, ...]:
    """Return a key from its text: as it is for one field, a JSON list for several. Raises `NoAnswerError` FC681."""
    types = [inventory.fields[name].type for name in inventory.key]
    named = ", ".join(f"`{name}: {of}`" for name, of in zip(inventory.key, types, strict=True))
    if len(types) == 1:
        parts: Sequence[Any] = [text]
    else:
        try:
            parts = json.loads(text)
        except ValueError:
            parts = ()
        if not isinstance(parts, list) or len(parts) != len(types):
            raise NoAnswerError(
                "FC681",
                f"`{plain(text, 60)}` is not a key of `{inventory.name}`, which has {len(types)} parts: {named}",
                help="""write it as a JSON list in one argument: '["eu-west-1", "vol-17"]'""",
            )
    try:
        return tuple(_part(part, of) for part, of in zip(parts, types, strict=True))
    except NotOfTypeError as error:
        raise NoAnswerError(
            "FC681", f"`{plain(text, 60)}` is not a key of `{inventory.name}`: {error}", help=f"its key is {named}"
        ) from error


def written_key(text: str, inventory: program.Inventory) -> tuple[Any, ...]:
    """Return a key as plans write it, from its text. Raises `NoAnswerError` FC681."""
    parts = zip(parse_key(text, inventory), inventory.key, strict=True)
    return tuple(to_json(part, inventory.fields[name].type) for part, name in parts)


def _part(part: Any, of: Type) -> Value:
    match of, part:
        case Scalar(kind=Kind.INT | Kind.SIZE), str():
            try:
                return int(part)
            except ValueError as error:
                raise NotOfTypeError(of, part) from error
        case Scalar(kind=Kind.BOOL), "true" | "false":
            return bool(part == "true")
        case _:
            return from_json(part, of)


def find_object(held: Held, inventory: program.Inventory, key: tuple[Value, ...]) -> Row:
    """Return every declared field of the object with this key. Raises `NoAnswerError` FC680 if it is not there."""
    rows = rows_of(held, inventory, inventory.fields)
    equal = tuple(zip(inventory.key, key, strict=True))
    for row in rows.related(equal).rows:
        if all(row[name].value == value for name, value in equal):
            return row
    raise _not_there(held, inventory, key)


def _not_there(held: Held, inventory: program.Inventory, key: tuple[Value, ...]) -> NoAnswerError:
    envelope = held.envelope(inventory.name)
    asked = "" if envelope.scope.filter is None else f" within its scope `{plain(envelope.scope.filter, 80)}`"
    rows = fmt.counted(envelope.work.rows, "row")
    end = "" if envelope.complete else "; these are not all there were, so it may exist all the same"
    close = _close_keys(held, inventory, key)
    return NoAnswerError(
        "FC680",
        f"`{fmt.key(key, 60)}` is not among the {rows} that {held.origin} has of `{inventory.name}`{asked}{end}",
        help=f"close to it: {', '.join(f'`{name}`' for name in close)}"
        if len(close) > 0
        else "it did not exist when they were read, or was outside of the scope",
    )


def _close_keys(held: Held, inventory: program.Inventory, key: tuple[Value, ...]) -> list[str]:
    """Return the keys that look most like this one."""
    written = ", ".join(f"CAST({column} AS VARCHAR)" for column in tables.key_columns("t", inventory))
    source = tables.parquet(held.path(inventory.name), complete=False).sql
    statement = (
        f"SELECT k FROM (SELECT concat_ws(' / ', {written}) AS k FROM {source} AS t)"  # noqa: S608 - quoted by `tables`
        f" WHERE jaro_winkler_similarity(k, $1) >= {_SIMILAR}"
        f" ORDER BY jaro_winkler_similarity(k, $1) DESC, k LIMIT {_CLOSE}"
    )
    with tables.session(tables.spill_of_reader(held.snapshots.root)) as connection:
        found = connection.execute(statement, [" / ".join(str(part) for part in key)]).fetchall()
    return [plain(str(name), 60) for (name,) in found]
