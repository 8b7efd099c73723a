"""The graph as an SVG image, laid out here: one column per kind of stage, the requirement written on each edge.

Edges to the next column are curves with their text at the tail; edges that skip columns (evidence that is asked for
again at the act) run along lanes below everything, so that no line crosses a box.
"""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from fullcount.compiler.graph import STAGE_KINDS, stage_of
from fullcount.compiler.graph_text import edge_text, edges_in_order, story_order
from fullcount.dsl.dataclass import dataclass

if TYPE_CHECKING:
    import networkx as nx

_WIDTH, _HEIGHT = 170, 44
_GAP, _MARGIN, _LANE = 250, 24, 34
_WRAP, _LINE = 36, 14
_FILL = {"inventory": "#e8eef7", "verify": "#e6f4ea", "propose": "#fff6dd", "approve": "#fde9e7", "act": "#f3e8fd"}
_HALO = 'stroke="#fff" stroke-width="4" paint-order="stroke" fill="#223"'


@dataclass(frozen=True, slots=True)
class _Edge:
    tail: str
    head: str
    lines: tuple[str, ...]
    skips: bool


def to_svg(graph: nx.DiGraph[str]) -> str:
    """Return the graph as a stand-alone SVG image."""
    edges = [_edge(graph, tail, head) for tail, head in edges_in_order(graph)]
    places = _places(graph, edges)
    bottom = max((y for _, y in places.values()), default=0) + _HEIGHT + _below(places, edges)
    lanes = [edge for edge in edges if edge.skips]
    height = bottom + _LANE * len(lanes) + _MARGIN
    width = 2 * _MARGIN + len(STAGE_KINDS) * _WIDTH + (len(STAGE_KINDS) - 1) * _GAP
    title = escape(str(graph.graph["workflow"]))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{title}</title>'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#445"/></marker></defs>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
    )
    parts, texts = [head], list[str]()
    for position, edge in enumerate(lanes):
        line, text = _lane(edge, places, bottom + _LANE * position + _LANE // 2, position, len(lanes))
        parts.append(line)
        texts.append(text)
    written: dict[str, int] = {}
    for edge in edges:
        if not edge.skips:
            line, text = _curve(edge, places, written.get(edge.tail, 0))
            parts.append(line)
            texts.append(text)
            written[edge.tail] = written.get(edge.tail, 0) + len(edge.lines)
    parts.extend(_box(graph, node, x, y) for node, (x, y) in places.items())
    return "\n".join([*parts, *texts, "</svg>"]) + "\n"


def _edge(graph: nx.DiGraph[str], tail: str, head: str) -> _Edge:
    columns = [STAGE_KINDS.index(stage_of(graph, node).kind) for node in (tail, head)]
    skips = columns[1] - columns[0] > 1
    text = edge_text(graph, tail, head)
    return _Edge(tail, head, (text,) if skips else tuple(wrap(text, _WRAP)), skips)


def _places(graph: nx.DiGraph[str], edges: list[_Edge]) -> dict[str, tuple[int, int]]:
    """Return the upper left corner of every stage: rows as high as the texts that start there."""
    text_lines: dict[str, int] = {}
    for edge in edges:
        if not edge.skips:
            text_lines[edge.tail] = text_lines.get(edge.tail, 0) + len(edge.lines)
    rows: dict[tuple[str, str], int] = {}
    next_row = {"reading": _MARGIN + _LINE, "acting": _MARGIN + _LINE}
    places: dict[str, tuple[int, int]] = {}
    for node in story_order(graph):
        stage = stage_of(graph, node)
        side = "reading" if stage.kind in {"inventory", "verify"} else "acting"
        row = rows.get((side, stage.name))
        if row is None:
            row = rows[side, stage.name] = next_row[side]
            lines = max(text_lines.get(f"{kind}:{stage.name}", 0) for kind in STAGE_KINDS)
            next_row[side] += max(_HEIGHT, _HEIGHT // 2 + lines * _LINE) + 2 * _MARGIN
        places[node] = (_MARGIN + STAGE_KINDS.index(stage.kind) * (_WIDTH + _GAP), row)
    return places


def _below(places: dict[str, tuple[int, int]], edges: list[_Edge]) -> int:
    """Return the room that the texts of the lowest row need below their boxes."""
    return _MARGIN + max((len(edge.lines) * _LINE for edge in edges if not edge.skips), default=0)


def _curve(edge: _Edge, places: dict[str, tuple[int, int]], above: int) -> tuple[str, str]:
    x1, y1 = places[edge.tail][0] + _WIDTH, places[edge.tail][1] + _HEIGHT // 2
    x2, y2 = places[edge.head][0], places[edge.head][1] + _HEIGHT // 2
    middle = (x1 + x2) // 2
    line = f'<path d="M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}" {_STROKE}/>'
    return line, _text(edge.lines, x1 + 10, y1 + _LINE + 2 + above * _LINE)


_STROKE = 'fill="none" stroke="#445" stroke-width="1.4" marker-end="url(#tip)"'


def _lane(edge: _Edge, places: dict[str, tuple[int, int]], lane: int, position: int, count: int) -> tuple[str, str]:
    """Draw an edge that skips columns: down from the tail, along its lane, up into the head."""
    inset = 16 + (_WIDTH - 32) * position // max(count, 1)
    x1, y1 = places[edge.tail][0] + inset, places[edge.tail][1] + _HEIGHT
    x2, y2 = places[edge.head][0] + inset, places[edge.head][1] + _HEIGHT
    line = f'<path d="M{x1} {y1} V{lane} H{x2} V{y2}" {_STROKE} stroke-dasharray="5 3"/>'
    return line, _text(edge.lines, x1 + 10, lane - 5)


def _text(lines: tuple[str, ...], x: int, y: int) -> str:
    spans = "".join(f'<tspan x="{x}" y="{y + n * _LINE}">{escape(line)}</tspan>' for n, line in enumerate(lines))
    return f"<text {_HALO}>{spans}</text>"


def _box(graph: nx.DiGraph[str], node: str, x: int, y: int) -> str:
    stage = stage_of(graph, node)
    name = stage.name if len(stage.name) <= 24 else stage.name[:23] + "…"
    return (
        f"<g><title>{escape(stage.kind)} {escape(stage.name)}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{_FILL[stage.kind]}" stroke="#445"/>'
        f'<text x="{x + 10}" y="{y + 17}" font-size="11" fill="#556">{escape(stage.kind)}</text>'
        f'<text x="{x + 10}" y="{y + 34}" font-weight="bold" fill="#112">{escape(name)}</text></g>'
    )
