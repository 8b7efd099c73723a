"""What the journal's entries amount to so far, as far as it is judged without the store.

`UNTOLD` is what no entry can bear out, with the reason: neither this nor `fullcount verify` judges it by the journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fullcount.runtime.offline.clocks import Clocks
from fullcount.runtime.offline.journal import Fault, Line
from fullcount.runtime.offline.leases import Leases
from fullcount.runtime.offline.notices import Notices
from fullcount.runtime.offline.pace import Pace
from fullcount.runtime.offline.rehearsals import Passed
from fullcount.runtime.offline.signers import AllowedSigner
from fullcount.runtime.offline.slots import Slots

UNTOLD: Final = (
    "that a lease ran out: it may be renewed without an entry, so only a newer one, or its return, shows its end",
    "how many calls were under way at once: entries say when acts were meant, not when each call was made",
    "whether a notice arrived: its sender's word is all that is recorded",
)
"""What is not judged, and why."""


@dataclass(slots=True)
class Facts:
    """Runs, evidence, plans, approvals and acts by their ids. `signers` None: who may sign is not known."""

    signers: Sequence[AllowedSigner] | None = None
    faults: list[Fault] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    evidence: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """By the id of an envelope or certificate: its run, the hash of its document, and which of the two it is."""
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)
    standing: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The plans of a proposal that are neither superseded nor applied."""
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)
    signatures: set[str] = field(default_factory=set)
    acts: dict[str, dict[tuple[str, str], dict[str, Any]]] = field(default_factory=dict)
    """By plan, then by kind and object: what was meant, and what came of it."""
    canaries: dict[str, dict[str, Any]] = field(default_factory=dict)
    passed: dict[str, Passed] = field(default_factory=dict)
    """By plan whose canary passed: what had come up and what had been rehearsed by then."""
    early: dict[str, int] = field(default_factory=dict)
    """By plan: how many acts were meant before its canary had passed."""
    counted: dict[str, int | None] = field(default_factory=dict)
    """By plan whose canary passed: how many there were then of what its workflow has counted."""
    undos_are_plans: bool = False
    """Whether a version wrote to the journal whose undos are plans: from then on nothing is taken back without one."""
    taking_back: dict[tuple[str, str], tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """By the plan that did it and the object: the latest act that was meant to take it back, with its plan."""
    heads: dict[int, str] = field(default_factory=dict)
    """The hashes of the entries that were asked for; empty where the entry was not met."""
    halted: bool = False
    paused: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    """The idempotency keys of all acts."""
    ids: set[tuple[str, str]] = field(default_factory=set)
    leases: Leases = field(default_factory=Leases)
    slots: Slots = field(default_factory=Slots)
    notices: Notices = field(default_factory=Notices)
    clocks: Clocks = field(default_factory=Clocks)
    pace: Pace = field(default_factory=Pace)

    def wrong(self, about: str, line: Line, what: str) -> None:
        """Note that an entry breaks a rule."""
        self.faults.append(Fault(about, line.seq, what))

    def note(self, about: str, line: Line, *found: str | None) -> None:
        """Note what was found wrong with an entry; None is nothing."""
        for what in found:
            if what is not None:
                self.wrong(about, line, what)

    def new(self, line: Line, kind: str, name: str) -> bool:
        """Note a new id; return False, and say so, if it was there before."""
        if (kind, name) in self.ids:
            self.wrong("chain", line, f"`{name}` was recorded before")
            return False
        self.ids.add((kind, name))
        return True
