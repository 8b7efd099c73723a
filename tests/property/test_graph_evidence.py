"""No path leads to an act that leaves out what an absence needs: over generated workflows, in text.

The oracle is independent of the compiler's analysis: each generated condition knows by its own construction which
inventories it concludes absence from.
"""

import re

import networkx as nx
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.support.catalogs import EXAMPLE

from fullcount.compiler.claims import Direction
from fullcount.compiler.edges import Evidence
from fullcount.compiler.graph import build_graph, requirement_of
from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source

OTHERS = {
    "people": ("hr.employees", "id: text, active: bool, hired_at: timestamp", "id", "hired_at"),
    "logins": ("audit.logins", "id: text, account: text, at: timestamp", "account", "at"),
    "twins": ("directory.accounts", "id: text, entry_uuid: text, created: timestamp", "id", "created"),
}
EVIDENCE_ERRORS = {"FC301", "FC302", "FC303"}


class Rule:
    """A condition as text, and the inventories from which its being true, or false, concludes absence."""

    def __init__(self, text, absent_if_true=frozenset(), absent_if_false=frozenset(), used=frozenset()):
        self.text = text
        self.absent_if_true = frozenset(absent_if_true)
        self.absent_if_false = frozenset(absent_if_false)
        self.used = frozenset(used)


def leaf(draw):
    return Rule(draw(st.sampled_from(['a.team == "ops"', "a.owner is absent", "a.created < now - 90d", "a.locked"])))


def looking(draw, depth, names):
    """A quantifier or an aggregate over another inventory, perhaps with another one nested inside."""
    inventory = draw(st.sampled_from(sorted(OTHERS)))
    _, _, match, instant = OTHERS[inventory]
    row = f"r{next(names)}"
    inner = rule(draw, depth - 1, names) if depth > 0 and draw(st.booleans()) else Rule("")
    where = f"{row}.{match} == a.team" + (f" and ({inner.text})" if inner.text else "")
    one, used = {inventory}, {inventory} | inner.used
    kind = draw(st.sampled_from(["some", "no", "more", "fewer", "exactly", "youngest", "oldest", "sum", "fallback"]))
    exists = f"{inventory} as {row} where ({where})"
    # what finding the row concludes, and what not finding it concludes
    found, missed = inner.absent_if_true, one | inner.absent_if_false
    either = one | inner.absent_if_true | inner.absent_if_false
    match kind:
        case "some":
            return Rule(f"some {exists}", found, missed, used)
        case "no":
            return Rule(f"no {exists}", missed, found, used)
        case "more":
            return Rule(f"count {exists} >= 2", found, missed, used)
        case "fewer":
            return Rule(f"3 > count {exists}", missed, found, used)
        case "exactly":
            return Rule(f"count {exists} == 1", either, either, used)
        case "youngest":
            value = f"max {exists} of {row}.{instant}"
            return Rule(f"({value} is present and {value} > now - 90d)", found, missed, used)
        case "oldest":
            value = f"max {exists} of {row}.{instant}"
            return Rule(f"({value} is absent or {value} < now - 90d)", missed, found, used)
        case "sum":
            return Rule(f"sum {exists} of (now - {row}.{instant}) > 90d", either, either, used)
        case _:
            return Rule(f"(min {exists} of {row}.{instant} else a.created) < now - 90d", either, either, used)


def rule(draw, depth, names):
    """A condition of any shape."""
    kind = draw(st.sampled_from(["leaf", "look", "look", "and", "or", "not"] if depth > 0 else ["leaf", "look"]))
    if kind == "leaf":
        return leaf(draw)
    if kind == "look":
        return looking(draw, depth - 1, names)
    left = rule(draw, depth - 1, names)
    if kind == "not":
        return Rule(f"not ({left.text})", left.absent_if_false, left.absent_if_true, left.used)
    right = rule(draw, depth - 1, names)
    return Rule(
        f"({left.text}) {kind} ({right.text})",
        left.absent_if_true | right.absent_if_true,
        left.absent_if_false | right.absent_if_false,
        left.used | right.used,
    )


