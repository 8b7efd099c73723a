"""A workflow over stored snapshots: what a plan would list, or a clear error where the snapshots don't answer it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runtime.understand.conftest import LISTED, accounts
from tests.support.planning import NOW, ORPHANS, account, compiled, evidence, exemption, person

from fullcount.compiler.params import bind_params
from fullcount.compiler.types import INT, TEXT, TIMESTAMP, FieldType, ListOf
from fullcount.compiler.values import FieldState
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.collect.snapshots import SnapshotMissing
from fullcount.runtime.store.views import RunKind, RunRow
from fullcount.runtime.understand.compare import Version, compare
from fullcount.runtime.understand.edit import Answer
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.held import held_of_plan, held_of_run
from fullcount.runtime.understand.select import select

pytestmark = pytest.mark.requirement("R20")

LISTS = {"exemptions": (exemption("listed"),)}
RUN = RunRow("01RUN", "w", RunKind.PLAN, Person(1, "ana"), None, None, NOW, NOW, "refused", 3, None)
SCOPED = LISTED.replace("key         id", 'key id\n    scope team != "sandbox"')


@pytest.fixture
def stored(tmp_path):
    """The evidence of a plan over `accounts`, read with a scope."""
    world = evidence(tmp_path, accounts(), [person("ana"), person("bo", active=False)], text=SCOPED)
    document = world.plan(exemptions=LISTS)
    return held_of_plan(document, world.store)


def run(held, text, **given):
    """Select with another workflow over what is held."""
    workflow = compiled(text)
    return select(held, workflow, workflow.proposals[0], bind_params(workflow, given), LISTS.__getitem__)


def keys(selection):
    return [row.key[0] for row in selection.rows]


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ((("hr.employees", "audit.logins"), ("active: bool", "account: text"), ("p.active", 'p.account != ""')),
         "`people` is `audit.logins`, and plan"),
        ((("people", "staff"),), "`staff` was not read by plan"),
        ((("team: text", "team: text, logins: int"), ("where (a.last", "where a.logins > 3 and (a.last")),
         "`logins` was not among its fields"),
        ((('scope team != "sandbox"', ""),), "with no scope it could have rows that were not stored"),
        ((('team != "sandbox"', 'team != "lab"'),), 'with `team != "lab"` it could have rows that were not stored'),
        ((('team != "sandbox"', 'team != "sandbox" or owner is absent'),), "it could have rows that were not stored"),
    ],
)  # fmt: skip
def test_snapshots_that_do_not_answer_the_workflow_are_refused(stored, changes, says):
    """Another resource, inventory, key, field, type, or a wider scope: nothing is taken as empty or absent."""
    text = SCOPED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(NoAnswerError) as caught:
        run(stored, text)
    assert caught.value.code == "FC682"
    assert says in caught.value.message


def retyped(workflow, name, field, declared):
    """A workflow as it would be if the resource had another type for a field."""
    inventory = workflow.inventories[name]
    other = replace(inventory, fields={**inventory.fields, field: declared})
    return replace(workflow, inventories={**workflow.inventories, name: other})


def test_another_key_is_refused(stored):
    """By another key the same rows are other objects."""
    workflow = compiled(SCOPED)
    base = replace(workflow.inventories["accounts"], key=("id", "entry_uuid"))
    other = replace(workflow, inventories={**workflow.inventories, "accounts": base})
    with pytest.raises(NoAnswerError, match="its key was `id`, and is `id`, `entry_uuid`"):
        select(stored, other, other.proposals[0], bind_params(other, {}), LISTS.__getitem__)


def test_a_field_that_may_be_absent_is_not_read_as_one_that_may_not(stored):
    """Rows that have no owner would not have been read as they are by a workflow that says there always is one."""
    other = retyped(compiled(SCOPED), "accounts", "owner", FieldType(TEXT))
    with pytest.raises(NoAnswerError, match=r"`owner` was `text\?`, and is `text`"):
        select(stored, other, other.proposals[0], bind_params(other, {}), LISTS.__getitem__)


@pytest.mark.parametrize("declared", [FieldType(ListOf(TEXT)), FieldType(INT), FieldType(TIMESTAMP)])
def test_a_field_of_another_type_is_refused(stored, declared):
    """A value is never read as another type than it was stored with, whether the questions are recorded or not."""
    other = retyped(compiled(SCOPED), "accounts", "team", declared)
    unplanned = held_of_run(RUN, stored.envelopes.values(), stored.snapshots)
    for held in (stored, unplanned):
        with pytest.raises(NoAnswerError, match="`team`"):
            select(held, other, other.proposals[0], bind_params(other, {}), LISTS.__getitem__)


def test_the_scope_of_a_run_without_a_plan_must_be_as_it_was_written(stored):
    """Without the question of then, a scope that is not the same text can't be shown to lie within it."""
    envelopes = [
        e.model_copy(update={"scope": e.scope.model_copy(update={"filter": 'team != "sandbox"'})})
        if e.inventory == "accounts"
        else e
        for e in stored.envelopes.values()
    ]
    held = held_of_run(RUN, envelopes, stored.snapshots)
    assert keys(run(held, SCOPED)) == ["left", "never", "orphan"]
    for text in (LISTED, SCOPED.replace('team != "sandbox"', 'team != "sandbox" and team != "lab"')):
        with pytest.raises(NoAnswerError, match="could have rows that were not stored"):
            run(held, text)


