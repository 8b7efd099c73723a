"""One test, run through the real engine: plan, approval, what happens in between, act.

`rehearse` puts up a stage (world, workspace, store, snapshots in a folder of its own), lets the engine do what it would
do at night, and hands back everything that came of it. It never judges: that is `judge.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from fullcount.compiler import program
from fullcount.compiler.claims import Consistency
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.trials.model import Refused, Trial
from fullcount.compiler.values import Value
from fullcount.dsl.source import Source
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.act.guard import CANARY_FULL
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.ends import ApplyEnd, PlanEnd
from fullcount.runtime.engine import Engine
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.envelope import Completeness, Envelope, Scope, Status, Work
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.document import CertificateDoc, PlanDocument
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunKind
from fullcount.runtime.trials.source import END
from fullcount.runtime.trials.workspace import PLANNER, TrialWorkspace
from fullcount.runtime.trials.world import TrialClock, World
from fullcount.runtime.workspace import Workspace

OF_A_POPULATION: Final = frozenset({"FC790", "FC791", "FC792"})
"""What is asked of everything that was read; of the few rows of a test only where it expects to be refused for it."""

_PAUSES: Final = 100
"""How often an act that is paused by its canary is gone on with, at most."""


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a test. `refusals` are what stopped it, wherever it was stopped; none if nothing did.

    `planned` is None if nothing came to be planned; `acted` if the act was not tried or did not begin.
    """

    trial: Trial
    workflow: program.Workflow
    envelopes: Mapping[str, Envelope]
    refusals: tuple[Finding, ...]
    snapshots: SnapshotStore
    workspace: TrialWorkspace
    planned: PlanDocument | None = None
    acted: ApplyReport | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the refusals, each once."""
        return tuple(dict.fromkeys(finding.code for finding in self.refusals))

    @property
    def planned_at(self) -> datetime:
        """When it was planned: the instant of the test."""
        return TrialClock(self.trial.now)()

    @property
    def proposal(self) -> program.Proposal:
        """The proposal that was tried."""
        return next(each for each in self.workflow.proposals if each.name == self.trial.proposal)


class Theatre:
    """Where the tests of one run are tried, one after another: a folder that goes away with it.

    The store is opened once and made empty again for each test, because opening one takes longer than a test.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fullcount-test-")
        self._root = Path(self._folder.name)
        self._state, self._empty = self._root / "state.db", self._root / "empty.db"
        self._clock = TrialClock(0)
        with Store.open(f"sqlite:///{self._empty}"):
            pass
        shutil.copyfile(self._empty, self._state)
        self._store = Store.open(f"sqlite:///{self._state}", clock=lambda: self._clock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()
        self._folder.cleanup()

    @property
    def root(self) -> Path:
        """The folder of everything."""
        return self._root

    def store(self, clock: TrialClock) -> Store:
        """Return the store, empty, with another clock."""
        self._store.close()
        for leftover in self._root.glob("state.db*"):
            leftover.unlink()
        shutil.copyfile(self._empty, self._state)
        self._state.chmod(0o600)
        self._clock = clock
        return self._store

    def snapshots(self) -> SnapshotStore:
        """Return a store of snapshots without any."""
        folder = self._root / "snapshots"
        if folder.exists():
            shutil.rmtree(folder)
        return SnapshotStore(folder)


async def rehearse(
    trial: Trial, workflow: program.Workflow, real: Workspace, theatre: Theatre, sources: Mapping[str, Source]
) -> Came:
    """Try a test, which takes the place of the one before. Raises what is a bug of the product."""
    params = {each.name: each.default for each in workflow.params if each.default is not None} | dict(trial.params)
    clock = TrialClock(trial.now)
    catalog = real.catalog()
    resources = {(s, name): r for s in catalog.sources() for name, r in catalog.resources(s).items()}
    world = World(trial, workflow, resources, Bindings(params, trial.now), clock)
    workspace = TrialWorkspace(real, world, theatre.root, _approvers(workflow))
    store, snapshots = theatre.store(clock), theatre.snapshots()
    budget = Budget(retries=0, sleep=clock.sleep, monotonic=clock.monotonic)
    engine = Engine(workspace, store, snapshots, clock=clock, budget=budget)
    _earlier_readings(store, trial, workflow, clock)
    return await _Run(trial, workflow, workspace, engine, world, params, sources).through()


@dataclass(slots=True)
class _Run:
    trial: Trial
    workflow: program.Workflow
    workspace: TrialWorkspace
    engine: Engine
    world: World
    params: Mapping[str, Value]
    sources: Mapping[str, Source]
    came: Came = field(init=False)

    def __post_init__(self) -> None:
        self.came = Came(self.trial, self.workflow, {}, (), self.engine.snapshots, self.workspace)

    async def through(self) -> Came:
        """Go as far as the test and the engine allow."""
        try:
            await self._plan()
            if self.came.planned is not None and len(self.came.refusals) == 0 and self.trial.acts:
                await self._act(self.came.planned)
        except FullcountError as error:
            self._refused(Finding(code=error.code, message=error.message))
        return self.came

    async def _plan(self) -> None:
        expected = {code for each in self.trial.expects if isinstance(each, Refused) for code in each.codes}
        request = PlanRequest(
            self.workflow,
            self.came.proposal,
            self.params,
            PLANNER,
            sources=self.sources,
            sample=expected.isdisjoint(OF_A_POPULATION),
        )
        end: PlanEnd = await self.engine.plan(request)
        document = None if end.plan is None else end.plan.document
        self.came = replace(self.came, envelopes=end.envelopes, planned=document)
        self._refused(*(finding for refusal in end.refusals for finding in refusal.findings))
        if document is not None and end.state == "over_cap":
            caps, rows = document.caps, document.sums.candidates
            self._refused(
                Finding(code="FC711", message=f"the plan lists {rows:,}, and its limit allows {caps.effective:,}")
            )

    async def _act(self, document: PlanDocument) -> None:
        if len(document.rows) > 0:
            self._approve(document.plan_id)
        for before in self.trial.befores:
            self.world.happens(before)
        ended: ApplyEnd = await self.engine.apply(document.plan_id, PLANNER)
        for _ in range(_PAUSES):
            report = ended.report
            if report is None or report.stopped_by is None or report.stopped_by.code != CANARY_FULL:
                break
            if report.resumes_at is not None:
                self.world.clock.advance(max(timedelta(0), report.resumes_at - self.world.clock()))
            ended = await self.engine.apply(document.plan_id, PLANNER)
        self.came = replace(self.came, acted=ended.report)
        self._refused(*(finding for refusal in ended.refusals for finding in refusal.findings))
        if ended.report is not None and ended.report.stopped_by is not None:
            self._refused(ended.report.stopped_by)

    def _approve(self, plan_id: str) -> None:
        """Have the plan approved by as many people of the right roles as it takes."""
        plan = self.engine.store.load_plan(plan_id)
        for person in self.workspace.approvers:
            status = self.engine.approval_status(plan)
            if status is None or status.approved:
                return
            self.engine.give_approval(plan, person, plan.document.digest)

    def _refused(self, *findings: Finding) -> None:
        self.came = replace(self.came, refusals=(*self.came.refusals, *findings))


def _approvers(workflow: program.Workflow) -> int:
    """Return how many people it takes at most to approve a proposal."""
    return max((sum(q.count for q in approval.quorums) for approval in workflow.approvals), default=0)


def _earlier_readings(store: Store, trial: Trial, workflow: program.Workflow, clock: TrialClock) -> None:
    """Record the certified readings that came before those of the test, where it says how large they were."""
    said = {name: each.previous_rows for name, each in trial.listings.items() if each.previous_rows is not None}
    if len(said) == 0:
        return
    run_id = store.begin_run(workflow.name, RunKind.PLAN, PLANNER)
    for name, rows in said.items():
        inventory = workflow.inventories[name]
        digest = f"sha256:{0:064x}"
        envelope = Envelope(
            inventory=name,
            status=Status.COMPLETE,
            completeness=Completeness(complete=True),
            scope=Scope(
                source=inventory.source,
                resource=inventory.resource,
                consistency=Consistency.PINNED,
                visibility="all",
                started_at=clock(),
                finished_at=clock(),
            ),
            work=Work(rows=rows, rows_read=rows, distinct_keys=rows, pages=1, end_marker=END),
            snapshot_digest=digest,
        )
        store.record_envelope(run_id, workflow.name, envelope)
        certificate = CertificateDoc(
            inventory=name,
            source=inventory.source,
            resource=inventory.resource,
            snapshot_digest=digest,
            rows=rows,
            distinct_keys=rows,
            claims=("complete",),
            consistency="pinned",
            visibility="all",
            end_marker=END,
        )
        store.record_certificate(run_id, workflow.name, certificate, clock())
    store.finish_run(run_id, "planned", Exit.DONE, {})
