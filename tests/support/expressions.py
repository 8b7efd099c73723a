"""Hypothesis generators of typed expressions: every node of `ir.py`, in both polarities.

Values come from small pools, so that equalities hold often, and the pools hold what breaks things: the ends of 64 bits,
decimals at their limit, text with quotes, NUL, line feeds and code points outside of the basic plane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from hypothesis import strategies as st

from fullcount.compiler import ir
from fullcount.compiler.types import (
    BOOL,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    ORDERED,
    PERCENT,
    SIZE,
    TEXT,
    TIMESTAMP,
    FieldType,
    ListOf,
    MapOf,
    RecordOf,
    Type,
    record_of,
)
from fullcount.compiler.values import INT_MAX, INT_MIN, Value

NOW = 1_800_000_000_000_000
DAY = 86_400_000_000

DECIMAL_TOP = Decimal("99999999999999999999999999999.999999999")

POOLS: dict[Type, tuple[Value, ...]] = {
    TEXT: (
        "a",
        "b",
        "",
        "A",
        "ab",
        "a\nb",
        "it's",
        "ß",
        "İx",
        "\0",
        "😀",
        " a\t",
        '"; --',
        "a%_\\",
        "10.1.2.3",
        "1.0.0",
        '{"a":"x"}',
    ),
    INT: (0, 1, 2, -1, 3, -7, INT_MAX, INT_MIN, INT_MAX - 1),
    DECIMAL: (
        *(Decimal(d) for d in ("0", "1", "1.5", "-2.000000001", "0.000000001")),
        DECIMAL_TOP,
        DECIMAL_TOP.copy_negate(),
    ),
    BOOL: (True, False),
    TIMESTAMP: (NOW, NOW - DAY, 0, NOW + 1, -1, INT_MAX - 1, INT_MIN),
    DATE: (0, 1, -1, 20_000),
    DURATION: (0, DAY, 90 * DAY, -1, INT_MAX, INT_MIN),
    SIZE: (0, 1, 1024, INT_MAX),
}
SCALAR_TYPES: tuple[Type, ...] = tuple(POOLS)

SPEC = record_of(
    {
        "size": FieldType(INT),
        "Note": FieldType(TEXT, optional=True),
        "due": FieldType(TIMESTAMP, optional=True),
        "names": FieldType(ListOf(TEXT)),
        "labels": FieldType(MapOf(DATE), optional=True),
    }
)
RULE = record_of(
    {
        "on": FieldType(BOOL),
        "cidr": FieldType(TEXT, optional=True),
        "spec": FieldType(SPEC, optional=True),
        "ports": FieldType(ListOf(record_of({"from": FieldType(INT), "text": FieldType(TEXT, optional=True)}))),
    }
)

FIELD_TYPES: dict[str, Type] = {
    "key": TEXT,
    "ref": TEXT,
    "number": INT,
    "rank": INT,
    "amount": DECIMAL,
    "active": BOOL,
    "seen": TIMESTAMP,
    "day": DATE,
    "idle": DURATION,
    "bytes": SIZE,
    "tags": ListOf(TEXT),
    "times": ListOf(TIMESTAMP),
    "labels": MapOf(TEXT),
    "counts": MapOf(INT),
    "dates": MapOf(DATE),
    "spec": SPEC,
    "rules": ListOf(RULE),
}

PARAMS: dict[str, tuple[Type, Value]] = {
    "p_text": (TEXT, "a"),
    "p_int": (INT, 2),
    "p_idle": (DURATION, 90 * DAY),
    "p_on": (BOOL, True),
    "p_list": (ListOf(TEXT), ("a", "it's")),
}

PATTERNS = ("a", "a.b", "(?s)a.b", "[ab]+", "", "it's", ".*", "\\x00", "😀?")
GLOBS = ("*", "a*", "?", "a?b", "it's", "[a]", "a%_\\", "*\0*")

NETWORKS = ("10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "::ffff:0:0/96")
ADDRESSES = ("10.1.2.3", "10.0.0.0/8", "0.0.0.0/0", "10.0.0.256", "::1", "2001:DB8::1", "::ffff:10.0.0.1", "::/0", "")
VERSIONS = ("1.0.0", "v1.10.0", "1.9.0", "1.0.0-rc.1", "1.0.0-rc.10+b", "1.0.0-1", "1.0", "99999999999999999999.0.0")
PATHS = ("$.a", '$["a"].b', "$[0]")
JSON_TEXTS = ('{"a":"x"}', '{"a":null}', '{"a":{"b":1}}', '{"a":1,"a":2}', '["x"]', "[1.5]", "{", '{"b":"\\u0000"}')

Schema = Mapping[str, Mapping[str, FieldType]]


@dataclass(frozen=True)
class Scope:
    """The rows that may be mentioned, and how much deeper to go."""

    schema: Schema
    rows: tuple[tuple[str, str], ...]
    depth: int
    items: tuple[tuple[str, Type], ...] = ()

    def down(self) -> Scope:
        return replace(self, depth=self.depth - 1)

    def bind(self, row: str, inventory: str) -> Scope:
        kept = tuple(r for r in self.rows if r[0] != row)
        return Scope(self.schema, (*kept, (row, inventory)), self.depth - 1)

    def bind_item(self, name: str, of_type: Type) -> Scope:
        """Inside a test of a list; what stands there looks into no inventory."""
        return replace(self, depth=0, items=(*self.items, (name, of_type)))

    def items_of(self, of_type: Type) -> list[ir.Item]:
        return [ir.Item(name, t) for name, t in self.items if t == of_type]

    def records(self) -> list[ir.Expr]:
        """Records that may be asked for their parts, one within another."""
        found: list[ir.Expr] = [ir.Item(name, t) for name, t in self.items if isinstance(t, RecordOf)]
        found += self.fields(SPEC)
        for record in list(found):
            found += [each for each in parts(record) if isinstance(each.type, RecordOf)]
        return found

    def parts(self, of_type: Type) -> list[ir.MapGet]:
        """Parts of records that are of a type."""
        return [part for record in self.records() for part in parts(record) if part.type == of_type]

    def fields(self, of_type: Type) -> list[ir.Field]:
        return [
            ir.Field(row, inventory, name, of_type, declared.optional)
            for row, inventory in self.rows
            for name, declared in self.schema[inventory].items()
            if declared.type == of_type
        ]

    def all_fields(self, *, scalar: bool = True) -> list[ir.Field]:
        types = SCALAR_TYPES if scalar else dict.fromkeys(FIELD_TYPES.values())
        return [found for of_type in types for found in self.fields(of_type)]


def parts(record: ir.Expr) -> list[ir.MapGet]:
    """Every part of a record."""
    return [ir.MapGet(record, ir.Const(part.name, TEXT), part.type.type) for part in record.type.parts]


def one_of(draw: st.DrawFn, found: Sequence[ir.Expr]) -> ir.Expr:
    """One of many expressions, drawn by its number: what is drawn is written down, and records are long."""
    return found[draw(st.integers(0, len(found) - 1))]


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Two or three inventories, each with join keys and some fields of other kinds, some of them optional."""
    names = ("base", "other", "third")[: draw(st.integers(2, 3))]
    chosen = {}
    for name in names:
        fields = {"key", *draw(st.sets(st.sampled_from(sorted(FIELD_TYPES)), min_size=2, max_size=5))}
        optional = draw(st.sets(st.sampled_from(sorted(fields)), max_size=3))
        chosen[name] = {f: FieldType(FIELD_TYPES[f], f in optional) for f in sorted(fields)}
    return chosen


