"""Keys, words and their meaning: what is misspelt, what empty means, patterns, defaults, missing data."""

from __future__ import annotations

import pytest

FREE = "where v.owner is absent"


@pytest.mark.requirement("c7n-74")
@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ("wheres v.owner is absent", ["FC002"]),
        ("filter v.owner is absent", ["FC002"]),
        ('where v.state == "free"\n    filters v.owner is absent', ["FC002"]),
        ("", ["FC005"]),
    ],
)
def test_c7n_74_a_misspelt_filter_is_an_error_and_no_filter_is_not_everything(night, rule, codes):
    """`filter` for `filters` was no filter, and everything was touched."""
    assert night.codes("volumes", rule) == codes
    assert night.compiled(night.text("volumes", rule)).program is None


@pytest.mark.requirement("c7n-75")
def test_c7n_75_every_rule_of_a_file_is_there_and_none_replaces_another(night):
    """Two lists under one key: only the last was run. Both are here, and one name twice is an error."""
    one, other = night.text("volumes", FREE, name="one"), night.text("servers", "where all", name="other")
    program = night.compiled(one + other).program
    assert [each.name for each in program.workflows] == ["one", "other"]
    assert night.checked(one + one)[0].startswith("FC101")
    inside = night.text("volumes", FREE)
    start, end = inside.index("  propose"), inside.index("  approve")
    assert night.checked(inside[:end] + inside[start:])[0].startswith("FC101")


@pytest.mark.requirement("c7n-76")
@pytest.mark.parametrize(
    ("test", "selected"),
    [
        ("((v.owner is absent))", '["absent"]'),
        ('(v.owner is present and v.owner == "")', '["blank"]'),
        ('v.owner is absent or (v.owner == "")', '["absent", "blank"]'),
    ],
)
def test_c7n_76_absent_is_not_blank_whatever_stands_around_it(night, test, selected):
    """`or` around one part changed it, `empty` meant absent or blank, and every machine was stopped."""
    night.says(
        "volumes",
        f"where {test}",
        f"""given volumes [{{ id: "absent" }}, {{ id: "blank", owner: "" }}, {{ id: "owned", owner: "ana" }}]
        expect plan {selected}""",
    )


@pytest.mark.requirement("c7n-77")
@pytest.mark.parametrize(
    ("some", "none"),
    [
        ('any v.labels as l where (l == "keep")', 'all v.labels as l where (l != "keep")'),
        ("some points as p where (p.of == v.id)", "no points as p where (p.of == v.id)"),
        ('v.tags["keep"] is present', 'v.tags["keep"] is absent'),
    ],
)
def test_c7n_77_what_is_there_and_what_is_not_part_the_set(night, some, none):
    """Present and absent over lists were both true, or neither; here each object is on one side, or on none if its
    list is not known."""
    rows = """given volumes [
      { id: "yes", labels: ["x", "keep"], tags: { "keep": "" } }, { id: "no", labels: ["x"] }, { id: "empty" },
      { id: "dark", labels: failed, tags: failed },
    ]"""
    listed = "points" in some
    points = 'given points [{ id: "1", of: "yes" }, { id: "2", of: "dark" }]' if listed else ""
    undecided = "" if listed else 'expect undecided ["dark"]'
    for rule, selected in ((some, '["yes", "dark"]' if listed else '["yes"]'), (none, '["no", "empty"]')):
        night.says(
            "volumes",
            f"where {rule}",
            f"{rows} {points} expect plan {selected} {undecided}",
            also=("points",) if listed else (),
        )


@pytest.mark.requirement("c7n-79")
def test_c7n_79_a_pattern_minds_case_and_matches_the_whole_text(night):
    """`prod` matched `PROD` and `production-2`, because case was dropped and the end was open."""
    night.says(
        "volumes",
        'where matches(v.name, "tmp-[a-z]+")',
        """given volumes [
          { id: "1", name: "tmp-a" }, { id: "2", name: "TMP-a" }, { id: "3", name: "tmp-a9" },
          { id: "4", name: "my-tmp-a" }, { id: "5", name: "tmp-a\\n" },
        ] expect plan ["1"]""",
    )
    night.says(
        "volumes",
        'where matches(v.name, "(?i)tmp-[a-z]+")',
        'given volumes [{ id: "1", name: "TMP-a" }, { id: "2", name: "TMP-a9" }] expect plan ["1"]',
    )


