"""Whether an edge of the graph is met: the one function by which a stage is allowed to start.

It compares what the edge requires with what its tail produced, and works every claim out again from the reading itself
at the instant of use. It trusts no flag of a certificate, and evidence of another kind than asked for meets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from fullcount.compiler.claims import Direction, Fresh
from fullcount.compiler.edges import Approved, Collected, Ended, Evidence, Planned, Requirement
from fullcount.runtime.evidence.certificate import Certificate
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.judge import Held, Measured, blocking, judge
from fullcount.runtime.evidence.recurrence import recurring
from fullcount.runtime.evidence.refusal import Finding, Need
from fullcount.runtime.evidence.series import collapse
from fullcount.runtime.evidence.wording import READ_AGAIN
from fullcount.runtime.plan.document import PlanDocument


@runtime_checkable
class HasEnvelope(Protocol):
    """What reading an inventory produced."""

    @property
    def envelope(self) -> Envelope:
        """The envelope of the read."""
        ...


@runtime_checkable
class HasPlan(Protocol):
    """What a proposal produced: a plan, as it is stored."""

    @property
    def document(self) -> PlanDocument:
        """The plan."""
        ...


@runtime_checkable
class HasEvent(Protocol):
    """How a run ended."""

    @property
    def event(self) -> str:
        """Which event its end is."""
        ...


class QuorumCount(Protocol):
    """How far one quorum has come."""

    @property
    def role(self) -> str:
        """Of which role."""
        ...

    @property
    def needed(self) -> int:
        """How many are needed."""
        ...

    @property
    def have(self) -> int:
        """How many agreed."""
        ...

    @property
    def not_by_author(self) -> bool:
        """Whether authors were left out of the count."""
        ...


@runtime_checkable
class HasApproval(Protocol):
    """What people decided of a plan."""

    @property
    def approved(self) -> bool:
        """Whether every quorum is reached."""
        ...

    @property
    def expires_at(self) -> datetime | None:
        """Until when the approval holds."""
        ...

    @property
    def broken(self) -> str | None:
        """Why an approval that was complete no longer holds."""
        ...

    @property
    def quorums(self) -> Sequence[QuorumCount]:
        """The quorums one by one."""
        ...


@runtime_checkable
class RestsOnSignatures(Protocol):
    """An approval that signatures may be asked for."""

    @property
    def unsigned(self) -> str | None:
        """Why an approval that was complete no longer holds, where it is for a signature."""
        ...


@runtime_checkable
class MayBeTakenBack(Protocol):
    """An approval that a person may have taken back."""

    @property
    def ended_because(self) -> str | None:
        """By whom and why; None: it was not."""
        ...

    @property
    def ended_at(self) -> datetime | None:
        """When."""
        ...


class RuleDecision(Protocol):
    """What a workflow's own rule was held against."""

    @property
    def candidates(self) -> int:
        """How many objects the plan lists."""
        ...

    @property
    def population(self) -> int:
        """Of how many."""
        ...

    @property
    def reversible(self) -> bool:
        """Whether what is done to them can be taken back."""
        ...


@runtime_checkable
class MaybeByRule(Protocol):
    """An approval that a rule may have given."""

    @property
    def automatic(self) -> RuleDecision | None:
        """The decision; None: people were asked."""
        ...


@runtime_checkable
class OfAPlan(Protocol):
    """Evidence that says which plan it belongs to."""

    @property
    def plan_id(self) -> str:
        """The plan's id."""
        ...


Produced = object
"""What a stage hands to the next: an envelope, a certificate, a plan, an approval, … `unmet` knows the kinds that edges
ask for; any other kind meets nothing."""


def unmet(requirement: Requirement, evidence: Produced, at: datetime) -> tuple[Finding, ...]:
    """Return everything that an edge requires and the evidence does not give at this instant; nothing: it is met."""
    match requirement:
        case Collected():
            return _collected(requirement, evidence)
        case Evidence():
            return _evidence(requirement, evidence, at)
        case Planned():
            return _planned(requirement, evidence)
        case Approved():
            return _approved(requirement, evidence, at)
        case Ended():
            return _ended(requirement, evidence)


def needs(requirement: Requirement, stage: str) -> tuple[Need, ...]:
    """Return the uses behind an edge, for a finding to name: which stage needs which claims, and where it says so."""
    if not isinstance(requirement, Evidence):
        return ()
    words = tuple(claim.text() for claim in requirement.claims)
    return tuple(Need(stage=stage, place=use, claims=words) for use in requirement.uses)


def with_needs(findings: Sequence[Finding], needed_by: Sequence[Need]) -> tuple[Finding, ...]:
    """Return the findings, each with the uses that needed what was missing."""
    return tuple(finding.model_copy(update={"needed_by": tuple(needed_by)}) for finding in findings)


def _other(inventory: str | None, message: str) -> tuple[Finding, ...]:
    return (Finding(code="FC747", message=message, inventory=inventory, ways_on=(READ_AGAIN,)),)


def _collected(requirement: Collected, evidence: Produced) -> tuple[Finding, ...]:
    wanted = requirement.inventory
    envelope = evidence if isinstance(evidence, Envelope) else None
    if envelope is None and isinstance(evidence, HasEnvelope):
        envelope = evidence.envelope
    if envelope is None:
        return _other(wanted, f"`{wanted}` was not read")
    if envelope.inventory != wanted:
        return _other(wanted, f"`{envelope.inventory}` was read, but `{wanted}` is asked for")
    return ()


