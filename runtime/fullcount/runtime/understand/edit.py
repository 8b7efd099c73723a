"""Whether an edit of a proposal can only shrink what it selects, whatever is read: a proof by shape, or no answer.

Guarantees: `can only shrink` means that for every reading of the inventories, complete or not, and for every value of
every parameter, the proposal after the edit selects nothing that the one before would not have selected. It looks at
everything that decides: scopes, the rule, what keeps, what `verify` and `expect` refuse, caps, and the values that the
act needs. What it does not know, and what it can't prove, makes the answer `unknown`; it never looks at data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from itertools import product
from typing import Any, Final, get_args

from fullcount.compiler import claims, ir, program
from fullcount.compiler.assumptions import BASE, Assumption, assumptions, lifted
from fullcount.compiler.edges import claim_model
from fullcount.compiler.implication import implies
from fullcount.compiler.lower import facts
from fullcount.compiler.normal import normal
from fullcount.compiler.promises import covered
from fullcount.compiler.values import Value
from fullcount.compiler.walk import rename_row
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.plan.thresholds import rewritten

_CASES: Final = 6
"""How many parameters with another default are told apart; with more there is no answer."""

_UNDERSTOOD: Final[Mapping[type[Any], frozenset[str]]] = {
    program.Workflow: frozenset(
        {"name", "describe", "owner", "schedule", "params", "inventories", "verifies", "proposals", "approvals", "acts",
         "notifies"}
    ),
    program.Proposal: frozenset(
        {
            "name", "inventory", "row", "where", "excepts", "limit", "show", "uses", "where_text", "span",
            "protections", "keeps", "bounded", "picks", "expects",
        }
    ),
    program.Inventory: frozenset(
        {
            "name", "source", "resource", "key", "incarnation", "version", "fields", "scope", "deadline", "expects",
            "consistency", "lookup_fields", "span", "across", "normalized",
        }
    ),
    program.Exemption: frozenset({"list_name", "condition"}),
}  # fmt: skip
"""The parts of a program that this proof was written for; a test holds that there are no others."""


class Answer(StrEnum):
    """What an edit can do to the selection."""

    SHRINKS = "can only shrink"
    GROWS = "can only grow"
    SAME = "selects the same"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Edit:
    """The answer; what stands in the way of a proof that it can only shrink, and that it can only grow."""

    answer: Answer
    not_shrinking: tuple[str, ...]
    not_growing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two proposals, in its workflow."""

    workflow: program.Workflow
    proposal: program.Proposal

    @property
    def inventory(self) -> program.Inventory:
        """The inventory that it selects from."""
        return self.workflow.inventories[self.proposal.inventory]

    def conditions(self) -> Iterator[ir.Expr]:
        """Yield what must all be true of a selected object, over the row `ir.SELF`."""
        own = {self.proposal.row: ir.SELF}
        if self.inventory.scope is not None:
            yield from map(normal, facts.conjuncts(self.inventory.scope))
        for part in facts.conjuncts(self.proposal.where):
            yield normal(part, own)
        for exemption in self.proposal.excepts:
            if exemption.condition is not None:
                yield normal(ir.Not(exemption.condition), own)
        for protection in self.proposal.protections:
            yield normal(ir.Not(protection.condition), own)

    def written(self) -> Iterator[str]:
        """Yield the same conditions in words, in the same order."""
        if self.inventory.scope is not None:
            for part in facts.conjuncts(self.inventory.scope):
                yield f"the scope `{phrase(part)}`"
        for part in facts.conjuncts(self.proposal.where):
            yield f"`{phrase(part)}`"
        for exemption in self.proposal.excepts:
            if exemption.condition is not None:
                yield f"`except when {phrase(exemption.condition)}`"
        for protection in self.proposal.protections:
            yield f"the protection `{protection.name}`"

    def without_picks(self) -> Side:
        """Return the side as it is before any pick."""
        return replace(self, proposal=replace(self.proposal, picks=()))

    def lists(self) -> frozenset[str]:
        """Return the exemption lists that keep objects."""
        return frozenset(e.list_name for e in self.proposal.excepts if e.list_name is not None)

    def arguments(self) -> list[ir.Expr]:
        """Return what the act needs a value of."""
        act = next((act for act in self.workflow.acts if act.proposal == self.proposal.name), None)
        given = [] if act is None else [value for call in act.calls.values() for value in call.arguments.values()]
        return [normal(e, {self.proposal.row: ir.SELF}) for e in given if not facts.is_constant(e)]

    def steps(self) -> tuple[tuple[str, int], ...]:
        """Return the steps of a graduated act with their clocks: they decide which objects are due."""
        act = next((act for act in self.workflow.acts if act.proposal == self.proposal.name), None)
        return () if act is None else tuple((step.label, step.after) for step in act.steps)

    def along(self) -> tuple[frozenset[str | None], frozenset[tuple[str, str, str]]]:
        """Return where what goes with an object may go, and with which deletions: they decide what is undecided."""
        act = next((act for act in self.workflow.acts if act.proposal == self.proposal.name), None)
        if act is None:
            return frozenset(), frozenset()
        return act.cascading, frozenset(call.address for call in act.calls.values() if call.deletes)

    def read(self) -> tuple[str, ...]:
        """Return the inventories that decide, its own first."""
        named = {name for expr in self.conditions() for name in facts.fields_read(expr)}
        return (self.proposal.inventory, *sorted(named - {self.proposal.inventory}))