@pytest.mark.requirement("c7n-81")
@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        (f"{FREE} except in exemption", ["FC119"]),
        ("where v.team not in alowed", ["FC109"]),
        ('where v.team not in ["core" "lab"]', ["FC001"]),
        ("where v.team not in []", ["FC208"]),
    ],
)
def test_c7n_81_a_list_of_what_is_allowed_that_is_misspelt_is_an_error(night, rule, codes):
    """`value_from` for `values_from` made an empty list of what is allowed, so that nothing was."""
    assert night.codes("volumes", rule) == codes


@pytest.mark.requirement("c7n-82")
@pytest.mark.parametrize(
    ("rule", "selected"),
    [
        ("where (v.uses else 0) == 0", '["zero", "missing"]'),
        ("where (v.uses else 7) == 0", '["zero"]'),
        ('where (v.owner else "") == ""', '["zero", "missing", "some"]'),
    ],
)
def test_c7n_82_a_value_for_what_is_missing_may_be_zero(night, rule, selected):
    """`missing-value: 0` was false, and so there was none."""
    rows = 'given volumes [{ id: "zero", uses: 0 }, { id: "missing" }, { id: "some", uses: 3 }]'
    night.says("volumes", rule, f"{rows} expect plan {selected}")


DATA = """given volumes [{ id: "busy" }, { id: "idle" }, { id: "silent" }]
  given points [
    { id: "1", of: "busy", value: 40.0 }, { id: "2", of: "busy", value: 0.0 },
    { id: "3", of: "idle", value: 0.0 }, { id: "4", of: "idle", value: 1.0 },
  ]"""


@pytest.mark.requirement("c7n-83")
@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        # no data is unknown: too few samples decide nothing
        ("where max points as p where (p.of == v.id) of p.value needs 2 < 10.0",
         'expect plan ["idle"] expect undecided ["silent"]'),
        # no data is absent: the rule says that this is not idle
        ("where (max points as p where (p.of == v.id) of p.value else 100.0) < 10.0", 'expect plan ["idle"]'),
        # no data is zero, because the rule says so
        ("where (max points as p where (p.of == v.id) of p.value else 0.0) < 10.0", 'expect plan ["idle", "silent"]'),
        # no data is what is looked for
        ("where count points as p where (p.of == v.id) == 0", 'expect plan ["silent"]'),
    ],
)  # fmt: skip
def test_c7n_83_a_rule_says_what_no_data_means(night, rule, outcome):
    """No data was neither 0 nor absent, and nobody could say which; left unsaid, it does not compile."""
    night.says("volumes", rule, f"{DATA} {outcome}", also=("points",))
    unsaid = "where max points as p where (p.of == v.id) of p.value < 10.0"
    assert night.codes("volumes", unsaid, also=("points",)) == ["FC202"]


@pytest.mark.requirement("c7n-84")
def test_c7n_84_a_plan_and_the_look_at_each_object_before_the_act_decide_alike(night):
    """22 objects matched in one place and 396 in another: one over the whole listing, one object by object."""
    (came,) = night.says(
        "volumes",
        """where (max points as p where (p.of == v.id) of p.value else 100.0) < 10.0
        and (v.owner is absent or not contains(v.owner, "live"))""",
        f"""{DATA.replace('{ id: "silent" }', '{ id: "silent" }, { id: "dark", owner: failed }')}
        expect plan ["idle"] expect outcome "idle" = done""",
        also=("points",),
    )
    assert came.acted.sums_hold


@pytest.mark.requirement("c7n-84")
def test_c7n_84_the_same_rows_in_another_order_are_the_same_plan(night):
    """Whatever the order in which a source lists, the plan has the same digest."""
    rows = [f'{{ id: "{n}", uses: {n % 3} }}' for n in range(9)]
    digests = {
        night.says("volumes", "where (v.uses else 1) == 0", f"given volumes [{', '.join(order)}] expect count 3")[
            0
        ].planned.digest
        for order in (rows, rows[::-1])
    }
    assert len(digests) == 1
