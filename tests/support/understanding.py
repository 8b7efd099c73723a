"""Traces over worlds in memory: the surroundings of a generated case, and what its plan would say of each object."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.snapshots import HeldWorld
from tests.support.worlds import BINDINGS, ROW_ID, Case, Rule, View

from fullcount.compiler.values import Row
from fullcount.runtime.understand import decision
from fullcount.runtime.understand.trace import Node, Surroundings


def surroundings(rule: Rule, view: View) -> Surroundings:
    """What a trace may look at over the rows of a view."""
    sizes = {name: len(related.rows) for name, related in view.items()}
    return Surroundings(HeldWorld(view), BINDINGS, rule.workflow.inventories, sizes)


def decisions(case: Case) -> Iterator[tuple[Row, decision.Rule, decision.Decision, Surroundings]]:
    """Each base object of a case's view with its traced decision."""
    around = surroundings(case.rule, case.view)
    rule = decision.rule_of(case.rule.workflow, case.rule.proposal)
    for row in case.view[case.rule.proposal.inventory].rows:
        yield row, rule, decision.decide(rule, row, around), around


def row_id(row: Row) -> int:
    """The number of a row of a generated world."""
    return row[ROW_ID].value


def nodes(node: Node) -> Iterator[Node]:
    """A node and all under it, those of the rows that were looked at as well."""
    yield node
    for part in node.parts:
        yield from nodes(part)
    for look in node.looks:
        for seen in look.rows:
            yield from nodes(seen.node)
