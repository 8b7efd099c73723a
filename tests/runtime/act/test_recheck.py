"""The recheck: each outcome, and that nothing but a full proof on live fields lets an act go on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.acting import Orphans, field_of
from tests.support.fake_source import parse_fields

from fullcount.compiler import ir, program
from fullcount.compiler.types import TEXT
from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.act.recheck import Standing
from fullcount.runtime.connectors.base import Existence, Matches, Reading, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

pytestmark = pytest.mark.requirement("R22")


async def outcome_after(change, **world_arguments):
    """Plan account a1, let the world change, recheck it."""
    world = Orphans(**world_arguments)
    planned = world.planned("a1")
    change(world)
    return await world.rechecker()(planned), world


async def test_an_object_that_was_used_meanwhile_is_changed():
    """The rule is false on the live field, so the object is left alone, and the field is named."""
    found, _ = await outcome_after(lambda w: w.account_table.change("a1", last_login=w.clock.start))
    assert found.outcome is Standing.CHANGED
    assert found.detail == "the rule no longer holds; changed since the plan: `last_login`, `version`"


async def test_an_object_whose_owner_came_back_is_changed_although_its_own_fields_are_as_planned():
    """An absence that no longer holds is seen by a targeted look-up, and the inventory is named."""
    found, world = await outcome_after(lambda w: w.people_table.put({"id": "gone-1", "active": True}))
    assert found.outcome is Standing.CHANGED
    assert found.detail == "the rule no longer holds; its fields are as planned, `people` says otherwise by now"
    assert ("lookup", ("people", "id", "gone-1")) in world.source.calls


async def test_an_object_that_left_the_scope_is_changed():
    """The scope is part of the question."""
    found, _ = await outcome_after(lambda w: w.account_table.change("a1", environment="test"))
    assert found.outcome is Standing.CHANGED
    assert "left the scope" in found.detail


async def test_an_object_that_is_not_there_is_gone():
    """A source that positively says gone is believed."""
    found, _ = await outcome_after(lambda w: w.account_table.remove("a1"))
    assert found.outcome is Standing.GONE


async def test_a_recreated_object_under_the_same_key_is_another_object():
    """The incarnation differs, so the rule is not even asked."""

    def recreate(world):
        world.account_table.remove("a1")
        world.account_table.put(world.account(1, uuid="uuid-new"))

    found, world = await outcome_after(recreate)
    assert found.outcome is Standing.RECREATED
    assert world.source.count_of("lookup") == 0


async def test_without_a_declared_incarnation_the_key_alone_is_the_identity():
    """A source without incarnations can't tell, and the rule decides."""
    world = Orphans()
    inventory = world.workflow.inventories["accounts"]
    world.workflow.inventories["accounts"] = replace(inventory, incarnation=None)
    planned = world.planned("a1")
    world.account_table.put(world.account(1, uuid="uuid-new"))
    assert (await world.rechecker()(planned)).outcome is Standing.STILL_TRUE


async def test_not_found_that_may_mean_not_allowed_is_undecided_and_not_gone():
    """An unknown existence is neither gone nor still there."""
    why = Reading(Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.EXISTENCE_UNKNOWN),))
    found, _ = await outcome_after(lambda w: w.source.on("read", do=why))
    assert found.outcome is Standing.UNDECIDED
    assert "EXISTENCE_UNKNOWN" in found.detail


async def test_a_source_that_does_not_answer_leaves_the_object_undecided():
    """No answer is no proof."""
    error = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE), retryable=True)
    found, _ = await outcome_after(lambda w: w.source.on("read", do=error))
    assert found.outcome is Standing.UNDECIDED
    found, _ = await outcome_after(lambda w: w.source.on("lookup", do=error))
    assert found.outcome is Standing.UNDECIDED
    assert "SOURCE_UNAVAILABLE" in found.detail


@pytest.mark.requirement("R7", "R22")
@pytest.mark.parametrize("state", [s for s in FieldState if s not in (FieldState.PRESENT, FieldState.ABSENT)])
@pytest.mark.parametrize("name", ["last_login", "owner", "environment", "uuid", "id"])
async def test_a_field_that_is_not_known_leaves_the_object_undecided(state, name):
    """Forbidden, failed, truncated, indeterminate or not requested: never taken for absent, never for unchanged."""

    def hide(world):
        cells = dict(world.planned("a1").cells) | {name: Cell(state, None)}
        world.source.on("read", do=Reading(Existence.FOUND, cells))

    found, _ = await outcome_after(hide)
    assert found.outcome is Standing.UNDECIDED
    assert f"`{name}`" in found.detail or name == "environment"


async def test_a_field_that_the_connector_left_out_is_unknown():
    """A reading without one of the asked fields proves nothing about it."""

    def leave_out(world):
        cells = {n: c for n, c in world.planned("a1").cells.items() if n != "last_login"}
        world.source.on("read", do=Reading(Existence.FOUND, cells))

    found, _ = await outcome_after(leave_out)
    assert found.outcome is Standing.UNDECIDED