_POOLED = {t: st.sampled_from((*pool[:2] * 6, *pool)) for t, pool in POOLS.items()}


def pooled(of_type: Type) -> st.SearchStrategy[Value]:
    """Values of a scalar type: mostly one of three, so that equalities hold, and sometimes an extreme one."""
    return _POOLED[of_type]


def constant(draw: st.DrawFn, of_type: Type) -> ir.Const:
    return ir.Const(draw(pooled(of_type)), of_type)


def value(draw: st.DrawFn, scope: Scope, of_type: Type) -> ir.Expr:
    """An expression of a scalar type."""
    if (items := [*scope.items_of(of_type), *scope.parts(of_type)]) and draw(st.booleans()):
        return one_of(draw, items)
    fields = scope.fields(of_type)
    choice = draw(st.integers(0, 11 if scope.depth > 0 else 5))
    if choice <= 3 and fields:
        return draw(st.sampled_from(fields))
    match choice:
        case 4:
            return _param_or_now(draw, of_type)
        case 6:
            fallback = value(draw, scope.down(), of_type) if draw(st.booleans()) else ir.Unknown(of_type)
            return ir.Else(_maybe_absent(draw, scope.down(), of_type), fallback, of_type, optional=True)
        case 7 | 8:
            return _computed(draw, scope.down(), of_type)
        case 9 | 10:
            return _aggregated(draw, scope, of_type)
        case 11 if of_type == BOOL:
            return truth(draw, scope.down())
        case 11:
            return _from_map(draw, scope, of_type)
        case _:
            return constant(draw, of_type)


