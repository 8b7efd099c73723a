"""The part of a workflow's graph that one proposal walks, and the shorter one of an undo."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from fullcount.compiler import program
from fullcount.compiler.edges import Approved, QuorumModel
from fullcount.compiler.graph import build_graph, requirement_of, stage_of
from fullcount.dsl.source import Source


def graph_of(
    workflow: program.Workflow, proposal: program.Proposal, sources: Mapping[str, Source] | None = None
) -> nx.DiGraph[str]:
    """Return the part of a workflow's graph that leads to one proposal and its act."""
    graph = build_graph(workflow, sources)
    last = f"act:{proposal.name}" if f"act:{proposal.name}" in graph else f"propose:{proposal.name}"
    part: nx.DiGraph[str] = graph.subgraph({last, *nx.ancestors(graph, last)}).copy()
    return part


def undo_graph_of(graph: nx.DiGraph[str], declared: program.Approval) -> nx.DiGraph[str]:
    """Return the part of a proposal's graph that an undo walks: it rests on its plan and on who approves an undo.

    `declared`: that approval.
    """
    whole = {node: stage_of(graph, node).kind for node in graph}
    part: nx.DiGraph[str] = graph.subgraph(
        node for node, kind in whole.items() if kind in {"propose", "approve", "act"}
    ).copy()
    for tail, head in part.edges:
        if isinstance(requirement_of(part, tail, head), Approved):
            part.edges[tail, head]["requirement"] = Approved(
                proposal=declared.proposal,
                quorums=tuple(
                    QuorumModel(count=q.count, role=q.role, not_by_author=q.not_by_author) for q in declared.quorums
                ),
                expires=declared.expires,
            )
    return part


def proposal_of(workflow: program.Workflow, name: str) -> program.Proposal:
    """Return a proposal by name. Raises KeyError."""
    return {proposal.name: proposal for proposal in workflow.proposals}[name]
