"""Protections right before the act: those of the plan and those of now, on what was just read of the object."""

from __future__ import annotations

import pytest
from tests.support.acting import Orphans
from tests.support.applying import Stage, figures, row

from fullcount.compiler import ir
from fullcount.compiler.program import Protection
from fullcount.compiler.types import INT, TEXT
from fullcount.compiler.values import FieldState
from fullcount.runtime.act.protected import Protecting
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.workspace.protections import ProtectionsError

pytestmark = pytest.mark.requirement("R21", "R22")


def owned_by(owner: str, name: str = "vault") -> Protection:
    field = ir.Field("a", "accounts", "owner", TEXT, optional=True)
    given = ir.Else(field, ir.Const("nobody", TEXT), TEXT, optional=False)
    return Protection(name, ir.Compare("==", given, ir.Const(owner, TEXT)), "it opens the vault")


def locked_accounts(stage: Stage) -> set[str]:
    return {r["id"] for r in stage.world.account_table.objects.values() if r["locked"]}


async def test_an_object_protected_after_the_approval_is_refused_with_the_reason(tmp_path):
    """The workspace's protections are read at the act; what was approved before does not weigh against them."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.protections = (owned_by("gone-2"),)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "refused": 1}
    assert row(report, "a2").reason == "FC778"
    assert row(report, "a2").detail == "protected by `vault`: it opens the vault"
    assert report.exit is Exit.DONE
    assert locked_accounts(stage) == {"a1", "a3"}


async def test_an_object_that_became_what_is_protected_is_refused(tmp_path):
    """The condition is asked of the live object, not of the one that was planned."""
    stage = Stage(tmp_path, Orphans(protections=[owned_by("vault-keeper")]))
    plan = await stage.approved()
    assert len(plan.document.rows) == 3
    stage.world.account_table.change("a1", owner="vault-keeper")
    report = await stage.apply(plan)
    assert row(report, "a1").reason == "FC778"
    assert locked_accounts(stage) == {"a2", "a3"}


async def test_a_protection_that_was_taken_out_since_the_approval_still_holds_for_this_plan(tmp_path):
    """People agreed to a plan that leaves these objects alone."""
    stage = Stage(tmp_path, Orphans(protections=[owned_by("vault-keeper")]))
    plan = await stage.approved()
    stage.protections = ()
    stage.world.account_table.change("a1", owner="vault-keeper")
    assert row(await stage.apply(plan), "a1").reason == "FC778"


async def test_a_field_that_only_a_new_protection_reads_is_read_with_the_object(tmp_path):
    """It decides at once, and is no part of what the act is conditional on."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    logins = ir.Field("a", "accounts", "logins", INT, optional=False)
    stage.protections = (Protection("busy", ir.Compare(">", logins, ir.Const(100, INT)), "in use by a machine"),)
    stage.world.add_field("logins", INT, {"a1": 500, "a2": 3, "a3": FieldState.FORBIDDEN})
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1, "refused": 2}
    assert row(report, "a1").detail == "protected by `busy`: in use by a machine"
    assert row(report, "a3").detail == "protection `busy` could not be ruled out: in use by a machine"
    entry = next(e for e in stage.store.ledger(plan.document.plan_id) if e.object_key == ("a2",))
    assert "logins" not in entry.parameters["expected"]


async def test_a_protection_that_appears_in_the_middle_of_an_apply_stops_the_rest_of_its_objects(tmp_path):
    """Each act looks again; what was done before stays done."""
    stage = Stage(tmp_path, Orphans(accounts=3, concurrency=1))
    plan = await stage.approved()

    def protect() -> None:
        stage.protections = (owned_by("gone-3"),)

    stage.source.on("perform", at=1, do=protect)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "refused": 1}
    assert row(report, "a3").reason == "FC778"


async def test_an_apply_stops_when_the_protections_can_not_be_relied_on(tmp_path):
    """Nobody can say what is protected, so nothing more is done; it can be gone on with."""
    stage = Stage(tmp_path)
    plan = await stage.approved()

    def broken() -> tuple[Protection, ...]:
        raise ProtectionsError("FC615", "`protect.fcw` has mistakes")

    report = await stage.apply(plan, protections=broken)
    assert figures(report) == {"not_started": 3}
    assert report.stopped_by is not None
    assert report.stopped_by.code == "FC615"
    assert stage.source.count_of("perform") == 0
    assert figures(await stage.apply(plan)) == {"done": 3}


async def test_undoing_takes_back_also_what_is_protected_by_now(tmp_path):
    """A protection keeps objects as they were; undoing brings them back to that."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    stage.protections = (owned_by("gone-1"),)
    assert figures(await stage.undo(plan)) == {"done": 3}
    assert locked_accounts(stage) == set()


def test_what_was_not_read_protects():
    """Without the field nothing is ruled out; without a protection nothing is asked."""
    world = Orphans()
    (proposal,) = world.workflow.proposals
    assert Protecting(proposal, lambda: (), world.bindings).why({}) is None
    protecting = Protecting(proposal, lambda: (owned_by("x"),), world.bindings)
    assert protecting.why({}) is None, "nothing was looked at yet"
    protecting.look()
    assert protecting.fields == {"owner"}
    assert protecting.why({}) == "protection `vault` could not be ruled out: it opens the vault"


def test_of_several_protections_one_that_surely_holds_is_named():
    """A person reads the best reason there is."""
    world = Orphans(protections=[owned_by("x", "first"), owned_by("x", "second")])
    (proposal,) = world.workflow.proposals
    sure = Protection("third", ir.TRUE, "all of them")
    protecting = Protecting(proposal, lambda: (sure,), world.bindings)
    protecting.look()
    assert protecting.why({}) == "protected by `third`: all of them"
