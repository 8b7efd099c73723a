"""What the tests of a workflow have seen of it: each branch of its rule, and everything that keeps or refuses.

An atom is a part of a rule that is not `and`, `or` or `not`. In three-valued logic it has three branches, and the third
is the one that is forgotten: seen true, seen false, seen unknown. What is counted is what the tests' own evidence shows
when the rule is traced over it; no test is needed to pass for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Agrees, Change, Claim, Complete, Fresh, Rows, Snapshot, Visible
from fullcount.compiler.lower import facts
from fullcount.compiler.values import Cell, FieldState, Row, Truth
from fullcount.dsl import tree
from fullcount.dsl.source import Span
from fullcount.runtime.evidence.judge import Held, Measured, judge
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.trials.rehearse import Came
from fullcount.runtime.understand.held import Held as Evidence
from fullcount.runtime.understand.held import held_of_plan, rows_of, surroundings
from fullcount.runtime.understand.trace import Node, Surroundings, trace

_BY_KIND: Final[dict[str, tuple[type[Claim], ...]]] = {
    "complete": (Complete, Snapshot, Visible),
    "fresh": (Fresh,),
    "snapshot": (Snapshot,),
    "visibility": (Visible,),
    "rows": (Rows,),
    "change": (Change,),
    "count": (Agrees,),
}


@dataclass(slots=True)
class Part:
    """One thing that tests should have seen. `wanted` are its branches by name, `seen` how often each was.

    `span` is None for what stands in another file than the workflow's.
    """

    kind: str
    text: str
    span: Span | None
    wanted: tuple[str, ...]
    seen: dict[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The branches that no test has seen."""
        return tuple(name for name in self.wanted if self.seen.get(name, 0) == 0)

    def saw(self, name: str) -> None:
        """Count one more."""
        self.seen[name] = self.seen.get(name, 0) + 1


_TRACED: Final = 500
"""Of how many objects of one test the rule is traced at most; those that are made up are all alike."""
_TRUTHS: Final[dict[Truth, str]] = {True: "true", False: "false", None: "unknown"}


class Coverage:
    """What the tests of one workflow have seen of it."""

    def __init__(self, decl: tree.Workflow, workflow: program.Workflow) -> None:
        self._decl = decl
        self._workflow = workflow
        self._atoms: dict[Span, Part] = {}
        self._uses: dict[tuple[str, str, int], Part] = {}
        self._claims: dict[tuple[str, str], Part] = {}
        for proposal in workflow.proposals:
            base = workflow.inventories[proposal.inventory]
            for where in (*(() if base.scope is None else (base.scope,)), proposal.where):
                for atom in atoms(where):
                    wanted = tuple(each for each in _TRUTHS.values() if each not in _impossible(atom, workflow))
                    self._atoms.setdefault(atom.span, Part("rule", phrase(atom), atom.span, wanted))
            self._expect_uses(proposal)
        for verify in decl.verifies:
            for claim in verify.claims:
                text = f"verify {verify.inventory.text}: {claim.kind}"
                part = Part("claim", text, claim.span, ("refused",))
                self._claims.setdefault((verify.inventory.text, claim.kind), part)

    @property
    def parts(self) -> Sequence[Part]:
        """Everything, in the order of the file; what stands elsewhere last."""
        everything = [*self._atoms.values(), *self._uses.values(), *self._claims.values()]
        return sorted(everything, key=self._place)

    def _place(self, part: Part) -> tuple[bool, int]:
        elsewhere = part.span is None or part.span.source != self._decl.span.source
        return elsewhere, 0 if part.span is None else part.span.start

    def saw(self, came: Came) -> None:
        """Look at what came of one test while its stage stands."""
        self._saw_claims(came)
        if came.planned is None:
            return
        proposal = came.proposal
        evidence = held_of_plan(came.planned, came.snapshots)
        base = came.workflow.inventories[proposal.inventory]
        scope = ir.TRUE if base.scope is None else base.scope
        conditions = [each.condition for each in proposal.excepts]
        deciding = [scope, proposal.where, *(each for each in conditions if each is not None)]
        around = surroundings(evidence, came.workflow, deciding)
        for row in _given(came, base):  # what is outside of the scope is not in the snapshot
            self._saw_tree(trace(scope, {ir.SELF: row}, around))
        for row in _rows(evidence, base):
            rule = trace(proposal.where, {proposal.row: row}, around)
            self._saw_tree(rule)
            if rule.truth is not False:
                self._saw_excepts(came, proposal, base, row, around)
        for number, floor in enumerate(came.planned.floors):
            if any(group.kept > 0 for group in floor.listed):
                self._uses[proposal.name, "keep", number].saw("used")
        for number, protection in enumerate(came.planned.protections):
            if protection.kept + protection.not_ruled_out > 0:
                self._uses[proposal.name, "protect", number].saw("used")

    # -- parts --------------------------------------------------------------------------------------------------------

    def _expect_uses(self, proposal: program.Proposal) -> None:
        written = next(each for each in self._decl.proposals if each.name.text == proposal.name)
        for number, (made, said) in enumerate(zip(proposal.excepts, written.excepts, strict=True)):
            text = f"except in {made.list_name}" if made.condition is None else f"except when {phrase(made.condition)}"
            self._uses[proposal.name, "except", number] = Part("exemption", text, said.span, ("used",))
        for number, keep in enumerate(proposal.keeps):
            self._uses[proposal.name, "keep", number] = Part("floor", keep.text, keep.span, ("used",))
        for number, protection in enumerate(proposal.protections):
            text = f"protect {protection.name}"
            self._uses[proposal.name, "protect", number] = Part("protection", text, protection.span, ("used",))

    def _saw_tree(self, node: Node) -> None:
        for expr, truth in _answers(node):
            part = self._atoms.get(expr.span)
            if part is not None:
                part.saw(_TRUTHS[truth])

    def _saw_excepts(
        self, came: Came, proposal: program.Proposal, base: program.Inventory, row: Row, around: Surroundings
    ) -> None:
        """Note what keeps an object that the rule does not let go by itself."""
        key = tuple(row[name].value for name in base.key)
        for number, exemption in enumerate(proposal.excepts):
            if exemption.condition is None:
                used = key in came.workspace.exempted(exemption.list_name or "")
            else:
                used = trace(exemption.condition, {proposal.row: row}, around).truth is not False
            if used:
                self._uses[proposal.name, "except", number].saw("used")

    def _saw_claims(self, came: Came) -> None:
        """Ask of each claim by itself whether it held, as the certificate did."""
        for name, envelope in came.envelopes.items():
            listing = came.trial.listings.get(name)
            if listing is None:
                continue
            for claim in came.workflow.verifies.get(name, ()):
                count = came.workspace.counted(claim) if isinstance(claim, Agrees) else None
                measured = Measured(
                    envelope=envelope,
                    at=came.planned_at,
                    previous_rows=listing.previous_rows,
                    agreed_count=count,
                )
                if isinstance(judge(claim, measured), Held):
                    continue
                for verify in self._decl.verifies:
                    for said in verify.claims:
                        if verify.inventory.text == name and isinstance(claim, _BY_KIND[said.kind]):
                            self._claims[name, said.kind].saw("refused")


