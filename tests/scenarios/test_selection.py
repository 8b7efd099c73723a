"""Class B: what is selected. Empty and zero values, misspelt words, scopes, patterns, references, groups, levels."""

from __future__ import annotations

import pytest
from tests.support.nights import opened

from fullcount.compiler.params import ParamError, bind_params
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.understand.edit import Answer, Side, judge_edit
from fullcount.runtime.understand.explain import explain
from fullcount.runtime.understand.explain_text import explanation_lines
from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.errors import WorkspaceError

FREE = "where v.owner is absent"


@pytest.mark.requirement("B01")
def test_b01_a_source_that_answers_with_more_than_it_was_asked_for_selects_no_more(night):
    """An API took a filter without a value for everything; each object that comes is held against the scope again."""
    rows = 'given volumes [{ id: "asked", state: "pending" }, { id: "all", state: "live" }]'
    night.says("volumes", FREE, f'{rows} expect plan ["asked"]', inside='scope state == "pending"')
    head = "param wanted: text"
    night.says("volumes", "where v.state == wanted", f'{rows} given param wanted = "" expect plan empty', head=head)
    with pytest.raises(ParamError, match="no default"):
        bind_params(night.workflow(night.text("volumes", "where v.state == wanted", head=head)), {})


@pytest.mark.requirement("B02")
def test_b02_a_blank_expiry_never_expires_and_takes_no_default(night):
    """A blank lifetime became one year; here the rule has to say what blank means before it compiles."""
    assert night.codes("volumes", "where v.expires < now") == ["FC202"]
    night.says(
        "volumes",
        "where v.expires is present and v.expires < now",
        """given volumes [{ id: "blank" }, { id: "over", expires: now - 1s }]
        expect plan ["over"] expect kept ["blank" because "not matched"]""",
    )


@pytest.mark.requirement("B03")
@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ('where starts_with(v.name, "")', "FC208"),
        ('where ends_with(v.name, "")', "FC208"),
        ('where contains(v.name, "")', "FC208"),
        ('where glob(v.name, "*")', "FC208"),
        ('where matches(v.name, "^.*$")', "FC208"),
        ('where matches(v.name, "(.*)")', "FC208"),
        ("where v.team not in []", "FC208"),
        ("where length(v.labels) >= 0", "FC208"),
        ("where length(v.name) > -1", "FC208"),
        ("where -1 < count points as p where (p.of == v.id)", "FC208"),
        ("where true", "FC006"),
        ("where 1 < 2", "FC208"),
        ("", "FC005"),
    ],
)
def test_b03_a_selector_that_fits_everything_is_refused_at_check(night, rule, code):
    """An empty prefix selected the whole data set; everything is selected only by `where all`, under a limit."""
    assert night.codes("volumes", rule, also=("points",) if "points" in rule else ()) == [code]
    assert night.codes("volumes", "where all") == []
    assert night.codes("volumes", "where all", limit="") == ["FC501"]


@pytest.mark.requirement("B03")
def test_b03_a_prefix_that_comes_out_empty_selects_nobody(night):
    """The same where the empty text is a parameter, or stands in data: refused, and undecided."""
    text = night.text("volumes", "where starts_with(v.name, prefix)", head='param prefix: text = "tmp-"')
    with pytest.raises(ParamError, match="every text begins with"):
        bind_params(night.workflow(text), {"prefix": ""})
    night.says(
        "volumes",
        "where starts_with(v.name, v.team)",
        """given volumes [{ id: "tmp", name: "tmp-1", team: "tmp-" }, { id: "all", name: "live", team: "" }]
        expect plan ["tmp"] expect undecided ["all" because "v.team"]""",
    )


@pytest.mark.requirement("B04")
@pytest.mark.parametrize(
    ("rule", "selected"),
    [
        ("where v.created < now - 0d", ["old"]),
        ("where (v.uses else 1) == 0", ["zero"]),
        ("where v.uses is absent", ["empty", "future", "old"]),
        ('where v.owner is present and v.owner == ""', ["empty"]),
        ("where length(v.labels) == 0 and v.uses is present", ["zero"]),
    ],
)
def test_b04_zero_and_empty_are_values_like_others(night, rule, selected):
    """`older than 0` switched the age filter off; zero and empty texts and lists are neither absent nor everything."""
    night.says(
        "volumes",
        rule,
        f"""given volumes [
          {{ id: "old", created: now - 1s, labels: ["x"] }}, {{ id: "future", created: now + 1d }},
          {{ id: "zero", created: now, uses: 0 }}, {{ id: "empty", created: now, owner: "", labels: ["x"] }},
        ]
        expect plan {str(selected).replace("'", '"')}""",
    )


