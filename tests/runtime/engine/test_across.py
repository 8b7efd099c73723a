"""A source that is split into databases, one for each region: read whole or not at all, acted on in the right one."""

from __future__ import annotations

import pytest
from tests.support.fleet import FILE, IMAGES, NO_IMAGE, PARTS, REGIONS, Fleet

pytestmark = pytest.mark.requirement("R18", "R19")


@pytest.fixture
def fleet(tmp_path):
    """A workspace of its own."""
    return Fleet(tmp_path / "fleet")


def test_one_part_that_fails_refuses_the_whole_by_name(fleet):
    """What lives in a region that did not answer is not known, so nothing of the others is proposed either."""
    fleet.break_part("us")
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3
    assert "volumes (fleet.volumes) PARTIAL 8 rows, 2 of 3 parts, not region=us" in ended.words
    assert "MALFORMED_RESPONSE" in ended.words
    assert "region=us" in ended.words


def test_a_missing_part_of_references_keeps_every_object(fleet):
    """An image that refers to a volume may be in the region that did not answer."""
    fleet.sql("eu", "INSERT INTO images VALUES ('i1', 'v0')")
    fleet.tidy(images=IMAGES, and_=NO_IMAGE)
    assert fleet.plan(file=FILE)["plan"]["sums"]["candidates"] == 3
    fleet.sql("ap", "ALTER TABLE images RENAME TO other")
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3
    assert "images (fleet.images) PARTIAL 1 row, 2 of 3 parts, not region=ap" in ended.words


def test_all_parts_make_one_plan_and_each_object_is_acted_on_in_its_own(fleet):
    """The same id in two regions is two objects; the plan names the parts that were read."""
    fleet.sql("us", "UPDATE volumes SET attached = TRUE WHERE id = 'v0'")
    planned = fleet.plan(file=FILE)
    assert [row["key"] for row in planned["plan"]["rows"]] == [
        ["ap", "v0"], ["ap", "v1"], ["eu", "v0"], ["eu", "v1"], ["us", "v1"],
    ]  # fmt: skip
    assert planned["plan"]["certificates"][0]["parts"] == ["region=eu", "region=us", "region=ap"]
    assert "3 parts: region=eu; region=us; region=ap" in fleet.run("show", planned["plan_id"]).words
    fleet.approve(planned)
    fleet.sql("ap", "UPDATE volumes SET attached = TRUE WHERE id = 'v1'")
    ended = fleet.run("apply", planned["plan_id"])
    assert ended.exit in {0, 1}, ended.said
    assert fleet.volumes() == {
        *(f"{region}/{key}" for region in PARTS for key in ("v2", "v3")), "us/v0", "ap/v1",
    }  # fmt: skip
    assert fleet.run("verify").exit == 0


def test_parts_are_named_by_an_inventory_that_must_be_complete_itself(fleet):
    """What the list lacks is not read; what can't be read whole names nothing."""
    fleet.tidy(regions=REGIONS, across="regions.name")
    planned = fleet.plan(file=FILE)
    assert planned["plan"]["certificates"][0]["parts"] == ["region=ap", "region=eu", "region=us"]
    assert planned["plan"]["sums"]["candidates"] == 6
    path = fleet.root / "fullcount.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('catalog.db"\n', 'catalog.db"\nmax_rows = 2\n', 1), encoding="utf-8")
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3
    assert "regions (catalog.regions) PARTIAL 2 of 3 rows" in ended.words
    path.write_text(text, encoding="utf-8")
    fleet.sql("catalog", "DELETE FROM regions")
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3
    assert "`regions` has no row, so no `region` is named" in ended.words


def test_a_bounded_rule_takes_what_the_parts_that_answered_have(fleet):
    """A volume speaks for itself, and the part that is missing stands on the screen."""
    fleet.tidy(bounded="bounded", share="", verify="fresh within 1h", expect='scope starts_with(id, "v")')
    fleet.break_part("us")
    planned = fleet.plan(file=FILE)
    assert [row["key"] for row in planned["plan"]["rows"]] == [["ap", "v0"], ["ap", "v1"], ["eu", "v0"], ["eu", "v1"]]
    assert planned["plan"]["certificates"][0]["incomplete"] == ["MALFORMED_RESPONSE (region=us)"]
    assert "region=us" in fleet.run("show", planned["plan_id"]).words


def test_a_canary_may_be_in_any_part(fleet):
    """It is looked for in the whole, and its absence there is a reason."""
    fleet.sql("ap", "INSERT INTO volumes VALUES ('canary', TRUE, '2020-01-01T00:00:00+00:00')")
    fleet.tidy(expect='expect id == "canary"')
    fleet.plan(file=FILE)
    fleet.sql("ap", "DELETE FROM volumes WHERE id = 'canary'")
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3
    assert 'the canary `id == "canary"` was not seen' in ended.words


@pytest.mark.parametrize("value", ["../eu", "eu/..", "", "eu?mode=rw", "{region}"])
def test_a_value_that_is_not_a_plain_word_names_no_part(fleet, value):
    """No value leads to another path, host or option."""
    fleet.tidy(across=f'["eu", "{value}"]')
    ended = fleet.run("plan", FILE)
    assert ended.exit == 3, ended.said
    assert "SCOPE_NOT_COVERED" in ended.words


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('partitions = ["region"]', 'partitions = ["region", "region"]', "names one twice"),
        ('partitions = ["region"]', 'partitions = ["region", "account"]', "`url` has no `{account}`"),
        ("{region}.db", "{region}-{zone}.db", "`{zone}`, which `partitions` does not name"),
        ('"sqlite:///{region}.db"', '{ env = "FLEET" }', "the parts need one address each"),
        ('region = "text", id = "text", attached', 'region = "text?", id = "text", attached', "`text?`"),
        ('key = ["region", "id"]\ndeletable', 'key = ["region"]\ndeletable', "names parts only"),
    ],
)
def test_partitions_that_do_not_fit_their_source_are_errors_of_the_configuration(fleet, old, new, said):
    """Every value must lead to a database of its own."""
    path = fleet.root / "fullcount.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    ended = fleet.run("check", FILE)
    assert ended.exit == 1
    assert said in ended.words
