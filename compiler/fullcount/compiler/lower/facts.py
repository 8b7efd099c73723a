"""What can be said of a typed expression by looking at it, without rows: which fields, which rows, which equalities.

Both lowerings and the runtime's live look-ups rest on these, so that they agree on what a targeted question is. Nothing
here evaluates anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fullcount.compiler import ir
from fullcount.compiler.types import Scalar
from fullcount.dsl.dataclass import dataclass


def walk(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the node and all nodes under it, outermost first."""
    yield expr
    for child in ir.children(expr):
        yield from walk(child)


def fields_read(expr: ir.Expr) -> Mapping[str, frozenset[str]]:
    """Return, for each inventory that the expression reads, the names of the fields that it mentions.

    An inventory that is only counted is there with no fields.
    """
    found: dict[str, set[str]] = {}
    for node in walk(expr):
        match node:
            case ir.Field(inventory=inventory, name=name):
                found.setdefault(inventory, set()).add(name)
            case ir.Some(inventory=inventory) | ir.Aggregate(inventory=inventory):
                found.setdefault(inventory, set())
            case _:
                pass
    return {inventory: frozenset(names) for inventory, names in found.items()}


def free_rows(expr: ir.Expr) -> frozenset[str]:
    """Return the row variables that the expression uses and does not bind itself."""
    match expr:
        case ir.Field(row=row):
            return frozenset({row})
        case ir.Some(row=row) | ir.Aggregate(row=row):
            return frozenset[str]().union(*map(free_rows, ir.children(expr))) - {row}
        case _:
            return frozenset[str]().union(*map(free_rows, ir.children(expr)))


def is_relational(expr: ir.Expr) -> bool:
    """Whether the expression looks into another inventory."""
    return any(isinstance(node, ir.Some | ir.Aggregate) for node in walk(expr))


def is_constant(expr: ir.Expr) -> bool:
    """Whether the value is the same for each object of a plan."""
    varies = any(isinstance(node, ir.Field | ir.Some | ir.Aggregate) for node in walk(expr))
    return not varies and not ir.open_items(expr)


def is_interval(expr: ir.Expr) -> bool:
    """Whether the value may be known as a range only: an aggregate, or an `else` with one at either side."""
    match expr:
        case ir.Aggregate():
            return True
        case ir.Else(operand=operand, fallback=fallback):
            return is_interval(operand) or is_interval(fallback)
        case _:
            return False


def conjuncts(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the parts that must all hold, nested conjunctions flattened; nothing for plain `true`."""
    match expr:
        case ir.And(items=items):
            return tuple(part for item in items for part in conjuncts(item))
        case ir.Const(value=True):
            return ()
        case _:
            return (expr,)


def conjunction(parts: tuple[ir.Expr, ...]) -> ir.Expr:
    """Return the expression that holds when all parts hold; `true` for none."""
    if not parts:
        return ir.TRUE
    return parts[0] if len(parts) == 1 else ir.And(parts)


@dataclass(frozen=True, slots=True)
class Equality:
    """The conjunct `field == other`, where `field` belongs to the bound row and `other` to rows outside of it."""

    field: ir.Field
    other: ir.Expr


def equality(part: ir.Expr, row: str) -> Equality | None:
    """Read a conjunct as an equality that targets rows of `row`, or return None.

    The other side must not look into an inventory: a range of values is no target.
    """
    if not (isinstance(part, ir.Compare) and part.operator == "=="):
        return None
    for mine, other in ((part.left, part.right), (part.right, part.left)):
        if (
            isinstance(mine, ir.Field)
            and mine.row == row
            and isinstance(mine.type, Scalar)
            and row not in free_rows(other)
            and not is_relational(other)
        ):
            return Equality(mine, other)
    return None


def equalities(where: ir.Expr, row: str) -> tuple[Equality, ...]:
    """Return the equalities among the conjuncts of `where`, in order."""
    return tuple(found for part in conjuncts(where) if (found := equality(part, row)) is not None)


_SPELLINGS = frozenset({"lower", "upper", "trim", "trim_dot", "nfc"})


@dataclass(frozen=True, slots=True)
class Join:
    """The conjunct `key == other`, where `key` is a field of the bound row, or a spelling of one."""

    key: ir.Expr
    other: ir.Expr


def join(part: ir.Expr, row: str) -> Join | None:
    """Read a conjunct as an equality that rows of `row` can be joined by, or return None.

    Unlike `equality`, the own side may be a spelling of a field: whoever has all rows can work it out for each.
    """
    if not (isinstance(part, ir.Compare) and part.operator == "=="):
        return None
    for mine, other in ((part.left, part.right), (part.right, part.left)):
        if _is_key(mine, row) and row not in free_rows(other) and not is_relational(other):
            return Join(mine, other)
    return None


def _is_key(expr: ir.Expr, row: str) -> bool:
    match expr:
        case ir.Call(function=function, arguments=(argument,)) if function in _SPELLINGS:
            return _is_key(argument, row)
        case ir.Field():
            return expr.row == row and isinstance(expr.type, Scalar)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Split:
    """The conjuncts of a `where`, by what they look at."""

    keys: tuple[Join, ...]
    """`x.field == <something of outer rows>`."""
    own: tuple[ir.Expr, ...]
    """Parts about the bound row alone."""
    outer: tuple[ir.Expr, ...]
    """Parts about outer rows alone."""
    mixed: tuple[ir.Expr, ...]
    """Parts about both."""


def split(where: ir.Expr, row: str) -> Split:
    """Sort the conjuncts of the `where` of a quantifier that binds `row`."""
    keys: list[Join] = []
    own: list[ir.Expr] = []
    outer: list[ir.Expr] = []
    mixed: list[ir.Expr] = []
    for part in conjuncts(where):
        rows = free_rows(part)
        if rows <= {row}:
            own.append(part)
        elif row not in rows:
            outer.append(part)
        elif (found := join(part, row)) is not None:
            keys.append(found)
        else:
            mixed.append(part)
    return Split(tuple(keys), tuple(own), tuple(outer), tuple(mixed))
