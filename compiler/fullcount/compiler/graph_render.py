"""The graph on paper: Mermaid, DOT, JSON and (from `graph_svg`) SVG, each with the requirement on every edge.

Names and rule texts come from workflows and are escaped for each form; nothing here starts a program.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fullcount.compiler.graph import requirement_of, stage_of
from fullcount.compiler.graph_svg import to_svg
from fullcount.compiler.graph_text import edge_text, edges_in_order, stage_text, story_order

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_dot", "to_json", "to_mermaid", "to_svg"]

_SHAPES = {
    "inventory": ("[(", ")]", "cylinder"),
    "verify": ("{{", "}}", "hexagon"),
    "propose": ("[", "]", "box"),
    "approve": ("([", "])", "oval"),
    "act": ("[[", "]]", "box3d"),
    "notify": (">", "]", "note"),
}


def to_json(graph: nx.DiGraph[str]) -> str:
    """Return stages and edges as JSON, in topological order."""
    nodes = [
        {"node": stage.node, "kind": stage.kind, "name": stage.name}
        | ({} if stage.detail == "" else {"detail": stage.detail})
        for stage in (stage_of(graph, node) for node in story_order(graph))
    ]
    edges = [
        {"from": tail, "to": head, "requirement": requirement_of(graph, tail, head).model_dump(mode="json")}
        for tail, head in edges_in_order(graph)
    ]
    return json.dumps({"workflow": graph.graph["workflow"], "stages": nodes, "edges": edges}, indent=2)


def to_mermaid(graph: nx.DiGraph[str]) -> str:
    """Return the graph as a Mermaid flowchart."""
    ids = {node: f"n{position}" for position, node in enumerate(story_order(graph))}
    lines = ["flowchart LR"]
    for node, short in ids.items():
        left, right, _ = _SHAPES[stage_of(graph, node).kind]
        lines.append(f'  {short}{left}"{_mermaid(stage_text(graph, node))}"{right}')
    for tail, head in edges_in_order(graph):
        lines.append(f'  {ids[tail]} -->|"{_mermaid(edge_text(graph, tail, head))}"| {ids[head]}')
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    named = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(named.get(char, char) for char in text)


def to_dot(graph: nx.DiGraph[str]) -> str:
    """Return the graph in the DOT language."""
    lines = [f"digraph {_dot(graph.graph['workflow'])} {{", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in story_order(graph):
        shape = _SHAPES[stage_of(graph, node).kind][2]
        lines.append(f"  {_dot(node)} [label={_dot(stage_text(graph, node))}, shape={shape}];")
    for tail, head in edges_in_order(graph):
        lines.append(f"  {_dot(tail)} -> {_dot(head)} [label={_dot(edge_text(graph, tail, head))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
