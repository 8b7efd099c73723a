"""What every drawing of a graph says: the order of stages, their names, and the requirement on each edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler.edges import Evidence
from fullcount.compiler.graph import STAGE_KINDS, requirement_of, stage_of

if TYPE_CHECKING:
    import networkx as nx


def story_order(graph: nx.DiGraph[str]) -> list[str]:
    """Return the stages in the order of the story: what is read, verified, proposed, approved, done."""
    return sorted(graph.nodes, key=lambda node: (STAGE_KINDS.index(stage_of(graph, node).kind), node))


def edges_in_order(graph: nx.DiGraph[str]) -> list[tuple[str, str]]:
    """Return the edges by tail and head, in the order of the story."""
    order = {node: position for position, node in enumerate(story_order(graph))}
    return sorted(graph.edges, key=lambda edge: (order[edge[0]], order[edge[1]]))


def stage_text(graph: nx.DiGraph[str], node: str) -> str:
    """Return what a stage is called."""
    stage = stage_of(graph, node)
    return f"{stage.kind} {stage.name}" if stage.detail == "" else f"{stage.kind} {stage.name}: {stage.detail}"


def edge_text(graph: nx.DiGraph[str], tail: str, head: str) -> str:
    """Return what an edge requires, on one line; an edge into an act says that it is asked for again."""
    requirement = requirement_of(graph, tail, head)
    again = isinstance(requirement, Evidence) and stage_of(graph, head).kind == "act"
    return f"{requirement.text()}{' (still, at the act)' if again else ''}"