def _param_or_now(draw: st.DrawFn, of_type: Type) -> ir.Expr:
    if of_type == TIMESTAMP:
        return ir.Now()
    names = [name for name, (t, _) in PARAMS.items() if t == of_type]
    return ir.Param(names[0], of_type) if names else constant(draw, of_type)


def _maybe_absent(draw: st.DrawFn, scope: Scope, of_type: Type) -> ir.Expr:
    fields = scope.fields(of_type)
    choice = draw(st.integers(0, 3))
    if choice <= 1 and fields:
        return draw(st.sampled_from(fields))
    return _from_map(draw, scope, of_type) if choice == 2 else _aggregated(draw, scope, of_type, ("min", "max", "avg"))


def _from_map(draw: st.DrawFn, scope: Scope, of_type: Type) -> ir.Expr:
    maps = [*scope.fields(MapOf(of_type)), *scope.parts(MapOf(of_type))]
    if not maps:
        return value(draw, replace(scope, depth=0), of_type)
    return ir.MapGet(one_of(draw, maps), value(draw, replace(scope, depth=0), TEXT), of_type)


_ARITHMETIC: dict[Type, tuple[tuple[str, Type, Type], ...]] = {
    INT: tuple((o, INT, INT) for o in "+-*/"),
    TIMESTAMP: (("+", TIMESTAMP, DURATION), ("-", TIMESTAMP, DURATION)),
    DURATION: (
        ("+", DURATION, DURATION),
        ("-", DURATION, DURATION),
        ("-", TIMESTAMP, TIMESTAMP),
        ("*", DURATION, INT),
        ("*", INT, DURATION),
        ("/", DURATION, INT),
    ),
    SIZE: (("+", SIZE, SIZE), ("-", SIZE, SIZE), ("*", SIZE, INT), ("*", INT, SIZE), ("/", SIZE, INT)),
}