@pytest.mark.requirement("B04")
def test_b04_a_limit_of_zero_allows_nothing_and_a_text_is_no_number(night):
    """0 is not `no limit`, and `"0"` is not 0."""
    one = 'given volumes [{ id: "a" }] expect count 1 expect refused FC711'
    night.says("volumes", FREE, one, limit="limit 0, 100%")
    night.says("volumes", FREE, one, limit="limit 50, 0%")
    assert night.codes("volumes", 'where (v.uses else 0) == "0"') == ["FC201"]


@pytest.mark.requirement("B06")
@pytest.mark.parametrize(
    ("rule", "more", "code"),
    [
        (f"{FREE} where v.created < now - 90d", {}, "FC003"),
        (FREE, {"limit": "limit 1 limit 50"}, "FC003"),
        (FREE, {"inside": 'scope team == "a" scope team == "b"'}, "FC003"),
        (FREE, {"verify": "complete, fresh within 1h, fresh within 9d"}, "FC003"),
        (FREE, {"head": "param idle: duration = 90d param idle: duration = 0d"}, "FC101"),
        (FREE, {"act": "act tidy with cloud.volumes.delete(id: v.id, id: v.name) {}"}, "FC101"),
    ],
)
def test_b06_what_is_said_twice_is_an_error(night, rule, more, code):
    """The second list of filters replaced the first, and the age rule was gone."""
    assert code in night.codes("volumes", rule, **more)
    assert night.compiled(night.text("volumes", rule, **more)).program is None


@pytest.mark.requirement("B07")
@pytest.mark.parametrize(
    ("rule", "more", "code"),
    [
        (f'{FREE}\n    exempt_labels ["keep"]', {}, "FC002"),
        (FREE, {"verify": "complete, fresh within 1h, exempt labels"}, "FC002"),
        (FREE, {"inside": 'exempt "keep"'}, "FC002"),
        (FREE, {"act": "act tidy with cloud.volumes.delete(id: v.id, force: true) {}"}, "FC115"),
        (FREE, {"act": "act tidy with cloud.volumes.delete(id: v.id) { exempt 1 }"}, "FC002"),
    ],
)
def test_b07_an_option_that_is_not_known_is_an_error(night, rule, more, code):
    """A pinned version did not know `exempt`, went on without it, and marked what was exempt."""
    assert code in night.codes("volumes", rule, **more)
    assert night.compiled(night.text("volumes", rule, **more)).program is None


@pytest.mark.requirement("B07")
def test_b07_a_newer_edition_and_an_unknown_setting_are_errors(night, tmp_path):
    """A file for a later version is not read as one of this, and the workspace's own file is as strict."""
    assert night.checked('edition "2099"\n' + night.text("volumes", FREE))[0].startswith("FC030")
    text = (night.real.root / "fullcount.toml").read_text("utf-8")
    (tmp_path / "fullcount.toml").write_text(f'exempt_labels = ["keep"]\n{text}', "utf-8")
    with pytest.raises(WorkspaceError) as refused:
        Workspace.load(tmp_path)
    assert refused.value.code == "FC603"
    (tmp_path / "fullcount.toml").write_text(text, "utf-8")
    (tmp_path / "exemptions.toml").write_text('[[exemption]]\nkey = "a"\nlabels = ["keep"]\n', "utf-8")
    with pytest.raises(WorkspaceError, match="labels` is not a key"):
        Workspace.load(tmp_path).exemptions("exemptions")


@pytest.mark.requirement("B08")
def test_b08_a_misspelt_negative_condition_is_a_refusal(night):
    """`different from "prouction"` protected nobody; a value that nothing has refuses the plan."""
    rows = 'given volumes [{ id: "prod", team: "production" }, { id: "lab", team: "lab" }]'
    for rule in ('where v.team != "prouction"', 'where v.state == "free" except when v.team == "prouction"'):
        night.says("volumes", rule, f"{rows} expect refused FC792")
    night.says("volumes", 'where v.team != "production"', f'{rows} expect plan ["lab"]')


@pytest.mark.requirement("B09")
def test_b09_the_plan_names_the_clause_that_decided_for_each_object(night):
    """Filters on a name and on a property kept some and deleted others, and nobody saw which had decided."""
    (came,) = night.says(
        "volumes",
        f'{FREE} except when contains(v.name, "prod") except when v.tags["stage"] is present',
        """given volumes [
          { id: "name", name: "prod-1" }, { id: "tag", tags: { "stage": "x" } }, { id: "owned", owner: "ana" },
          { id: "none" },
        ]
        expect plan ["none"]
        expect kept ["name" because "contains(v.name", "tag" because "stage", "owned" because "not matched"]""",
    )
    told = explain(came.planned, came.snapshots, "owned", lambda _: ())
    assert {"false    v.owner is absent", "v.owner = ana"} <= {line.strip() for line in explanation_lines(told)}


