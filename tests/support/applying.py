"""A whole path to act on, over a real store and real snapshots: collect, certify, plan, approve, apply, undo.

stage = Stage(tmp_path, Orphans(accounts=5))
plan = await stage.approved()
report = await stage.apply(plan)
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.support.acting import Orphans
from ulid import ULID

from fullcount.compiler.document import workflow_from_document
from fullcount.compiler.program import Protection
from fullcount.runtime.act.apply import apply_plan
from fullcount.runtime.act.context import ApplyContext, ApplyReport
from fullcount.runtime.act.undo import apply_undo
from fullcount.runtime.approve import approvals
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.of_plan import approval_of_plan
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.certificate import Certificate, certify
from fullcount.runtime.evidence.warned import Recurrence
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.build import PlanInputs, build_plan
from fullcount.runtime.planning import clocks_of
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunKind, StoredPlan
from fullcount.runtime.undo_plans import NothingToUndo, plan_undo
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.freezes import Freeze

ANA, BO = Person(70001, "ana"), Person(70002, "bo")
ROLES = {"iam-admin": ("uid:70001", "uid:70002")}
ENGINE = "0.1.0"


@cache
def _empty_store() -> Path:
    path = Path(mkdtemp()) / "state.db"
    Store.open(f"sqlite:///{path}").close()
    return path


def _copy_of_a_store(of: Path, path: Path) -> None:
    """Making the tables takes longer than a test."""
    shutil.copyfile(of, path)
    path.chmod(0o600)


class Stage:
    """A world, a store (empty, or a copy of one) and a folder of snapshots."""

    def __init__(self, folder: Path, world: Orphans | None = None, *, copied: Path | None = None) -> None:
        self.world = Orphans() if world is None else world
        self.url = f"sqlite:///{folder / 'state.db'}"
        _copy_of_a_store(_empty_store() if copied is None else copied, folder / "state.db")
        self.store = Store.open(self.url, clock=self.world.clock)
        self.snapshots = SnapshotStore(folder / "snapshots")
        self.backups = BackupFiles(folder / "backups")
        self.lists: dict[str, tuple[Exemption, ...]] = {"exemptions": ()}
        self.roles: dict[str, tuple[str, ...]] = dict(ROLES)
        self.protections: tuple[Protection, ...] = ()
        """What the workspace protects by now."""
        self.freezes: tuple[Freeze, ...] = ()
        self.versions = {"engine": ENGINE, **dict.fromkeys(self.world.sources, "1")}

    @property
    def source(self) -> Any:
        """Return the fake source: what was called, and what took effect."""
        return self.world.source

    async def plan(self) -> StoredPlan:
        """Read, certify and plan what is due now, and keep the plan."""
        world, store = self.world, self.store
        workflow, proposal = world.workflow, world.workflow.proposals[0]
        run_id = store.begin_run(workflow.name, RunKind.PLAN, ANA)
        envelopes, certificates = [], []
        for inventory in workflow.inventories.values():
            envelope = await collect(
                world.source,
                inventory,
                world.resources[inventory.source, inventory.resource],
                bindings=world.bindings,
                snapshots=self.snapshots,
                budget=Budget(sleep=world.clock.sleep, monotonic=world.clock.monotonic),
                clock=world.clock,
            )
            certificate = certify(
                inventory,
                workflow.verifies[inventory.name],
                envelope,
                previous_rows=None,
                series=(),
                agreed_count=None,
                used_fields=frozenset(),
                accepted=frozenset(),
                recurrence=Recurrence(seen=(), limit=5),
                at=world.clock(),
            )
            assert isinstance(certificate, Certificate), certificate
            envelopes.append(envelope)
            certificates.append(certificate.doc)
            store.record_certificate(run_id, workflow.name, certificate.doc, world.clock(), "sha256:" + "6" * 64)
        document = build_plan(
            PlanInputs(
                workflow=workflow,
                proposal=proposal,
                approval=workflow.approvals[0],
                act=workflow.acts[0] if workflow.acts else None,
                certificates=certificates,
                envelopes=envelopes,
                snapshots=self.snapshots,
                bindings=world.bindings,
                target={name: dict(source.facts) for name, source in world.sources.items()},
                engine_version=ENGINE,
                connector_versions=dict.fromkeys(world.sources, "1"),
                exemptions=self.lists,
                authors=["uid:70009"],
                plan_id=str(ULID()),
                run_id=run_id,
                created_by="uid:70009",
                created_at=world.clock(),
                sample=True,  # a world of a few objects is no population
                clocks=clocks_of(store, workflow, proposal) if workflow.acts and workflow.acts[0].steps else None,
            )
        )
        stored = store.save_plan(document)
        store.finish_run(run_id, "planned", Exit.WAITING_FOR_APPROVAL, {})
        return stored

    def approve(self, plan: StoredPlan, *people: Person) -> StoredPlan:
        """Let people agree (ana, if nobody is named) and return the plan as it stands then."""
        for person in people or (ANA,):
            declared = approval_of_plan(workflow_from_document(plan.document.program), plan.document, None)
            assert declared is not None
            approvals.give(self.store, plan, declared, ROLES, person)
        return self.store.load_plan(plan.document.plan_id)

    async def approved(self) -> StoredPlan:
        """Return a plan of what is due now, approved."""
        return self.approve(await self.plan())

    def context(self, plan: StoredPlan, **changes: Any) -> ApplyContext:
        """Return what an apply of the plan needs; the workflow is the one stored in the plan."""

        async def open_actor(source: str) -> Any:
            return self.world.sources[source]

        context = ApplyContext(
            store=self.store,
            plan=self.store.load_plan(plan.document.plan_id),
            workflow=workflow_from_document(plan.document.program),
            person=BO,
            reader=self.world.reader,
            open_actor=open_actor,
            resources=self.world.resources,
            snapshots=self.snapshots,
            backups=self.backups,
            exemptions=lambda name: self.lists[name],
            roles=lambda: self.roles,
            protections=lambda: self.protections,
            freezes=lambda: self.freezes,
            versions=self.versions,
            clock=self.world.clock,
            monotonic=self.world.clock.monotonic,
            sleep=self.world.clock.sleep,
        )
        return replace(context, **changes)

    async def apply(self, plan: StoredPlan, **changes: Any) -> ApplyReport:
        """Apply the plan as it stands in the store, also one that is an undo."""
        acting = apply_plan if plan.document.undo is None else apply_undo
        report = await acting(self.context(plan, **changes))
        assert report.sums_hold
        assert report.candidates == plan.document.sums.candidates
        return report

    async def undoing(
        self, plan: StoredPlan, only: frozenset[tuple[Any, ...]] | None = None, **changes: Any
    ) -> StoredPlan | NothingToUndo:
        """Plan to take back what a plan did, as bo; return that plan, or why there is none."""
        run_id = self.store.begin_run(plan.document.workflow, RunKind.PLAN, BO)
        made = await plan_undo(self.context(plan, **changes), run_id, only)
        if isinstance(made, NothingToUndo):
            self.store.finish_run(run_id, "nothing", made.exit, {})
            return made
        stored = self.store.save_plan(made)
        self.store.finish_run(run_id, "waiting", Exit.WAITING_FOR_APPROVAL, {})
        return stored

    async def to_undo(
        self, plan: StoredPlan, only: frozenset[tuple[Any, ...]] | None = None, **changes: Any
    ) -> StoredPlan:
        """Return the approved undo of a plan."""
        undo = await self.undoing(plan, only, **changes)
        assert isinstance(undo, StoredPlan), undo
        return self.approve(undo)

    async def undo(
        self, plan: StoredPlan, only: frozenset[tuple[Any, ...]] | None = None, *, named: bool = False, **changes: Any
    ) -> ApplyReport:
        """Undo a plan in its three steps: plan that, have it approved, apply it."""
        return await self.apply(await self.to_undo(plan, only, named=named), **changes)


def figures(report: ApplyReport) -> dict[str, int]:
    """Return the counts that are not zero, by name."""
    return {outcome.value: number for outcome, number in report.counts.items() if number > 0}


def left_alone(undo: StoredPlan) -> dict[str, str]:
    """Return the objects that an undo leaves alone, by key, each with the reason."""
    return {key[0]: group.reason for group in undo.document.kept for key in group.examples}


def row(report: ApplyReport, key: str) -> Any:
    """Return the outcome of one object."""
    (found,) = [each for each in report.rows if each.key == (key,)]
    return found


__all__ = ["ANA", "BO", "Outcome", "Stage", "figures", "row"]
