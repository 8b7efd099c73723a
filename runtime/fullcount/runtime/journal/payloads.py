"""What each kind of journal entry says: one closed wire format per kind, used for writing and for verifying.

Formats are added to, never changed: old entries must verify for ever. No secret is ever in one: an approval's key is
there as its hash, and what an undo needs as the hash of it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from fullcount.runtime.evidence.envelope import Wire


class Payload(Wire):
    """The base of all payloads. `KIND` is the entry's kind."""

    KIND: ClassVar[str]


class Who(Wire):
    """A person as they were known when it happened."""

    uid: int
    name: str


# -- runs and evidence ------------------------------------------------------------------------------------------------


class RunBegan(Payload):
    """A run begins."""

    KIND = "run_began"
    run_id: str
    workflow: str
    kind: str
    by: Who
    plan_id: str | None
    slot_id: str | None


class RunFinished(Payload):
    """The entry's run has ended."""

    KIND = "run_finished"
    state: str
    exit: int
    summary: dict[str, Any]


class EnvelopeKept(Payload):
    """An answer of a source, complete or not."""

    KIND = "envelope"
    envelope_id: str
    workflow: str
    inventory: str
    complete: bool
    rows: int
    snapshot_digest: str | None
    sha256: str
    warnings: tuple[str, ...] | None = None
    """The codes of its warnings, each once; None: an older version did not say."""
    resource: str = ""
    """`hr.employees`; with `owner`, of the workflow, only where the warnings are said."""
    owner: str = ""

    def columns(self) -> dict[str, Any]:
        """Return what the table of envelopes has of it."""
        return self.model_dump(exclude={"warnings", "resource", "owner"})


class CertificateKept(Payload):
    """The claims of a `verify` held."""

    KIND = "certificate"
    certificate_id: str
    workflow: str
    inventory: str
    rows: int
    snapshot_digest: str
    observed_at: int
    sha256: str
    series: str | None = None


# -- plans and approvals ----------------------------------------------------------------------------------------------


class Planned(Payload):
    """A plan was made. `supersedes` and `voids` say which older plans and approvals it ended."""

    KIND = "planned"
    plan_id: str
    workflow: str
    proposal: str
    digest: str
    sha256: str
    candidates: int
    over_cap: bool
    authors: tuple[str, ...]
    supersedes: tuple[str, ...]
    voids: tuple[str, ...]
    undoes: str | None = None
    """The plan that it takes back; not said by versions whose undos were no plans."""


class Struck(Payload):
    """The plan was made by striking rows from another one: `keys` are theirs, as the plan writes them."""

    KIND = "struck"
    plan_id: str
    of: str
    digest: str
    keys: tuple[tuple[Any, ...], ...]
    by: Who
    because: str | None


class QuorumRule(Wire):
    """So many people of a role."""

    role: str
    count: int
    not_by_author: bool


class ApprovalOpened(Payload):
    """The first vote over a digest is about to be counted, under these rules. `signed`: only signed votes count."""

    KIND = "approval_opened"
    round_id: str
    plan_id: str
    digest: str
    rule: tuple[QuorumRule, ...]
    signed: bool = False


class Approved(Payload):
    """One person's yes. `signature`: an SSH signature over what `offline.statements.approval_statement` returns."""

    KIND = "approved"
    round_id: str
    plan_id: str
    digest: str
    by: Who
    expires_at: int
    signed_at: int | None = None
    signature: str | None = None


class SeatTaken(Wire):
    """Whose yes counted for which quorum of the rule (by its place in it)."""

    quorum: int
    uid: int


class ApprovalComplete(Payload):
    """The quorum is reached and the key is minted."""

    KIND = "approval_complete"
    round_id: str
    plan_id: str
    digest: str
    seats: tuple[SeatTaken, ...]
    key_sha256: str
    expires_at: int


class AutomaticRule(Wire):
    """The workflow's conditions for asking nobody. `percent` as text, of the objects of the base inventory."""

    count: int
    percent: str | None
    reversible: bool


class ApprovedAutomatically(Payload):
    """The workflow's own rule approved the plan, within the policy of the workspace, and the key is minted.

    `allowed` is the policy at that instant. The round was opened with the people who would have been asked otherwise.
    """

    KIND = "approved_automatically"
    round_id: str
    plan_id: str
    digest: str
    rule: AutomaticRule
    allowed: int
    candidates: int
    population: int
    key_sha256: str
    expires_at: int


class ApprovalRevoked(Payload):
    """An approval was taken back."""

    KIND = "approval_revoked"
    round_id: str
    plan_id: str
    digest: str
    by: Who
    because: str


# -- acts -------------------------------------------------------------------------------------------------------------


class ApplyBegan(Payload):
    """An apply begins or is gone on with; it uses up the approval."""

    KIND = "apply_began"
    plan_id: str
    round_id: str
    digest: str
    fence: int


class IntentMeant(Wire):
    """One act that is about to be called.

    With `sealed`, `parameters` are without what was seen of the object before (`expected`), which is nobody's business
    who only reads the journal; `sealed` binds all of them by the approval's key (`ledger_rows.seal`).
    """

    act_id: str
    key: tuple[Any, ...]
    operation: str
    parameters: dict[str, Any]
    idempotency_key: str
    round_id: str
    step: str | None = None
    sealed: str | None = None


