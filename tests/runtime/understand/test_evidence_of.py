"""What a workflow rests on: each use with its place and reason, each requirement with the clause that promises it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.golden import assert_screen
from tests.support.planning import STRICT

from fullcount.compiler.claims import Direction
from fullcount.compiler.graph import build_graph, requirement_of
from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source
from fullcount.runtime.understand.evidence_of import evidence_of
from fullcount.runtime.understand.evidence_text import evidence_json, evidence_lines

pytestmark = pytest.mark.requirement("R19")

SCREENS = Path(__file__).parent / "snapshots"
TEXT = STRICT.replace(
    "verify people   { complete, fresh within 24h }",
    "verify people {\n    complete, fresh within 24h,\n    rows at least 10\n  }",
)


def found(text=TEXT):
    """The evidence of the one proposal of a file, by inventory, with the file's source."""
    made = compile_source(Source("orphans.fcw", text), EXAMPLE)
    assert made.program is not None, [(d.code, d.message) for d in made.diagnostics]
    (proposal,) = evidence_of(made.program.workflows[0], made.sources)
    return {each.inventory: each for each in proposal.inventories}, made


def test_every_use_stands_where_it_is_written():
    """File, line, column and text of each use are those of the source."""
    by_name, made = found()
    source = made.sources["orphans.fcw"]
    (base,), (people,) = by_name["accounts"].uses, by_name["people"].uses
    assert (base.direction, base.place.text) == (Direction.BASE, "accounts")
    assert people.direction is Direction.ABSENCE
    assert source.line(people.place.line)[people.place.column - 1 :].startswith("no people as p")
    assert people.place.text == "no people as p where (p.id == a.owner and p.active)"


def test_every_requirement_names_the_clause_that_promises_it():
    """`complete` promises three things at once, and each of them is said with its line."""
    by_name, made = found()
    source = made.sources["orphans.fcw"]
    required = {each.claim: each for each in by_name["people"].requires}
    assert set(required) == {"complete", "snapshot interval", "visibility all", "fresh within a stated age"}
    for claim, each in required.items():
        word = "fresh" if claim.startswith("fresh") else "complete"
        assert source.line(each.place.line)[each.place.column - 1 :].startswith(word)
    assert [(each.claim, each.place.text) for each in by_name["people"].besides] == [
        ("rows at least 10", "rows at least 10")
    ]


def test_the_requirements_are_those_of_the_edges():
    """What is shown is what the graph demands: no claim of an edge is left out, none is made up."""
    by_name, made = found()
    graph = build_graph(made.program.workflows[0], made.sources)
    for name, each in by_name.items():
        edge = requirement_of(graph, f"verify:{name}", "propose:disable")
        promised = {required.promised for required in (*each.requires, *each.besides)}
        assert promised == {claim.text() for claim in edge.claims}
        assert {use.direction for use in each.uses} == set(edge.directions)


def test_a_claim_with_its_own_clause_is_promised_by_that_one():
    """`snapshot pinned` beside `complete` is what promises the snapshot."""
    by_name, _ = found(TEXT.replace("complete, fresh within 24h", "complete, snapshot pinned, fresh within 24h"))
    snapshot = next(each for each in by_name["people"].requires if each.claim.startswith("snapshot"))
    assert (snapshot.promised, snapshot.place.text) == ("snapshot pinned", "snapshot pinned")


def test_what_only_a_reading_can_show_is_said_of_each_inventory():
    """Ends, accounts, ages and the look before each act can't be promised by a text."""
    by_name, _ = found()
    assert "that at least 10 rows were returned" in by_name["people"].remains
    assert by_name["people"].remains[-1] == "what a look-up by `id` says right before each act"
    assert "same object" in by_name["accounts"].remains[-1]
    report, _ = found(TEXT[: TEXT.index("  approve")] + "}\n")
    assert not any("act" in each.split() for name in report for each in report[name].remains)


def test_an_inventory_that_can_not_be_asked_again_says_so():
    """Without a field to look up by, the snapshot stands in while it is fresh."""
    by_name, _ = found(TEXT.replace("p.id == a.owner and p.active", "p.active"))
    assert "the snapshot stands in while it is fresh" in by_name["people"].remains[-1]


def test_two_directions_of_one_inventory_are_told_apart():
    """A witness and an absence of the same inventory are two uses with two reasons."""
    text = TEXT.replace("and (a.owner is absent", "and some people as q where (q.id == a.team) and (a.owner is absent")
    by_name, _ = found(text)
    assert [use.direction for use in by_name["people"].uses] == [Direction.WITNESS, Direction.ABSENCE]
    assert len({use.why for use in by_name["people"].uses}) == 2


def test_the_screen(request):
    """What people see, and that the same stands in the JSON."""
    _, made = found()
    evidence = evidence_of(made.program.workflows[0], made.sources)
    lines = evidence_lines(evidence)
    assert max(map(len, "\n".join(lines).splitlines())) <= 100
    assert_screen(SCREENS / "evidence.txt", "\n".join(lines) + "\n")
    (document,) = evidence_json(evidence)
    assert document["inventories"][1]["uses"][0]["place"]["line"] == 22
