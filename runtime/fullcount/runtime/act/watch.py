"""What the guard looks at: plan, approval, halt and lease in the store; exemptions and protections in the workspace.

`Watch.look` is one read transaction, so that all of it belongs to one instant. What was read is used for a fifth of a
second at the most, also within a group of acts: after that the next act looks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from fullcount.compiler.claims import Fresh
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Approval, Proposal
from fullcount.compiler.values import Row
from fullcount.runtime.act.actors import facts_of
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.exempted import exempted
from fullcount.runtime.act.guard import PAUSED, PAUSES, ApprovalFacts, CanaryFacts, EvidenceAge, GuardInputs, Purpose
from fullcount.runtime.act.letting_go import lets_go
from fullcount.runtime.act.opening import opening
from fullcount.runtime.act.protected import Protecting
from fullcount.runtime.approve.electorate import resolve
from fullcount.runtime.approve.of_plan import approval_of_plan
from fullcount.runtime.approve.signing import UNSIGNED, Signing
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store import canaries, controls, leases, plans
from fullcount.runtime.store.errors import ApprovalRefused, FenceLost
from fullcount.runtime.store.instants import from_micros, to_micros
from fullcount.runtime.store.rounds import current_round, given_votes, taken_back
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import CanaryRow, Fence, Vote
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.freezes import Freeze

TABLE_SHARE = 5
"""How many times as long as reading a table takes, what was read of it may be used."""
LOOK_SECONDS = 0.2
"""How old what the guard looks at may be when a call is made."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a plan stands in the store, at one instant. `agreed` are the votes that have not run out."""

    state: str
    approval: ApprovalFacts | None
    agreed: tuple[Vote, ...]
    halted: str | None
    paused: str | None
    fence_current: int | None
    canary: CanaryRow | None
    taken_back: str | None = None


def standing(store: Store, plan_id: str, fence: Fence) -> Standing:
    """Read it. `fence_current` is the fence's own token only while the lease is in force, by the store's time."""
    now = to_micros(store.now())
    with store.reading() as session:
        plan = plans.get(session, plan_id)
        round_ = current_round(session, plan)
        approval: ApprovalFacts | None = None
        agreed: tuple[Vote, ...] = ()
        if round_ is not None and round_.key is not None and round_.expires_at is not None:
            given = given_votes(session, round_.round_id, now)
            of = plan.candidates if len(given) == 0 else None
            approval = ApprovalFacts(round_.digest, from_micros(round_.expires_at), of)
            agreed = tuple(vote for vote in given if not vote.lapsed)
        try:
            leases.check(session, fence, now)
            current: int | None = fence.token
        except FenceLost:
            current = None
        return Standing(
            state=str(plans.state_of(session, plan, now)),
            approval=approval,
            agreed=agreed,
            halted=controls.halted(session),
            paused=controls.paused(session, plan.workflow),
            fence_current=current,
            canary=canaries.find(session, plan_id),
            taken_back=taken_back(session, plan) if round_ is None else None,
        )


def broken(
    approval: Approval | None,
    roles: Mapping[str, Any],
    document: PlanDocument,
    agreed: Sequence[Vote],
    signing: Signing = UNSIGNED,
    irreversible: int = 1,
) -> tuple[str | None, str | None]:
    """Return why these votes no longer make an approval, as roles and signers are now; None while they do.

    The second is why a signature does not count, where it is that. `irreversible`: how many people the workspace asks
    for, because what the act does can't be taken back.
    """
    if approval is None:
        return "the workflow does not say who must approve", None
    try:
        electorate = resolve(approval.quorums, roles, plans.makers(document), signing)
    except ApprovalRefused as error:
        return error.message, None
    people = [vote.person for vote in agreed if electorate.stands(vote, document.digest)]
    why = electorate.no_longer(people)
    count = electorate.count(people)
    if why is None and count < irreversible:
        why = (
            f"what it does can't be taken back, and this workspace asks {irreversible} people for that: {count} agreed"
        )
    return why, None if why is None else electorate.unsigned(agreed, document.digest)


