"""Which single fact would make one test come out otherwise.

Every answer is a proposal: it says what to set so that this test changes, and `flip` finds out over an edited world
what the whole rule then decides. A test that can't be turned around (a pattern) has no answer here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.polarity import MIRRORED
from fullcount.compiler.types import BOOL, DURATION, TIMESTAMP, Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import ABSENT, INT_MAX, INT_MIN, Cell, FieldState, Value, present
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import instant
from fullcount.runtime.text import escaped
from fullcount.runtime.understand.edits import Change
from fullcount.runtime.understand.knobs import Bench, Handle, Knob, handles
from fullcount.runtime.understand.trace import Node

NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_DECIMAL_STEP: Final = Decimal("0.000000001")
_DECIMAL_TOP: Final = Decimal(10) ** 29
_SECOND: Final = 1_000_000
_NEVER_SHOWN: Final = 10**17
"""Microseconds beyond which a distance in time says nothing to a person."""

_WORDS: Final[dict[Kind, tuple[str, str]]] = {
    Kind.TIMESTAMP: ("earlier", "later"),
    Kind.DATE: ("earlier", "later"),
    Kind.DURATION: ("shorter", "longer"),
    Kind.SIZE: ("smaller", "larger"),
}
_BORDERS: Final[dict[str, tuple[str, str]]] = {
    "<": ("before {}", "less than {}"),
    "<=": ("{} or earlier", "{} or less"),
    ">": ("after {}", "more than {}"),
    ">=": ("{} or later", "{} or more"),
}


def solve(node: Node, target: bool, bench: Bench) -> Iterator[Change]:
    """Yield changes of single facts by which a test comes out as `target`, nearest facts first."""
    expr = node.expr
    match expr:
        case ir.Compare(operator=operator, left=left, right=right):
            wanted = operator if target else NEGATED[operator]
            yield from _side(left, wanted, bench.value(right, node.env), node, bench)
            yield from _side(right, MIRRORED[wanted], bench.value(left, node.env), node, bench)
        case ir.IsState(operand=operand, state=state):
            yield from _state(operand, state, target, node, bench)
        case ir.In():
            yield from _membership(expr, target, node, bench)
        case ir.Call(arguments=(subject, part)) if expr.type == BOOL:
            yield from _text(expr.function, subject, bench.value(part, node.env), target, node, bench)
        case _ if expr.type == BOOL:
            for handle in handles(expr, node.env, bench):
                yield from turned(handle.knob, present(target))


def side_changes(handle: Handle, operator: str, other: Value) -> Iterator[Change]:
    """Yield the change by which `side <operator> other` holds, moving one handle."""
    knob = handle.knob
    if handle.sign == -1:
        operator = MIRRORED[operator]
    border = handle.knob_value(other)
    value = _value_for(operator, border, knob)
    if value is not None:
        yield from turned(knob, present(value), operator, border)


def _side(side: ir.Expr, operator: str, other: Cell, node: Node, bench: Bench) -> Iterator[Change]:
    if other.value is None:
        return
    for handle in handles(side, node.env, bench):
        yield from side_changes(handle, operator, other.value)


def _state(operand: ir.Expr, state: str, target: bool, node: Node, bench: Bench) -> Iterator[Change]:
    wants_value = (state == "present") is target if state != "known" else True
    if state == "known" and not target:
        return
    if wants_value:
        # what is computed from a field that is not known has no value: any of these may be the one
        for field in facts.walk(operand):
            if isinstance(field, ir.Field) and field is not operand:
                for handle in handles(field, node.env, bench):
                    if handle.knob.cell.value is None:
                        yield from turned(handle.knob, present(sample(handle.knob.type)), "present")
    for handle in handles(operand, node.env, bench):
        if wants_value:
            yield from turned(handle.knob, present(sample(handle.knob.type)), "present")
        if not wants_value or state == "known":
            yield from turned(handle.knob, ABSENT)


def _membership(expr: ir.In, target: bool, node: Node, bench: Bench) -> Iterator[Change]:
    item, held = bench.value(expr.item, node.env), bench.value(expr.collection, node.env)
    if isinstance(held.value, tuple):
        for handle in handles(expr.item, node.env, bench):
            yield from _item(handle, held.value, target)
    if item.value is None or not isinstance(expr.collection, ir.Field):
        return
    for handle in handles(expr.collection, node.env, bench):
        items = held.value if isinstance(held.value, tuple) else ()
        said = escaped(fmt.value(item.value, expr.item.type))
        others = tuple(each for each in items if each != item.value)
        wanted = (*others, item.value) if target else others
        yield from turned(handle.knob, present(wanted), "with" if target else "without", said)


def _item(handle: Handle, items: tuple[Value, ...], target: bool) -> Iterator[Change]:
    if target and len(items) > 0:
        yield from turned(handle.knob, present(items[0]), "is one of", tuple(items))
    if not target:
        other = _other_than(items, handle.knob.type)
        if other is not None:
            yield from turned(handle.knob, present(other), "is none of", tuple(items))


def _text(function: str, subject: ir.Expr, part: Cell, target: bool, node: Node, bench: Bench) -> Iterator[Change]:
    """Yield texts that begin with, end with or hold another; a pattern can't be turned around."""
    if function not in {"starts_with", "ends_with", "contains"} or not isinstance(part.value, str):
        return
    words, not_so = {
        "starts_with": ("begins with", "does not begin with"),
        "ends_with": ("ends with", "does not end with"),
        "contains": ("contains", "does not contain"),
    }[function]
    for handle in handles(subject, node.env, bench):
        if target:
            yield from turned(handle.knob, present(part.value), words, part.value)
        elif part.value != "":
            yield from turned(handle.knob, present(""), not_so, part.value)