class Intents(Payload):
    """Acts that are about to be called."""

    KIND = "intents"
    plan_id: str
    kind: str
    fence: int
    acts: tuple[IntentMeant, ...]


class ActAgain(Wire):
    """One act that is gone on with under its key. `round_id`: the approval that it rests on now."""

    act_id: str
    key: tuple[Any, ...]
    round_id: str


class MeantAgain(Payload):
    """Acts of which nobody knows what came of them are about to be called once more."""

    KIND = "meant_again"
    plan_id: str
    kind: str
    fence: int
    acts: tuple[ActAgain, ...]


class OutcomeSeen(Wire):
    """What came of one object."""

    act_id: str
    key: tuple[Any, ...]
    outcome: str
    reason: str | None
    detail: str
    before_sha256: str


class Outcomes(Payload):
    """What came of objects."""

    KIND = "outcomes"
    plan_id: str
    kind: str
    outcomes: tuple[OutcomeSeen, ...]


class ApplyEnded(Payload):
    """Where the apply stands as its run ends; `applied`: every object has its final outcome."""

    KIND = "apply_ended"
    plan_id: str
    counts: dict[str, int]
    applied: bool


class CanaryWaits(Payload):
    """The first objects were acted on; the rest waits until an instant."""

    KIND = "canary_waits"
    plan_id: str
    keys: tuple[tuple[Any, ...], ...]
    until: int


class CanaryPassed(Payload):
    """After the wait the first objects still were as they had been left."""

    KIND = "canary_passed"
    plan_id: str
    counted: int | None = None
    """How many there were of what the workflow has counted before the rest; None: nothing."""


class StepBegan(Wire):
    """An object was selected for the first time, and waits for the first step."""

    key: tuple[Any, ...]
    incarnation: str


class StepEnded(Wire):
    """The clock of an object ended, and why."""

    key: tuple[Any, ...]
    because: str


class StepsSeen(Payload):
    """What a plan found of the clocks of a graduated act, at an instant. `lapsed` no longer qualify."""

    KIND = "steps_seen"
    plan_id: str
    workflow: str
    proposal: str
    at: int
    began: tuple[StepBegan, ...]
    lapsed: tuple[tuple[Any, ...], ...]
    ended: tuple[StepEnded, ...]


class StepMoved(Wire):
    """Where an object stands after an act: at a step whose clock starts here, or at the end."""

    key: tuple[Any, ...]
    incarnation: str
    step: str | None
    ended: str | None


class StepsMoved(Payload):
    """What acts did to the clocks of their objects."""

    KIND = "steps_moved"
    plan_id: str
    kind: str
    moved: tuple[StepMoved, ...]


# -- notices ----------------------------------------------------------------------------------------------------------


class NoticeQueued(Payload):
    """Somebody is to be told of the end of the entry's run. The words are there as their hash."""

    KIND = "notice_queued"
    notice_id: str
    workflow: str
    event: str
    target: str
    title: str
    sha256: str


class NoticeMoved(Payload):
    """A notice is being sent, or this came of it."""

    KIND = "notice_moved"
    notice_id: str
    state: str
    attempts: int
    next_at: int | None
    detail: str


# -- coordination -----------------------------------------------------------------------------------------------------


class LeaseClaimed(Payload):
    """Someone is at work on something."""

    KIND = "lease_claimed"
    name: str
    holder: str
    token: int
    expires_at: int


class LeaseReleased(Payload):
    """The lease was given back."""

    KIND = "lease_released"
    name: str
    holder: str
    token: int


class SlotTaken(Payload):
    """A planned instant was claimed or skipped."""

    KIND = "slot_taken"
    slot_id: str
    workflow: str
    planned_at: int
    local_day: str | None
    state: str
    holder: str
    detail: str


class SlotFinished(Payload):
    """The run of a planned instant has ended."""

    KIND = "slot_finished"
    slot_id: str
    detail: str


class HaltSet(Payload):
    """All acting is halted."""

    KIND = "halted"
    reason: str
    by: Who


class HaltLifted(Payload):
    """Acting is allowed again."""

    KIND = "resumed"
    by: Who


class PauseSet(Payload):
    """Nothing further is acted on for one workflow."""

    KIND = "paused"
    workflow: str
    reason: str
    by: Who


class PauseLifted(Payload):
    """The workflow may act again."""

    KIND = "pause_lifted"
    workflow: str
    by: Who


PAYLOADS: Final[dict[str, type[Payload]]] = {
    payload.KIND: payload
    for payload in (
        RunBegan,
        RunFinished,
        EnvelopeKept,
        CertificateKept,
        Planned,
        Struck,
        ApprovalOpened,
        Approved,
        ApprovalComplete,
        ApprovedAutomatically,
        ApprovalRevoked,
        ApplyBegan,
        Intents,
        MeantAgain,
        Outcomes,
        ApplyEnded,
        CanaryWaits,
        CanaryPassed,
        StepsSeen,
        StepsMoved,
        NoticeQueued,
        NoticeMoved,
        LeaseClaimed,
        LeaseReleased,
        SlotTaken,
        SlotFinished,
        HaltSet,
        HaltLifted,
        PauseSet,
        PauseLifted,
    )
}
"""Every kind of entry."""
