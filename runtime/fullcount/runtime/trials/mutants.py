"""Small mistakes made on purpose: variants of one workflow, each of which its tests should notice.

A mutant is the workflow's syntax tree with one part left out, turned round or moved by a little, so that it goes
through the same compiler as the real one. What the compiler refuses needs no test. Only what a test can see is
mutated: what selects and keeps objects, what is demanded of evidence, and when an act may happen; not who approves, how
fast it goes or what would take it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from fullcount.dsl import tree
from fullcount.dsl.source import Span

_BEYOND: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_TURNED: Final = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "in": "not in", "not in": "in",
    "and": "or", "or": "and", "+": "-", "-": "+",
}  # fmt: skip
_LEAST: Final = 1
"""By how much a number is moved at least."""
_TENTH: Final = 10


@dataclass(frozen=True, slots=True)
class Mutant:
    """A workflow with one mistake. `what` says it in words, `span` where; `emptied` instead empties an answer."""

    what: str
    span: Span
    workflow: tree.Workflow
    emptied: str | None = None


def mutants(workflow: tree.Workflow) -> Iterator[Mutant]:
    """Yield every mutant of a workflow, in the order of its clauses."""
    for index, param in enumerate(workflow.params):
        if param.default is not None:
            for what, span, default in expressions(param.default):
                yield _with(workflow, "params", index, replace(param, default=default), what, span)
    for index, inventory in enumerate(workflow.inventories):
        yield from _of_inventory(workflow, index, inventory)
    for index, verify in enumerate(workflow.verifies):
        for number, claim in enumerate(verify.claims):
            rest = _without(verify.claims, number)
            if len(rest) > 0:
                what = f"`{claim.kind}` no longer demanded of `{verify.inventory.text}`"
                yield _with(workflow, "verifies", index, replace(verify, claims=rest), what, claim.span)
            for what, changed_claim in _claim(claim):
                claims = _put(verify.claims, number, changed_claim)
                yield _with(workflow, "verifies", index, replace(verify, claims=claims), what, claim.span)
    for index, proposal in enumerate(workflow.proposals):
        for what, span, changed in _of_proposal(proposal):
            yield _with(workflow, "proposals", index, changed, what, span)
    for index, act in enumerate(workflow.acts):
        for number, window in enumerate(act.windows):
            changed_act = replace(act, windows=_without(act.windows, number))
            yield _with(workflow, "acts", index, changed_act, f'window "{window.text}" left out', window.span)


def _of_inventory(workflow: tree.Workflow, index: int, inventory: tree.InventoryDecl) -> Iterator[Mutant]:
    if inventory.scope is not None:
        changed = replace(inventory, scope=None)
        yield _with(workflow, "inventories", index, changed, "`scope` left out", inventory.scope.span)
        for what, span, scope in expressions(inventory.scope):
            yield _with(workflow, "inventories", index, replace(inventory, scope=scope), what, span)
    for number, canary in enumerate(inventory.expects):
        changed = replace(inventory, expects=_without(inventory.expects, number))
        yield _with(workflow, "inventories", index, changed, "canary left out", canary.span)
    what = f"`{inventory.name.text}` empty, and said to be complete"
    yield Mutant(what, inventory.head_span, workflow, emptied=inventory.name.text)


def _of_proposal(proposal: tree.ProposeDecl) -> Iterator[tuple[str, Span, tree.ProposeDecl]]:
    for what, span, where in expressions(proposal.where):
        yield what, span, replace(proposal, where=where)
    for number, exemption in enumerate(proposal.excepts):
        yield "exemption left out", exemption.span, replace(proposal, excepts=_without(proposal.excepts, number))
        if exemption.condition is not None:
            for what, span, condition in expressions(exemption.condition):
                changed = _put(proposal.excepts, number, replace(exemption, condition=condition))
                yield what, span, replace(proposal, excepts=changed)
    for number, doubt in enumerate(proposal.doubts):
        yield "doubt left out", doubt.span, replace(proposal, doubts=_without(proposal.doubts, number))
        for what, span, condition in expressions(doubt.condition):
            changed_doubts = _put(proposal.doubts, number, replace(doubt, condition=condition))
            yield what, span, replace(proposal, doubts=changed_doubts)
    for number, keep in enumerate(proposal.keeps):
        yield "`keep` left out", keep.span, replace(proposal, keeps=_without(proposal.keeps, number))
        other = "oldest" if keep.order == "newest" else "newest"
        variants = [(f"keeps {keep.count - 1}", replace(keep, count=keep.count - 1))] if keep.count > 1 else []
        variants += [(f"`{keep.order}` becomes `{other}`", replace(keep, order=other))]
        if keep.per is not None:
            variants += [("`per` left out", replace(keep, per=None))]
        for what, changed_keep in variants:
            yield what, keep.span, replace(proposal, keeps=_put(proposal.keeps, number, changed_keep))
    limit = proposal.limit
    if limit is not None and limit.count is not None:
        changed_limit = replace(limit, count=limit.count * _TENTH)
        yield "limit ten times as high", limit.span, replace(proposal, limit=changed_limit)
    if limit is not None and limit.percent is not None:
        changed_limit = replace(limit, percent=Decimal(100))
        yield "limit of 100%", limit.span, replace(proposal, limit=changed_limit)


def _claim(claim: tree.ClaimDecl) -> Iterator[tuple[str, tree.ClaimDecl]]:
    match claim.kind, claim.value:
        case "fresh", int(age):
            yield "may be ten times as old", replace(claim, value=age * _TENTH)
        case "rows", int(rows) if rows > 1:
            yield "one row is enough", replace(claim, value=1)
        case "change", Decimal() as percent:
            yield "may change ten times as much", replace(claim, value=percent * _TENTH)
        case _:
            return


# -- expressions -------------------------------------------------------------------------------------------------------

Variant = tuple[str, Span, tree.Expr]


def expressions(expr: tree.Expr, *, test: bool = True) -> Iterator[Variant]:
    """Yield what, where, and the expression with one mistake in it; `test`: it stands where a test does."""
    if test and isinstance(expr, tree.Reference | tree.Call | tree.Index | tree.StateTest):
        yield "negated", expr.span, tree.Unary("not", expr, expr.span)
    yield from _here(expr)
    inside = test and isinstance(expr, tree.Unary | tree.Binary) and expr.operator in {"and", "or", "not"}
    for name in ("operand", "left", "right", "fallback", "target", "key", "collection", "where", "of"):
        part = getattr(expr, name, None)
        if part is not None and not isinstance(part, tree.All):
            for what, span, changed in expressions(part, test=inside or name == "where"):
                yield what, span, replace(expr, **{name: changed})  # type: ignore[arg-type]
    for name in ("arguments", "items"):
        parts: tuple[Any, ...] = getattr(expr, name, ())
        for number, part in enumerate(parts):
            for what, span, changed in expressions(part, test=False):
                yield what, span, replace(expr, **{name: _put(parts, number, changed)})  # type: ignore[arg-type]


def _here(expr: tree.Expr) -> Iterator[Variant]:
    match expr:
        case tree.Binary(operator="and" | "or"):
            yield "left out", expr.left.span, expr.right
            yield "left out", expr.right.span, expr.left
            yield from _turned(expr)
        case tree.Binary():
            yield from _turned(expr)
            beyond = _BEYOND.get(expr.operator)
            if beyond is not None:
                yield f"`{expr.operator}` becomes `{beyond}`", expr.operator_span, replace(expr, operator=beyond)
        case tree.Unary(operator="not"):
            yield "`not` left out", expr.span, expr.operand
        case tree.Quantified():
            other = "some" if expr.quantifier == "no" else "no"
            yield f"`{expr.quantifier}` becomes `{other}`", expr.span, replace(expr, quantifier=other)
        case tree.ListTest():
            other = "all" if expr.quantifier == "any" else "any"
            yield f"`{expr.quantifier}` becomes `{other}`", expr.span, replace(expr, quantifier=other)
        case tree.AggregateExpr(needs=int()):
            yield "`needs` left out", expr.span, replace(expr, needs=None)
        case tree.Else():
            yield "only the fallback", expr.span, expr.fallback
        case tree.ListLiteral(items=items):
            for number, item in enumerate(items):
                yield "left out of the list", item.span, replace(expr, items=_without(items, number))
        case tree.Literal():
            yield from _moved(expr)
        case _:
            return


def _turned(expr: tree.Binary) -> Iterator[Variant]:
    turned = _TURNED.get(expr.operator)
    if turned is not None:
        yield f"`{expr.operator}` becomes `{turned}`", expr.operator_span, replace(expr, operator=turned)


def _moved(literal: tree.Literal) -> Iterator[Variant]:
    """Yield a literal a little higher and lower, or another text."""
    value = literal.value
    if isinstance(value, bool):
        yield f"becomes {'false' if value else 'true'}", literal.span, replace(literal, value=not value)
    elif isinstance(value, str):
        yield "another text", literal.span, replace(literal, value=value + "~")
    elif isinstance(value, int):
        by = max(_LEAST, abs(value) // _TENTH)
        yield "a tenth more", literal.span, replace(literal, value=value + by)
        yield "a tenth less", literal.span, replace(literal, value=value - by)
    else:
        by_part = value / _TENTH
        yield "a tenth more", literal.span, replace(literal, value=value + by_part)
        yield "a tenth less", literal.span, replace(literal, value=value - by_part)


# -- parts -------------------------------------------------------------------------------------------------------------


def _with(workflow: tree.Workflow, clauses: str, index: int, clause: Any, what: str, span: Span) -> Mutant:
    part: dict[str, Any] = {clauses: _put(getattr(workflow, clauses), index, clause)}
    changed = replace(workflow, **part)
    return Mutant(what, span, changed)


def _put(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _without(items: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*items[:index], *items[index + 1 :])