# -- values -----------------------------------------------------------------------------------------------------------


def sample(of: Type) -> Value:
    """Return some value of a type: for tests that ask only whether there is one."""
    match of:
        case ListOf():
            return ()
        case MapOf():
            return {}
        case RecordOf(parts=parts):
            return {part.name: sample(part.type.type) for part in parts if not part.type.optional}
        case Scalar(kind=Kind.TEXT):
            return "?"
        case Scalar(kind=Kind.BOOL):
            return True
        case Scalar(kind=Kind.DECIMAL):
            return Decimal(0)
        case _:
            return 0


def _value_for(operator: str, border: Value, knob: Knob) -> Value | None:
    """Return a value that stands to the border as the operator says; None if there is none."""
    match operator, border:
        case "==" | "<=" | ">=", _:
            value: Value | None = border
        case "!=", _:
            value = _other_than((border,), knob.type)
        case "<" | ">", bool() | tuple() | dict():
            return None
        case _, int():
            value = border + (1 if operator == ">" else -1)
        case _, Decimal():
            value = border + (_DECIMAL_STEP if operator == ">" else -_DECIMAL_STEP)
        case ">", str():
            value = border + "a"
        case _:
            value = "" if border != "" else None
    if isinstance(value, int) and not isinstance(value, bool) and not INT_MIN <= value <= INT_MAX:
        return None
    return None if isinstance(value, Decimal) and abs(value) >= _DECIMAL_TOP else value


def _other_than(taken: tuple[Value, ...], of: Type) -> Value | None:
    """Return a value of the type that is none of those taken."""
    match of:
        case Scalar(kind=Kind.BOOL):
            tried: tuple[Value, ...] = (True, False)
        case Scalar(kind=Kind.TEXT):
            tried = tuple("?" * n for n in range(1, len(taken) + 2))
        case Scalar(kind=Kind.DECIMAL):
            tried = tuple(Decimal(n) for n in range(len(taken) + 1))
        case Scalar():
            tried = tuple(range(len(taken) + 1))
        case _:
            tried = ()
    return next((value for value in tried if value not in taken), None)


# -- words ------------------------------------------------------------------------------------------------------------


