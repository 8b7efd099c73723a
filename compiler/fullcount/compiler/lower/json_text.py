"""`json`: one text, whole number or boolean out of a JSON text, by a path that is written out.

A path is `$`, then any number of `.name`, `["name"]` and `[0]`. The value is absent where the text is JSON and the path
leads to nothing, or to null. It is unknown where the text is not JSON, where the path leads to an object, a list or a
number that is no whole number of 64 bits (there is no one text for it), and where a name of the path stands twice in an
object. JSON is what DuckDB reads as JSON, in both lowerings: the closure asks DuckDB the same question for one text.
"""

# ruff: noqa: S608 - names and values enter SQL through `sql_text` alone

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from fullcount.compiler.lower import sql_text
from fullcount.compiler.values import ABSENT, Cell, FieldState, present

_STEP = r'\.[A-Za-z_][A-Za-z0-9_-]*|\["[^"\\\x00-\x1f]+"\]|\[(?:0|[1-9][0-9]{0,8})\]'
_PATH = re.compile(rf"\$(?:{_STEP})+")
_STEPS = re.compile(_STEP)
_KEPT = 256
"""How many answers are kept for each path: one object is asked for its text several times."""
_UNKNOWN = Cell(FieldState.INDETERMINATE, None)


def is_path(text: str) -> bool:
    """Whether a text is a path."""
    return _PATH.fullmatch(text) is not None


def found_sql(path: str, value: str, variable: Callable[[], str]) -> str:
    """Return a DuckDB expression for a struct of `value` and `absent`; NULL if the answer is unknown."""
    v, kind = variable(), variable()
    steps = [_step(step) for step in _STEPS.findall(path)]
    prefixes = ["$" + "".join(written for written, _ in steps[:n]) for n in range(len(steps) + 1)]
    twice = " OR ".join(
        f"COALESCE(len(list_filter(json_keys({v}, {sql_text.text(prefix)}),"
        f" lambda {k}: {k} = {sql_text.text(name)})) > 1, FALSE)"
        for (_, name), prefix, k in zip(steps, prefixes, (variable() for _ in steps), strict=False)
        if name is not None
    )
    whole = sql_text.text(prefixes[-1])
    answer = (
        f"CASE WHEN {kind} IS NULL OR {kind} = 'NULL' THEN {{'value': CAST(NULL AS VARCHAR), 'absent': TRUE}}"
        f" WHEN {kind} IN ('VARCHAR', 'BOOLEAN', 'BIGINT', 'UBIGINT')"
        f" THEN {{'value': json_extract_string({v}, {whole}), 'absent': FALSE}} END"
    )
    certain = f"json_valid({v})" + (f" AND NOT ({twice})" if twice else "")
    return sql_text.bound(
        value, v, f"CASE WHEN {certain} THEN {sql_text.bound(f'json_type({v}, {whole})', kind, answer)} END"
    )


def found(path: str) -> Callable[[str], Cell]:
    """Return the question for one text. It is put to DuckDB, so that there is one reader of JSON."""
    names = iter(range(1_000_000))
    statement = f"SELECT {found_sql(path, 't.v', lambda: f'v{next(names)}')} FROM (SELECT CAST(? AS VARCHAR) AS v) AS t"

    @lru_cache(maxsize=_KEPT)
    def ask(text: str) -> Cell:
        row = _database().execute(statement, [text]).fetchone()
        answer = None if row is None else row[0]
        if answer is None:
            return _UNKNOWN
        return ABSENT if answer["absent"] else present(answer["value"])

    return ask


def _step(written: str) -> tuple[str, str | None]:
    """Return a step in DuckDB's notation, and the name that it asks an object for."""
    if written.startswith('["'):
        name = written[2:-2]
    elif written.startswith("."):
        name = written[1:]
    else:
        return written, None
    return f'."{name}"', name


_HELD = threading.local()


def _database() -> Any:
    """Return this thread's connection; one must not be used by two at a time."""
    held = getattr(_HELD, "connection", None)
    if held is None:
        held = _HELD.connection = _memory().cursor()
    return held


@cache
def _memory() -> Any:
    import duckdb

    settings: dict[str, Any] = {
        "threads": 1,
        "memory_limit": "256MB",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(":memory:", config=settings)
