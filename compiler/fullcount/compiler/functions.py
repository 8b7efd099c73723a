"""The functions of the language: small, total, and with one meaning in both lowerings.

Each is given here by name, parameters and result; `closure.py` and `sql.py` hold the two implementations and a
property test keeps them equal. An unknown or absent argument makes the result unknown.

- `lower`, `upper` map each code point to exactly one other (no context, no locale), as DuckDB does: `ß` becomes `ẞ`.
- `trim` removes ASCII white space (space, tab, line feed, carriage return, form feed, vertical tab) at both ends.
- `starts_with`, `ends_with`, `contains` compare code points, case-sensitively.
- `matches(text, pattern)` is a full match by RE2 (linear time); the pattern is a literal, checked at compile time.
- `glob(text, pattern)` is a full match where `*` is any run of characters, `?` any one, and nothing else is special;
  the pattern is a literal.
- `length` counts code points.
"""

from __future__ import annotations

from dataclasses import dataclass

from fullcount.compiler.types import BOOL, INT, TEXT, Type


@dataclass(frozen=True, slots=True)
class Function:
    """A signature. `literal` holds the positions whose argument must be a literal."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    literal: frozenset[int] = frozenset()


FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("lower", (TEXT,), TEXT),
        Function("upper", (TEXT,), TEXT),
        Function("trim", (TEXT,), TEXT),
        Function("starts_with", (TEXT, TEXT), BOOL),
        Function("ends_with", (TEXT, TEXT), BOOL),
        Function("contains", (TEXT, TEXT), BOOL),
        Function("matches", (TEXT, TEXT), BOOL, literal=frozenset({1})),
        Function("glob", (TEXT, TEXT), BOOL, literal=frozenset({1})),
        Function("length", (TEXT,), INT),
    )
}

TRIM_CHARACTERS = " \t\n\r\f\v"
