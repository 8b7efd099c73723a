"""Class H, and the policy engine's regions: accounts, regions, tenants. Nothing reaches beyond the place it is for."""

from __future__ import annotations

import pytest
from tests.support.applying import Stage
from tests.support.fleet import FILE, IMAGES, REGIONS, Fleet
from tests.support.http_api import Api
from tests.support.reading_http import config, read_all, things

from fullcount.runtime.exit_codes import Exit

KEYS = """
[sources.catalog.resources.roles]
table = "roles"
key = ["id"]
deletable = true
fields = { id = "text", path = "text" }
"""
ROLES = """workflow tidy {{
  {regions}
  inventory roles from catalog.roles {across} {{ key id fields {{ id: text, path: text }} {scope} }}
  {images}
  verify roles {{ complete, fresh within 1h }}
  propose remove from roles as r {{
    where no images as i where (i.volume == r.id)
    limit 20, 60%
  }}
  approve remove {{ 2 of role "platform", expires after 2d }}
  act remove with catalog.delete(id: r.id)
}}
"""


@pytest.fixture
def fleet(tmp_path):
    """Three regions, and a catalogue of what belongs to none of them."""
    made = Fleet(tmp_path / "fleet")
    file = made.root / "fullcount.toml"
    file.write_text(file.read_text("utf-8") + KEYS, encoding="utf-8")
    made.sql("catalog", "CREATE TABLE roles (id TEXT PRIMARY KEY NOT NULL, path TEXT NOT NULL)")
    made.sql("catalog", "INSERT INTO roles VALUES ('used', '/'), ('free', '/')")
    made.sql("ap", "INSERT INTO images VALUES ('i1', 'used')")
    return made


def write(fleet, *, across="", scope="", within="regions.name"):
    """Write the rule over what is global, with the uses of it read `within` these regions."""
    images = IMAGES.replace('["eu", "us", "ap"]', within)
    text = ROLES.format(regions=REGIONS, images=images, across=across, scope=scope)
    (fleet.root / FILE).write_text(text, encoding="utf-8")


@pytest.mark.requirement("H01")
def test_h01_what_belongs_to_no_region_needs_the_evidence_of_all(fleet):
    """A clean-up of one region removed global identities that served another."""
    write(fleet)
    assert [row["key"] for row in fleet.plan(file=FILE)["plan"]["rows"]] == [["free"]]
    fleet.break_part("ap")
    ended = fleet.run("plan", FILE)
    assert (ended.exit, "not region=ap" in ended.words) == (Exit.REFUSED_BY_EVIDENCE, True)


@pytest.mark.requirement("H01")
def test_h01_a_list_of_regions_by_hand_is_warned_of_where_what_it_lacks_decides(fleet):
    """The region that is not on the list is the one that uses it."""
    write(fleet, within='["eu", "us"]')
    assert "FC335" in fleet.run("check", FILE).said
    write(fleet)
    assert "FC335" not in fleet.run("check", FILE).said


@pytest.mark.requirement("H02")
async def test_h02_the_plan_keeps_who_it_is_for_and_the_act_compares(tmp_path):
    """Profile and region came from the environment, and were not those that were meant."""
    stage = Stage(tmp_path)
    stage.source.facts |= {"target.account": "111", "target.region": "eu-west-1"}
    plan = await stage.approved()
    assert plan.document.target["fake"]["target.account"] == "111"
    for name, other in (("target.account", "222"), ("target.region", "us-east-1")):
        meant = dict(stage.source.facts)
        stage.source.facts[name] = other
        report = await stage.apply(plan)
        assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC758")
        assert f"`{name}` is `{other}`" in report.stopped_by.message.replace("fake.", "")
        stage.source.facts.clear()
        stage.source.facts |= meant
    assert stage.source.effects == []


@pytest.mark.requirement("H02")
async def test_h02_nothing_of_the_environment_leads_to_another_place(tmp_path, monkeypatch):
    """Neither a proxy nor the profile of a cloud: the workspace's own file says where a source is."""
    with Api(things(2)) as meant, Api(things(9)) as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "AWS_ENDPOINT_URL"):
            monkeypatch.setenv(name, other.url)
        for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "KUBECONFIG", "PGHOST", "PGDATABASE"):
            monkeypatch.setenv(name, "production")
        envelope = await read_all(config(meant, "cursor"), tmp_path)
        assert (envelope.complete, envelope.work.rows, other.requests) == (True, 2, [])


@pytest.mark.requirement("H03")
def test_h03_what_may_be_listed_may_not_be_acted_on_until_it_is_allowed(bench):
    """A new production account was missing on the list of what is blocked: acting is allowed by name, reading apart."""
    file = bench.root / "fullcount.toml"
    text = file.read_text("utf-8")
    file.write_text(text.replace('writable = ["locked"]\ndeletable = true\n', ""), encoding="utf-8")
    for act in ("update(id: a.id, locked: true)", "delete(id: a.id)"):
        bench.rule(act=f"act disable with directory.{act} {{}}")
        refused = bench.run("check")
        assert (refused.exit, "FC113" in refused.said) == (Exit.ERROR, True)
    bench.rule(act="", approve="")
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")
    planned = bench.plan(exits=0)
    assert len(planned["plan"]["rows"]) == 3, "looking is not forbidden"
    assert bench.run("apply", planned["plan_id"]).exit == Exit.USAGE
    assert bench.locked() == {"a12"}


@pytest.mark.requirement("c7n-62")
def test_c7n_62_one_thing_that_answers_in_several_regions_is_no_several_things(fleet):
    """A global kind was run in N regions, and each object was acted on N times."""
    fleet.tidy()
    (fleet.root / "us.db").unlink()
    (fleet.root / "us.db").symlink_to(fleet.root / "eu.db")
    ended = fleet.run("plan", FILE)
    assert (ended.exit, "are one and the same database" in ended.words) == (Exit.REFUSED_BY_EVIDENCE, True)
    file = fleet.root / "fullcount.toml"
    file.write_text(file.read_text("utf-8").replace("{region}.db", "eu.db"), encoding="utf-8")
    assert "FC604" in fleet.run("check", FILE).said


@pytest.mark.requirement("c7n-63")
@pytest.mark.parametrize(
    ("limits", "code"), [({"across": 'across region in ["eu"]'}, "FC330"), ({"scope": 'scope region == "eu"'}, "FC110")]
)
def test_c7n_63_a_region_can_not_be_asked_of_what_has_none(fleet, limits, code):
    """`--region` was given, and global roles and buckets were deleted all the same."""
    write(fleet, **limits)
    checked = fleet.run("check", FILE, "--format", "concise")
    assert (checked.exit, code in checked.said) == (Exit.ERROR, True)
    assert fleet.run("plan", FILE).exit == Exit.ERROR
