"""Replaying the journal: what each entry means for the tables, and whether it was allowed when it was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import ValidationError

from fullcount.runtime.journal import (
    replay_acts,
    replay_approvals,
    replay_canaries,
    replay_notices,
    replay_steps,
    replay_warnings,
    strikes,
)
from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import HALT, State, pause_control
from fullcount.runtime.journal.payloads import (
    PAYLOADS,
    ApplyBegan,
    ApplyEnded,
    ApprovalComplete,
    ApprovalOpened,
    ApprovalRevoked,
    Approved,
    ApprovedAutomatically,
    CanaryPassed,
    CanaryWaits,
    CertificateKept,
    EnvelopeKept,
    HaltLifted,
    HaltSet,
    Intents,
    LeaseClaimed,
    LeaseReleased,
    MeantAgain,
    NoticeMoved,
    NoticeQueued,
    Outcomes,
    PauseLifted,
    PauseSet,
    Planned,
    RunBegan,
    RunFinished,
    SlotFinished,
    SlotTaken,
    StepsMoved,
    StepsSeen,
    Struck,
)
from fullcount.runtime.journal.report import About

_RUNNING: Final = "running"


def replay(state: State, entry: Entry) -> None:
    """Take one entry into account. Its hash was checked before."""
    payload_type = PAYLOADS.get(entry.kind)
    if payload_type is None:
        state.wrong(About.CHAIN, entry, f"`{entry.kind}` is not a kind of entry that this version knows")
        return
    try:
        payload = payload_type.model_validate(entry.data())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        state.wrong(About.CHAIN, entry, f"it does not say what an entry `{entry.kind}` says: {place}: {first['msg']}")
        return
    _HANDLERS[payload_type](state, entry, payload)


def _run_began(state: State, entry: Entry, said: RunBegan) -> None:
    columns = said.model_dump(exclude={"by"}) | {
        "by_uid": said.by.uid,
        "by_name": said.by.name,
        "started_at": entry.at,
        "finished_at": None,
        "state": _RUNNING,
        "exit": None,
        "summary": None,
    }
    if entry.run_id != said.run_id:
        state.wrong(About.RUN, entry, "it begins another run than the one that it belongs to")
    state.note(About.COORDINATION, entry, state.instants.run_began(said.model_dump()))
    state.add(state.runs, (said.run_id,), entry, columns)


def _run_finished(state: State, entry: Entry, said: RunFinished) -> None:
    run = state.runs.get((entry.run_id,))
    if run is None or run["state"] != _RUNNING:
        state.wrong(About.RUN, entry, f"the run `{entry.run_id}` ends, but it was not running")
        return
    state.told.run_ended(entry.seq, entry.at, run.columns, said.state)
    run.set(
        entry,
        finished_at=entry.at,
        state=said.state,
        exit=said.exit,
        summary=canonical_text(said.summary),
    )


def _envelope(state: State, entry: Entry, said: EnvelopeKept) -> None:
    columns = said.columns() | {"run_id": entry.run_id, "recorded_at": entry.at}
    state.add(state.envelopes, (said.envelope_id,), entry, columns)
    replay_warnings.seen(state, entry, said)


def _certificate(state: State, entry: Entry, said: CertificateKept) -> None:
    columns = said.model_dump() | {"run_id": entry.run_id, "recorded_at": entry.at}
    state.add(state.certificates, (said.certificate_id,), entry, columns)


def _lease_claimed(state: State, entry: Entry, said: LeaseClaimed) -> None:
    lease = state.leases.get((said.name,))
    columns = {"name": said.name, "holder": said.holder, "token": said.token}
    if lease is None:
        state.add(state.leases, (said.name,), entry, columns)
    else:
        lease.set(entry, **columns)
    state.note(About.COORDINATION, entry, state.held.claimed(said.model_dump(), entry.at))


def _lease_released(state: State, entry: Entry, said: LeaseReleased) -> None:
    # only its end moves in the table, which renewals move too, unrecorded
    state.note(About.COORDINATION, entry, state.held.released(said.model_dump()))


def _slot_taken(state: State, entry: Entry, said: SlotTaken) -> None:
    columns = said.model_dump() | {
        "claimed_at": entry.at,
        "finished_at": entry.at if said.state == "skipped" else None,
    }
    state.add(state.slots, (said.slot_id,), entry, columns)
    state.note(About.COORDINATION, entry, state.instants.taken(said.model_dump()))


def _slot_finished(state: State, entry: Entry, said: SlotFinished) -> None:
    state.note(About.COORDINATION, entry, state.instants.finished(said.model_dump()))
    slot = state.slots.get((said.slot_id,))
    if slot is not None and slot["state"] == "claimed":
        slot.set(entry, state="finished", finished_at=entry.at, detail=said.detail)


def _halted(state: State, entry: Entry, said: HaltSet) -> None:
    if HALT not in state.controls:
        columns = {
            "name": HALT[0],
            "reason": said.reason,
            "by_uid": said.by.uid,
            "by_name": said.by.name,
            "set_at": entry.at,
        }
        state.add(state.controls, HALT, entry, columns)


def _resumed(state: State, _entry: Entry, _said: HaltLifted) -> None:
    state.controls.pop(HALT, None)


def _paused(state: State, entry: Entry, said: PauseSet) -> None:
    key = (pause_control(said.workflow),)
    if key not in state.controls:
        columns = {
            "name": key[0],
            "reason": said.reason,
            "by_uid": said.by.uid,
            "by_name": said.by.name,
            "set_at": entry.at,
        }
        state.add(state.controls, key, entry, columns)


def _pause_lifted(state: State, _entry: Entry, said: PauseLifted) -> None:
    state.controls.pop((pause_control(said.workflow),), None)


_HANDLERS: Final[dict[type[Any], Callable[[State, Entry, Any], None]]] = {
    RunBegan: _run_began,
    RunFinished: _run_finished,
    EnvelopeKept: _envelope,
    CertificateKept: _certificate,
    Planned: replay_approvals.planned,
    Struck: strikes.struck,
    ApprovalOpened: replay_approvals.opened,
    Approved: replay_approvals.approved,
    ApprovalComplete: replay_approvals.complete,
    ApprovedAutomatically: replay_approvals.automatic,
    ApprovalRevoked: replay_approvals.revoked,
    ApplyBegan: replay_acts.apply_began,
    Intents: replay_acts.intents,
    MeantAgain: replay_acts.meant_again,
    Outcomes: replay_acts.outcomes,
    ApplyEnded: replay_acts.apply_ended,
    CanaryWaits: replay_canaries.waits,
    CanaryPassed: replay_canaries.passed,
    StepsSeen: replay_steps.seen,
    StepsMoved: replay_steps.moved,
    NoticeQueued: replay_notices.queued,
    NoticeMoved: replay_notices.moved,
    LeaseClaimed: _lease_claimed,
    LeaseReleased: _lease_released,
    SlotTaken: _slot_taken,
    SlotFinished: _slot_finished,
    HaltSet: _halted,
    HaltLifted: _resumed,
    PauseSet: _paused,
    PauseLifted: _pause_lifted,
}