def _computed(draw: st.DrawFn, scope: Scope, of_type: Type) -> ir.Expr:
    if of_type in _ARITHMETIC and not (of_type == INT and draw(st.integers(0, 4)) == 0):
        operator, left, right = draw(st.sampled_from(_ARITHMETIC[of_type]))
        return ir.Arith(operator, value(draw, scope, left), value(draw, scope, right), of_type)
    if of_type == INT:
        if draw(st.integers(0, 2)) == 0:
            versions = (_written(draw, scope, VERSIONS), _written(draw, scope, VERSIONS))
            return ir.Call("semver_compare", versions, INT)
        of = value(draw, scope, TEXT) if draw(st.booleans()) else list_value(draw, scope, draw(st.sampled_from(ITEMS)))
        return ir.Call("length", (of,), INT)
    if of_type == TEXT and draw(st.integers(0, 3)) == 0:
        return ir.Call("json", (_written(draw, scope, JSON_TEXTS), ir.Const(draw(st.sampled_from(PATHS)), TEXT)), TEXT)
    if of_type == TEXT and draw(st.integers(0, 4)) == 0:
        return ir.Call("text", (value(draw, scope, INT),), TEXT)
    if of_type == TEXT:
        return ir.Call(
            draw(st.sampled_from(("lower", "upper", "trim", "trim_dot", "nfc"))), (value(draw, scope, TEXT),), TEXT
        )
    if of_type == BOOL:
        return _text_test(draw, scope)
    if of_type == DATE:
        return ir.Call("utc_date", (value(draw, scope, TIMESTAMP),), DATE)
    return value(draw, scope, of_type)