@st.composite
def workflows(draw):
    """A workflow as text, with the inventories it concludes absence from and those it uses at all."""
    names = iter(range(1000))
    where = rule(draw, 3, names)
    exempt = rule(draw, 1, names) if draw(st.booleans()) else None
    absent, used = where.absent_if_true, where.used
    if exempt is not None:
        absent, used = absent | exempt.absent_if_false, used | exempt.used
    lines = ["workflow generated {"]
    fields = "id: text, entry_uuid: text, owner: text?, team: text, created: timestamp, locked: bool"
    lines.append(
        f"  inventory accounts from directory.accounts {{ key id incarnation entry_uuid fields {{ {fields} }} }}"
    )
    for name in sorted(used):
        resource, other_fields, _, _ = OTHERS[name]
        lines.append(f"  inventory {name} from {resource} {{ key id fields {{ {other_fields} }} }}")
    claims = st.lists(
        st.sampled_from(["complete", "fresh within 1h", "rows at least 2", "change at most 9%", "visibility all",
                         "snapshot interval"]),
        unique=True, min_size=1,
    )  # fmt: skip
    # mostly enough, so that many workflows get as far as a graph
    enough = st.just(["complete", "fresh within 1h"])
    for name in ("accounts", *sorted(used)):
        promised = draw(st.one_of(*[enough] * 8, st.just(["fresh within 2h"]), claims, st.just([])))
        if promised:
            lines.append(f"  verify {name} {{ {', '.join(promised)} }}")
    lines.append("  propose disable from accounts as a {")
    lines.append(f"    where {where.text}")
    if exempt is not None:
        lines.append(f"    except when {exempt.text}")
    lines.append("    limit 50, 5%\n  }")
    lines.append('  approve disable { 2 of role "ops", expires after 1d }')
    lines.append("  act disable with directory.delete(id: a.id)\n}\n")
    return "\n".join(lines), absent, used


def lacking_paths(graph, inventory, needed):
    """The paths from reading an inventory to an act on which some needed claim is on no edge about that inventory."""
    for act in (node for node in graph if node.startswith("act:")):
        for path in nx.all_simple_paths(graph, f"inventory:{inventory}", act):
            required = {
                claim.kind
                for tail, head in nx.utils.pairwise(path)
                if isinstance(edge := requirement_of(graph, tail, head), Evidence) and edge.inventory == inventory
                for claim in edge.claims
            }
            if not needed <= required:
                yield path


@pytest.mark.requirement("R19", "R21", "R42")
@settings(max_examples=300, deadline=None)
@given(workflows())
def test_no_path_leads_to_an_act_without_complete_for_an_inventory_used_in_absence(generated):
    """A workflow either fails to compile for want of evidence, or each path to its act demands a full count."""
    text, absent, used = generated
    compiled = compile_source(Source("generated.fcw", text), EXAMPLE)
    codes = {finding.code for finding in compiled.diagnostics}
    event(f"compiles: {compiled.program is not None}, absence: {bool(absent)}")
    if compiled.program is None:
        assert codes & EVIDENCE_ERRORS, (text, codes)
        assert {code for code in codes if code < "FC300"} <= {"FC218"}, (text, codes)
        return
    graph = build_graph(compiled.program.workflows[0], compiled.sources)
    assert nx.is_directed_acyclic_graph(graph)
    full_count = {"complete", "snapshot", "visible", "fresh"}
    for inventory in {"accounts"} | absent:
        assert list(lacking_paths(graph, inventory, full_count)) == []
        assert nx.has_path(graph, f"inventory:{inventory}", "act:disable")
    for inventory in used:
        assert list(lacking_paths(graph, inventory, {"fresh"})) == []
        directions = requirement_of(graph, f"verify:{inventory}", "act:disable").directions
        assert (Direction.ABSENCE in directions) == (inventory in absent), (text, inventory)


@pytest.mark.requirement("R19", "R42")
@settings(max_examples=100, deadline=None)
@given(workflows())
def test_an_absence_without_complete_is_refused_at_each_place_of_use(generated):
    """Taking every `complete` away makes each inventory used in absence an error of its own, at its own place."""
    text, absent, _ = generated
    weakened = re.sub(r"verify (\w+) \{.*\}", r"verify \1 { fresh within 1h, visibility all }", text)
    compiled = compile_source(Source("generated.fcw", weakened), EXAMPLE)
    assert compiled.program is None
    refused = {
        name
        for finding in compiled.diagnostics
        for name in absent
        if finding.code == "FC301" and compiled.sources["generated.fcw"].slice(finding.span).endswith(name)
    }
    assert refused == absent
