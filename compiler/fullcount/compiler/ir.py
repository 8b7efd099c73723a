"""The typed expression: one meaning, lowered twice (to DuckDB SQL over snapshots, to a closure over one object).

**Three values.** Every test is true, false or unknown (Kleene's strong logic). A field whose state is neither
`present` nor `absent` makes what rests on it unknown. A comparison with an absent value is unknown too.

- `Not`, `And`, `Or`: Kleene.
- `Compare`, `In`, `Call`, `Arith`, `MapGet`: unknown as soon as an operand has no known value, except that `In` is true
  when an equal item is known. (`In` a list field whose state is `truncated` is unknown: its value is not kept.)
- `IsState(x, present)`: true if x has a value, false if the source positively said that it has none, else unknown.
  `absent` is its negation. `known` is `present or absent`: **true or unknown, never false**, so that `not (x is
  known)` can't select what a fuller view would not.
- `AnyItem(l, x, p)`: true if p is true for an item of l; else false if l has a value and p is false for every item;
  else unknown. `all` is its dual. A list that is absent, or whose state is `truncated`, has no value: it is unknown.
- `Unknown`: has no known value, and is not absent either.
- `Else(x, y)`: x where x is present, y where x is absent, unknown otherwise.
- `MapGet(m, k)`: the value under k; absent if m is present and has no k, or m is absent; unknown if m is unknown.
  Of a record, k is the constant name of a part.
- Integer-like arithmetic that leaves signed 64 bits is unknown. Division: `int / int` is integer division towards
  zero; by zero is unknown.

**Other inventories.** A use is evaluated over the rows that were read and a flag that says whether these are all:

- `Some(X, x, p)`: true if p is true for a row; else false if X is complete and p is false for every row; else unknown.
- `Aggregate`: evaluated to an interval [lo, hi] that contains the value in every world the view is a faithful part of.
  `count`: lo = rows with p true, hi = lo + rows with p unknown, or unbounded if X is not complete. `min`, `max`, `sum`:
  from the rows with p true and a known value (certain) and those with p unknown or value unknown (possible); a side
  that a possible or unread row could move without limit is unbounded. Over a complete X with no certain and no
  possible row, `min` and `max` are absent, `sum` and `count` are 0.
  `avg`: exact, up to the steps of its type, if X is complete and every row is certain or surely gives no value; absent
  if no row gives one; else without bounds. With `needs n`, whatever the function: unknown, also whether it is absent,
  unless at least n rows are certain. Too little data is neither zero nor absent.
- `Compare` with intervals: true if it holds for every pair of values, false if for none, else unknown. A scalar is the
  interval [v, v]; an unknown one is unbounded on both sides. If an operand may be absent, the comparison is unknown.

Spans are for messages only: they take no part in equality, nor in the document or digest of a program.
"""

from __future__ import annotations

from fullcount.compiler.types import BOOL, TIMESTAMP, ListOf, Type
from fullcount.compiler.values import Value
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span

NOWHERE = Span("", 0, 0)
SELF = "self"
"""The row variable of an inventory's own `scope` and `expect`, where fields are written bare."""


@dataclass(frozen=True, slots=True)
class Const:
    """A scalar constant in canonical form."""

    value: Value
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ListFile:
    """Where a list was read from: the path as the rule writes it, and the hash of what stood there (`sha256:…`)."""

    path: str
    column: str | None
    sha256: str

    @property
    def text(self) -> str:
        """How it is spoken of, as the language writes it."""
        return f'file "{self.path}"' + ("" if self.column is None else f' column "{self.column}"')


@dataclass(frozen=True, slots=True)
class ListConst:
    """A list constant; `file` is set where it stood in a file when the rule was compiled."""

    items: tuple[Const, ...]
    type: ListOf
    span: Span = field(default=NOWHERE, compare=False)
    file: ListFile | None = None


