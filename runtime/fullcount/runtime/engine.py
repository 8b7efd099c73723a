"""The whole story of a run, top to bottom.

    inventory ─► verify ─► propose ─► approve ─► act
    collect      certify   plan       quorum     recheck, guard, intent, call, outcome

The compiler has turned a workflow into a graph of these stages; each edge says which evidence its head requires.
`walk` starts a stage only when every incoming edge is satisfied; `planning` holds the work of the stages that make a
plan, `act.apply` that of the last one. A plan is made without any way to act. An apply takes everything from the
stored plan, the rule and the evidence included, and nothing from the workflow's file.

An undo is a plan as well: `undo_plans` makes it from what another plan did, people approve it, and it walks the same
graph from there on, to `act.undo`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.document import workflow_from_document
from fullcount.compiler.graph import Stage
from fullcount.compiler.protections import Protections, protect_workflow, protections_of
from fullcount.runtime import __version__
from fullcount.runtime.accepting import Accepting
from fullcount.runtime.act.apply import apply_plan
from fullcount.runtime.act.at_work import standstill
from fullcount.runtime.act.context import ApplyContext, ApplyReport, StopSignal
from fullcount.runtime.act.context import Progress as ActProgress
from fullcount.runtime.act.undo import apply_undo
from fullcount.runtime.approve import approvals
from fullcount.runtime.approve.approvals import ApprovalStatus
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.of_plan import approval_of_plan
from fullcount.runtime.approve.signing import Signed
from fullcount.runtime.backups.files import BackupFailed, BackupFiles
from fullcount.runtime.backups.objects import Removed, let_go
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.budget import Progress as ReadProgress
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.ends import ApplyEnd, PlanEnd, exit_of, nothing_to_do, plan_state, summary_of
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.events import Notice
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Ground, Refusal
from fullcount.runtime.evidence.satisfy import Produced
from fullcount.runtime.exemption_lists import ExemptionLists
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.graphs import graph_of, proposal_of, undo_graph_of
from fullcount.runtime.journal.verify import verify as verify_record
from fullcount.runtime.notify.deliver import deliver
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.prevented import prevented
from fullcount.runtime.plan.review import Standstill
from fullcount.runtime.plan.undo_words import undo_summary
from fullcount.runtime.planning import Planning, PlanRequest, sources_of
from fullcount.runtime.readers import Readers, open_actor
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.held_backups import keys_that_are_over, remove_expired
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import ActKind, LedgerEntry, NoticeRow, PlanState, StoredPlan
from fullcount.runtime.stored_plans import certified_again, standing
from fullcount.runtime.telling import of_plan
from fullcount.runtime.undo_plans import NothingToUndo, plan_undo
from fullcount.runtime.versions import version_of
from fullcount.runtime.walk import Evidence, Walked, walk
from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.exemptions import Exemption


class NothingToApproveError(FullcountError):
    """The workflow only reports: there is no act that an approval could license."""

    exit = Exit.USAGE

    def __init__(self, proposal: str) -> None:
        super().__init__(
            "FC772",
            f"`{proposal}` declares no act, so there is nothing to approve or apply",
            help="a report is complete with its plan; declare `approve` and `act` to go further",
        )


class RecordDoesNotHoldError(FullcountError):
    """The store does not verify, so nothing that it says of approvals and outcomes can be acted on."""

    exit = Exit.ERROR

    def __init__(self, problem: str) -> None:
        super().__init__(
            "FC773",
            f"the record does not verify, so nothing is acted on: {problem}",
            help="keep the store as it is and see all of it with `fullcount verify`",
        )


def utc_now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


class Engine:
    """Runs the workflows of one workspace over one store."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        snapshots: SnapshotStore,
        *,
        clock: Callable[[], datetime] = utc_now,
        budget: Budget | None = None,
    ) -> None:
        self.workspace = workspace
        self.store = store
        self.snapshots = snapshots
        self.backups = BackupFiles(workspace.backup_dir)
        self._clock = clock
        self._budget = budget or Budget()

    async def plan(self, request: PlanRequest, progress: Callable[[ReadProgress], None] | None = None) -> PlanEnd:
        """Collect, prove, propose. Whatever comes of it is in the journal; nothing is acted on.

        What the workspace protects is joined to the rule here, whoever compiled it. Raises `ProtectionsError`.
        """
        request = protected(request, self.workspace.protections.relied_on())
        run_id = self.store.begin_run(request.workflow.name, "plan", request.person, slot_id=request.slot_id)
        end: PlanEnd | None = None
        try:
            async with Readers(self.workspace) as readers:
                planning = Planning(
                    request, run_id, self.workspace, self.store, self.snapshots, readers, self._budget,
                    self._clock, self._clock(), progress,
                )  # fmt: skip
                graph = graph_of(request.workflow, request.proposal, request.sources)
                walked = await walk(graph, planning.starts(), self._clock)
                end = self._plan_end(planning, walked)
        finally:
            # Also when it was interrupted or is a bug: a run that began has an end in the record.
            if end is None:
                notices = of_plan(*named(request), run_id, "error", int(Exit.ERROR), self._clock())
                self.store.finish_run(run_id, "error", Exit.ERROR, {}, notices)
            else:
                self.store.finish_run(run_id, end.state, end.exit, summary_of(end), self._notices(request, end))
        return replace(end, told=await self.tell(run_id))

    async def tell(self, run_id: str | None = None) -> Sequence[NoticeRow]:
        """Send the notices that are due, and return those of a run as they stand then.

        Nothing that goes wrong here changes a run: its outcome is recorded, and so is what still has to be told.
        """
        try:
            await deliver(self.store, self.workspace.notifiers)
            return () if run_id is None else self.store.notices(run_id)
        except StoreError:
            return ()  # they stay in the store, due, for whoever reaches it next

    def _notices(self, request: PlanRequest, end: PlanEnd) -> Sequence[Notice]:
        findings = [finding for refusal in end.refusals for finding in refusal.findings] if end.plan is None else []
        document = None if end.plan is None else end.plan.document
        return of_plan(
            *named(request), end.run_id, end.state, int(end.exit), self._clock(), document=document, findings=findings
        )

    async def apply(
        self,
        plan_id: str,
        person: Person,
        *,
        stop: StopSignal | None = None,
        progress: Callable[[ActProgress], None] | None = None,
        slot_id: str | None = None,
    ) -> ApplyEnd:
        """Act on what an approved plan lists, each object once, rechecked and guarded; of an undo, take it back.

        The plan's evidence enters the walk as it was stored; whether it satisfies the edges into the act is asked now.
        An apply that began before is gone on with in any case, since what it left open must be resolved, also where a
        newer plan has replaced it; the guard stands before each act there as well. Raises `PlanNotFound`,
        `PlanCorrupt`, `NothingToApproveError`.
        """
        plan = self.store.load_plan(plan_id)
        workflow = workflow_from_document(plan.document.program)
        proposal = proposal_of(workflow, plan.document.proposal)
        declared = self._approval_of(plan, workflow)
        if declared is None:
            raise NothingToApproveError(proposal.name)
        acting = apply_plan if plan.document.undo is None else apply_undo
        self._record_holds()
        self.remove_expired_backups()
        if len(plan.document.rows) == 0:
            return ApplyEnd(exit=Exit.DONE, plan=plan, report=nothing_to_do(plan))
        async with Readers(self.workspace) as readers:
            context = self._context(plan, workflow, proposal, person, readers, stop, progress, slot_id)
            if plan.state in {PlanState.APPLYING, PlanState.APPLIED} or self._left_open(plan):
                report = await acting(context)
                return ApplyEnd(report.exit, plan, report, told=await self.tell(report.run_id))

            reports: list[ApplyReport] = []

            async def verify(stage: Stage, evidence: Evidence) -> Produced | Refusal:
                accepting = Accepting.now(self.workspace, workflow.inventories[stage.name], self._clock())
                return certified_again(
                    plan, workflow, proposal, stage.name, evidence[f"inventory:{stage.name}"], accepting
                )

            async def propose(_stage: Stage, _evidence: Evidence) -> PlanDocument | Refusal:
                return standing(plan)

            async def approve(_stage: Stage, _evidence: Evidence) -> ApprovalStatus:
                return approvals.decide(
                    self.store, plan, declared, self.workspace.roles, allowed=self._automatic_approval(plan),
                    signing=self.workspace.signing(),
                )  # fmt: skip

            async def act(_stage: Stage, _evidence: Evidence) -> None:
                reports.append(await acting(context))

            starts = {"verify": verify, "propose": propose, "approve": approve, "act": act}
            read = {f"inventory:{envelope.inventory}": envelope for envelope in plan.document.envelopes}
            graph = graph_of(workflow, proposal)
            graph = graph if plan.document.undo is None else undo_graph_of(graph, declared)
            walked = await walk(graph, starts, self._clock, read)
        if reports:
            return ApplyEnd(reports[0].exit, plan, reports[0], told=await self.tell(reports[0].run_id))
        refusals = tuple(walked.refusals.values())
        return ApplyEnd(exit=exit_of(refusals), plan=plan, refusals=refusals)

    async def plan_undo(
        self, plan_id: str, person: Person, only: frozenset[tuple[Any, ...]] | None = None, *, named: bool = False
    ) -> PlanEnd:
        """Read what a plan did, live, and keep a plan that takes it back; nothing is acted on.

        `only`: these objects; `named`: each of them was named. Raises `PlanNotFound`, `PlanCorrupt`, `UndoRefused`.
        """
        plan = self.store.load_plan(plan_id)
        workflow = workflow_from_document(plan.document.program)
        proposal = proposal_of(workflow, plan.document.proposal)
        self._record_holds()
        self.remove_expired_backups()
        run_id = self.store.begin_run(workflow.name, "plan", person)
        end: PlanEnd | None = None
        try:
            async with Readers(self.workspace) as readers:
                context = self._context(plan, workflow, proposal, person, readers, None, None, None)
                end = self._undo_end(run_id, await plan_undo(replace(context, named=named), run_id, only))
        finally:
            state, code = ("error", Exit.ERROR) if end is None else (end.state, end.exit)
            found = () if end is None else [finding for refusal in end.refusals for finding in refusal.findings]
            document = None if end is None or end.plan is None else end.plan.document
            notices = of_plan(
                workflow, proposal.name, run_id, state, int(code), self._clock(), document=document, findings=found
            )
            made = {"undoes": plan.document.plan_id} | ({} if document is None else undo_summary(document))
            summary = {} if end is None else summary_of(end) | made
            self.store.finish_run(run_id, state, code, summary, notices)
        return replace(end, told=await self.tell(run_id))

    def _undo_end(self, run_id: str, made: PlanDocument | NothingToUndo) -> PlanEnd:
        if isinstance(made, PlanDocument):
            stored = self.store.save_plan(made)
            return PlanEnd(
                run_id, "waiting", Exit.WAITING_FOR_APPROVAL, {}, plan=stored, approval=self.approval_status(stored)
            )
        if made.refusal is None:
            return PlanEnd(run_id, "nothing", made.exit, {})
        return PlanEnd(run_id, "refused", made.exit, {}, (made.refusal,))

    def remove_expired_backups(self) -> Removed:
        """Remove the backups of objects whose time is over, ours and those that lie with a source.

        Raises `BackupFailed` if ours can't be removed.
        """
        try:
            ours = remove_expired(self.store, self.backups)
        except OSError as error:
            place = self.backups.root if error.filename is None else error.filename
            msg = f"backups whose time is over can't be removed from `{place}`: {error.strerror}"
            raise BackupFailed(msg) from None
        return Removed(ours, let_go(self.workspace, lambda: keys_that_are_over(self.store)))

    def approval_status(self, plan: StoredPlan) -> ApprovalStatus | None:
        """Return how far the approval of a plan has come; None when its workflow declares no act."""
        declared = self._approval_of(plan, workflow_from_document(plan.document.program))
        if declared is None:
            return None
        return approvals.status(
            self.store,
            plan,
            declared,
            self.workspace.roles,
            allowed=self._automatic_approval(plan),
            signing=self.workspace.signing(),
        )

    def _approval_of(self, plan: StoredPlan, workflow: program.Workflow) -> program.Approval | None:
        return approval_of_plan(workflow, plan.document, self.workspace.undo_quorums())

    def _automatic_approval(self, plan: StoredPlan) -> int:
        """Return how many objects this plan may have to be approved by a rule; an undo never is."""
        return 0 if plan.document.undo is not None else self.workspace.automatic_approval()

    def resumes_at(self, plan: StoredPlan) -> datetime | None:
        """Return from when on an apply of this plan that is paused can be gone on with; None if none is."""
        return next((paused.resumes_at for paused in self.store.paused(plan.document.plan_id)), None)

    def standstill(self, plan: StoredPlan) -> Standstill | None:
        """Return how a plan that was begun came to stand still; None if it was not begun, or is being acted on."""
        return standstill(self.store, plan)

    def give_approval(
        self, plan: StoredPlan, person: Person, digest: str, signed: Signed | None = None
    ) -> ApprovalStatus:
        """Count this person's yes over the digest that they name. Raises `ApprovalRefused` and its kin."""
        declared = self._approval_of(plan, workflow_from_document(plan.document.program))
        if declared is None:
            raise NothingToApproveError(plan.document.proposal)
        return approvals.give(
            self.store, plan, declared, self.workspace.roles, person, digest=digest,
            signing=self.workspace.signing(), signed=signed,
        )  # fmt: skip

    def strike(
        self, plan: StoredPlan, person: Person, keys: Sequence[tuple[Any, ...]], because: str | None
    ) -> StoredPlan:
        """Take rows out of a plan; the rest is a new plan that nobody has approved. Raises `NotListed` and its kin."""
        declared = self._approval_of(plan, workflow_from_document(plan.document.program))
        if declared is None:
            raise NothingToApproveError(plan.document.proposal)
        return approvals.strike(self.store, plan, declared, self.workspace.roles, person, keys, because)

    def settle(
        self, plan: StoredPlan, person: Person, keys: Sequence[tuple[Any, ...]], *, took_effect: bool, because: str
    ) -> Sequence[LedgerEntry]:
        """Record what a person says came of acts whose outcome nobody knows. Raises `NothingToSettle` and its kin."""
        declared = self._approval_of(plan, workflow_from_document(plan.document.program))
        if declared is None:
            raise NothingToApproveError(plan.document.proposal)
        return approvals.settle(
            self.store, plan, declared, self.workspace.roles, person, keys, took_effect=took_effect, because=because
        )

    def _record_holds(self) -> None:
        """Refuse to act on a record that was changed from outside: approvals, outcomes and halts stand in it."""
        found = verify_record(self.store)
        if not found.ok:
            raise RecordDoesNotHoldError(str(found.problems[0]))

    def _left_open(self, plan: StoredPlan) -> bool:
        """Whether an act of this plan was meant and nobody knows yet what came of it."""
        kind = ActKind.ACT if plan.document.undo is None else ActKind.UNDO
        return len(self.store.open_intents(plan.document.plan_id, kind=kind)) > 0

    def _plan_end(self, planning: Planning, walked: Walked) -> PlanEnd:
        request = planning.request
        envelopes = {e.inventory: e for e in walked.evidence.values() if isinstance(e, Envelope)}
        refusals = tuple(walked.refusals.values())
        stored = planning.stored
        if stored is None:
            would = None
            if not request.sample and any(refusal.ground is Ground.EVIDENCE for refusal in refusals):
                would = prevented(
                    request.workflow, request.proposal, list(envelopes.values()), self.snapshots, planning.bindings
                )
            return PlanEnd(planning.run_id, "refused", exit_of(refusals), envelopes, refusals, would)
        approval = next((e for e in walked.evidence.values() if isinstance(e, ApprovalStatus)), None)
        state, ended = plan_state(stored, approval)
        elsewhere = self.store.open_elsewhere(stored.document.plan_id)
        return PlanEnd(planning.run_id, state, ended, envelopes, refusals, None, stored, approval, elsewhere=elsewhere)

    def exemptions(self, name: str) -> tuple[Exemption, ...]:
        """Read an exemption list as it is now, wherever it stands; not from within a loop. Raises `WorkspaceError`."""

        async def read() -> tuple[Exemption, ...]:
            async with Readers(self.workspace) as readers:
                return await ExemptionLists(self.workspace, readers.reader, self._clock).read(name)

        return asyncio.run(read())

    def _context(
        self,
        plan: StoredPlan,
        workflow: program.Workflow,
        proposal: program.Proposal,
        person: Person,
        readers: Readers,
        stop: StopSignal | None,
        progress: Callable[[ActProgress], None] | None,
        slot_id: str | None,
    ) -> ApplyContext:
        catalog = self.workspace.catalog()
        versions = {source: version_of(self.workspace, source) for source in sources_of(workflow, proposal)}
        lists = ExemptionLists(self.workspace, readers.reader, self._clock)
        return ApplyContext(
            store=self.store,
            plan=plan,
            workflow=workflow,
            person=person,
            reader=readers.reader,
            open_actor=lambda source: open_actor(self.workspace, source),
            resources={(s, name): r for s in catalog.sources() for name, r in catalog.resources(s).items()},
            snapshots=self.snapshots,
            backups=self.backups,
            exemptions=self.workspace.exemptions,
            exemption_tables={
                name: partial(lists.read, name)
                for name in (each.list_name for each in proposal.excepts)
                if name is not None and lists.in_source(name)
            },
            roles=lambda: self.workspace.roles,
            protections=lambda: protections_of(
                self.workspace.protections.relied_on(), workflow.inventories[proposal.inventory], proposal
            ),
            freezes=self.workspace.freezes,
            automatic_approval=self.workspace.automatic_approval,
            irreversible_approvals=self.workspace.irreversible_approvals,
            signing=self.workspace.signing,
            undo_quorums=self.workspace.undo_quorums,
            versions={"engine": __version__, **versions},
            clock=self._clock,
            monotonic=self._budget.monotonic,
            sleep=self._budget.sleep,
            progress=progress,
            stop=stop or StopSignal(),
            slot_id=slot_id,
        )


def protected(request: PlanRequest, protections: Protections) -> PlanRequest:
    """Return the request under the protections of the workspace."""
    workflow = protect_workflow(request.workflow, protections)
    return replace(request, workflow=workflow, proposal=proposal_of(workflow, request.proposal.name))


def named(request: PlanRequest) -> tuple[program.Workflow, str]:
    """Return the workflow of a request, and the name of its proposal."""
    return request.workflow, request.proposal.name
