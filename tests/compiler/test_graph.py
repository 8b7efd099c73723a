"""The graph: which stages there are, what each edge requires, and how it is drawn."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import pytest
from pydantic import TypeAdapter, ValidationError
from tests.support.compiling import compiled, with_rule, workflow

from fullcount.compiler.claims import Direction
from fullcount.compiler.edges import Approved, Collected, Evidence, Planned, Requirement
from fullcount.compiler.graph import GraphError, Stage, build_graph, requirement_of
from fullcount.compiler.graph_render import to_dot, to_json, to_mermaid, to_svg

RULE = with_rule("a.locked and no people as p where (p.id == a.team) and some logins as l where (l.account == a.id)")
RESULT = compiled(RULE)
CHECKED = workflow(RULE)
GRAPH = build_graph(CHECKED, RESULT.sources)


@pytest.mark.requirement("R42")
def test_a_workflow_whose_evidence_is_not_promised_has_no_graph():
    """Building fails rather than draw an edge that asks for less than the rule needs."""
    weaker = replace(CHECKED, verifies={**CHECKED.verifies, "people": CHECKED.verifies["logins"][3:]})
    with pytest.raises(GraphError, match="`disable` uses `people` in absence"):
        build_graph(weaker)
    with pytest.raises(GraphError, match="has no approval"):
        build_graph(replace(CHECKED, approvals=()))


@pytest.mark.requirement("R41", "R42")
def test_the_stages_follow_the_story():
    """inventory, verify, propose, approve, act; and the evidence is asked for again at the act."""
    assert set(GRAPH.edges) == {
        *((f"inventory:{name}", f"verify:{name}") for name in ("accounts", "people", "logins")),
        *((f"verify:{name}", "propose:disable") for name in ("accounts", "people", "logins")),
        *((f"verify:{name}", "act:disable") for name in ("accounts", "people", "logins")),
        ("propose:disable", "approve:disable"),
        ("approve:disable", "act:disable"),
    }
    assert GRAPH.nodes["act:disable"]["stage"] == Stage("act", "disable")
    assert nx.is_directed_acyclic_graph(GRAPH)


@pytest.mark.requirement("R42")
def test_each_edge_says_what_it_requires():
    """Evidence edges carry directions, claims, age and the places of use; the others their own kind."""
    people = requirement_of(GRAPH, "verify:people", "propose:disable")
    assert isinstance(people, Evidence)
    assert people.directions == (Direction.ABSENCE,)
    assert [claim.kind for claim in people.claims] == ["complete", "snapshot", "visible", "fresh"]
    assert people.max_age == 24 * 3_600_000_000
    line = next(n for n, text in enumerate(RULE.splitlines(), 1) if "where a.locked" in text)
    assert people.uses == (f"absence  tidy.fcw:{line}:24  no people as p where (p.id == a.team)",)
    assert requirement_of(GRAPH, "inventory:people", "verify:people") == Collected(inventory="people")
    assert requirement_of(GRAPH, "propose:disable", "approve:disable") == Planned(proposal="disable")
    approved = requirement_of(GRAPH, "approve:disable", "act:disable")
    assert isinstance(approved, Approved)
    assert approved.quorums[0].role == "iam-admin"


def test_requirements_survive_json_and_are_closed():
    """A requirement read back is equal; one with an unknown part or kind is refused."""
    adapter = TypeAdapter(Requirement)
    for tail, head in GRAPH.edges:
        requirement = requirement_of(GRAPH, tail, head)
        assert adapter.validate_json(adapter.dump_json(requirement)) == requirement
    for wrong in ({"kind": "none"}, {"kind": "planned", "proposal": "x", "unless": True}, {"proposal": "x"}):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)


def test_a_report_ends_with_its_proposal():
    """A proposal without an act has no stage that could act."""
    report = replace(CHECKED, approvals=(), acts=())
    assert {GRAPH.nodes[node]["stage"].kind for node in build_graph(report)} == {"inventory", "verify", "propose"}


HOSTILE = replace(
    CHECKED,
    name='x"]; <script>alert("1")</script>',
    approvals=tuple(
        replace(a, quorums=tuple(replace(q, role='a"] --> b <b>&amp;`x`') for q in a.quorums))
        for a in CHECKED.approvals
    ),
)


@pytest.mark.requirement("R42")
@pytest.mark.parametrize("draw", [to_mermaid, to_dot, to_svg, to_json])
def test_every_drawing_shows_the_requirement_on_each_edge(draw):
    """All four forms name the stages and what is required between them."""
    text = " ".join(ElementTree.fromstring(draw(GRAPH)).itertext()) if draw is to_svg else draw(GRAPH)
    for word in ("disable", "people", "absence", "complete", "iam-admin"):
        assert word in text


def test_names_are_escaped_in_every_drawing():
    """A name can't end its label, open a tag, or add an edge."""
    graph = build_graph(HOSTILE)
    root = ElementTree.fromstring(to_svg(graph))
    assert not [node for node in root.iter() if node.tag.endswith("script") or node.tag.endswith("}b")]
    assert "<script>" not in to_mermaid(graph)
    assert 'a"] -->' not in to_mermaid(graph)
    assert 'a\\"] -->' in to_dot(graph)
    assert json.loads(to_json(graph))["workflow"] == HOSTILE.name


def test_the_drawing_needs_no_other_program_and_keeps_its_texts_inside():
    """The SVG stands alone, and every text and box lies within its view."""
    root = ElementTree.fromstring(to_svg(GRAPH))
    _, _, width, height = (int(part) for part in root.attrib["viewBox"].split())
    places = [(float(n.attrib["x"]), float(n.attrib["y"])) for n in root.iter() if "x" in n.attrib and "y" in n.attrib]
    assert places
    assert all(0 <= x < width and 0 <= y < height for x, y in places)