def evidence_ages(document: PlanDocument, proposal: Proposal, verifies: Mapping[str, Any]) -> tuple[EvidenceAge, ...]:
    """Return when each inventory that the proposal rests on was read, and how old it may be."""
    read_at = {envelope.inventory: envelope.scope.started_at for envelope in document.envelopes}
    certified = {certificate.inventory for certificate in document.certificates}
    used = dict.fromkeys((proposal.inventory, *(use.inventory for use in proposal.uses)))
    ages: list[EvidenceAge] = []
    for name in used:
        limits = [c.max_age for c in verifies.get(name, ()) if isinstance(c, Fresh) and c.max_age is not None]
        known = name in certified and name in read_at and len(limits) > 0
        ages.append(
            EvidenceAge(
                inventory=name,
                observed_at=read_at.get(name, datetime.min.replace(tzinfo=UTC)),
                max_age=timedelta(microseconds=min(limits)) if known else None,
            )
        )
    return tuple(ages)


class Watch:
    """Assembles the guard's inputs for one run. Call `look` before a group; `inputs` looks again when it must."""

    def __init__(
        self,
        context: ApplyContext,
        proposal: Proposal,
        purpose: Purpose,
        fence: Fence,
        sources: Sequence[str],
        bindings: Bindings,
    ) -> None:
        """`sources`: those that the run acts on."""
        document = context.plan.document
        self.protecting = Protecting(proposal, context.protections, bindings)
        self._context = context
        self._purpose = purpose
        self._fence = fence
        self._target: Mapping[str, str] = facts_of({source: document.target.get(source, {}) for source in sources})
        self.acting: Mapping[str, str] = self._target
        """Who acts, and where. Until the actor is open and has said so, what the plan expects."""
        self._lists = tuple(item.list_name for item in proposal.excepts if item.list_name is not None)
        planned = {"engine": document.engine_version, **document.connector_versions}
        self._planned_versions = planned
        # the workspace may have sources that this plan has nothing to do with; what is acted on is never left out
        self._running_versions = {n: v for n, v in context.versions.items() if n in planned or n in sources}
        self._limit: tuple[int | None, Decimal | None] = (
            (None, None) if proposal.limit is None else (proposal.limit.count, proposal.limit.percent)
        )
        if purpose is Purpose.UNDO:
            self._limit = (len(document.rows), None)  # what its own list has, and no cap of the act
        inventory = context.workflow.inventories[proposal.inventory]
        self._spelling = tuple(inventory.normalized.get(name, ()) for name in inventory.key)
        self._evidence = evidence_ages(document, proposal, context.workflow.verifies)
        acts = [act for act in context.workflow.acts if act.proposal == proposal.name]
        self._windows = tuple(window for act in acts for window in act.windows)
        self._canary = next((act.canary for act in acts), None)
        self._final = any(len(act.final) > 0 for act in acts)
        self._freezes: tuple[Freeze, ...] = ()
        self._automatic_allowed = 0
        self._released = frozenset(row.key for row in document.rows if lets_go(row))
        """An exemption is one of the reasons to let an object go."""
        self._looked_at = 0.0
        self._tables: dict[str, tuple[Exemption, ...]] = {}
        self._tables_read, self._tables_took = 0.0, 0.0
        self._reading = asyncio.Lock()
        self.look()

    @property
    def state(self) -> str:
        """The plan's state when it was last looked at."""
        return self._standing.state

    def look(self) -> None:
        """Read everything anew."""
        context = self._context
        self._looked_at = context.monotonic()
        self._standing = standing(context.store, context.plan.document.plan_id, self._fence)
        self._exemptions = [
            entry for name in self._lists if name not in context.exemption_tables for entry in context.exemptions(name)
        ]
        self._approval = self._approval_now()
        if self._purpose is Purpose.ACT:
            self.protecting.look()
            self._freezes = context.freezes()
            self._automatic_allowed = context.automatic_approval()

    async def refresh(self) -> None:
        """Read anew the exemption lists that stand in a source, if what was read of them is not quite new.

        To be called before `inputs` for an object. A table that takes long to read may be older by a few times as long
        as it takes: otherwise nothing but reading it would be done.
        """
        context = self._context
        tables = [name for name in self._lists if name in context.exemption_tables]
        if len(tables) == 0 or self._purpose is not Purpose.ACT:
            return
        async with self._reading:
            may_be = max(LOOK_SECONDS, self._tables_took * TABLE_SHARE)
            began = context.monotonic()
            if len(self._tables) == len(set(tables)) and began - self._tables_read <= may_be:
                return
            self._tables.clear()  # if one can't be read, none of them is relied on
            read = {name: tuple(await context.exemption_tables[name]()) for name in dict.fromkeys(tables)}
            self._tables.update(read)
            self._tables_read = began
            self._tables_took = context.monotonic() - began

    def _listed(self) -> list[Exemption]:
        """Return the entries of every list. Raises `LookupError` for a table that was not read: it is never empty."""
        entries = list(self._exemptions)
        if self._purpose is Purpose.ACT:
            for name in self._lists:
                if name in self._context.exemption_tables:
                    entries += self._tables[name]
        return entries

    def _approval_now(self) -> ApprovalFacts | None:
        """Return the approval with what the roles say of it now. A rehearsal rests on none, nor on the roles."""
        given = self._standing.approval
        if given is None or self._purpose is Purpose.REHEARSE:
            return given
        context = self._context
        document = context.plan.document
        declared = approval_of_plan(context.workflow, document, context.undo_quorums())
        if given.automatic_of is not None and declared is not None and declared.automatic is not None:
            return given  # nobody was asked: what the workspace allows now is held against it instead
        needed = context.irreversible_approvals() if self._final and self._purpose is Purpose.ACT else 1
        signing = context.signing()
        why, unsigned = broken(declared, context.roles(), document, self._standing.agreed, signing, needed)
        return replace(given, broken=why, unsigned=unsigned)

    def resumes_at(self, finding: Finding) -> datetime | None:
        """Return when a run that a finding stopped can be gone on with; None if that takes more than time."""
        if finding.code not in PAUSES or finding.code == PAUSED:
            return None
        canary, at = self._standing.canary, self._context.clock()
        if finding.code == "FC776" and canary is not None:
            at = max(at, canary.waits_until)
        return opening(self._windows, self._freezes, at)

    def exempted(self, key: tuple[Any, ...]) -> str | None:
        """Return why an object is on an exemption list by now; None if it is on none."""
        context = self._context
        return exempted(self._listed(), key, context.plan.document.workflow, context.clock(), self._spelling)

    def _canary_facts(self) -> CanaryFacts | None:
        if self._canary is None:
            return None
        row = self._standing.canary
        if row is None:
            return CanaryFacts(self._canary.count, passed=False, waits_until=None)
        return CanaryFacts(self._canary.count, row.passed_at is not None, row.waits_until)

    def inputs(self, key: tuple[Any, ...] | None, acts: int, seen: Row | None = None) -> GuardInputs:
        """Return what the guard looks at for an act on the object with this key (None: for any act at all).

        `seen` is what was read of the object right before; what is missing in it is not known.
        """
        context, document = self._context, self._context.plan.document
        if context.monotonic() - self._looked_at > LOOK_SECONDS:
            self.look()
        at = context.clock()
        return GuardInputs(
            purpose=self._purpose,
            at=at,
            plan_digest=document.digest,
            plan_state=self._standing.state,
            approval=self._approval,
            halted=self._standing.halted,
            paused=self._standing.paused,
            versions_planned=self._planned_versions,
            versions_running=self._running_versions,
            target_planned=self._target,
            target_acting=self.acting,
            cap_count=self._limit[0],
            cap_percent=self._limit[1],
            population=document.sums.inventory,
            acts=acts,
            exemption=None if key is None or key in self._released else self.exempted(key),
            protection=None if key is None else self.protecting.why({} if seen is None else seen),
            evidence=self._evidence,
            windows=self._windows,
            freezes=self._freezes,
            canary=self._canary_facts(),
            fence=self._fence.token,
            fence_current=self._standing.fence_current,
            automatic_allowed=self._automatic_allowed,
            closure=document.along,
            taken_back=self._standing.taken_back,
            workflow=document.workflow,
            undoes=None if document.undo is None else document.undo.plan_id,
            valid_until=None if document.undo is None else document.undo.valid_until,
        )
