"""The work of the stages that make a plan: what `walk` starts when the edges into them are met.

Nothing here can act: it is handed readers only. Each stage records what it found in the store before it ends, so that
a run that is cut off has left the truth behind as far as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ulid import ULID

from fullcount.compiler import program
from fullcount.compiler.claims import Agrees, Direction
from fullcount.compiler.graph import Stage
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import Value
from fullcount.dsl.source import Source
from fullcount.runtime import __version__
from fullcount.runtime.accepting import Accepting
from fullcount.runtime.approve import approvals
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.closures import closures
from fullcount.runtime.collect.across import collect_across
from fullcount.runtime.collect.budget import Budget, Progress
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.parts import UnnamedPartError, not_covered, parts_of
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.certificate import Certificate, certify
from fullcount.runtime.evidence.codes import ActReason, WarningCode
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.recurrence import notes_on
from fullcount.runtime.evidence.refusal import Finding, Ground, Refusal
from fullcount.runtime.evidence.satisfy import Produced
from fullcount.runtime.evidence.series import collapsed, question_of, stated_in
from fullcount.runtime.evidence.warned import Recurrence, WarningSeen
from fullcount.runtime.evidence.wording import way_to_act
from fullcount.runtime.exemption_lists import ExemptionLists
from fullcount.runtime.plan.build import PlanInputs, build_plan
from fullcount.runtime.plan.closure import with_closures
from fullcount.runtime.plan.document import Measurement, PlanDocument
from fullcount.runtime.plan.errors import UnborneError
from fullcount.runtime.plan.graduated import Clock, Clocks
from fullcount.runtime.readers import Readers
from fullcount.runtime.store.errors import PlanCorrupt
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import StepStanding, StoredPlan
from fullcount.runtime.versions import version_of
from fullcount.runtime.walk import Evidence, Start
from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What to plan. `authors` are the principals (`uid:1000`) who wrote the rule; the caller always counts as one.

    `sources` are the texts of the compilation, so that a refusal can name the place of each use. `sample`: what is read
    was made up for a test of a workflow, and nothing that is true of a population is asked of it.
    """

    workflow: program.Workflow
    proposal: program.Proposal
    params: Mapping[str, Value]
    person: Person
    authors: frozenset[str] = frozenset()
    sources: Mapping[str, Source] = field(default_factory=dict)
    slot_id: str | None = None
    sample: bool = False