def _evidence(requirement: Evidence, evidence: Produced, at: datetime) -> tuple[Finding, ...]:
    wanted = requirement.inventory
    if not isinstance(evidence, Certificate):
        return _other(wanted, f"nothing certifies the reading of `{wanted}`")
    envelope, doc = evidence.envelope, evidence.doc
    if {evidence.inventory, envelope.inventory, doc.inventory} != {wanted}:
        return _other(wanted, f"the certificate is of `{evidence.inventory}`, not of `{wanted}`")
    findings: list[Finding] = []
    certified = (doc.snapshot_digest, doc.rows, doc.distinct_keys)
    if certified != (envelope.snapshot_digest, envelope.work.rows, envelope.work.distinct_keys):
        findings += _other(wanted, f"the certificate of `{wanted}` does not fit the reading that it names")
    if evidence.observed_at != envelope.scope.started_at:
        findings += _other(wanted, f"the certificate of `{wanted}` gives another time than the reading that it names")
    promised = {held.claim for held in evidence.held}
    on = Measured(envelope, at, evidence.previous_rows, evidence.agreed_count)
    for claim in requirement.claims:
        result = judge(claim.value(), on)
        if not isinstance(result, Held):
            findings += result
        elif result.claim not in promised:
            findings += _other(wanted, f"`{result.claim}` was not certified of `{wanted}`")
    findings += _age(requirement, on)
    if Direction.ABSENCE in requirement.directions:
        if evidence.series is None:
            findings += _other(wanted, f"the reading of `{wanted}` was not held against the readings before it")
        else:
            findings += collapse(envelope, tuple(claim.value() for claim in requirement.claims), evidence.series)
    accepted = frozenset(evidence.accepted)
    findings += blocking(envelope, frozenset(evidence.used_fields), accepted)
    findings += recurring(envelope, evidence.recurrence, accepted)
    return with_needs(tuple(dict.fromkeys(findings)), needs(requirement, f"uses of {wanted}"))


def _age(requirement: Evidence, on: Measured) -> tuple[Finding, ...]:
    """Judge the age that the edge itself states, whatever claims stand beside it."""
    result = judge(Fresh(requirement.max_age), on)
    return () if isinstance(result, Held) else result


def _ended(requirement: Ended, evidence: Produced) -> tuple[Finding, ...]:
    if isinstance(evidence, HasEvent) and evidence.event in requirement.events:
        return ()
    return _other(None, f"the run did not end as {' or '.join(requirement.events)}")


def _planned(requirement: Planned, evidence: Produced) -> tuple[Finding, ...]:
    document = evidence if isinstance(evidence, PlanDocument) else None
    if document is None and isinstance(evidence, HasPlan):
        document = evidence.document
    if document is None:
        return _other(None, f"there is no plan of `{requirement.proposal}`")
    if document.proposal != requirement.proposal:
        return _other(None, f"the plan is of `{document.proposal}`, not of `{requirement.proposal}`")
    if not document.sums.hold:
        return _other(None, f"the sums of the plan `{document.plan_id}` do not hold")
    return ()


def _approved(requirement: Approved, evidence: Produced, at: datetime) -> tuple[Finding, ...]:
    if not isinstance(evidence, HasApproval):
        return (_not_approved(f"nobody was asked about `{requirement.proposal}`", evidence),)
    if evidence.broken is not None:
        message = f"the approval of `{requirement.proposal}` no longer holds: {evidence.broken}"
        code = "FC782" if isinstance(evidence, RestsOnSignatures) and evidence.unsigned is not None else "FC779"
        return (Finding(code=code, message=message, ways_on=(_anew(evidence),)),)
    if not evidence.approved:
        back = _taken_back(evidence)
        return (_not_approved(f"`{requirement.proposal}` is not approved{back}", evidence),)
    if evidence.expires_at is None or evidence.expires_at <= at:
        return (_not_approved(f"the approval of `{requirement.proposal}` has expired", evidence),)
    decision = evidence.automatic if isinstance(evidence, MaybeByRule) else None
    if decision is not None:
        rule = requirement.automatic
        if rule is not None and decision.reversible and rule.holds(decision.candidates, decision.population):
            return ()
        return (_not_approved(f"`{requirement.proposal}` may not be approved by a rule", evidence),)
    reached = [
        any(
            count.role == quorum.role and count.have >= quorum.count and count.not_by_author >= quorum.not_by_author
            for count in evidence.quorums
        )
        for quorum in requirement.quorums
    ]
    if not all(reached):
        return (
            _not_approved(
                f"the approval of `{requirement.proposal}` lacks people that the workflow asks for", evidence
            ),
        )
    return ()


def _taken_back(evidence: Produced) -> str:
    if not isinstance(evidence, MayBeTakenBack) or evidence.ended_because is None:
        return ""
    at = "" if evidence.ended_at is None else f", at {evidence.ended_at:%Y-%m-%dT%H:%M:%SZ}"
    return f"; its approval was taken back: {evidence.ended_because}{at}"


def _anew(evidence: Produced) -> str:
    plan = evidence.plan_id if isinstance(evidence, OfAPlan) else "PLAN"
    return f"people who are in the role now approve it anew: `fullcount approve {plan}`"


def _not_approved(message: str, evidence: Produced) -> Finding:
    plan = evidence.plan_id if isinstance(evidence, OfAPlan) else "PLAN"
    return Finding(code="FC707", message=message, ways_on=(f"see who is missing   fullcount show {plan}",))
