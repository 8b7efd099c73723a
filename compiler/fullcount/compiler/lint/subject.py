"""What a lint rule looks at, and the ways in which several of them look at it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from fullcount.compiler import ir, program
from fullcount.compiler.environment import Context
from fullcount.compiler.names import Names
from fullcount.compiler.walk import nodes
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostic, Label, Severity
from fullcount.dsl.source import Span

_MANY = 40
"""Beyond this many parts, those of one junction are not compared with each other."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A workflow that checked, with its text and its names. `authors`: who is known to count as one of its authors."""

    workflow: program.Workflow
    decl: tree.Workflow
    context: Context
    authors: frozenset[str]

    @property
    def names(self) -> Names:
        """What the names of the workflow stand for."""
        return self.context.names

    def proposal_of(self, decl: tree.ProposeDecl) -> program.Proposal:
        """Return the checked proposal of a declaration."""
        return next(each for each in self.workflow.proposals if each.name == decl.name.text)

    def conditions(self) -> Iterator[ir.Expr]:
        """Yield every condition that was written: rules, exemptions, scopes and canaries."""
        for inventory in self.workflow.inventories.values():
            if inventory.scope is not None:
                yield inventory.scope
            yield from inventory.expects
        for proposal in self.workflow.proposals:
            yield proposal.where
            yield from proposal.exemptions

    def junctions(self) -> Iterator[ir.And | ir.Or]:
        """Yield every `and` and `or` that was written in these."""
        for condition in self.conditions():
            for node in nodes(condition):
                if isinstance(node, ir.And | ir.Or):
                    yield node

    def pairs(self, junction: ir.And | ir.Or) -> Iterator[tuple[ir.Expr, ir.Expr]]:
        """Yield every two parts of a junction that stand in it, each at a place of its own, in the order written."""
        parts = [part for part in junction.items if _within(part.span, junction.span)]
        if len(parts) > _MANY:
            return
        for one, other in combinations(sorted(parts, key=lambda part: part.span.start), 2):
            if one.span != other.span:  # the parts of a definition stand at its use
                yield one, other


def _within(inner: Span, outer: Span) -> bool:
    return inner.source == outer.source and outer.start <= inner.start and inner.end <= outer.end


def finding(
    code: str, message: str, span: Span, *, note: str = "", label: tuple[Span, str] | None = None, why: str, way: str
) -> Diagnostic:
    """Return a warning."""
    labels = () if label is None else (Label(*label),)
    return Diagnostic(code, message, span, Severity.WARNING, note, labels, why, way)