@dataclass(slots=True)
class Planning:
    """One planning run: its request, its means, and the instant that all its rules see as `now`."""

    request: PlanRequest
    run_id: str
    workspace: Workspace
    store: Store
    snapshots: SnapshotStore
    readers: Readers
    budget: Budget
    clock: Callable[[], datetime]
    now: datetime
    progress: Callable[[Progress], None] | None = None
    stored: StoredPlan | None = None

    @property
    def bindings(self) -> Bindings:
        """What the rules see."""
        return Bindings(self.request.params, to_micros(self.now))

    def starts(self) -> Mapping[str, Start]:
        """Return the work of each kind of stage; there is none for `act`: a plan ends before it."""
        return {
            "inventory": self.inventory,
            "verify": self.verify,
            "propose": self.propose,
            "approve": self.approve,
        }

    async def inventory(self, stage: Stage, evidence: Evidence) -> Produced:
        """Read one inventory to its end, or as far as it goes."""
        asked = self.request.workflow.inventories[stage.name]
        envelope = await self._read(asked, _listed(asked, evidence))
        workflow = self.request.workflow
        self.store.record_envelope(self.run_id, workflow.name, envelope, workflow.owner)
        return envelope

    async def _read(self, asked: program.Inventory, listed: Mapping[str, Certificate]) -> Envelope:
        reader = self.readers.reader(asked.source)
        resource = self.workspace.catalog().resources(asked.source)[asked.resource]
        if len(asked.across) == 0:
            return await collect(
                reader,
                asked,
                resource,
                bindings=self.bindings,
                snapshots=self.snapshots,
                budget=self.budget,
                clock=self.clock,
                progress=self.progress,
            )
        try:
            parts = parts_of(asked, listed, self.snapshots)
        except UnnamedPartError as error:
            return not_covered(asked, error, self.clock())
        return await collect_across(
            reader,
            asked,
            resource,
            parts,
            bindings=self.bindings,
            snapshots=self.snapshots,
            budget=self.budget,
            clock=self.clock,
            progress=self.progress,
        )

    async def verify(self, stage: Stage, evidence: Evidence) -> Certificate | Refusal:
        """Certify that the claims of `verify` hold for what was read, or say everything that does not."""
        workflow = self.request.workflow
        envelope = evidence[f"inventory:{stage.name}"]
        if not isinstance(envelope, Envelope):
            msg = "the edge into `verify` requires an envelope"
            raise TypeError(msg)
        claims = workflow.verifies[stage.name]
        question = question_of(workflow.inventories[stage.name], self.request.params)
        series = self.store.series(workflow.name, stage.name, question)
        accepting = Accepting.now(self.workspace, workflow.inventories[stage.name], self.now)
        issued = certify(
            workflow.inventories[stage.name],
            claims,
            envelope,
            previous_rows=self.store.previous_rows(workflow.name, stage.name),
            series=series if rests_on_absence(self.request.proposal, stage.name) else None,
            agreed_count=await self._independent_count(claims),
            used_fields=used_fields(self.request.proposal, stage.name),
            accepted=accepting.accepted,
            recurrence=Recurrence(seen=self._seen(stage.name, envelope, accepting), limit=accepting.limit),
            at=self.clock(),
        )
        certificate = accepting.said(issued)
        if isinstance(certificate, Certificate):
            # what is far below the others would make itself usual in time, if it were counted with them
            fits = envelope.complete and not collapsed(envelope.work.rows, series, stated_in(claims))
            self.store.record_certificate(
                self.run_id, workflow.name, certificate.doc, certificate.observed_at, question if fits else None
            )
        return certificate

    def _seen(self, inventory: str, envelope: Envelope, accepting: Accepting) -> tuple[WarningSeen, ...]:
        """Return how often the warnings of a reading came in a row; it was counted when it was recorded."""
        codes = {notice.code for notice in envelope.warnings}
        return tuple(
            WarningSeen(
                code=WarningCode(row.code),
                runs=row.runs,
                since=row.since,
                owner=row.owner,
                accepted_until=accepting.until(WarningCode(row.code)),
            )
            for row in self.store.warnings(self.request.workflow.name, inventory)
            if row.code in codes
        )

    async def propose(self, stage: Stage, evidence: Evidence) -> Produced | Refusal:
        """Make the plan and keep it; it takes the place of older plans of the same proposal."""
        request, workflow, proposal = self.request, self.request.workflow, self.request.proposal
        sources = sources_of(workflow, proposal)
        try:
            target = await self.readers.identities(sources)
        except SourceError as error:
            return unanswered(stage, error)
        reached = await self._reach(stage)
        if isinstance(reached, Refusal):
            return reached
        previous = self._previous()
        lists = ExemptionLists(self.workspace, self.readers.reader, self.clock)
        act = act_of(workflow, proposal.name)
        certificates = [produced for produced in evidence.values() if isinstance(produced, Certificate)]
        inputs = PlanInputs(
            workflow=workflow,
            proposal=proposal,
            approval=approval_of(workflow, proposal.name),
            act=act,
            certificates=[certificate.doc for certificate in certificates],
            envelopes=[e for e in evidence.values() if isinstance(e, Envelope)],
            snapshots=self.snapshots,
            bindings=self.bindings,
            target=target,
            engine_version=__version__,
            connector_versions={source: version_of(self.workspace, source) for source in sources},
            exemptions={
                name: await lists.read(name)
                for name in (each.list_name for each in proposal.excepts)
                if name is not None
            },
            exemption_places={
                name: lists.origin(name) for name in (each.list_name for each in proposal.excepts) if name is not None
            },
            authors=sorted({*request.authors, request.person.principal}),
            plan_id=str(ULID()),
            run_id=self.run_id,
            created_by=request.person.principal,
            created_at=self.clock(),
            previous=previous,
            notes=(*reached, *self._accepted_notes(evidence)),
            measurements={c.inventory: measurement_of(c) for c in certificates},
            sources=request.sources,
            clocks=None if act is None or len(act.steps) == 0 else clocks_of(self.store, workflow, proposal),
            sample=request.sample,
            recorded=self.workspace.recorded(workflow.inventories.values()),
        )
        try:
            document = build_plan(inputs)
        except UnborneError as unborne:
            return Refusal(stage=stage.node, ground=Ground.EVIDENCE, findings=unborne.findings)
        complete = await self._with_closures(stage, document, act, previous)
        if isinstance(complete, Refusal):
            return complete
        self.stored = self.store.save_plan(complete)
        return complete

    async def approve(self, stage: Stage, _evidence: Evidence) -> Produced:
        """Say how far the approval has come: a re-made identical plan keeps what it had; a rule may approve it."""
        declared = approval_of(self.request.workflow, stage.name)
        if declared is None or self.stored is None:
            msg = "the graph has an approve stage only where an approval is declared, and after its plan"
            raise TypeError(msg)
        return approvals.decide(
            self.store, self.stored, declared, self.workspace.roles, allowed=self.workspace.automatic_approval(),
            signing=self.workspace.signing(),
        )  # fmt: skip

    async def _reach(self, stage: Stage) -> tuple[str, ...] | Refusal:
        """Return what the act and its undo set off besides, for the plan to announce; or why they would be refused."""
        act = act_of(self.request.workflow, stage.name)
        calls = () if act is None else (*act.calls.values(), *act.undos.values())
        known: dict[str, None] = {}
        findings: dict[Finding, None] = {}
        unfit: dict[Finding, None] = {}
        for call in calls:
            resource = self.workspace.catalog().resources(call.source)[call.resource]
            try:
                why = await self.readers.unfit(call.source, resource, call.operation)
                if why is not None:
                    message = f"what this plans could not be done in `{call.source}`: {why.detail}"
                    unfit[Finding(code=why.code, message=message, ways_on=(way_to_act(call.source, why.code),))] = None
                found = await self.readers.collateral(call.source, resource, call.operation)
            except SourceError as error:
                return unanswered(stage, error)
            known |= dict.fromkeys(f"{phrase}; `known_triggers` names it" for phrase in found.known)
            for phrase in found.unknown:
                message = f"{phrase}, and may change what nobody approves: `{call.operation}` would be refused"
                findings[Finding(code=ActReason.COLLATERAL_CHANGE, message=message, ways_on=(found.way_on,))] = None
        if len(unfit) > 0:
            return Refusal(stage=stage.node, ground=Ground.EVIDENCE, findings=tuple(unfit))
        if len(findings) > 0:
            return Refusal(stage=stage.node, ground=Ground.POLICY, findings=tuple(findings))
        return tuple(known)

    async def _with_closures(
        self, stage: Stage, document: PlanDocument, act: program.Act | None, previous: PlanDocument | None
    ) -> PlanDocument | Refusal:
        """Return the plan with what goes with its objects, or why that can't be told."""
        if act is None or not any(call.deletes for call in act.calls.values()):
            return document
        catalog = self.workspace.catalog()
        resources = {source: catalog.resources(source) for source in act.sources}
        inventory = self.request.workflow.inventories[self.request.proposal.inventory]
        try:
            found = await closures(document, act, inventory, resources, self.readers)
        except SourceError as error:
            return unanswered(stage, error)
        if isinstance(found, Finding):
            return Refusal(stage=stage.node, ground=Ground.EVIDENCE, findings=(found,))
        return with_closures(document, found, cascading=act.cascading, previous=previous)

    def _accepted_notes(self, evidence: Evidence) -> tuple[str, ...]:
        """Return what a reviewer has to know of the warnings that the workspace accepts."""
        read: dict[str, frozenset[WarningCode]] = {}
        for each in evidence.values():
            if isinstance(each, Envelope):
                resource = f"{each.scope.source}.{each.scope.resource}"
                read[resource] = read.get(resource, frozenset()) | {notice.code for notice in each.warnings}
        return notes_on(self.workspace.accepted_warnings(), read, self.now.astimezone(UTC).date())

    def _previous(self) -> PlanDocument | None:
        """Return the plan that this one is compared with.

        A damaged one is no comparison, and must not keep a sound plan from taking its place: that it is damaged is said
        by everything that would rely on it, and by `verify`.
        """
        try:
            latest = self.store.latest_plan(self.request.workflow.name, self.request.proposal.name)
        except PlanCorrupt:
            return None
        return None if latest is None else latest.document

    async def _independent_count(self, claims: tuple[object, ...]) -> int | SourceError | None:
        for claim in claims:
            if isinstance(claim, Agrees):
                resource = self.workspace.catalog().resources(claim.source)[claim.resource]
                try:
                    return await self.readers.reader(claim.source).count(resource)
                except SourceError as error:
                    return error
        return None


