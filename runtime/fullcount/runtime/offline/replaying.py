"""Going through the journal: what each entry means, and whether it was allowed when it was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fullcount.runtime.offline.acts import (
    apply_began,
    apply_ended,
    canary_passed,
    canary_waits,
    intents,
    meant_again,
    outcomes,
    steps_moved,
    steps_seen,
)
from fullcount.runtime.offline.approvals import (
    Said,
    approval_complete,
    approval_opened,
    approval_revoked,
    approved,
    approved_automatically,
    planned,
    struck,
)
from fullcount.runtime.offline.facts import Facts
from fullcount.runtime.offline.journal import Line


def replay_line(facts: Facts, line: Line) -> None:
    """Take one entry into account. Its hash and its form were checked before."""
    handler = _HANDLERS.get(line.kind)
    if handler is not None:
        handler(facts, line, line.said)
    run = facts.runs.get(line.run_id or "")
    if run is not None and (run["state"] == "running" or line.kind == "run_finished"):
        run["last"] = (line.seq, line.hash)  # what comes after its end, as notices, is not of the run itself


def _run_began(facts: Facts, line: Line, said: Said) -> None:
    if line.run_id != said["run_id"]:
        facts.wrong("run", line, "it begins another run than the one that it belongs to")
    facts.note("coordination", line, facts.slots.run_began(said))
    if facts.new(line, "run", said["run_id"]):
        facts.runs[said["run_id"]] = said | {"state": "running", "exit": None, "last": (line.seq, line.hash)}


def _run_finished(facts: Facts, line: Line, said: Said) -> None:
    run = facts.runs.get(line.run_id or "")
    if run is None or run["state"] != "running":
        facts.wrong("run", line, f"the run `{line.run_id}` ends, but it was not running")
        return
    facts.notices.run_ended(line.seq, line.at, run, said["state"])
    run.update(state=said["state"], exit=said["exit"], summary=said["summary"])


def _envelope(facts: Facts, line: Line, said: Said) -> None:
    if facts.new(line, "envelope", said["envelope_id"]):
        facts.evidence[said["envelope_id"]] = (line.run_id or "", said["sha256"], "envelope")


def _certificate(facts: Facts, line: Line, said: Said) -> None:
    if facts.new(line, "certificate", said["certificate_id"]):
        facts.evidence[said["certificate_id"]] = (line.run_id or "", said["sha256"], "certificate")


def _halted(facts: Facts, _line: Line, _said: Said) -> None:
    facts.halted = True


def _resumed(facts: Facts, _line: Line, _said: Said) -> None:
    facts.halted = False


def _paused(facts: Facts, _line: Line, said: Said) -> None:
    facts.paused.add(said["workflow"])


def _pause_lifted(facts: Facts, _line: Line, said: Said) -> None:
    facts.paused.discard(said["workflow"])


def _lease_claimed(facts: Facts, line: Line, said: Said) -> None:
    facts.note("coordination", line, facts.leases.claimed(said, line.at))


def _lease_released(facts: Facts, line: Line, said: Said) -> None:
    facts.note("coordination", line, facts.leases.released(said))


def _slot_taken(facts: Facts, line: Line, said: Said) -> None:
    facts.new(line, "slot", said["slot_id"])
    facts.note("coordination", line, facts.slots.taken(said))


def _slot_finished(facts: Facts, line: Line, said: Said) -> None:
    facts.note("coordination", line, facts.slots.finished(said))


def _notice_queued(facts: Facts, line: Line, said: Said) -> None:
    facts.new(line, "notice", said["notice_id"])
    facts.note("run", line, facts.notices.queued(said, line.run_id, line.at))


def _notice_moved(facts: Facts, line: Line, said: Said) -> None:
    facts.note("run", line, facts.notices.moved(said, line.at))


_HANDLERS: Final[dict[str, Callable[[Facts, Line, Said], None]]] = {
    "run_began": _run_began,
    "run_finished": _run_finished,
    "envelope": _envelope,
    "certificate": _certificate,
    "planned": planned,
    "struck": struck,
    "approval_opened": approval_opened,
    "approved": approved,
    "approval_complete": approval_complete,
    "approved_automatically": approved_automatically,
    "approval_revoked": approval_revoked,
    "apply_began": apply_began,
    "intents": intents,
    "meant_again": meant_again,
    "outcomes": outcomes,
    "apply_ended": apply_ended,
    "canary_waits": canary_waits,
    "canary_passed": canary_passed,
    "steps_seen": steps_seen,
    "steps_moved": steps_moved,
    "notice_queued": _notice_queued,
    "notice_moved": _notice_moved,
    "lease_claimed": _lease_claimed,
    "lease_released": _lease_released,
    "slot_taken": _slot_taken,
    "slot_finished": _slot_finished,
    "halted": _halted,
    "resumed": _resumed,
    "paused": _paused,
    "pause_lifted": _pause_lifted,
}
