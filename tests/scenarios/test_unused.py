"""Claims that something is unused: every use is looked for, in whole lists, and again right before the act."""

from __future__ import annotations

import pytest
from tests.support.fleet import FILE, IMAGES, NO_IMAGE, Fleet

from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan

UNUSED = "where no launches as l where (l.image == i.id) and no templates as t where (t.image == i.id)"
USES = ("launches", "templates")
THREE = 'given images [{ id: "run" }, { id: "named" }, { id: "free" }]'
RUN, NAMED = '[{ id: "1", image: "run" }]', '[{ id: "1", image: "named" }]'


@pytest.mark.requirement("c7n-20")
def test_c7n_20_a_use_that_only_a_second_list_shows_keeps_the_object(night):
    """A group was attached only to tasks that a program starts; it was marked, and deleted 30 days later."""
    rows = f'{THREE} given launches {RUN} given templates {NAMED} expect plan ["free"]'
    (came,) = night.says("images", UNUSED, f'{rows} expect kept ["run", "named"]', also=USES)
    shown = to_text(render_plan(came.planned, ReviewStatus("waiting")))
    assert all(each in shown for each in ("fleet.launches", "fleet.templates")), "what was looked at is on the screen"


@pytest.mark.requirement("c7n-21")
def test_c7n_21_a_use_that_begins_after_the_plan_is_seen_before_the_act(night):
    """A group came to be used by a data connection; uses are looked up again for each object when it is its turn."""
    night.says(
        "images",
        "where no launches as l where (l.image == i.id)",
        f"""given images [{{ id: "run" }}, {{ id: "later" }}, {{ id: "free" }}] given launches {RUN}
        before act add launches {{ id: "2", image: "later" }}
        expect plan ["later", "free"] expect outcome "later" = changed expect outcome "free" = done""",
        also=("launches",),
    )


@pytest.mark.requirement("c7n-22")
def test_c7n_22_templates_that_were_not_read_to_their_end_unuse_nothing(night):
    """An image that only a launch template names was taken away, and production with it."""
    code = "RESULT_LIMIT_REACHED"
    night.says(
        "images",
        UNUSED,
        f"""test "cut" {{ {THREE} given launches {RUN} given templates partial {code} {NAMED} expect refused {code} }}
        test "none" {{ {THREE} given launches {RUN} given templates partial {code} empty expect refused {code} }}""",
        also=USES,
    )
    unproven = night.text("images", UNUSED, also=USES).replace("verify templates { complete,", "verify templates {")
    assert [each.split()[0] for each in night.checked(unproven)] == ["FC301"]


@pytest.mark.requirement("c7n-23")
def test_c7n_23_an_account_that_did_not_answer_may_be_the_one_that_uses_it(tmp_path):
    """An image was run only in another account, and was unused in the one that was looked at."""
    fleet = Fleet(tmp_path / "fleet")
    fleet.tidy(images=IMAGES, and_=NO_IMAGE)
    fleet.sql("eu", "INSERT INTO images VALUES ('i1', 'v0')")
    keys = {tuple(row["key"]) for row in fleet.plan(file=FILE)["plan"]["rows"]}
    assert {key for _, key in keys} == {"v1"}, "used in one part is used in all"
    fleet.sql("eu", "ALTER TABLE images RENAME TO elsewhere")
    ended = fleet.run("plan", FILE)
    assert (ended.exit, "not region=eu" in ended.words) == (3, True)


@pytest.mark.requirement("c7n-24")
def test_c7n_24_an_exemption_of_what_runs_needs_every_list_of_what_runs(night):
    """A shared image was taken back from accounts in which its machines ran."""
    rule = "where i.pushed < now - 30d except when some launches as l where (l.image == i.id)"
    rows = 'given images [{ id: "run" }, { id: "free" }] given launches'
    night.says(
        "images",
        rule,
        f"""test "all" {{ {rows} [{{ id: "1", image: "run", account: "other" }}] expect plan ["free"] }}
        test "own" {{ {rows} partial VISIBILITY_RESTRICTED empty expect refused VISIBILITY_RESTRICTED }}""",
        also=("launches",),
    )


@pytest.mark.requirement("c7n-26")
def test_c7n_26_a_list_of_uses_is_tried_on_what_is_known_to_be_used(night):
    """A role was used by a service that the scan did not know of: what has to be there and is not refuses all."""
    rows = f"{THREE} given launches {RUN} given templates"
    known = '[{ id: "1", image: "named" }, { id: "2", image: "known-used" }]'
    tests = f"""test "seen" {{ {rows} {known} expect plan ["free"] }}
    test "blind" {{ {rows} {NAMED} expect refused VISIBILITY_RESTRICTED }}"""
    plain = night.text("images", UNUSED, tests, also=USES)
    asked = plain.replace("image: text }", 'image: text } expect image == "known-used"')
    assert (asked != plain, len(list(night.tries(asked)))) == (True, 2)


@pytest.mark.requirement("c7n-27")
def test_c7n_27_used_and_unused_share_nothing_and_leave_nothing_out(night):
    """`Unused` was `not here or not there`: what was used in one place came out as unused."""
    used = "some launches as l where (l.image == i.id) or some templates as t where (t.image == i.id)"
    rows = 'given images [{ id: "run" }, { id: "named" }, { id: "both" }, { id: "free" }]'
    rows += 'given launches [{ id: "1", image: "run" }, { id: "2", image: "both" }]'
    rows += 'given templates [{ id: "1", image: "named" }, { id: "2", image: "both" }] expect count'
    selected = []
    for rule, count in ((f"where {used}", 3), (f"where not ({used})", 1), (UNUSED, 1)):
        (came,) = night.says("images", rule, f"{rows} {count}", also=USES)
        selected.append({row.key[0] for row in came.planned.rows})
    assert selected == [{"run", "named", "both"}, {"free"}, {"free"}]


@pytest.mark.requirement("c7n-28")
def test_c7n_28_an_age_without_the_field_that_it_rests_on_is_not_taken_from_another(night):
    """The newest stream had been emptied, its age was that of its creation, and the log group was deleted too early."""
    newest = "max points as p where (p.of == v.id) of p.at"
    assert night.codes("volumes", f"where ({newest}) < now - 90d", also=("points",)) == ["FC202"]
    night.says(
        "volumes",
        f"where ({newest} else now) < now - 90d",
        """given volumes [{ id: "emptied" }, { id: "old" }, { id: "unread" }] given points [
          { id: "1", of: "old", at: now - 91d }, { id: "2", of: "unread", at: failed },
        ] expect plan ["old"] expect kept ["emptied"] expect undecided ["unread"]""",
        also=("points",),
    )