def _listed(asked: program.Inventory, evidence: Evidence) -> Mapping[str, Certificate]:
    """Return the certified inventories that name the parts of one; the graph has an edge from each."""
    found: dict[str, Certificate] = {}
    for across in asked.across:
        if across.inventory is not None:
            certificate = evidence[f"verify:{across.inventory}"]
            if not isinstance(certificate, Certificate):
                msg = "the edge into an inventory that is read in parts requires a certificate"
                raise TypeError(msg)
            found[across.inventory] = certificate
    return found


def unanswered(stage: Stage, error: SourceError) -> Refusal:
    """Return the refusal of a stage whose source does not say who and where it is: no plan can name its target."""
    message = f"a source that the plan rests on did not answer: {error.reason.detail}"
    found = Finding(code=error.reason.code, message=message, ways_on=("plan again when it answers",))
    return Refusal(stage=stage.node, ground=Ground.EVIDENCE, findings=(found,))


def approval_of(workflow: program.Workflow, proposal: str) -> program.Approval | None:
    """Return the approval that a proposal needs; None for one that only reports."""
    return next((each for each in workflow.approvals if each.proposal == proposal), None)


def act_of(workflow: program.Workflow, proposal: str) -> program.Act | None:
    """Return the act of a proposal; None for one that only reports."""
    return next((each for each in workflow.acts if each.proposal == proposal), None)


