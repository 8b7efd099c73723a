"""Warnings that come night after night, through the command line: seen, refused, accepted, and taken back."""

from __future__ import annotations

import pytest

from fullcount.runtime import planning
from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.envelope import Notice

EVIDENCE = 3
ACCEPTED = """
[[accepted_warning]]
code = "CACHED_RESPONSE"
resource = "hr.employees"
owner = "ana"
reason = "the feed is mended next year"
expires = {expires}
"""


@pytest.fixture
def cached(bench, monkeypatch):
    """A feed that a proxy answers for, as long as `bench.warned` says; two readings in a row are one too many."""
    read = planning.collect
    warned = Notice(code=WarningCode.CACHED_RESPONSE, detail="Age: 86400")

    async def collect(reader, asked, *arguments, **more):
        envelope = await read(reader, asked, *arguments, **more)
        warnings = (warned,) if asked.name == "people" and bench.warned else ()
        return envelope.model_copy(update={"warnings": (*envelope.warnings, *warnings)})

    monkeypatch.setattr(planning, "collect", collect)
    bench.warned = True
    bench.rule(people_claims="rows at least 3")
    allow(bench)
    return bench


def allow(bench, expires=None):
    """Write the configuration, with the warning accepted until a day; None: it is not."""
    bench.configure()
    with (bench.root / "fullcount.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nwarnings_become_failures = 2\n")
        file.write("" if expires is None else ACCEPTED.format(expires=expires))


def codes(planned):
    """Return the codes of a refused plan."""
    return [finding["code"] for refusal in planned["refusals"] for finding in refusal["findings"]]


@pytest.mark.requirement("R23", "R36")
def test_a_warning_that_nobody_sees_to_becomes_a_failure_until_it_is_accepted(cached):
    """Shown since the first night, refused at the second, accepted with an end; not applied once that is over."""
    bench = cached
    first = bench.plan()
    assert "CACHED_RESPONSE once since" in bench.run("show", first["plan_id"]).words
    assert codes(bench.plan(exits=EVIDENCE)) == ["FC737"]
    (row,) = bench.run("runs", "--json").json["warnings"]
    assert (row["code"], row["resource"], row["runs_in_a_row"], row["owner"], row["accepted_until"]) == (
        "CACHED_RESPONSE", "hr.employees", 2, "iam-team", None,
    )  # fmt: skip
    assert "2 in a row CACHED_RESPONSE disable_orphans.people (hr.employees)" in bench.run("runs").words

    allow(bench, "2999-12-31")
    planned = bench.plan()
    shown = bench.run("show", planned["plan_id"]).words
    assert "CACHED_RESPONSE 3 times in a row since" in shown
    assert "accepted until 2999-12-31" in shown
    assert "owner iam-team accepted until 2999-12-31" in bench.run("runs").words
    bench.approve(planned)

    before = bench.target()
    allow(bench, "2020-01-31")
    refused = bench.run("apply", planned["plan_id"])
    assert (refused.exit, bench.target()) == (EVIDENCE, before)
    assert "ana accepted it until 2020-01-31, which is over" in refused.words
    assert codes(bench.plan(exits=EVIDENCE)) == ["FC737"]
    assert "accepted until 2020-01-31, which is over" in bench.run("runs").words

    allow(bench, "2999-12-31")
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R23")
def test_a_warning_that_is_resolved_begins_anew_and_its_acceptance_is_unused(cached):
    """One complete reading without it is enough."""
    bench = cached
    bench.plan()
    bench.warned = False
    allow(bench, "2999-12-31")
    planned = bench.plan()
    assert "accepted warning `CACHED_RESPONSE` of `hr.employees` (ana: the feed is mended next year) is unused" in (
        bench.run("show", planned["plan_id"]).words
    )
    assert bench.run("runs", "--json").json["warnings"] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"CACHED_RESPONSE"', '"CACHED"', "expected the code of a warning"),
        ("hr.employees", "hr.employes", "there is no `hr.employes`"),
        ("2999-12-31", '"never"', "expected a day"),
        ('owner = "ana"', 'owner = " "', "accepted_warning[1].owner"),
        ("owner =", "who =", "accepted_warning[1].who"),
        ("failures = 2", "failures = 0", "expected how many readings in a row"),
    ],
)
def test_an_acceptance_that_can_not_be_read_is_an_error(bench, old, new, said):
    """Never one less, and never one for good."""
    allow(bench, "2999-12-31")
    file = bench.root / "fullcount.toml"
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    ended = bench.run("plan", "workflows/disable_orphans.fcw")
    assert ended.exit in (1, 2)
    assert said in ended.words