def _text_test(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    function = draw(
        st.sampled_from(("starts_with", "ends_with", "contains", "matches", "glob", "cidr_contains", "sample"))
    )
    if function == "cidr_contains":
        return ir.Call(function, (constant_of(draw, NETWORKS), _written(draw, scope, ADDRESSES)), BOOL)
    subject = value(draw, scope, TEXT)
    if function == "sample":
        return ir.Call(
            function, (subject, ir.Const(Decimal(draw(st.sampled_from(("50", "0.1", "99.9")))), PERCENT)), BOOL
        )
    if function in ("matches", "glob"):
        pattern = draw(st.sampled_from(PATTERNS if function == "matches" else GLOBS))
        return ir.Call(function, (subject, ir.Const(pattern, TEXT)), BOOL)
    return ir.Call(function, (subject, value(draw, scope, TEXT)), BOOL)


ITEMS: tuple[Type, ...] = (TEXT, TIMESTAMP)
RECORDS: tuple[Type, ...] = (RULE, RULE.part("ports").type.item)


def list_value(draw: st.DrawFn, scope: Scope, of_type: Type) -> ir.Expr:
    """A list: a field if there is one, a parameter, or one that is written out."""
    choice = draw(st.integers(0, 5))
    if choice <= 3 and (fields := [*scope.fields(ListOf(of_type)), *scope.parts(ListOf(of_type))]):
        return one_of(draw, fields)
    if choice == 5 and of_type == TEXT and (maps := scope.fields(MapOf(TEXT))):
        return ir.Call("keys", (draw(st.sampled_from(maps)),), ListOf(TEXT))
    if choice == 4 and of_type == TEXT:
        return ir.Param("p_list", ListOf(TEXT))
    items = tuple(constant(draw, of_type) for _ in range(draw(st.integers(0, 3))))
    return ir.ListConst(items, ListOf(of_type))


def list_test(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A test of a list: `any`, `all`, or against another list."""
    records = [held for of in RECORDS for held in (*scope.fields(ListOf(of)), *scope.parts(ListOf(of)))]
    if records and len(scope.items) < 2 and draw(st.integers(0, 3)) > 0:
        return item_test(draw, scope, one_of(draw, records))
    of_type = draw(st.sampled_from(ITEMS))
    held = list_value(draw, scope, of_type)
    if draw(st.integers(0, 3)) == 0 or len(scope.items) > 1 or isinstance(held, ir.Call):
        function = draw(st.sampled_from(("intersects", "subset")))
        lists = (held, list_value(draw, scope, of_type))
        return ir.Call(function, lists if draw(st.booleans()) else (lists[1], lists[0]), BOOL)
    return item_test(draw, scope, held)


def item_test(draw: st.DrawFn, scope: Scope, held: ir.Expr) -> ir.Expr:
    """`any` or `all` over a list."""
    name, of_type = f"i{len(scope.items)}", held.type.item
    inner = scope.bind_item(name, of_type)
    if isinstance(of_type, RecordOf):
        where = record_test(draw, inner, ir.Item(name, of_type))
    else:
        where = comparison(draw, inner, ir.Item(name, of_type)) if draw(st.booleans()) else truth(draw, inner)
    if draw(st.booleans()):
        return ir.AnyItem(held, name, where)
    return ir.Not(ir.AnyItem(held, name, ir.Not(where)))


def record_test(draw: st.DrawFn, scope: Scope, record: ir.Item) -> ir.Expr:
    """One or two tests of the parts of an item, joined."""
    tests = []
    for _ in range(draw(st.integers(1, 2))):
        asked = [*parts(record), *parts(parts(record)[-1])] if record.type == RULE else parts(record)
        part = one_of(draw, asked)
        match part.type:
            case ListOf(item=RecordOf()) if len(scope.items) < 2:
                tests.append(item_test(draw, scope, part))
            case ListOf() | MapOf() | RecordOf():
                tests.append(ir.IsState(part, draw(st.sampled_from(("present", "absent", "known")))))
            case _ if part.type == BOOL and draw(st.booleans()):
                tests.append(part)
            case _:
                tests.append(comparison(draw, scope, part))
    test = tests[0] if len(tests) == 1 else draw(st.sampled_from((ir.And, ir.Or)))(tuple(tests))
    return ir.Not(test) if draw(st.booleans()) else test


def constant_of(draw: st.DrawFn, texts: tuple[str, ...]) -> ir.Const:
    return ir.Const(draw(st.sampled_from(texts)), TEXT)


def _written(draw: st.DrawFn, scope: Scope, texts: tuple[str, ...]) -> ir.Expr:
    """A text that a function can read, or cannot: a field with a fallback, a field as it is, a constant."""
    fields = scope.fields(TEXT)
    choice = draw(st.integers(0, 4))
    if fields and choice <= 2:
        found = draw(st.sampled_from(fields))
        return ir.Else(found, constant_of(draw, texts), TEXT, optional=False) if choice else found
    return constant_of(draw, texts)


_AVERAGED = (DECIMAL, DURATION, SIZE)
_SUMMED = (INT, DECIMAL, DURATION, SIZE)


def _aggregated(
    draw: st.DrawFn, scope: Scope, of_type: Type, among: tuple[str, ...] = ("min", "max", "sum", "avg", "count")
) -> ir.Expr:
    if of_type == BOOL or scope.depth <= 0:
        return constant(draw, of_type)
    allowed = [
        f
        for f in among
        if not (f == "count" and of_type != INT)
        and not (f == "sum" and of_type not in _SUMMED)
        and not (f == "avg" and of_type not in _AVERAGED)
    ]
    function = draw(st.sampled_from(allowed))
    inventory, row, inner = _bound(draw, scope)
    where = restriction(draw, inner, row)
    given = draw(st.sampled_from((INT, DECIMAL))) if function == "avg" and of_type == DECIMAL else of_type
    of = None if function == "count" else _own_value(draw, inner, row, given)
    needs = draw(st.sampled_from((None, None, 1, 2, 3))) if function != "count" else None
    return ir.Aggregate(function, inventory, row, where, of, of_type, needs=needs)


def _own_value(draw: st.DrawFn, inner: Scope, row: str, of_type: Type) -> ir.Expr:
    mine = [f for f in inner.fields(of_type) if f.row == row]
    if mine and draw(st.integers(0, 4)):
        return draw(st.sampled_from(mine))
    return value(draw, inner, of_type)


def _bound(draw: st.DrawFn, scope: Scope) -> tuple[str, str, Scope]:
    inventory = draw(st.sampled_from(sorted(scope.schema)))
    row = draw(st.sampled_from(("x", "y", "z")))
    return inventory, row, scope.bind(row, inventory)


def restriction(draw: st.DrawFn, inner: Scope, row: str) -> ir.Expr:
    """The `where` of a quantifier over `row`: equalities to outer rows, tests of its own row, tests of both."""
    parts: list[ir.Expr] = []
    outer = Scope(inner.schema, tuple(r for r in inner.rows if r[0] != row), 0)
    own = Scope(inner.schema, tuple(r for r in inner.rows if r[0] == row), max(inner.depth, 0))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 3)))):
        mine = draw(st.sampled_from(own.all_fields()))
        theirs = value(draw, outer, mine.type)
        sides = (mine, theirs) if draw(st.booleans()) else (theirs, mine)
        parts.append(ir.Compare("==", *sides))
    if draw(st.integers(0, 2)):
        parts.append(truth(draw, own))
    extra = draw(st.integers(0, 5))
    if extra == 0:
        parts.append(truth(draw, inner))
    elif extra == 1:
        parts.append(truth(draw, outer))
    if not parts:
        return ir.TRUE
    return parts[0] if len(parts) == 1 else ir.And(tuple(parts))


def truth(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A test."""
    if draw(st.integers(0, 7)) == 0:
        return list_test(draw, scope)
    choice = draw(st.integers(0, 13 if scope.depth > 0 else 4))
    match choice:
        case 0:
            return value(draw, replace(scope, depth=0), BOOL)
        case 1:
            return _state(draw, scope)
        case 2:
            return _member(draw, scope)
        case 3 | 4 | 5:
            return comparison(draw, scope)
        case 6:
            return ir.And(tuple(truth(draw, scope.down()) for _ in range(draw(st.integers(2, 3)))))
        case 7:
            return ir.Or(tuple(truth(draw, scope.down()) for _ in range(draw(st.integers(2, 3)))))
        case 8 if draw(st.integers(0, 3)) == 0:
            return ir.Or((ir.Not(truth(draw, scope.down())), ir.Unknown(BOOL)))
        case 8:
            return ir.Not(truth(draw, scope.down()))
        case 9:
            return _text_test(draw, scope.down())
        case 10:
            return _existence(draw, scope)
        case 11 | 12:
            return ir.Not(_existence(draw, scope))
        case _:
            aggregate = _aggregated(draw, scope, draw(st.sampled_from((INT, INT, DECIMAL, TEXT, TIMESTAMP))))
            return comparison(draw, scope.down(), aggregate)


def typical(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A rule as people write them: a simple test, and what other inventories hold for the same key, or don't."""
    rows = [r for r in scope.rows if r[0] != "x"]
    row, own = rows[0]
    inventory = draw(st.sampled_from([name for name in sorted(scope.schema) if name != own] * 3 + [own]))
    mine = draw(st.sampled_from(Scope(scope.schema, (("x", inventory),), 0).fields(TEXT)))
    theirs = draw(st.sampled_from(Scope(scope.schema, ((row, own),), 0).fields(TEXT)))
    parts: list[ir.Expr] = [ir.Compare("==", mine, theirs)]
    if draw(st.booleans()):
        parts.append(simple(draw, Scope(scope.schema, (("x", inventory),), 0)))
    where = parts[0] if len(parts) == 1 else ir.And(tuple(parts))
    found = _typical_use(draw, inventory, where)
    match draw(st.integers(0, 3)):
        case 0:
            return ir.Or((ir.IsState(theirs, "absent"), found))
        case 1:
            return ir.And((simple(draw, Scope(scope.schema, ((row, own),), 0)), found))
        case _:
            return found


def _typical_use(draw: st.DrawFn, inventory: str, where: ir.Expr) -> ir.Expr:
    match draw(st.integers(0, 4)):
        case 0:
            return ir.Some(inventory, "x", where)
        case 1:
            counted = ir.Aggregate("count", inventory, "x", where, None, INT)
            operator = draw(st.sampled_from(("<", "<=", "==", "!=", ">=")))
            return ir.Compare(operator, counted, ir.Const(draw(st.integers(0, 2)), INT))
        case _:
            return ir.Not(ir.Some(inventory, "x", where))


def simple(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A test of one field of one row."""
    found = draw(st.sampled_from(scope.all_fields()))
    match draw(st.integers(0, 4)):
        case 0:
            return ir.IsState(found, draw(st.sampled_from(("present", "absent", "known"))))
        case 1:
            filled = ir.Else(found, constant(draw, found.type), found.type, optional=False)
            return ir.Compare(draw(st.sampled_from(("==", "!="))), filled, constant(draw, found.type))
        case 2:
            return ir.Not(ir.Compare("==", found, constant(draw, found.type)))
        case _ if found.type == BOOL:
            return found
        case _:
            return ir.Compare(
                draw(st.sampled_from(("==", "<", ">=") if found.type.kind in ORDERED else ("==",))),
                found,
                constant(draw, found.type),
            )


def relational(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A test with a quantifier or an aggregate at its top, beside tests of the object itself."""
    found = _existence(draw, scope)
    if draw(st.booleans()):
        of_type = draw(st.sampled_from((INT, INT, DECIMAL, TEXT, TIMESTAMP)))
        found = comparison(draw, replace(scope, depth=1), _aggregated(draw, scope, of_type))
    if draw(st.integers(0, 2)):
        found = ir.Not(found)
    match draw(st.integers(0, 3)):
        case 0:
            return ir.And((truth(draw, replace(scope, depth=1)), found))
        case 1:
            return ir.Or((truth(draw, replace(scope, depth=1)), found))
        case _:
            return found


def _existence(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    inventory, row, inner = _bound(draw, scope)
    return ir.Some(inventory, row, restriction(draw, inner, row))


def comparison(draw: st.DrawFn, scope: Scope, left: ir.Expr | None = None) -> ir.Expr:
    if left is None and draw(st.integers(0, 2)) and (fields := scope.all_fields()):
        left = draw(st.sampled_from(fields))
    of_type = draw(st.sampled_from(SCALAR_TYPES)) if left is None else left.type
    operators = ("==", "!=", "<", "<=", ">", ">=") if of_type.kind in ORDERED else ("==", "!=")
    operator = draw(st.sampled_from(operators))
    sides = (value(draw, scope, of_type) if left is None else left, value(draw, scope, of_type))
    return ir.Compare(operator, *(sides if draw(st.booleans()) else reversed(sides)))


def _state(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    state = draw(st.sampled_from(("present", "absent", "known")))
    choice = draw(st.integers(0, 4))
    if choice and (fields := scope.all_fields(scalar=choice != 1)):
        return ir.IsState(draw(st.sampled_from(fields)), state)
    of_type = draw(st.sampled_from(SCALAR_TYPES))
    operand = _maybe_absent(draw, scope, of_type)
    if draw(st.integers(0, 4)) == 0:
        operand = ir.Else(operand, _maybe_absent(draw, scope, of_type), of_type, optional=True)
    return ir.IsState(operand, state)


def _member(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    choice = draw(st.integers(0, 3))
    if choice == 0:
        return ir.In(value(draw, scope.down(), TEXT), ir.Param("p_list", ListOf(TEXT)))
    if choice == 1:
        for of_type in (TEXT, TIMESTAMP):
            if lists := scope.fields(ListOf(of_type)):
                return ir.In(value(draw, scope.down(), of_type), draw(st.sampled_from(lists)))
    of_type = draw(st.sampled_from(SCALAR_TYPES))
    items = tuple(constant(draw, of_type) for _ in range(draw(st.integers(0, 3))))
    return ir.In(value(draw, scope.down(), of_type), ir.ListConst(items, ListOf(of_type)))
