"""Keys that are spelled in several ways: `key id normalized by lower, nfc`.

What a rule sees of such a key is its normal spelling, wherever a condition reads it; what is shown and handed to an
operation is the key as the source gave it. Compared with a key, or a text, that has no rules of its own, the rules hold
for both sides. Two keys with different rules are not compared: nobody could say which of the two spellings is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.functions import FUNCTIONS
from fullcount.compiler.report import error, near
from fullcount.compiler.types import BOOL, TEXT, FieldType, ListOf
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.environment import Context, Env, Typed

RULES: tuple[str, ...] = ("trim", "trim_dot", "nfc", "lower")
"""The rules, in the order in which they are applied whatever the order they are written in: composed before lower case,
so that equivalent spellings have one lower case."""

_ORIGINAL = frozenset({"`show`", "an argument of an operation"})
_PARTS = frozenset({"starts_with", "ends_with", "contains", "glob"})


def key_rules(
    decl: tree.InventoryDecl, fields: Mapping[str, FieldType], sink: Diagnostics
) -> Mapping[str, tuple[str, ...]]:
    """Return the rules for each text field of the key, in the order in which they are applied."""
    if len(decl.normalized) == 0:
        return {}
    said: list[str] = []
    for name in decl.normalized:
        if name.text not in RULES:
            error(
                sink,
                "FC243",
                f"there is no rule `{name.text}` to normalize a key by",
                name.span,
                **near(name.text, name.span, RULES, "rules"),
            )
        elif name.text in said:
            error(sink, "FC003", f"`{name.text}` is said twice", name.span, help="say each rule once")
        said.append(name.text)
    texts = [name for name in decl.key if name.text in fields and fields[name.text].type == TEXT]
    if len(texts) == 0 and all(name.text in fields for name in decl.key):
        error(
            sink,
            "FC243",
            f"the key of `{decl.name.text}` has no text to normalize",
            decl.normalized[0].span,
            help="remove the rules: numbers and instants have one spelling",
        )
    return {name.text: tuple(rule for rule in RULES if rule in said) for name in texts}


def as_seen(typed: Typed, rules: tuple[str, ...], env: Env) -> Typed:
    """Return a key as a condition sees it; what is shown or handed on stays as the source gave it."""
    if len(rules) == 0 or env.place.value in _ORIGINAL:
        return typed
    return replace(typed, expr=_spelled(typed.expr, rules), normal=rules)


def alike(context: Context, left: Typed, right: Typed, span: Span) -> tuple[Typed, Typed] | None:
    """Return both sides of a comparison by the rules that hold for either; None, with a finding, if these differ."""
    if left.normal == right.normal:
        return left, right
    if len(left.normal) > 0 and len(right.normal) > 0:
        error(
            context.sink,
            "FC244",
            "these keys are normalized by different rules",
            span,
            note=f"`{', '.join(left.normal)}` and `{', '.join(right.normal)}`",
            why="two spellings that are one key on one side are two on the other, so some would find no partner",
            help="give both inventories the same rules",
        )
        return None
    rules = left.normal or right.normal
    return _by(left, rules), _by(right, rules)


def member_of(item: ir.Expr, collection: ir.Expr, rules: Sequence[str], name: str, span: Span) -> ir.Expr:
    """Return `item in collection` where the items of the collection are spelled by rules as well."""
    if len(rules) == 0:
        return ir.In(item, collection, span=span)
    if isinstance(collection, ir.ListConst):
        items = tuple(_constant(each, rules) for each in collection.items)
        return ir.In(item, replace(collection, items=items), span=span)
    of = collection.type.item if isinstance(collection.type, ListOf) else TEXT
    same = ir.Compare("==", item, _spelled(ir.Item(name, of), rules), span=span)
    return ir.AnyItem(collection, name, same, BOOL, span=span)


def never_spelled_so(context: Context, function: str, subject: Typed, text: ir.Expr, span: Span) -> bool:
    """Whether a part of a text is asked for in a spelling that a normalized key never has; that is reported."""
    if function not in _PARTS or "lower" not in subject.normal or not isinstance(text, ir.Const):
        return False
    from fullcount.compiler.lower.casing import lower

    if not isinstance(text.value, str) or lower(text.value) == text.value:
        return False
    error(
        context.sink,
        "FC244",
        "a key that is normalized by `lower` has no capitals",
        span,
        why="the test would be false for every object",
        help=f'write `"{lower(text.value)}"`',
    )
    return True


def _by(typed: Typed, rules: tuple[str, ...]) -> Typed:
    if len(typed.normal) > 0:
        return typed
    return replace(typed, expr=_spelled(typed.expr, rules), normal=rules)


def _spelled(expr: ir.Expr, rules: Sequence[str]) -> ir.Expr:
    if isinstance(expr, ir.Const):
        return _constant(expr, rules)
    for rule in rules:
        expr = ir.Call(rule, (expr,), FUNCTIONS[rule].result, span=expr.span)
    return expr


def _constant(const: ir.Const, rules: Sequence[str]) -> ir.Const:
    from fullcount.compiler.lower.spelling import spelled

    return replace(const, value=spelled(const.value, rules)) if isinstance(const.value, str) else const