def test_a_snapshot_that_is_gone_is_an_error(stored):
    """Rows that are not there are not an empty inventory."""
    stored.snapshots.path(stored.envelope("people").snapshot_digest).unlink()
    with pytest.raises(SnapshotMissing):
        run(stored, SCOPED)


# -- what it says -----------------------------------------------------------------------------------------------------


def test_the_same_workflow_selects_what_its_plan_lists(stored):
    """Over its own snapshots a workflow comes to the plan: rows, undecided, kept with reasons, sums and caps."""
    found, document = run(stored, SCOPED), stored.document
    assert keys(found) == sorted(row.key[0] for row in document.rows)
    assert {row.key: row.shown for row in found.rows} == {row.key: row.shown for row in document.rows}
    assert found.undecided == document.undecided
    assert found.kept == document.kept
    assert (found.sums, found.caps) == (document.sums, document.caps)
    assert (found.incomplete, found.notes) == ((), document.notes)


def test_a_changed_workflow_selects_by_its_own_rule(stored):
    """Another threshold, a narrower scope, other fields: decided anew over the same rows and the same instant."""
    assert keys(run(stored, SCOPED, idle="80d")) == ["left", "never", "orphan", "used"]
    assert keys(run(stored, SCOPED.replace('team != "sandbox"', 'team != "sandbox" and team != "payments"'))) == []
    unread = SCOPED.replace("team: text", "team: text, logins: int")
    assert keys(run(stored, unread)) == ["left", "never", "orphan"], "a field that nothing reads need not be stored"


def test_another_value_of_a_parameter_is_noted(stored):
    """Whoever compares with the plan is told what differs besides the rule."""
    (note,) = run(stored, SCOPED, idle="80d").notes
    assert note.endswith("had `idle` = 90d, here it is 80d")


def test_a_limit_that_would_be_exceeded_is_shown_and_nothing_is_cut(stored):
    """Caps do not shorten the list; they are what would keep a plan from being approved."""
    found = run(stored, SCOPED.replace("50, 50%", "1, 50%"))
    assert (found.caps.exceeded, len(found.rows)) == (True, 3)


def test_nothing_is_concluded_from_rows_that_were_not_read(tmp_path):
    """Over a reading that was cut short an object without a witness is undecided, as in a plan."""
    world = evidence(tmp_path, [account("a", owner="zed"), account("b")], [person("ana")])
    world.add("people", [person("ana")], complete=False)
    held = held_of_run(RUN, world.envelopes.values(), world.store)
    found = run(held, ORPHANS)
    assert (keys(found), found.incomplete) == (["b"], ("people",))
    assert found.undecided[0].missing == ("people: not all rows were returned",)


def test_an_object_without_a_call_of_the_act_is_undecided(tmp_path):
    """As in a plan: what the act has no value for is not selected."""
    text = ORPHANS.replace("last_login: timestamp? }", "last_login: timestamp?, locked: bool }")
    text = text.replace("update(id: a.id, locked: true)", "update(id: a.id, locked: not a.locked)")
    rows = [account("a", locked=False), account("b", locked=FieldState.FORBIDDEN)]
    world = evidence(tmp_path, rows, [person("ana")], text=text)
    found = run(held_of_plan(world.plan(), world.store), text)
    assert keys(found) == ["a"]
    assert found.undecided == world.plan().undecided


# -- two versions -----------------------------------------------------------------------------------------------------


def version(text, **given):
    workflow = compiled(text)
    return Version(workflow, workflow.proposals[0], bind_params(workflow, given))


def test_proposals_over_different_collections_are_not_compared(stored):
    """There is no edit between two selections of different things."""
    workflow = compiled(SCOPED)
    base = replace(workflow.inventories["accounts"], source="audit", resource="logins")
    foreign = replace(workflow, inventories={**workflow.inventories, "accounts": base})
    with pytest.raises(NoAnswerError) as caught:
        compare(stored, version(SCOPED), Version(foreign, foreign.proposals[0], {}), LISTS.__getitem__)
    assert caught.value.code == "FC684"


def test_what_enters_and_leaves_is_listed_with_what_it_was(stored):
    """Each object that moves stands with what it is on the other side."""
    after = version(SCOPED.replace("a.owner is absent or no", "a.owner is present and no"), idle="80d")
    found = compare(stored, version(SCOPED), after, LISTS.__getitem__)
    assert [(each.row.key, each.otherwise) for each in found.enter] == []
    assert [(each.row.key, each.otherwise) for each in found.leave] == [(("never",), "kept"), (("orphan",), "kept")]
    grown = compare(stored, version(SCOPED), version(SCOPED, idle="80d"), LISTS.__getitem__)
    assert [(each.row.key, each.otherwise) for each in grown.enter] == [(("used",), "kept")]
    assert grown.edit.answer is Answer.SAME, "the parameters of one evaluation are no edit of the rule"


def test_an_undecided_object_that_becomes_decided_is_told_as_such(stored):
    """It was not selected before because it could not be decided."""
    after = version(SCOPED.replace("(a.owner is absent or no people as p where (p.id == a.owner and p.active))",
                                   "not some people as p where (p.id == a.team)"))  # fmt: skip
    found = compare(stored, version(SCOPED), after, LISTS.__getitem__)
    assert ("dark", "undecided") in [(each.row.key[0], each.otherwise) for each in found.enter]
