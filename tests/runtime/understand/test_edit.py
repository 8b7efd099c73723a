"""What an edit of a proposal can do to its selection: nothing is claimed that was not proven."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.support.planning import ORPHANS, compiled

from fullcount.compiler import program
from fullcount.dsl.dataclass import dataclass
from fullcount.runtime.understand import edit
from fullcount.runtime.understand.edit import Answer, Side, judge_edit

pytestmark = pytest.mark.requirement("R19", "R20")

BASE = (
    ORPHANS.replace("except when", "except in exemptions\n    except when")
    .replace("key         id", 'key id\n    scope team != "sandbox"\n    expect id == "canary"')
    .replace("verify people   { complete, fresh within 24h }", "verify people { complete, fresh within 24h, CLAIMS }")
    .replace("CLAIMS", "rows at least 10, change at most 20%, count agrees with hr.headcount")
)


def side(text):
    workflow = compiled(text)
    return Side(workflow, workflow.proposals[0])


def judged(*changes, base=BASE):
    """What is claimed of an edit that replaces texts of the workflow."""
    after = base
    for old, new in changes:
        assert old in after, old
        after = after.replace(old, new)
    return judge_edit(side(base), side(after))


STRICTER = {
    "one condition more": (("(a.last_login else a.created)", 'a.team != "x" and (a.last_login else a.created)'),),
    "a longer threshold": (("duration = 90d", "duration = 120d"),),
    "a lower limit": (("50, 50%", "40, 50%"),),
    "a lower percentage": (("50, 50%", "50, 40%"),),
    "one exemption more": (("show ", 'except when a.team == "core"\n    show '),),
    "a narrower scope": (('team != "sandbox"', 'team != "sandbox" and team != "lab"'),),
    "a fresher reading": (("fresh within 24h", "fresh within 12h"),),
    "more rows": (("rows at least 10", "rows at least 20"),),
    "less change": (("change at most 20%", "change at most 10%"),),
    "one canary more": (('expect id == "canary"', 'expect id == "canary"\n    expect id == "canary-2"'),),
    "one floor more": (("show ", "keep at least 3 per a.team newest by a.created\n    show "),),
    "one pick more": (("show ", "pick oldest 3 per a.team by a.created\n    show "),),
    "a wider search for a witness": (("(p.id == a.owner and p.active)", "(p.id == a.owner)"),),
}


@pytest.mark.parametrize("name", STRICTER)
def test_an_edit_to_the_stricter_side_can_only_shrink_and_its_reverse_only_grow(name):
    """Conditions, exemptions, caps and claims more: proven; taken back, the selection can only grow, never shrink."""
    assert judged(*STRICTER[name]).answer is Answer.SHRINKS
    back = [(new, old) for old, new in STRICTER[name]]
    stricter = BASE
    for old, new in STRICTER[name]:
        stricter = stricter.replace(old, new)
    assert judged(*back, base=stricter).answer is Answer.GROWS


PICK = BASE.replace("show ", "pick oldest 3 per a.team by a.created\n    show ")


@pytest.mark.parametrize(
    "change",
    [
        ("oldest 3", "oldest 2"),
        ("per a.team by", "by"),
        ("oldest", "newest"),
        ("pick oldest 3 per a.team by a.created", 'pick 3 at random seed "x" per a.team'),
        ('team != "sandbox"', 'team != "sandbox" and team != "lab"'),
        ("show ", 'except when a.team == "core"\n    show '),
    ],
)
def test_beside_a_pick_nothing_is_proven_but_what_is_the_same(change):
    """Whom another rule leaves out, another object takes the place of."""
    assert judged(change, base=PICK).answer is not Answer.SHRINKS


def test_a_pick_behind_the_same_picks_can_only_shrink():
    """It takes from what these took."""
    more = "pick oldest 3 per a.team by a.created\n    pick newest 1 by a.created"
    assert judged(("pick oldest 3 per a.team by a.created", more), base=PICK).answer is Answer.SHRINKS


FLOOR = BASE.replace("show ", "keep at least 3 per a.team newest by a.created\n    show ")


def test_a_higher_floor_over_the_same_groups_can_only_shrink():
    """Who is among the three newest is among the four newest."""
    assert judged(("at least 3", "at least 4"), base=FLOOR).answer is Answer.SHRINKS


@pytest.mark.parametrize(
    "change",
    [
        ("per a.team", "per a.owner else a.team"),
        ("newest by", "oldest by"),
        ("by a.created", "by (a.last_login else a.created)"),
        ('team != "sandbox"', 'team != "sandbox" and team != "lab"'),
    ],
)
def test_floors_of_another_order_or_population_are_not_compared(change):
    """Other groups, or fewer objects in them, have other objects on top."""
    assert judged(change, base=FLOOR).answer is Answer.UNKNOWN


def test_a_protection_more_can_only_shrink():
    """What is not proven unprotected is not selected."""
    base = side(BASE)
    keeps_all = program.Protection("payroll", base.proposal.where, "it pays people")
    guarded = replace(base, proposal=replace(base.proposal, protections=(keeps_all,)))
    assert judge_edit(base, guarded).answer is Answer.SHRINKS
    assert judge_edit(guarded, base).answer is Answer.GROWS


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        ((("duration = 90d", "duration = 120d"), ("50, 50%", "60, 50%")), "`limit` is 60, not 50"),
        ((("duration = 90d", "duration = 120d"), ('== "platform"', '== "core"')),
         '`except when a.team == "platform"`'),
        ((("< now - idle", "< now - 120d"),), "`(a.last_login else a.created) < now - idle`"),
        ((("hr.employees", "directory.accounts"), ("active: bool", "locked: bool"), ("p.active", "p.locked")),
         "another collection"),
        ((("duration = 90d", "duration = 120d"), ("except in exemptions", "")), "the list `exemptions`"),
        ((("duration = 90d", "duration = 120d"), ('team != "sandbox"', 'team != "lab"')),
         'the scope `team != "sandbox"`'),
        ((("duration = 90d", "duration = 120d"), ("complete, fresh within 24h", "complete, fresh within 48h")),
         "`verify people` with `fresh within 24h`"),
        ((("duration = 90d", "duration = 120d"), ('expect id == "canary"', "")), "an `expect` of `accounts`"),
    ],
)  # fmt: skip
def test_an_edit_that_is_laxer_anywhere_is_not_said_to_shrink(changes, obstacle):
    """One step to the laxer side is enough for there to be no answer, and it is named."""
    found = judged(*changes)
    assert found.answer is Answer.UNKNOWN
    assert any(obstacle in each for each in found.not_shrinking), found.not_shrinking


def test_writing_the_same_otherwise_changes_nothing():
    """Order, names of rows, and ways of writing a test play no part."""
    found = judged(
        ("people as p where (p.id == a.owner and p.active)", "people as q where (q.active and a.owner == q.id)"),
        ("(a.last_login else a.created) < now - idle", "now - idle > (a.last_login else a.created)"),
        ('except when a.team == "platform"', 'except when not a.team != "platform"'),
    )
    assert (found.answer, found.not_shrinking, found.not_growing) == (Answer.SAME, (), ())


def test_a_condition_may_move_between_rule_and_exemption():
    """`except when x` and `and not x` select the same, where x is known or not."""
    assert (
        judged(
            ('except when a.team == "platform"', ""), ("where (a.last", 'where a.team != "platform" and (a.last')
        ).answer
        is Answer.SAME
    )


def test_a_parameter_that_can_be_given_any_value_is_not_compared_by_its_default():
    """A literal in place of a parameter: whoever gives the parameter decides, so nothing is claimed."""
    assert judged(("< now - idle", "< now - 90d")).answer is Answer.UNKNOWN


def test_a_percentage_of_change_is_not_compared_over_different_scopes():
    """Another scope has another number of rows: `change at most` may pass for the one and not for the other."""
    base = BASE.replace("complete, fresh within 1h }", "complete, fresh within 1h, change at most 5% }")
    found = judged(('team != "sandbox"', 'team != "sandbox" and team != "lab"'), base=base)
    assert found.answer is Answer.UNKNOWN
    assert "change at most 5%" in found.not_shrinking[0]


def test_what_the_act_needs_of_an_object_is_part_of_the_selection():
    """An object without a value for the act's argument is not selected; an act that needs less selects more."""
    with_field = BASE.replace("last_login: timestamp? }", "last_login: timestamp?, locked: bool }")
    needing = with_field.replace("update(id: a.id, locked: true)", "update(id: a.id, locked: not a.locked)")
    found = judge_edit(side(needing), side(with_field))
    assert found.answer is Answer.GROWS
    assert "has a call of the act on one side only" in found.not_shrinking[0]


# -- closed ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", edit._UNDERSTOOD, ids=lambda kind: kind.__name__)
def test_the_proof_knows_every_part_of_a_program(kind):
    """A part that was added to the language is looked at here before anything is claimed of it."""
    known = edit._UNDERSTOOD[kind]
    assert {field.name for field in fields(kind)} == known, "say in `edit.py` what this part does to a selection"


def test_a_part_that_the_proof_does_not_know_gives_no_answer(monkeypatch):
    """Until then the answer is that there is none."""

    @dataclass(frozen=True, slots=True)
    class Newer(program.Proposal):
        keep_newest: int | None = None

    old = side(BASE)
    given = {field.name: getattr(old.proposal, field.name) for field in fields(old.proposal)}
    monkeypatch.setitem(edit._UNDERSTOOD, Newer, edit._UNDERSTOOD[program.Proposal])
    unset, keeping = (replace(old, proposal=Newer(**given, keep_newest=each)) for each in (None, 3))
    assert judge_edit(old, unset).answer is Answer.SAME
    found = judge_edit(keeping, keeping)
    assert (found.answer, found.not_shrinking) == (Answer.UNKNOWN, ("`keep newest` is not compared",))
