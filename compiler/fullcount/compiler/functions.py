"""The functions of the language: small, total, and with one meaning in both lowerings.

Each is given here by name, parameters and result; `closure.py` and `sql.py` hold the two implementations and a
property test keeps them equal. An unknown or absent argument makes the result unknown.

- `lower`, `upper` map each code point to exactly one other (no context, no locale), as DuckDB does: `ß` becomes `ẞ`.
- `trim` removes ASCII white space (space, tab, line feed, carriage return, form feed, vertical tab) at both ends.
- `trim_dot` removes the dots at the end, `nfc` gives Unicode normal form C. See `lower/spelling.py`.
- `starts_with`, `ends_with`, `contains` compare code points, case-sensitively. An empty second text, which every text
  would begin with, makes the result unknown; written out, it is refused.
- `matches(text, pattern)` is a full match by RE2 (linear time); the pattern is a literal, checked at compile time.
- `glob(text, pattern)` is a full match where `*` is any run of characters, `?` any one, and nothing else is special;
  the pattern is a literal.
- `length` counts the code points of a text, or the items of a list.
- `cidr_contains(network, address)`: the address, or the whole network, lies in the network, which is a literal. Unknown
  for a text that is neither. IPv4 and IPv6 never contain each other. See `lower/networks.py`.
- `semver_compare(a, b)`: -1, 0 or 1 by the order of Semantic Versioning 2.0.0; unknown unless both are versions. See
  `lower/versions.py`.
- `json(text, path)`: the text, whole number or boolean that a JSON text holds at a path, which is a literal, as text;
  absent where it holds none; unknown for a text that is not JSON. See `lower/json_text.py`.
- `sample(text, p%)`: true for about p percent of all texts, always for the same. See `lower/sampling.py`.
- `keys(map)`: the keys of a map, in order. `text(int)`: a whole number as it is written, `42`, `-7`.
- `utc_date(timestamp)`: the day of an instant in UTC.
- `intersects(a, b)`: some item is in both lists. `subset(a, b)`: every item of `a` is in `b`; so it is if `a` has none.
"""

from __future__ import annotations

from collections.abc import Callable

from fullcount.compiler.types import BOOL, DATE, INT, PERCENT, TEXT, TIMESTAMP, ListOf, MapOf, Scalar, Type
from fullcount.dsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an argument may be: `text` says it to people, `takes` decides."""

    text: str
    takes: Callable[[Type], bool]

    def __str__(self) -> str:
        return self.text


def _only(of: Type) -> Wanted:
    return Wanted(str(of), lambda given: given == of)


_TEXT = _only(TEXT)
_PERCENT = Wanted("percentage", lambda given: given == PERCENT)
_LIST = Wanted("list<…>", lambda given: isinstance(given, ListOf) and isinstance(given.item, Scalar))
_MAP = Wanted("map<…>", lambda given: isinstance(given, MapOf))
_TEXT_OR_LIST = Wanted("text or list<…>", lambda given: given == TEXT or isinstance(given, ListOf))


@dataclass(frozen=True, slots=True)
class Function:
    """A signature. `literal` holds the positions whose argument must be a literal.

    `alike`: the arguments are of one type. `optional`: the result may be absent.
    """

    name: str
    parameters: tuple[Wanted, ...]
    result: Type
    literal: frozenset[int] = frozenset()
    alike: bool = False
    optional: bool = False


FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("lower", (_TEXT,), TEXT),
        Function("upper", (_TEXT,), TEXT),
        Function("trim", (_TEXT,), TEXT),
        Function("trim_dot", (_TEXT,), TEXT),
        Function("nfc", (_TEXT,), TEXT),
        Function("starts_with", (_TEXT, _TEXT), BOOL),
        Function("ends_with", (_TEXT, _TEXT), BOOL),
        Function("contains", (_TEXT, _TEXT), BOOL),
        Function("matches", (_TEXT, _TEXT), BOOL, literal=frozenset({1})),
        Function("glob", (_TEXT, _TEXT), BOOL, literal=frozenset({1})),
        Function("length", (_TEXT_OR_LIST,), INT),
        Function("cidr_contains", (_TEXT, _TEXT), BOOL, literal=frozenset({0})),
        Function("semver_compare", (_TEXT, _TEXT), INT),
        Function("json", (_TEXT, _TEXT), TEXT, literal=frozenset({1}), optional=True),
        Function("sample", (_TEXT, _PERCENT), BOOL, literal=frozenset({1})),
        Function("intersects", (_LIST, _LIST), BOOL, alike=True),
        Function("subset", (_LIST, _LIST), BOOL, alike=True),
        Function("keys", (_MAP,), ListOf(TEXT)),
        Function("text", (_only(INT),), TEXT),
        Function("utc_date", (_only(TIMESTAMP),), DATE),
    )
}

SEVERAL = "[…]"
"""The call that puts values of one type together, as `per [a.region, a.team]` is written; it has no other name."""
MICROSECONDS_OF_A_DAY = 86_400_000_000
TRIM_CHARACTERS = " \t\n\r\f\v"


def call_text(function: str, arguments: str) -> str:
    """Return a call as it is written."""
    return f"[{arguments}]" if function == SEVERAL else f"{function}({arguments})"
