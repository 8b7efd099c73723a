"""Every ground on which the guard says no, in a real run, judged by what the target looks like in the end.

Three accounts are due and one is acted on at a time. What forbids further acts comes about while the first call is
under way: that one was sent, and the other two stay as they are. What is fixed before a run begins is wrong from the
start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.acting import HOUR, Orphans
from tests.support.applying import ANA, BO, Stage

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Fresh
from fullcount.compiler.windows import parse_window
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.store.views import RunKind, StoredPlan
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.freezes import Freeze

pytestmark = pytest.mark.requirement("R24", "R28", "R36", "R39")

Happens = Callable[[Stage, StoredPlan], None]


def goes_by(**time: float) -> Happens:
    def happens(stage: Stage, _: StoredPlan) -> None:
        stage.world.clock.advance(timedelta(**time).total_seconds())

    return happens


def revoked(stage: Stage, plan: StoredPlan) -> None:
    stage.store.revoke_approval(plan.document.plan_id, BO, "stop")


def superseded(stage: Stage, plan: StoredPlan) -> None:
    run_id = stage.store.begin_run(plan.document.workflow, RunKind.PLAN, ANA)
    newer = plan.document.model_copy(update={"plan_id": "0" * 26, "run_id": run_id})
    stage.store.save_plan(newer)


def halted(stage: Stage, _: StoredPlan) -> None:
    stage.store.halt("smoke", BO)


def paused(stage: Stage, plan: StoredPlan) -> None:
    stage.store.pause(plan.document.workflow, "wait", BO)


def frozen(stage: Stage, _: StoredPlan) -> None:
    now = stage.world.clock()
    stage.freezes = (Freeze(now, now + timedelta(hours=2), "incident"),)


def left_the_role(stage: Stage, _: StoredPlan) -> None:
    stage.roles = {"iam-admin": ("uid:70002",)}


def role_is_gone(stage: Stage, _: StoredPlan) -> None:
    stage.roles = {}


def lease_was_taken(stage: Stage, plan: StoredPlan) -> None:
    stage.world.clock.advance(31)
    stage.store.claim_plan(plan.document.plan_id, "another", timedelta(hours=1))


def exempted(stage: Stage, _: StoredPlan) -> None:
    until = stage.world.clock().date() + timedelta(days=9)
    stage.lists["exemptions"] = tuple(Exemption((key,), None, "ana", "audit", until) for key in ("a2", "a3"))


def protected(stage: Stage, _: StoredPlan) -> None:
    stage.protections = (program.Protection("all", ir.TRUE, "everything is kept"),)


WHILE_ACTING: dict[str, tuple[Happens, str]] = {
    "the approval runs out": (goes_by(days=3), "FC708"),
    "the approval is taken back": (revoked, "FC709"),
    "somebody who approved leaves the role": (left_the_role, "FC779"),
    "the role is gone": (role_is_gone, "FC779"),
    "a newer plan is made": (superseded, "FC710"),
    "the kill switch": (halted, "FC722"),
    "a pause": (paused, "FC785"),
    "a freeze begins": (frozen, "FC775"),
    "the window closes": (goes_by(hours=9), "FC774"),
    "the evidence grows old": (goes_by(hours=25), "FC761"),
    "the lease is lost": (lease_was_taken, "FC721"),
    "the others are exempted": (exempted, "FC760"),
    "the others are protected": (protected, "FC778"),
}


def locked(stage: Stage) -> list[str]:
    """The accounts that are locked at the target."""
    return sorted(key for (key,), row in stage.world.account_table.objects.items() if row["locked"])


@pytest.mark.parametrize("ground", WHILE_ACTING)
async def test_what_forbids_acting_while_a_run_acts_leaves_the_rest_as_it_is(tmp_path, ground):
    """One account is locked, two are not, and the finding or the outcome says why."""
    happens, code = WHILE_ACTING[ground]
    world = Orphans(
        concurrency=1,
        verify_age=24,
        windows=[parse_window("Mon 00:00-17:00", "UTC")] if "window" in ground else [],
        excepts=[program.Exemption("exemptions", None)] if "exempted" in ground else [],
    )
    if "approval" in ground:
        world.workflow = replace(
            world.workflow,
            verifies={name: (*_but_age(claims), Fresh(100 * HOUR)) for name, claims in world.workflow.verifies.items()},
        )
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: happens(stage, plan) or stage.world.clock.advance(1))
    report = await stage.apply(plan, lease_time=timedelta(seconds=30) if "lease" in ground else timedelta(days=30))
    assert locked(stage) == ["a1"]
    assert len(stage.source.effects) == 1
    found = {row.reason for row in report.rows} | {None if report.stopped_by is None else report.stopped_by.code}
    assert code in found, (found, report.stopped_by)
    assert report.counts[Outcome.DONE] == 1


def _but_age(claims):
    return [claim for claim in claims if not isinstance(claim, Fresh)]


def another(name: str) -> Happens:
    def happens(stage: Stage, _: StoredPlan) -> None:
        stage.versions = {**stage.versions, name: "2"}

    return happens


def elsewhere(stage: Stage, _: StoredPlan) -> None:
    stage.source.facts = {"target.system": "fake://test", "user": "reader"}


def nowhere(stage: Stage, _: StoredPlan) -> None:
    stage.source.facts = {"user": "reader"}


FROM_THE_START: dict[str, tuple[Happens, str]] = {
    "another engine": (another("engine"), "FC756"),
    "another connector": (another("fake"), "FC757"),
    "another target": (elsewhere, "FC758"),
    "a target that does not say who it is": (nowhere, "FC758"),
} | {name: entry for name, entry in WHILE_ACTING.items() if "lease" not in name}


@pytest.mark.parametrize("ground", FROM_THE_START)
async def test_what_forbids_acting_from_the_start_leaves_everything_as_it_is(tmp_path, ground):
    """Nothing is sent; where only some objects are kept, the others are still acted on."""
    happens, code = FROM_THE_START[ground]
    world = Orphans(
        verify_age=24,
        windows=[parse_window("Mon 00:00-17:00", "UTC")] if "window" in ground else [],
        excepts=[program.Exemption("exemptions", None)] if "exempted" in ground else [],
    )
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    happens(stage, plan)
    report = await stage.apply(plan)
    found = {row.reason for row in report.rows} | {None if report.stopped_by is None else report.stopped_by.code}
    assert code in found, (found, report.stopped_by)
    assert locked(stage) == (["a1"] if "exempted" in ground else [])
    assert stage.source.effects == ([("update", ("a1",))] if "exempted" in ground else [])