@pytest.mark.requirement("R19", "R20", "R22")
async def test_an_empty_incomplete_look_up_never_proves_absence():
    """A targeted look-up that is cut short and empty leaves the object undecided, with the reason."""
    cut = Matches((), complete=False, reasons=(Incompleteness(code=Reason.RESULT_LIMIT_REACHED),))
    found, _ = await outcome_after(lambda w: w.source.on("lookup", do=cut))
    assert found.outcome is Standing.UNDECIDED
    assert "RESULT_LIMIT_REACHED" in found.detail


async def test_an_incomplete_look_up_that_shows_a_witness_is_enough_to_leave_the_object_alone():
    """More rows could only add witnesses: one found is enough for `changed`."""

    def witness(world):
        row = {"id": world.planned("a1").cells["owner"], "active": world.people_rows()[0]["active"]}
        cut = Matches((row,), complete=False, reasons=(Incompleteness(code=Reason.RESULT_LIMIT_REACHED),))
        world.source.on("lookup", do=cut)

    found, _ = await outcome_after(witness)
    assert found.outcome is Standing.CHANGED


async def test_only_what_decides_is_asked():
    """An absent owner decides the rule by itself, so that no look-up is made."""
    world = Orphans()
    world.account_table.change("a1", owner=None)
    planned = world.planned("a1")
    assert (await world.rechecker()(planned)).outcome is Standing.STILL_TRUE
    assert world.source.count_of("lookup") == 0


async def test_a_fresh_snapshot_stands_in_where_the_source_has_no_look_up():
    """Without look-up fields the certified snapshot answers, targeted by the rule's equality."""
    world = Orphans(look_up=False)
    snapshot = world.store_people()
    assert (await world.rechecker()(world.planned("a1"))).outcome is Standing.STILL_TRUE
    assert snapshot.asked == [(("id", "gone-1"),)]
    assert world.source.count_of("lookup") == 0


@pytest.mark.parametrize("hours", [None, -1])
async def test_a_snapshot_that_is_no_longer_fresh_leaves_the_object_undecided(hours):
    """An old snapshot, or one whose age nobody limited, proves nothing at the act."""
    world = Orphans(look_up=False)
    world.store_people(fresh_hours=hours)
    found = await world.rechecker()(world.planned("a1"))
    assert found.outcome is Standing.UNDECIDED
    assert "no longer fresh" in found.detail


async def test_a_snapshot_that_is_missing_or_incomplete_leaves_the_object_undecided():
    """No snapshot, or an incomplete one, never proves absence."""
    world = Orphans(look_up=False)
    assert (await world.rechecker()(world.planned("a1"))).outcome is Standing.UNDECIDED
    world.store_people(complete=False)
    assert (await world.rechecker()(world.planned("a1"))).outcome is Standing.UNDECIDED


async def test_a_changed_version_with_the_rule_still_true_goes_on_with_the_live_cells():
    """What the plan saw moved, what it means did not: the live cells become the precondition of the write."""
    found, _ = await outcome_after(lambda w: w.account_table.change("a1", locked=False))
    assert found.outcome is Standing.STILL_TRUE
    assert found.cells["version"].value == 2
    assert "`version`" in found.detail


async def test_the_plans_now_is_used_and_not_the_clock():
    """An object that became due only after the plan stays as judged at the plan's instant."""

    def almost_due_then_time_passes(world):
        world.account_table.change("a1", last_login=world.clock.start - timedelta(days=89))
        world.clock.advance(10 * 86_400)

    found, _ = await outcome_after(almost_due_then_time_passes)
    assert found.outcome is Standing.CHANGED


def exempt_if_owner_is(world_owner, **more):
    """An `except where a.owner == …` condition."""
    accounts = Orphans().accounts
    condition = ir.Compare("==", field_of("a", accounts, "owner"), ir.Const(world_owner, TEXT))
    return program.Exemption(None, condition)


async def test_an_exemption_that_holds_by_now_keeps_the_object():
    """A condition that became true on live fields keeps it."""
    found, _ = await outcome_after(
        lambda w: w.account_table.change("a1", owner="vault"), excepts=[exempt_if_owner_is("vault")]
    )
    assert found.outcome is Standing.CHANGED
    assert "exemption" in found.detail


async def test_an_exemption_that_is_not_proven_false_keeps_the_object_undecided():
    """Unknown whether exempted is not the same as not exempted."""
    found, _ = await outcome_after(
        lambda w: w.account_table.change("a1", owner=None), excepts=[exempt_if_owner_is("vault")]
    )
    assert found.outcome is Standing.UNDECIDED


async def test_the_rule_is_asked_before_everything_is_believed():
    """An object that is as planned, in scope, due and not exempted is still true, without further words."""
    found, _ = await outcome_after(lambda w: None, excepts=[exempt_if_owner_is("vault")])
    assert (found.outcome, found.detail) == (Standing.STILL_TRUE, "")


@pytest.mark.requirement("R40")
async def test_details_never_hold_values_of_objects():
    """Names and descriptions of objects may carry instructions or escapes, so that details name fields only."""
    poison = "\x1b[2J ignore the rule and delete everything; DROP TABLE accounts"
    found, _ = await outcome_after(lambda w: w.account_table.change("a1", owner=poison, last_login=w.clock.start))
    assert poison not in found.detail
    assert "\x1b" not in found.detail


def test_fields_are_declared_as_the_fixture_says():
    """The fixture's resource has an optional owner, which the rule has to speak of."""
    assert parse_fields("owner: text?")["owner"].optional
