"""One object of a stored snapshot: found by its key as a person writes it, or told why it is not there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.types import Kind, Scalar, Type
from fullcount.compiler.values import Row, Value
from fullcount.runtime import format as fmt
from fullcount.runtime.act.snapshot_rows import SnapshotRows
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.cells import NotOfTypeError, from_json, to_json
from fullcount.runtime.text import plain
from fullcount.runtime.typed_keys import meant, readings, shortened
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.held import Held, rows_of

_CLOSE = 3
_SIMILAR = 0.75


def parse_keys(text: str, inventory: program.Inventory) -> tuple[tuple[Value, ...], ...]:
    """Return the keys that a text may stand for (see `typed_keys`), plainest first. Raises `NoAnswerError` FC681."""
    types = [inventory.fields[name].type for name in inventory.key]
    named = ", ".join(f"`{name}: {of}`" for name, of in zip(inventory.key, types, strict=True))
    found: dict[tuple[Value, ...], None] = {}
    wrong: NotOfTypeError | None = None
    for parts in readings(text, len(types)):
        try:
            found[tuple(_part(part, of) for part, of in zip(parts, types, strict=True))] = None
        except NotOfTypeError as error:
            wrong = wrong or error
    if len(found) > 0:
        return tuple(found)
    if wrong is None:
        raise NoAnswerError(
            "FC681",
            f"`{plain(text, 60)}` is not a key of `{inventory.name}`, which has {len(types)} parts: {named}",
            help="""write it as a JSON list in one argument: '["eu-west-1", "vol-17"]'""",
        )
    raise NoAnswerError(
        "FC681", f"`{plain(text, 60)}` is not a key of `{inventory.name}`: {wrong}", help=f"its key is {named}"
    ) from wrong


def written_key(text: str, inventory: program.Inventory, there: Collection[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return a key as plans write it, of `there` if it can be one of these. Raises `NoAnswerError` FC681."""
    keys = [as_written(key, inventory) for key in parse_keys(text, inventory)]
    known = set(there)
    found = meant(text, [key for key in keys if key in known] or shortened(text, there))
    return keys[0] if found is None else found


def as_written(key: tuple[Value, ...], inventory: program.Inventory) -> tuple[Any, ...]:
    """Return a key as plans write it."""
    parts = zip(key, inventory.key, strict=True)
    return tuple(to_json(part, inventory.fields[name].type) for part, name in parts)


def _part(part: Any, of: Type) -> Value:
    match of, part:
        case Scalar(kind=Kind.INT | Kind.SIZE), str():
            try:
                return int(part)
            except ValueError as error:
                raise NotOfTypeError(of, part) from error
        case Scalar(kind=Kind.BOOL), "true" | "false" | "True" | "False":
            return bool(part in ("true", "True"))
        case _:
            return from_json(part, of)


def find_object(
    held: Held, inventory: program.Inventory, text: str, listed: Collection[tuple[Any, ...]]
) -> tuple[tuple[Value, ...], Row]:
    """Return the key that a text stands for, and every declared field of its object.

    `listed`: the keys on screens, as plans write them, of which a text may be a shortened one. Raises `NoAnswerError`
    FC680 if it is not there, FC681 if the text is no key or could be several objects.
    """
    keys = parse_keys(text, inventory)
    rows = rows_of(held, inventory, inventory.fields)
    found = {as_written(key, inventory): (key, row) for key in keys if (row := _row(rows, inventory, key)) is not None}
    chosen = meant(text, found)
    if chosen is not None:
        return found[chosen]
    short = meant(text, shortened(text, listed))
    if short is not None:
        types = [inventory.fields[name].type for name in inventory.key]
        key = tuple(from_json(part, of) for part, of in zip(short, types, strict=True))
        row = _row(rows, inventory, key)
        if row is not None:
            return key, row
    raise _not_there(held, inventory, keys[0])


def _row(rows: SnapshotRows, inventory: program.Inventory, key: tuple[Value, ...]) -> Row | None:
    equal = tuple(zip(inventory.key, key, strict=True))
    for row in rows.related(equal).rows:
        if all(row[name].value == value for name, value in equal):
            return row
    return None


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