def turned(knob: Knob, cell: Cell, how: str = "==", border: Value | None = None) -> Iterator[Change]:
    """Yield the change of one knob, with what a person is told of it; nothing if it is so already or can't be so."""
    if cell == knob.cell or (cell.state is FieldState.ABSENT and not knob.optional):
        return
    edit = knob.turn(cell)
    if edit is not None:
        yield Change(edit, f"{knob.name} {_said(knob, cell, how, border)}", any_value=how == "present")


def _said(knob: Knob, cell: Cell, how: str, border: Value | None) -> str:
    unknown = knob.cell.state not in {FieldState.PRESENT, FieldState.ABSENT}
    lead = "is known, and " if unknown else ""
    if cell.value is None:
        return f"{lead}is absent"
    shown = _shown(cell.value if border is None else border, knob.type, how)
    match how:
        case "present":
            return f"{lead}is present"
        case "==":
            return f"{lead}= {shown}"
        case "!=":
            return f"{lead}is other than {shown}"
        case "<" | "<=" | ">" | ">=":
            return f"{lead}is {_moved(knob, cell, how)}{_border(knob.type, how).format(shown)}"
        case _:
            return f"{lead}{how} {shown}"


def _shown(value: Value, of: Type, how: str) -> str:
    if how in {"is one of", "is none of"} and isinstance(value, tuple):
        few = [escaped(fmt.value(item, of), 30) for item in value[:4]]
        return ", ".join([*few, "…"] if len(value) > len(few) else few)
    if how in {"with", "without"}:
        return str(value)
    if isinstance(value, int) and of == TIMESTAMP:
        return _whole_second(value, how)
    if isinstance(value, int) and of == DURATION:
        return _whole_length(value, how)
    return escaped(fmt.value(value, of), 60)


def _whole_second(value: int, how: str) -> str:
    """Return an instant to the second: the first that is far enough, so that what is said is enough in any case."""
    moment = instant(_to_seconds(value, how) * _SECOND)
    if moment is None:
        return f"@{value}"
    return f"{moment:%Y-%m-%d %H:%M}Z" if moment.second == 0 else f"{moment:%Y-%m-%d %H:%M:%S}Z"


def _whole_length(value: int, how: str) -> str:
    """Return a length of time to the second, likewise: `90 d`, `84 d 5 h 3 s`."""
    seconds = _to_seconds(value, how)
    if seconds < 0 or abs(value) < _SECOND:
        return fmt.value(value, DURATION)
    parts = []
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, seconds = divmod(seconds, size)
        if number > 0:
            parts.append(f"{fmt.count(number)} {name}")
    return " ".join(parts)


def _to_seconds(value: int, how: str) -> int:
    """Round away from what does not do: up for a lower bound, down for an upper one."""
    return -(-value // _SECOND) if how in {">", ">="} else value // _SECOND


def _border(of: Type, how: str) -> str:
    in_time = isinstance(of, Scalar) and of.kind in {Kind.TIMESTAMP, Kind.DATE, Kind.TEXT}
    return _BORDERS[how][0 if in_time else 1]


def _moved(knob: Knob, cell: Cell, how: str) -> str:
    """Return `later by 3 d: `; nothing where there is no distance to tell."""
    if not isinstance(knob.type, Scalar) or isinstance(knob.cell.value, bool):
        return ""
    now, then = knob.cell.value, cell.value
    words = _WORDS.get(knob.type.kind, ("lower", "higher"))
    word = words[0 if how in {"<", "<="} else 1]
    match knob.type.kind, now, then:
        case Kind.TIMESTAMP | Kind.DURATION, int(), int() if abs(then - now) < _NEVER_SHOWN:
            return f"{word} by {fmt.length(timedelta(microseconds=abs(then - now)))}: "
        case Kind.DATE, int(), int():
            return f"{word} by {fmt.count(abs(then - now))} d: "
        case Kind.SIZE, int(), int():
            return f"{word} by {fmt.size(abs(then - now))}: "
        case Kind.INT | Kind.DECIMAL, int() | Decimal(), int() | Decimal():
            return f"{word} by {fmt.value(abs(then - now), knob.type)}: "
        case _:
            return ""