@pytest.mark.requirement("B10")
def test_b10_an_exemption_by_a_field_that_the_source_does_not_have_is_an_error(night):
    """The kind had no tags, so the exemption by tag held for nobody and the object was deleted."""
    rule = 'where matches(s.name, "tmp-[0-9]+") except when s.tags["keep"] is present'
    assert night.codes("servers", rule) == ["FC110"]
    asked = night.text("servers", rule).replace("name: text }", "name: text, tags: map<text> }")
    assert [each.split()[0] for each in night.checked(asked)] == ["FC104"]


@pytest.mark.requirement("B11")
def test_b11_an_exemption_that_comes_after_the_plan_still_holds(night):
    """A tag that excludes was read once, or not at all; here it is read again right before the act."""
    night.says(
        "volumes",
        f'{FREE} except when v.tags["keep"] is present except in exemptions',
        """given volumes [{ id: "tagged" }, { id: "listed" }, { id: "plain" }, { id: "kept", tags: { "keep": "" } }]
        before act change volumes "tagged" { tags: { "keep": "yes" } }
        before act exempt "listed" in exemptions
        expect count 3
        expect outcome "tagged" = changed expect outcome "listed" = refused FC760 expect outcome "plain" = done""",
    )


@pytest.mark.requirement("B11")
def test_b11_what_would_go_along_with_an_object_refuses_the_plan(bench):
    """Deleting one object took an exempted one along; a target that does more than was asked is not acted on."""
    bench.sql("directory", "CREATE TRIGGER along AFTER UPDATE ON accounts BEGIN DELETE FROM accounts; END")
    refused = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert (refused.exit, refused.json["plan_id"]) == (4, None)
    assert refused.json["refusals"][0]["findings"][0]["code"] == "COLLATERAL_CHANGE"


@pytest.mark.requirement("B12")
def test_b12_a_protection_holds_in_every_workflow_and_a_kind_that_is_not_named_is_off(tmp_path, night):
    """`older than` was not handed to every kind; a guard of the workspace needs no handing on."""
    with opened(tmp_path / "guarded") as guarded:
        (guarded.real.root / "protect.fcw").write_text(
            'protect young from cloud.volumes as v where (v.created > now - 7d) because "too young"\n', "utf-8"
        )
        for name in ("tidy", "a_later_one"):
            guarded.says(
                "volumes",
                FREE,
                'given volumes [{ id: "new", created: now - 1d }, { id: "old" }] '
                'expect plan ["old"] expect kept ["new" because "protected by `young`"]',
                name=name,
            )
    text = night.text("volumes", FREE).replace("cloud.volumes", "cloud.buckets")
    assert night.checked(text)[0].startswith("FC103")


@pytest.mark.requirement("B15")
def test_b15_alternatives_in_a_pattern_match_the_whole_text(night):
    """Anchors around `a|b` meant `begins with a, or ends with b`, and case was dropped unasked."""
    night.says(
        "volumes",
        'where matches(v.name, "^tmp|scratch$")',
        """given volumes [
          { id: "1", name: "tmp" }, { id: "2", name: "scratch" }, { id: "3", name: "tmp-accounts" },
          { id: "4", name: "not-scratch" }, { id: "5", name: "TMP" }, { id: "6", name: "scratch\\n" },
        ]
        expect plan ["1", "2"]
        expect outcome "1" = done expect outcome "2" = done""",
    )


PARTS = "where length(i.tags) == 0 and no bundles as b where (i.id in b.parts)"
IMAGES = 'given images [{ id: "part" }, { id: "orphan" }, { id: "tagged", tags: ["v1"] }]'


@pytest.mark.requirement("B16")
def test_b16_a_part_of_a_bundle_is_referenced(night):
    """Untagged parts of a tagged bundle were deleted; `unreferenced` looks from every bundle, and needs them all."""
    night.says(
        "images",
        PARTS,
        f"""test "all" {{ {IMAGES} given bundles [{{ id: "b", parts: ["part"] }}] expect plan ["orphan"] }}
        test "cut" {{ {IMAGES} given bundles partial RESULT_LIMIT_REACHED [{{ id: "b", parts: ["part"] }}]
          expect refused RESULT_LIMIT_REACHED }}
        test "a list cut short" {{ {IMAGES}
          given bundles [{{ id: "b", parts: ["part"] }}, {{ id: "c", parts: truncated }}]
          expect plan empty expect undecided ["orphan"] }}""",
        also=("bundles",),
    )
    unproven = night.text("images", PARTS, also=("bundles",)).replace("verify bundles { complete,", "verify bundles {")
    assert [each.split()[0] for each in night.checked(unproven)] == ["FC301"]