def atoms(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the atoms of a rule, those of the conditions on other inventories after the use that holds them."""
    match expr:
        case ir.And(items=items) | ir.Or(items=items):
            for item in items:
                yield from atoms(item)
        case ir.Not(operand=operand):
            yield from atoms(operand)
        case ir.Const() | ir.Unknown():
            return
        case _:
            yield expr
            for use in _uses(expr):
                yield from atoms(use.where)


def _uses(expr: ir.Expr) -> Iterator[ir.Some | ir.Aggregate]:
    if isinstance(expr, ir.Some | ir.Aggregate):
        yield expr
        return
    for child in ir.children(expr):
        yield from _uses(child)


def _impossible(atom: ir.Expr, workflow: program.Workflow) -> tuple[str, ...]:
    """Return the branches that an atom can't have: `is known` is never false, and keys are never unknown."""
    if isinstance(atom, ir.IsState) and atom.state == "known":
        return ("false",)
    nodes = list(facts.walk(atom))
    keys = all(node.name in workflow.inventories[node.inventory].key for node in nodes if isinstance(node, ir.Field))
    return ("unknown",) if keys and not facts.is_relational(atom) else ()


def _answers(node: Node) -> Iterator[tuple[ir.Expr, Truth]]:
    """Yield the atoms in a trace with their truths, those behind looks into other inventories among them.

    A look asks for the rows that are equal in what the rule compares: of all the others the comparison is false.
    """
    if isinstance(node.expr, ir.And | ir.Or | ir.Not):
        for part in node.parts:
            yield from _answers(part)
        return
    yield node.expr, node.truth
    for look in node.looks:
        for seen in look.rows:
            yield from _answers(seen.node)
        if look.size is not None and look.size > look.returned:
            yield from (
                (part, False)
                for part in facts.conjuncts(look.use.where)
                if facts.equality(part, look.use.row) is not None
            )


def _given(came: Came, base: program.Inventory) -> Sequence[Row]:
    """Return what the test says of the objects of an inventory, in its scope or not."""
    listing = came.trial.listings[base.name]
    return (*listing.rows, *({**_unknown(base), **filler.cells} for filler in listing.more))


def _unknown(base: program.Inventory) -> Row:
    return dict.fromkeys(base.fields, Cell(FieldState.INDETERMINATE, None))


def _rows(evidence: Evidence, base: program.Inventory) -> Sequence[Row]:
    return rows_of(evidence, base, base.fields).related(()).rows[:_TRACED]