def clocks_of(store: Store, workflow: program.Workflow, proposal: program.Proposal) -> Clocks:
    """Return where the objects of a graduated act stand, and an instant before anything of it was read."""
    at = store.now()
    running = store.steps(workflow.name, proposal.name)
    return Clocks(
        at,
        tuple(
            Clock(row.object_key, row.incarnation, row.step, row.since, lapsed=row.standing is StepStanding.LAPSED)
            for row in running
        ),
    )


def sources_of(workflow: program.Workflow, proposal: program.Proposal) -> list[str]:
    """Return the sources that a proposal reads, acts on or has counted after its canary, in order of name."""
    read = {workflow.inventories[use.inventory].source for use in proposal.uses}
    acts = [act for act in workflow.acts if act.proposal == proposal.name]
    acted = {source for act in acts for source in act.sources}
    counted = {act.canary.then.source for act in acts if act.canary is not None and act.canary.then is not None}
    return sorted(read | acted | counted)


def used_fields(proposal: program.Proposal, inventory: str) -> frozenset[str]:
    """Return the fields of an inventory that decide which objects are proposed."""
    none: frozenset[str] = frozenset()
    return none.union(*(facts.fields_read(e).get(inventory, none) for e in proposal.deciding))


def rests_on_absence(proposal: program.Proposal, inventory: str) -> bool:
    """Whether rows that were not returned could turn a conclusion of the proposal around."""
    return any(use.inventory == inventory and use.direction is Direction.ABSENCE for use in proposal.uses)


def measurement_of(certificate: Certificate) -> Measurement:
    """Return what a certificate was issued on besides its reading, so that it can be issued again from the plan."""
    return Measurement(
        previous_rows=certificate.previous_rows,
        agreed_count=certificate.agreed_count,
        series=certificate.series,
        warnings=certificate.recurrence.seen,
    )