def judge_edit(before: Side, after: Side) -> Edit:
    """Return what the edit from one proposal to the other can do to the selection."""
    not_shrinking = tuple(obstacles(before, after, "the new version"))
    not_growing = tuple(obstacles(after, before, "the old version"))
    match len(not_shrinking) == 0, len(not_growing) == 0:
        case True, True:
            answer = Answer.SAME
        case True, False:
            answer = Answer.SHRINKS
        case False, True:
            answer = Answer.GROWS
        case _:
            answer = Answer.UNKNOWN
    return Edit(answer, not_shrinking, not_growing)


def obstacles(wide: Side, narrow: Side, called: str) -> Iterator[str]:
    """Yield what stands in the way of a proof that `narrow` selects nothing that `wide` does not; nothing: proven.

    `called` is what `narrow` is called in words.
    """
    foreign = [*_not_understood(wide), *_not_understood(narrow)]
    if len(foreign) > 0:
        yield from dict.fromkeys(foreign)
        return
    yield from _other_collection(wide, narrow)
    yield from _conditions(wide, narrow, called)
    for name in sorted(wide.lists() - narrow.lists()):
        yield f"the list `{name}` keeps objects on one side only"
    yield from _floors(wide, narrow)
    yield from _picks(wide, narrow, called)
    yield from _limits(wide.proposal.limit, narrow.proposal.limit)
    if wide.steps() != narrow.steps():
        yield "the steps of the act differ, and with them which objects are due"
    if wide.along() != narrow.along():
        yield "what goes with an object is allowed, or deleted, on one side only"
    yield from _assumed(wide, narrow)
    for name in wide.read():
        yield from _verified(name, wide.workflow, narrow.workflow)
    needed = [_closed(expr, narrow.workflow) for expr in narrow.arguments()]
    for expr in wide.arguments():
        if _closed(expr, wide.workflow) not in needed:
            yield f"an object without a value of `{phrase(expr)}` has a call of the act on one side only"


def _not_understood(side: Side) -> Iterator[str]:
    """Yield parts of a program that came after this proof; they could do anything to a selection."""
    parts: list[program.Workflow | program.Proposal | program.Inventory | program.Exemption] = [
        side.workflow, side.proposal, *side.workflow.inventories.values(), *side.proposal.excepts,
    ]  # fmt: skip
    for part in parts:
        for field in fields(part):
            if field.name not in _UNDERSTOOD[type(part)] and not _unset(getattr(part, field.name)):
                yield f"`{field.name.replace('_', ' ')}` is not compared"
    understood = frozenset(get_args(ir.Expr))
    for expr in side.conditions():
        for node in facts.walk(expr):
            if type(node) not in understood:
                yield f"`{type(node).__name__}` is not compared"


def _unset(value: object) -> bool:
    return value is None or value in ((), {}, frozenset())


def _other_collection(wide: Side, narrow: Side) -> Iterator[str]:
    if _question(wide.inventory) != _question(narrow.inventory):
        yield f"`{wide.inventory.name}` and `{narrow.inventory.name}` are different collections"
    for name in sorted({*wide.read(), *narrow.read()}):
        one, other = wide.workflow.inventories.get(name), narrow.workflow.inventories.get(name)
        if one is not None and other is not None and _question(one) != _question(other):
            yield f"`{name}` is another collection on the other side"
    for name in sorted(_naming(wide.workflow, wide.read()) | _naming(narrow.workflow, narrow.read())):
        one, other = wide.workflow.inventories.get(name), narrow.workflow.inventories.get(name)
        if one is None or other is None or not _same_rows(one, other):
            yield f"`{name}`, which names the parts that are read, is another collection on the other side"


def _question(inventory: program.Inventory) -> tuple[object, ...]:
    normalized = tuple(sorted(inventory.normalized.items()))
    return inventory.source, inventory.resource, inventory.key, inventory.across, normalized


