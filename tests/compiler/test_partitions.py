"""`across`: a source that is split is read in parts that are named, each of them or none."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, only, underlined, workflow

from fullcount.compiler.claims import Complete, Consistency, Direction
from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.edges import claim_model
from fullcount.compiler.graph import build_graph, requirement_of
from fullcount.compiler.graph_render import to_dot, to_mermaid
from fullcount.compiler.graph_svg import to_svg

pytestmark = pytest.mark.requirement("R18", "R19")

BASE = """workflow tidy {
  inventory volumes from fleet.volumes across region in ["eu", "us"] {
    key (region, id)
    fields { region: text, id: text, owner: text?, attached: bool, created: timestamp }
  }
  inventory regions from fleet.regions { key name fields { name: text, opted_in: bool, parent: text? } }
  verify volumes { complete, fresh within 1h }
  verify regions { complete, fresh within 24h }
  propose remove from volumes as v {
    where not v.attached
      and some regions as r where (r.name == v.region)
    limit 20, 2%
  }
  approve remove { 2 of role "platform" not by author, expires after 2d }
  act remove with fleet.delete(region: v.region, id: v.id)
}
"""
WRITTEN = 'across region in ["eu", "us"]'


def changed(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("across", "code", "place"),
    [
        ("", "FC331", "fleet.volumes"),
        ('across zone in ["a"], region in ["eu"]', "FC330", "zone"),
        ("across region in []", "FC332", "[]"),
        ('across region in ["eu", "eu"]', "FC332", '"eu"'),
        ('across region in ["eu", 1]', "FC332", "1"),
        ('across region in ["eu"], region in ["us"]', "FC101", "region"),
        ("across region in regions.parent", "FC332", "regions.parent"),
        ("across region in regions.opted_in", "FC332", "regions.opted_in"),
        ("across region in regions.nme", "FC110", "nme"),
        ("across region in region.name", "FC108", "region"),
        ("across region in name", "FC332", "name"),
        ("across region in volumes.region", "FC333", "volumes.region"),
    ],
)
def test_parts_that_are_not_named_clearly_are_refused_where_they_stand(across, code, place):
    """Each part once, by values or by a field that is always there."""
    text = changed((WRITTEN, across))
    assert (only(text).code, underlined(text)) == (code, place)


def test_a_source_that_is_one_listing_is_not_read_in_parts():
    """What it is narrowed to stands in its scope."""
    text = changed(("from fleet.regions {", 'from fleet.regions across region in ["eu"] {'))
    assert only(text).code == "FC330"
    assert "one listing" in str(only(text))


def test_the_inventory_that_names_parts_must_be_complete():
    """A region whose row was not returned is not read: the conclusion runs from its absence."""
    listed = (WRITTEN, "across region in regions.name")
    made = workflow(changed(listed))
    uses = [(use.inventory, use.direction) for use in made.proposals[0].uses]
    assert uses == [
        ("volumes", Direction.BASE), ("regions", Direction.WITNESS), ("regions", Direction.ABSENCE),
    ]  # fmt: skip
    text = changed(listed, ("verify regions { complete, fresh within 24h }", "verify regions { fresh within 24h }"))
    assert (only(text).code, underlined(text)) == ("FC301", "region in regions.name")
    unverified = changed(listed, ("  verify regions { complete, fresh within 24h }\n", ""))
    assert "FC303" in codes(unverified)


def test_it_is_read_after_the_verify_of_the_inventory_that_names_its_parts():
    """The order stands in the graph, with everything that was certified on the edge, and every drawing shows it."""
    made = workflow(changed((WRITTEN, "across region in regions.name")))
    graph = build_graph(made)
    edge = requirement_of(graph, "verify:regions", "inventory:volumes")
    assert claim_model(Complete()) in edge.claims
    for draw in (to_mermaid, to_svg, to_dot):
        assert "volumes" in str(draw(graph))


def test_parts_never_make_one_snapshot():
    """They are read one after the other, so `snapshot pinned` is not to be had."""
    made = workflow(BASE)
    assert made.inventories["volumes"].consistency is Consistency.INTERVAL
    text = changed(("verify volumes { complete,", "verify volumes { complete, snapshot pinned,"))
    assert len(codes(text)) == 1


def test_an_act_needs_a_key_that_says_where_an_object_is():
    """The same id may stand in several regions."""
    text = changed(
        ("fleet.volumes", "fleet.disks"),
        ("key (region, id)", "key id"),
        ("{ region: text, id: text, owner: text?, ", "{ id: text, "),
        ("      and some regions as r where (r.name == v.region)\n", ""),
        ("fleet.delete(region: v.region, id: v.id)", "fleet.delete(id: v.id)"),
    )
    assert "FC334" in codes(text)


@pytest.mark.parametrize("across", [WRITTEN, "across region in regions.name"])
def test_a_document_keeps_the_parts(across):
    """What a plan is bound to says in which parts it read."""
    made = workflow(changed((WRITTEN, across)))
    assert workflow_from_document(workflow_to_document(made)) == made


def test_a_bounded_rule_names_its_parts_by_values():
    """What a list of regions lacks would be concluded from its absence."""
    bounded = (
        (
            "where not v.attached\n      and some regions as r where (r.name == v.region)",
            "bounded where not v.attached",
        ),
        ("limit 20, 2%", "limit 20"),
        ("created: timestamp }\n", 'created: timestamp }\n    scope starts_with(id, "v")\n'),
        ("verify volumes { complete, ", "verify volumes { "),
    )
    text = changed(*bounded, (WRITTEN, "across region in regions.name"))
    assert (only(text).code, underlined(text)) == ("FC322", "region in regions.name")
    assert "written out" in str(only(text).help)


USES = """  inventory images from fleet.images across region in ["eu", "us"], account in ["1"] {
    key (region, account, id) fields { region: text, account: text, id: text, volume: text }
  }
  verify images { complete, fresh within 1h }
"""
UNUSED = ("some regions as r where (r.name == v.region)", "no images as i where (i.volume == v.id)")
LISTED = (WRITTEN, "across region in regions.name")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ((UNUSED,), ['account in ["1"]']),  # no account is said of the volumes: any may use them
        ((UNUSED, LISTED), ['region in ["eu", "us"]', 'account in ["1"]']),
        ((UNUSED, ('in ["eu", "us"] {', 'in ["eu"] {')), ['account in ["1"]']),
        ((UNUSED, ('in ["eu", "us"] {', 'in ["eu", "us", "ap"] {')), ['region in ["eu", "us"]', 'account in ["1"]']),
        (((UNUSED[0], UNUSED[1].replace("no", "some", 1)),), []),
    ],
)
def test_an_absence_that_is_looked_for_in_parts_listed_by_hand_is_warned_of(changes, place):
    """What belongs to no part, or to others than those on the list, may be used in one that is not on it."""
    text = changed(("  verify volumes", USES + "  verify volumes"), *changes)
    told = [each for each in findings(text) if each.code == "FC335"]
    assert [text[each.span.start : each.span.end] for each in told] == place