@pytest.mark.requirement("B17")
def test_b17_the_act_names_what_was_proposed_and_every_name_of_it_counts(night):
    """Deleting a tag deleted the digest that other tags shared; what is deleted is what is proposed."""
    act = "act tidy with registry.images.delete(id: t.image) {}"
    assert "FC114" in night.codes("tags", 'where t.id == "v10"', act=act)
    night.says(
        "images",
        'where length(i.tags) > 0 and all i.tags as t where (matches(t, "v1[0-9]"))',
        """given images [{ id: "shared", tags: ["v10", "v1"] }, { id: "own", tags: ["v10", "v11"] }]
        expect plan ["own"]""",
    )


@pytest.mark.requirement("B18")
def test_b18_newest_are_kept_in_each_class_and_a_release_keeps_its_image(night):
    """Ten were kept, edge builds took all ten places, and a released version went."""
    night.says(
        "images",
        """where i.pushed < now - 30d
        except when some releases as r where (r.image == i.id)
        keep at least 2 per i.channel newest by i.pushed""",
        """given images [
          { id: "s1", pushed: now - 900d }, { id: "s2", pushed: now - 800d }, { id: "s3", pushed: now - 700d },
          { id: "s4", pushed: now - 600d }, { id: "e1", channel: "edge", pushed: now - 50d },
          { id: "e2", channel: "edge", pushed: now - 40d }, { id: "e3", channel: "edge", pushed: now - 35d },
        ]
        given releases [{ id: "r1", image: "s1" }]
        expect plan ["s2", "e1"]
        expect kept ["s1" because "releases", "s4" because "keep at least 2"]""",
        also=("releases",),
    )


@pytest.mark.requirement("B19")
def test_b19_the_plan_shows_the_groups_of_a_floor_and_their_sizes(night):
    """A host's name changed with each update, each copy was a group of its own, and nobody saw it."""
    rows = ", ".join(f'{{ id: "{n}", team: "host-{n}", created: now - {n}d }}' for n in range(1, 7))
    (came,) = night.says(
        "volumes",
        "where all keep at least 2 per v.team newest by v.created",
        f"given volumes [{rows}] expect plan empty",
    )
    (floor,) = came.planned.floors
    assert (floor.groups, floor.small) == (6, 6)


@pytest.mark.requirement("B22")
def test_b22_the_age_of_a_part_is_that_of_the_newest_in_it(night):
    """A part that was named 2020 held rows of this year; the evidence is what is in it, not what it is called."""
    night.says(
        "volumes",
        "where (max points as p where (p.of == v.id) of p.at else now) < now - 400d",
        """given volumes [{ id: "y2020", created: now - 2000d }, { id: "y2019" }, { id: "nothing known" }]
        given points [
          { id: "1", of: "y2020", at: now - 1900d }, { id: "2", of: "y2020", at: now - 3d },
          { id: "3", of: "y2019", at: now - 401d },
        ]
        expect plan ["y2019"]""",
        also=("points",),
    )


@pytest.mark.requirement("B25")
def test_b25_an_edit_that_widens_is_told_apart_and_needs_its_own_approval(night):
    """One person was to be taken off a policy, and it came to hold for all; an edit is judged before it is run."""
    rule = f'{FREE} and v.team not in ["core", "lab"]'
    one = night.workflow(night.text("volumes", rule))
    wide, narrow = (
        night.workflow(night.text("volumes", each)) for each in (FREE, rule.replace('"lab"', '"lab", "web"'))
    )
    sides = [Side(each, each.proposals[0]) for each in (one, wide, narrow)]
    assert judge_edit(sides[0], sides[1]).answer is Answer.GROWS
    assert judge_edit(sides[0], sides[2]).answer is Answer.SHRINKS
    rows = 'given volumes [{ id: "a", team: "web" }] expect plan ["a"]'
    digests = {night.says("volumes", each, rows)[0].planned.digest for each in (rule, FREE)}
    assert len(digests) == 2


@pytest.mark.requirement("B27")
def test_b27_an_act_of_another_kind_is_refused_at_check(night):
    """`Delete database` became `delete server` in a change of a library; an act is bound to the kind it is for."""
    act = "act tidy with cloud.servers.delete(id: v.id) {}"
    assert "FC114" in night.codes("volumes", FREE, act=act)
    assert "FC116" in night.codes("volumes", FREE, act="act tidy with cloud.volumes.delete(id: v.name) {}")


@pytest.mark.requirement("B27")
def test_b27_a_rehearsal_without_an_object_to_act_on_says_so(night):
    """The rehearsal had no old snapshot, so the wrong act was never tried; coverage names what no test has seen."""
    text = night.text("volumes", FREE, 'given volumes [{ id: "a", owner: "ana" }] expect plan empty')
    asked = [(night.real.root / "workflows" / "tidy.fcw", night.compiled(text))]
    outcome = run_tests(asked, night.real, Asked(coverage=True), lambda _: None)
    (part,) = [part for part in outcome.coverage["tidy"] if part.text == "v.owner is absent"]
    assert "true" in part.missing