def _naming(workflow: program.Workflow, names: Iterable[str]) -> frozenset[str]:
    """Return the inventories that name the parts of these, and of each other."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        inventory = workflow.inventories.get(waiting.pop())
        for across in () if inventory is None else inventory.across:
            if across.inventory is not None and across.inventory not in found:
                found.add(across.inventory)
                waiting.append(across.inventory)
    return frozenset(found)


def _same_rows(one: program.Inventory, other: program.Inventory) -> bool:
    """Whether two inventories have the very same rows, whatever the parameters are."""
    scope = () if one.scope is None else facts.walk(one.scope)
    fixed = not any(isinstance(node, ir.Param) for node in scope)
    return _question(one) == _question(other) and one.scope == other.scope and fixed


# -- conditions --------------------------------------------------------------------------------------------------------


def _conditions(wide: Side, narrow: Side, called: str) -> Iterator[str]:
    """Yield the conditions of `wide` that nothing in `narrow` makes sure of, for some values of the parameters."""
    cases = _parameter_cases(wide.workflow, narrow.workflow)
    if cases is None:
        yield "too many parameters have another default to compare them one by one"
        return
    held = list(narrow.conditions())
    for condition, words in zip(wide.conditions(), wide.written(), strict=True):
        for of_wide, of_narrow in cases:
            premise = ir.And(tuple(bound(part, of_narrow) for part in held))
            if not implies(premise, bound(condition, of_wide)):
                yield f"nothing in {called} makes sure of {words}"
                break


_Values = dict[str, ir.Const]


def _parameter_cases(wide: program.Workflow, narrow: program.Workflow) -> list[tuple[_Values, _Values]] | None:
    """Return the ways in which parameters get their values: given, the same for both sides, or each side's default.

    A parameter that is given is left open, so that a proof holds for any value. One that only one side has is left open
    as well.
    """
    own = {param.name: param for param in wide.params}
    differing = [
        (own[param.name], param)
        for param in narrow.params
        if param.name in own and own[param.name].type == param.type and own[param.name].default != param.default
    ]
    with_defaults = [pair for pair in differing if pair[0].default is not None and pair[1].default is not None]
    if len(with_defaults) > _CASES:
        return None
    cases = []
    for given in product((True, False), repeat=len(with_defaults)):
        left_out = [pair for pair, is_given in zip(with_defaults, given, strict=True) if not is_given]
        cases.append((_defaults([a for a, _ in left_out]), _defaults([b for _, b in left_out])))
    return cases


def _defaults(params: Sequence[program.Param]) -> _Values:
    return {param.name: ir.Const(param.default, param.type) for param in params if param.default is not None}


def bound(expr: ir.Expr, values: Mapping[str, ir.Const]) -> ir.Expr:
    """Return the expression with some parameters replaced by constants."""
    return rewritten(expr, lambda node: values.get(node.name, node) if isinstance(node, ir.Param) else node)


def constants(params: Mapping[str, Value], declared: Sequence[program.Param]) -> dict[str, ir.Const]:
    """Return the values of parameters as constants; lists are left open."""
    return {
        param.name: ir.Const(params[param.name], param.type)
        for param in declared
        if param.name in params and not isinstance(params[param.name], tuple | dict)
    }


# -- floors ------------------------------------------------------------------------------------------------------------


def _picks(wide: Side, narrow: Side, called: str) -> Iterator[str]:
    """Yield what stands in the way where a pick takes only some: a smaller choice is another choice.

    A pick more only takes away. The picks of `wide` take the same only of the very same objects.
    """
    theirs, ours = _ranked(wide), _ranked(narrow)
    if len(theirs) == 0:
        return
    if ours[: len(theirs)] != theirs:
        yield "`pick` takes other objects on the other side"
        return
    plain_wide, plain_narrow = wide.without_picks(), narrow.without_picks()
    if len([*_conditions(plain_narrow, plain_wide, called), *_floors(plain_narrow, plain_wide)]) > 0 or (
        wide.lists() != narrow.lists()
    ):
        yield "what a `pick` takes depends on every object that is selected before it, and these are others"


def _ranked(side: Side) -> list[tuple[object, ...]]:
    """Return the picks by what they mean."""
    own = {side.proposal.row: ir.SELF}
    return [
        (
            pick.count,
            pick.percent,
            pick.at_most,
            pick.order,
            pick.seed,
            None if pick.per is None else _closed(normal(pick.per, own), side.workflow),
            None if pick.by is None else _closed(normal(pick.by, own), side.workflow),
        )
        for pick in side.proposal.picks
    ]


def _floors(wide: Side, narrow: Side) -> Iterator[str]:
    """Yield the floors of `wide` that no floor of `narrow` contains: the same order over the same population."""
    same_scope = _scope(wide.inventory, wide.workflow) == _scope(narrow.inventory, narrow.workflow)
    held = [(_order(keep, narrow), keep.count) for keep in narrow.proposal.keeps]
    for keep in wide.proposal.keeps:
        wanted = _order(keep, wide)
        if not same_scope or not any(order == wanted and count >= keep.count for order, count in held):
            yield f"`keep at least {keep.count}` keeps objects on one side only"


def _order(keep: program.Keep, side: Side) -> tuple[object, ...]:
    parts = (None if each is None else normal(each, {side.proposal.row: ir.SELF}) for each in (keep.per, keep.by))
    return keep.order, *(None if each is None else _closed(each, side.workflow) for each in parts)


# -- what is taken for granted -----------------------------------------------------------------------------------------


def _assumed(wide: Side, narrow: Side) -> Iterator[str]:
    """Yield what `narrow` expects of nobody and `wide` takes for granted: there `wide` would have no plan.

    What follows from the rules themselves is not compared: where the data does not bear it out, there is no plan to
    compare with.
    """
    excused = lifted(narrow.proposal) - lifted(wide.proposal)
    for each in _taken(wide):
        if each.said in excused:
            written = phrase(rename_row(each.sentence.where, BASE, wide.proposal.row))
            yield f"`expect no {each.sentence.inventory} … where ({written})` excuses a refusal on one side only"


def _taken(side: Side) -> tuple[Assumption, ...]:
    act = next((act for act in side.workflow.acts if act.proposal == side.proposal.name), None)
    return assumptions(side.proposal, act)


# -- caps and evidence -------------------------------------------------------------------------------------------------


def _limits(wide: program.Limit | None, narrow: program.Limit | None) -> Iterator[str]:
    if wide is None:
        return
    count, percent = (None, None) if narrow is None else (narrow.count, narrow.percent)
    if wide.count is not None and (count is None or count > wide.count):
        yield f"`limit {wide.count}` caps one side only" if count is None else f"`limit` is {count}, not {wide.count}"
    if wide.percent is not None and (percent is None or percent > wide.percent):
        said = "no percentage" if percent is None else f"{_plain(percent)}%"
        yield f"`limit` has {said}, not {_plain(wide.percent)}%"


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _verified(name: str, wide: program.Workflow, narrow: program.Workflow) -> Iterator[str]:
    """Yield the ways in which `wide` would refuse a reading that `narrow` takes."""
    one, other = wide.inventories[name], narrow.inventories.get(name)
    if other is None:
        yield f"`{name}` is read on one side only, and a reading that is refused selects nothing"
        return
    promised = narrow.verifies.get(name, ())
    same_scope = _scope(one, wide) == _scope(other, narrow)
    for claim in wide.verifies.get(name, ()):
        if not _at_least(claim, promised, same_scope=same_scope):
            yield f"`verify {name}` with `{claim_model(claim).text()}` refuses readings on one side only"
    seen = [_closed(normal(expr), narrow) for expr in other.expects]
    if any(_closed(normal(expr), wide) not in seen for expr in one.expects):
        yield f"an `expect` of `{name}` refuses readings on one side only"


def _scope(inventory: program.Inventory, workflow: program.Workflow) -> object:
    return None if inventory.scope is None else _closed(normal(inventory.scope), workflow)


def _closed(expr: ir.Expr, workflow: program.Workflow) -> object:
    """Return an expression with the defaults of its parameters: equal ones mean the same, whatever is given."""
    named = {node.name for node in facts.walk(expr) if isinstance(node, ir.Param)}
    return expr, {param.name: param.default for param in workflow.params if param.name in named}


def _at_least(claim: claims.Claim, promised: Sequence[claims.Claim], *, same_scope: bool) -> bool:
    """Whether some promised claim refuses every reading that `claim` refuses."""
    match claim:
        case claims.Fresh(max_age=int(age)):
            return any(isinstance(p, claims.Fresh) and p.max_age is not None and p.max_age <= age for p in promised)
        case claims.Rows(minimum=minimum):
            return same_scope and any(isinstance(p, claims.Rows) and p.minimum >= minimum for p in promised)
        case claims.Change(percent=percent):
            return same_scope and any(isinstance(p, claims.Change) and p.percent <= percent for p in promised)
        case claims.Agrees():
            return same_scope and claim in promised
        case _:
            return covered(claim, tuple(promised))
