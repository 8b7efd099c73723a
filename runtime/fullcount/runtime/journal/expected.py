"""What the journal says that the tables must hold, and what it says that happened against the rules.

The state that the replay builds: for each table the columns of each row, with the entry that last set them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.payloads import ApprovedAutomatically, Struck
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.offline.clocks import Clocks
from fullcount.runtime.offline.leases import Leases
from fullcount.runtime.offline.notices import Notices
from fullcount.runtime.offline.pace import Pace
from fullcount.runtime.offline.rehearsals import Passed
from fullcount.runtime.offline.signers import AllowedSigner
from fullcount.runtime.offline.slots import Slots

Key = tuple[Any, ...]

HALT: Final = ("halt",)
"""The key of the control that holds for everything."""


def pause_control(workflow: str) -> str:
    """Return the name of the control that pauses one workflow: short, however long the workflow's name is."""
    return f"pause/{hashlib.sha256(workflow.encode()).hexdigest()[:26]}"


@dataclass(slots=True)
class Expected:
    """One row as the journal tells it. `seq`: the entry that last changed it."""

    seq: int
    columns: dict[str, Any]

    def __getitem__(self, column: str) -> Any:
        return self.columns[column]

    def set(self, entry: Entry, **columns: Any) -> None:
        """Change columns by an entry."""
        self.seq = entry.seq
        self.columns.update(columns)


@dataclass(slots=True)
class State:
    """Everything that the entries so far amount to."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: dict[Key, Expected] = field(default_factory=dict)
    envelopes: dict[Key, Expected] = field(default_factory=dict)
    certificates: dict[Key, Expected] = field(default_factory=dict)
    plans: dict[Key, Expected] = field(default_factory=dict)
    rounds: dict[Key, Expected] = field(default_factory=dict)
    votes: dict[Key, Expected] = field(default_factory=dict)
    acts: dict[Key, Expected] = field(default_factory=dict)
    leases: dict[Key, Expected] = field(default_factory=dict)
    slots: dict[Key, Expected] = field(default_factory=dict)
    controls: dict[Key, Expected] = field(default_factory=dict)
    sealed: dict[Key, str] = field(default_factory=dict)
    """The seals over the parameters of acts of which the journal shows the arguments alone."""
    canaries: dict[Key, Expected] = field(default_factory=dict)
    steps: dict[Key, Expected] = field(default_factory=dict)
    notices: dict[Key, Expected] = field(default_factory=dict)
    warnings: dict[Key, Expected] = field(default_factory=dict)
    warned: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """By workflow and inventory: the codes of the same warnings."""
    passed: dict[str, Passed] = field(default_factory=dict)
    """By plan whose canary passed: what had come up and what had been rehearsed by then."""
    early: dict[str, int] = field(default_factory=dict)
    """By plan: how many acts were meant before its canary had passed."""
    counted: dict[str, int | None] = field(default_factory=dict)
    """By plan whose canary passed: how many there were then of what its workflow has counted."""
    acts_of: dict[str, dict[Key, Expected]] = field(default_factory=dict)
    """The same acts by plan."""
    votes_of: dict[str, dict[Key, Expected]] = field(default_factory=dict)
    """The same votes by approval round."""
    standing: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The plans of a workflow's proposal that are neither superseded nor applied."""
    authors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By plan."""
    struck: dict[str, Struck] = field(default_factory=dict)
    """How a plan came about that was made by striking rows from another, by plan."""
    rules: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """The quorums by approval round."""
    undos_are_plans: bool = False
    """Whether a version wrote to the journal whose undos are plans: from then on nothing is taken back without one."""
    taking_back: dict[tuple[str, str], Key] = field(default_factory=dict)
    """By the plan that did it and the object: the latest act that was meant to take it back."""
    signed: set[str] = field(default_factory=set)
    """The approval rounds in which only signed votes count."""
    signatures: set[str] = field(default_factory=set)
    """Every signature that was given so far."""
    signers: tuple[AllowedSigner, ...] | None = None
    """Who may sign as whom, where that is known; None: a signature is checked by its own key alone."""
    automatic: dict[str, ApprovedAutomatically] = field(default_factory=dict)
    """The decisions of workflows' own rules, by approval round."""

    held: Leases = field(default_factory=Leases)
    """What is judged of leases, slots, notices, clocks and pace: as an export's own verifier judges them."""
    instants: Slots = field(default_factory=Slots)
    told: Notices = field(default_factory=Notices)
    clocks: Clocks = field(default_factory=Clocks)
    pace: Pace = field(default_factory=Pace)

    def note(self, about: About, entry: Entry, *found: str | None) -> None:
        """Note what was found wrong with an entry; None is nothing."""
        for what in found:
            if what is not None:
                self.wrong(about, entry, what)

    def wrong(self, about: About, entry: Entry, what: str) -> None:
        """Note that an entry breaks a rule."""
        self.problems.append(Problem(about, entry.seq, what))

    def add_act(self, key: Key, entry: Entry, columns: Mapping[str, Any]) -> None:
        """Expect the row of an act that is known not to be there yet; `key` begins with its plan."""
        act = Expected(entry.seq, dict(columns))
        self.acts[key] = act
        self.acts_of.setdefault(key[0], {})[key] = act

    def add(self, table: dict[Key, Expected], key: Key, entry: Entry, columns: Mapping[str, Any]) -> bool:
        """Expect a new row; return False, and note it, when there is one already."""
        if key in table:
            self.wrong(About.CHAIN, entry, f"`{key[0]}` was recorded before, by entry {table[key].seq}")
            return False
        table[key] = Expected(entry.seq, dict(columns))
        return True
