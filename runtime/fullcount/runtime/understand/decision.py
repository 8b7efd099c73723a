"""What a rule decides of one object, part by part, and the one verdict that follows.

The parts are those of a plan, in its order: the scope of the inventory, the rule, the protections, the exemption lists,
the conditions that keep, the floors, and whether the act has a call for the object. `verdict_of` is the plan's own
order of precedence (`plan/evaluate.py`, and `plan/build.py` for calls); a property test keeps the two equal. Nothing
unknown ever selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.values import Row, Truth
from fullcount.runtime.understand.floor import floors_keep
from fullcount.runtime.understand.trace import Node, Surroundings, junction, trace


class Verdict(StrEnum):
    """What becomes of an object."""

    CANDIDATE = "candidate"
    KEPT = "kept"
    UNDECIDED = "undecided"
    OUTSIDE = "outside"
    """Not in the scope of its inventory, so no object of the plan at all."""


class Because(StrEnum):
    """Which part of the rule decided."""

    SCOPE = "scope"
    RULE = "rule"
    PROTECTED = "protected"
    LISTED = "listed"
    EXCEPTED = "excepted"
    FLOOR = "floor"
    UNKNOWN = "unknown"
    PERHAPS_PROTECTED = "perhaps protected"
    PERHAPS_EXCEPTED = "perhaps excepted"
    PERHAPS_FLOOR = "perhaps floor"
    NO_CALL = "no call"
    SELECTED = "selected"
    OTHERWISE = "otherwise"
    """The plan keeps it for a reason that is none of these; the plan's own words stand beside it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The truths that decide, one for each part of the rule."""

    in_scope: Truth
    rule: Truth
    protected: Truth
    listed: bool
    excepted: Truth
    floor: Truth
    callable: bool


def verdict_of(parts: Parts) -> tuple[Verdict, Because]:
    """Return the verdict and the part that decided it."""
    if parts.in_scope is False:
        return Verdict.OUTSIDE, Because.SCOPE
    if parts.rule is False:
        return Verdict.KEPT, Because.RULE
    if parts.protected is True:
        return Verdict.KEPT, Because.PROTECTED
    if parts.listed:
        return Verdict.KEPT, Because.LISTED
    if parts.excepted is True:
        return Verdict.KEPT, Because.EXCEPTED
    if parts.floor is True:
        return Verdict.KEPT, Because.FLOOR
    if parts.in_scope is None or parts.rule is None:
        return Verdict.UNDECIDED, Because.UNKNOWN
    if parts.protected is None:
        return Verdict.KEPT, Because.PERHAPS_PROTECTED
    if parts.excepted is None:
        return Verdict.KEPT, Because.PERHAPS_EXCEPTED
    if parts.floor is None:
        return Verdict.KEPT, Because.PERHAPS_FLOOR
    return (Verdict.CANDIDATE, Because.SELECTED) if parts.callable else (Verdict.UNDECIDED, Because.NO_CALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides about the objects of one proposal. `arguments` are what the act needs a value of, by name."""

    inventory: str
    row: str
    scope: ir.Expr
    where: ir.Expr
    protections: tuple[ir.Expr, ...]
    excepts: tuple[ir.Expr, ...]
    keeps: tuple[program.Keep, ...]
    arguments: tuple[tuple[str, ir.Expr], ...]

    @property
    def expressions(self) -> tuple[ir.Expr, ...]:
        """Everything that is evaluated."""
        floors = (part for keep in self.keeps for part in (keep.per, keep.by) if part is not None)
        given = (value for _, value in self.arguments)
        return (self.scope, self.where, *self.protections, *self.excepts, *floors, *given)


def rule_of(workflow: program.Workflow, proposal: program.Proposal, step: str | None = None) -> Rule:
    """Return what decides about the objects of a proposal; `step`: the one that is due for the object in question.

    In a graduated act, which value the act needs depends on the step; without one it needs none.
    """
    scope = workflow.inventories[proposal.inventory].scope
    act = next((act for act in workflow.acts if act.proposal == proposal.name), None)
    call = None if act is None else act.calls.get(step)
    given = () if call is None else tuple(call.arguments.items())
    return Rule(
        inventory=proposal.inventory,
        row=proposal.row,
        scope=ir.TRUE if scope is None else scope,
        where=proposal.where,
        protections=tuple(each.condition for each in proposal.protections),
        excepts=proposal.exemptions,
        keeps=proposal.keeps,
        arguments=tuple((name, value) for name, value in given if not facts.is_constant(value)),
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict over one object with the trace of every part of the rule."""

    verdict: Verdict
    because: Because
    scope: Node
    rule: Node
    protections: tuple[Node, ...]
    excepts: tuple[Node, ...]
    floor: Truth
    """Whether a floor keeps it; its place among the others is no part of a trace."""
    arguments: tuple[tuple[str, Node], ...]
    """For each argument of the act, whether it has a value; such a test is never part of the rule itself."""
    listed: bool

    @property
    def parts(self) -> Parts:
        """The truths that decide."""
        return Parts(
            in_scope=self.scope.truth,
            rule=self.rule.truth,
            protected=_any([node.truth for node in self.protections]),
            listed=self.listed,
            excepted=_any([node.truth for node in self.excepts]),
            floor=self.floor,
            callable=all(node.truth is True for _, node in self.arguments),
        )

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The traces of what decides, without the arguments of the act."""
        return (self.scope, self.rule, *self.protections, *self.excepts)


def _any(answers: Sequence[Truth]) -> Truth:
    """Return Kleene's disjunction: one true condition keeps an object."""
    return junction(answers, decisive=True)


def decided(rule: Rule, row: Row, around: Surroundings, *, listed: bool = False) -> tuple[Verdict, Because]:
    """Return the verdict over one object without a trace."""
    own, bindings, world = {rule.row: row}, around.bindings, around.world

    def ask(expr: ir.Expr) -> Truth:
        return compile_truth(expr, bindings)(own, world)

    return verdict_of(
        Parts(
            in_scope=compile_truth(rule.scope, bindings)({ir.SELF: row}, world),
            rule=ask(rule.where),
            protected=_any([ask(condition) for condition in rule.protections]),
            listed=listed,
            excepted=_any([ask(condition) for condition in rule.excepts]),
            floor=_floor(rule, row, around),
            # one argument without a value leaves the act no call
            callable=all(ask(ir.IsState(value, "present")) is True for _, value in rule.arguments),
        )
    )


def decide(rule: Rule, row: Row, around: Surroundings, *, listed: bool = False) -> Decision:
    """Trace every part of the rule for one object and return what follows."""
    own = {rule.row: row}
    found = Decision(
        verdict=Verdict.UNDECIDED,
        because=Because.UNKNOWN,
        scope=trace(rule.scope, {ir.SELF: row}, around),
        rule=trace(rule.where, own, around),
        protections=tuple(trace(condition, own, around) for condition in rule.protections),
        excepts=tuple(trace(condition, own, around) for condition in rule.excepts),
        floor=_floor(rule, row, around),
        arguments=tuple((name, trace(ir.IsState(value, "present"), own, around)) for name, value in rule.arguments),
        listed=listed,
    )
    verdict, because = verdict_of(found.parts)
    return replace(found, verdict=verdict, because=because)


def _floor(rule: Rule, row: Row, around: Surroundings) -> Truth:
    return floors_keep(rule.keeps, rule.inventory, rule.row, rule.scope, row, around)
