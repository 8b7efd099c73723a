"""What is acted on is what was matched, object by object, and limits hold for every kind and hide nothing."""

from __future__ import annotations

import pytest
from tests.support.applying import Stage, figures

from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan

FREE = "where v.owner is absent"
IDLE = "where (v.last_used else v.created) < now - 90d"


@pytest.mark.requirement("c7n-30")
def test_c7n_30_an_act_has_no_selection_of_its_own(night):
    """The act had an age of its own, and disabled keys that were used today: it takes the rows of the plan alone."""
    for clause in ("where v.created < now - 1d", "age 1d", "limit 9"):
        act = f"act tidy with cloud.volumes.delete(id: v.id) {{\n {clause}\n }}"
        assert "FC002" in night.codes("volumes", IDLE, act=act)
    (came,) = night.says(
        "volumes",
        IDLE,
        """given volumes [{ id: "used", last_used: now }, { id: "idle", last_used: now - 91d }]
        expect plan ["idle"] expect outcome "idle" = done""",
    )
    assert [row.key for row in came.acted.rows] == [("idle",)]


@pytest.mark.requirement("c7n-31")
def test_c7n_31_the_reviewer_reads_the_condition_and_not_its_description(night):
    """The manual said `unused`, the code compared the creation: the plan shows the rule as it is run."""
    rows = """given volumes [
      { id: "old and used", last_used: now - 1d }, { id: "unused", last_used: now - 91d },
      { id: "new", created: now - 1d },
    ] expect plan ["unused"]"""
    (came,) = night.says("volumes", IDLE, rows, head='describe "Delete keys that are unused for 90 days."')
    assert "(v.last_used else v.created) < now - 90d" in to_text(render_plan(came.planned, ReviewStatus("waiting")))
    created = night.text("volumes", "where v.created < now - 90d", 'given volumes [{ id: "a" }] expect plan ["a"]')
    (came,) = night.tries(created)
    assert "v.created < now - 90d" in to_text(render_plan(came.planned, ReviewStatus("waiting")))


@pytest.mark.requirement("c7n-32")
def test_c7n_32_no_condition_overwrites_what_another_has_matched(night):
    """A later filter emptied the list of what an earlier one had matched; the order of conditions says nothing."""
    conditions = (
        'any v.labels as l where (starts_with(l, "tmp"))',
        'any v.labels as l where (l == "old")',
        "some points as p where (p.of == v.id)",
    )
    rows = """given volumes [
      { id: "both", labels: ["tmp-1", "old"] }, { id: "one", labels: ["tmp-1"] }, { id: "other", labels: ["old"] },
    ] given points [{ id: "1", of: "both" }, { id: "2", of: "one" }]"""
    for order in (conditions, conditions[::-1]):
        night.says("volumes", f"where {' and '.join(order)}", f'{rows} expect plan ["both"]', also=("points",))


@pytest.mark.requirement("c7n-33")
def test_c7n_33_an_object_without_a_match_in_its_list_is_not_reported(night):
    """Objects stood in the report whose list of matches was empty; `all` of nothing has to be meant."""
    rows = """given volumes [
      { id: "match", labels: ["tmp"] }, { id: "mixed", labels: ["tmp", "x"] }, { id: "none", labels: ["x"] },
      { id: "empty" },
    ]"""
    for rule, selected in (
        ('where any v.labels as l where (l == "tmp")', '["match", "mixed"]'),
        ('where length(v.labels) > 0 and all v.labels as l where (l == "tmp")', '["match"]'),
    ):
        night.says("volumes", rule, f"{rows} expect plan {selected}")


@pytest.mark.requirement("c7n-34")
def test_c7n_34_an_object_without_a_value_that_the_act_needs_is_undecided_before(night):
    """The act dropped five objects without a value, deleted nothing, and said `5 deleted`; here they never begin."""
    act = "act tidy with cloud.volumes.delete(id: {}) {{}}"
    assert "FC116" in night.codes("volumes", FREE, act=act.format("v.name"))
    names = ", ".join(f'"{n}"' for n in range(1, 6))
    rows = ", ".join(f'{{ id: "{n}", owner: absent, team: failed, uses: failed }}' for n in range(1, 6))
    done = " ".join(f'expect outcome "{n}" = done' for n in range(1, 6))
    (came,) = night.says("volumes", FREE, f"given volumes [{rows}] expect plan [{names}] {done}")
    assert (came.acted.candidates, came.acted.sums_hold) == (5, True)


@pytest.mark.requirement("c7n-34")
async def test_c7n_34_what_was_planned_is_what_is_accounted_for(tmp_path):
    """Exit 0 without an effect: every object of the plan has an outcome, and one that was not done is no success."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    del stage.world.account_table.objects["a2",]
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "already_gone": 1}
    assert (report.candidates, report.sums_hold, len(report.rows)) == (3, True, 3)
    assert sorted(key for _, key in stage.source.effects) == [("a1",), ("a3",)]


@pytest.mark.requirement("c7n-56")
@pytest.mark.parametrize(
    ("limit", "inventory", "rule", "kept"),
    [
        ("limit 1, 100%", "volumes", FREE, 'owner: "ana"'),
        ("limit 50, 49%", "servers", 'where s.name == "s"', 'name: "x"'),
        ("limit 1, 49%", "images", "where length(i.tags) == 0", 'tags: ["x"]'),
    ],
)
def test_c7n_56_a_limit_holds_for_every_kind_and_every_act_has_one(night, limit, inventory, rule, kept):
    """One provider's limits were in the schema and not in the code: the limit is kept where every plan is made."""
    assert night.codes(inventory, rule, limit="") == ["FC501"]
    rows = f'[{{ id: "a" }}, {{ id: "b" }}, {{ id: "c", {kept} }}, {{ id: "d", {kept} }}]'
    night.says(inventory, rule, f"given {inventory} {rows} expect count 2 expect refused FC711", limit=limit)


@pytest.mark.requirement("c7n-58")
def test_c7n_58_a_plan_over_its_limit_is_shown_in_full_and_can_not_be_approved(bench):
    """The limit stopped the dry run too, and nobody could see what was too much."""
    bench.rule(limit="1, 50%")
    planned = bench.plan(exits=Exit.REFUSED_BY_POLICY)
    shown = bench.run("show", planned["plan_id"], "--all")
    assert all(key in shown.out for key in ("a01", "a02", "a03"))
    refused = bench.run("approve", planned["plan_id"], "--digest", planned["digest"])
    assert (refused.exit, bench.locked()) == (Exit.REFUSED_BY_POLICY, set())