@dataclass(frozen=True, slots=True)
class Param:
    """A workflow parameter, bound at plan time."""

    name: str
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Now:
    """The instant of the plan; the same for each object and again at the recheck."""

    type: Type = TIMESTAMP
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that the rule itself calls unknown. `said` is the clause, where it is a whole one."""

    type: Type
    said: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the row bound to the variable `row`, which is a row of `inventory`."""

    row: str
    inventory: str
    name: str
    type: Type
    optional: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MapGet:
    """The value under a key of a map, which may always be absent, or a part of a record, by its name."""

    target: Expr
    key: Expr
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Kleene negation."""

    operand: Expr
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """Kleene conjunction of two or more."""

    items: tuple[Expr, ...]
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Kleene disjunction of two or more."""

    items: tuple[Expr, ...]
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`operator` is one of `== != < <= > >=`. Both sides have the same type."""

    operator: str
    left: Expr
    right: Expr
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IsState:
    """`state` is `present`, `absent` or `known`. The operand is a Field, MapGet, Else, or a `min`/`max` Aggregate;
    in the body of a definition, what was handed over for a `T?` may be any value.
    """

    operand: Expr
    state: str
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Else:
    """The fallback stands in only where the operand is truly absent."""

    operand: Expr
    fallback: Expr
    type: Type
    optional: bool
    """Whether the fallback may itself be absent."""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class In:
    """Membership of a scalar in a list constant or list field."""

    item: Expr
    collection: Expr
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Item:
    """The item of a list that an enclosing `AnyItem` calls `name`. It always has a value."""

    name: str
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AnyItem:
    """An item of `collection` exists for which `where` holds. `all l as x where (p)` is `Not(AnyItem(l, x, Not(p)))`.

    `where` looks into no inventory. No row that it mentions has the name of an item.
    """

    collection: Expr
    item: str
    where: Expr
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Arith:
    """`operator` is one of `+ - * /`. The checker allows: int∘int, duration±duration, timestamp±duration,
    timestamp-timestamp, duration*int, int*duration, duration/int, size±size, size*int, int*size, size/int.
    """

    operator: str
    left: Expr
    right: Expr
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `functions.FUNCTIONS`."""

    function: str
    arguments: tuple[Expr, ...]
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Some:
    """A row of `inventory` exists for which `where` holds. `no X …` is `Not(Some(…))`.

    `where` already contains the scope of the inventory. It may refer to rows of enclosing variables. `head` is the
    place of the quantifier and the name of the inventory.
    """

    inventory: str
    row: str
    where: Expr
    type: Type = BOOL
    span: Span = field(default=NOWHERE, compare=False)
    head: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function` is `count`, `min`, `max`, `sum` or `avg`; `of` is None exactly for `count`.

    The type is that of `of`, except that the `avg` of whole numbers is a decimal. `needs` is at least 1, or None.
    `where` and `head` as in `Some`.
    """

    function: str
    inventory: str
    row: str
    where: Expr
    of: Expr | None
    type: Type
    span: Span = field(default=NOWHERE, compare=False)
    head: Span = field(default=NOWHERE, compare=False)
    needs: int | None = None


Expr = (
    Const
    | ListConst
    | Param
    | Now
    | Unknown
    | Field
    | MapGet
    | Not
    | And
    | Or
    | Compare
    | IsState
    | Else
    | In
    | Item
    | AnyItem
    | Arith
    | Call
    | Some
    | Aggregate
)

TRUE = Const(True, BOOL)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct sub-expressions of a node, in order."""
    match expr:
        case Const() | ListConst() | Param() | Now() | Unknown() | Field() | Item():
            return ()
        case MapGet(target=a, key=b) | Compare(left=a, right=b) | Arith(left=a, right=b):
            return (a, b)
        case Else(operand=a, fallback=b) | In(item=a, collection=b):
            return (a, b)
        case AnyItem(collection=a, where=b):
            return (a, b)
        case Not(operand=a) | IsState(operand=a):
            return (a,)
        case And(items=items) | Or(items=items) | Call(arguments=items):
            return items
        case Some(where=where):
            return (where,)
        case Aggregate(where=where, of=of):
            return (where,) if of is None else (where, of)


def open_items(expr: Expr) -> frozenset[str]:
    """Return the list items that the expression uses and does not bind itself."""
    match expr:
        case Item(name=name):
            return frozenset({name})
        case AnyItem(collection=collection, item=item, where=where):
            return open_items(collection) | (open_items(where) - {item})
        case _:
            return frozenset[str]().union(*map(open_items, children(expr)))
