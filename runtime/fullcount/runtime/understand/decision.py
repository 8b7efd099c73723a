"""What a rule decides of one object, part by part, and the one verdict that follows.

The parts are those of a plan, in its order: the scope of the inventory, the rule, the exemption lists, the conditions
that keep, and whether the act has a call for the object. `verdict_of` is the plan's own order of precedence
(`plan/evaluate.py`, and `plan/build.py` for calls); a property test keeps the two equal. Nothing unknown ever selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.values import Row, Truth
from fullcount.runtime.understand.trace import Node, Surroundings, trace


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
    LISTED = "listed"
    EXCEPTED = "excepted"
    UNKNOWN = "unknown"
    PERHAPS_EXCEPTED = "perhaps excepted"
    NO_CALL = "no call"
    SELECTED = "selected"
    OTHERWISE = "otherwise"
    """The plan keeps it for a reason that is none of these; the plan's own words stand beside it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The truths that decide, one for each part of the rule."""

    in_scope: Truth
    rule: Truth
    listed: bool
    excepted: Truth
    callable: bool


def verdict_of(parts: Parts) -> tuple[Verdict, Because]:
    """Return the verdict and the part that decided it."""
    if parts.in_scope is False:
        return Verdict.OUTSIDE, Because.SCOPE
    if parts.rule is False:
        return Verdict.KEPT, Because.RULE
    if parts.listed:
        return Verdict.KEPT, Because.LISTED
    if parts.excepted is True:
        return Verdict.KEPT, Because.EXCEPTED
    if parts.in_scope is None or parts.rule is None:
        return Verdict.UNDECIDED, Because.UNKNOWN
    if parts.excepted is None:
        return Verdict.KEPT, Because.PERHAPS_EXCEPTED
    return (Verdict.CANDIDATE, Because.SELECTED) if parts.callable else (Verdict.UNDECIDED, Because.NO_CALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides about the objects of one proposal. `arguments` are what the act needs a value of, by name."""

    inventory: str
    row: str
    scope: ir.Expr
    where: ir.Expr
    excepts: tuple[ir.Expr, ...]
    arguments: tuple[tuple[str, ir.Expr], ...]

    @property
    def expressions(self) -> tuple[ir.Expr, ...]:
        """Everything that is evaluated."""
        return (self.scope, self.where, *self.excepts, *(value for _, value in self.arguments))


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
        excepts=tuple(e.condition for e in proposal.excepts if e.condition is not None),
        arguments=tuple((name, value) for name, value in given if not facts.is_constant(value)),
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict over one object with the trace of every part of the rule."""

    verdict: Verdict
    because: Because
    scope: Node
    rule: Node
    excepts: tuple[Node, ...]
    arguments: tuple[tuple[str, Node], ...]
    """For each argument of the act, whether it has a value; such a test is never part of the rule itself."""
    listed: bool

    @property
    def parts(self) -> Parts:
        """The truths that decide."""
        return parts_of(
            self.scope.truth,
            self.rule.truth,
            [node.truth for node in self.excepts],
            [node.truth for _, node in self.arguments],
            listed=self.listed,
        )


def parts_of(
    in_scope: Truth, rule: Truth, excepts: Sequence[Truth], present: Sequence[Truth], *, listed: bool
) -> Parts:
    """Return the parts: one true condition keeps an object, and one argument without a value leaves it no call."""
    excepted: Truth = True if True in excepts else None if None in excepts else False
    return Parts(in_scope, rule, listed, excepted, all(answer is True for answer in present))


def decided(rule: Rule, row: Row, around: Surroundings, *, listed: bool = False) -> tuple[Verdict, Because]:
    """Return the verdict over one object without a trace."""
    own, bindings, world = {rule.row: row}, around.bindings, around.world

    def ask(expr: ir.Expr) -> Truth:
        return compile_truth(expr, bindings)(own, world)

    parts = parts_of(
        compile_truth(rule.scope, bindings)({ir.SELF: row}, world),
        ask(rule.where),
        [ask(condition) for condition in rule.excepts],
        [ask(ir.IsState(value, "present")) for _, value in rule.arguments],
        listed=listed,
    )
    return verdict_of(parts)


def decide(rule: Rule, row: Row, around: Surroundings, *, listed: bool = False) -> Decision:
    """Trace every part of the rule for one object and return what follows."""
    own = {rule.row: row}
    scope = trace(rule.scope, {ir.SELF: row}, around)
    where = trace(rule.where, own, around)
    excepts = tuple(trace(condition, own, around) for condition in rule.excepts)
    arguments = tuple((name, trace(ir.IsState(value, "present"), own, around)) for name, value in rule.arguments)
    parts = parts_of(
        scope.truth, where.truth, [n.truth for n in excepts], [n.truth for _, n in arguments], listed=listed
    )
    verdict, because = verdict_of(parts)
    return Decision(verdict, because, scope, where, excepts, arguments, listed)
