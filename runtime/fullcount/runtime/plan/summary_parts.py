"""What every screen shows of a plan, part by part; each string is harmless (`plain`) and ready to show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a verdict asks of the reader; colour follows it and never says more."""

    STOP = "stop"
    ASK = "ask"
    GO = "go"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first line: a word, and what it means here."""

    word: str
    details: tuple[str, ...]
    tone: Tone


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One inventory and what was found to hold for it."""

    inventory: str
    resource: str
    facts: tuple[str, ...]
    end: str
    """The affirmative sign of the end that was seen."""
    warnings: tuple[str, ...]
    """Warnings that would have blocked the act, had the workflow not accepted them."""
    refused: tuple[str, ...]
    """Fields that could not be taken of some objects."""
    notices: tuple[str, ...]
    """Everything else that the source had to say."""
    missing: tuple[str, ...] = ()
    """Why it was not read to its end, each with what the source said: what a person approves on a `bounded` plan."""


@dataclass(frozen=True, slots=True)
class Group:
    """So many objects for one reason, with some of their keys."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProtectionLine:
    """A protection of the workspace, and what it kept."""

    name: str
    because: str
    condition: str
    kept: str


@dataclass(frozen=True, slots=True)
class ExpectationLine:
    """What the workflow expects of nobody, why, and whether there was somebody after all."""

    clause: str
    because: str
    found: str


@dataclass(frozen=True, slots=True)
class PatternLine:
    """What a pattern matched, and what it nearly matched, with some of the values; None: nothing."""

    matched: str
    nearly: str | None


@dataclass(frozen=True, slots=True)
class FloorLine:
    """A floor and its groups: the name of each, its size, how many would go, how many stay only because of it."""

    clause: str
    what: str
    groups: tuple[tuple[str, str, str, str], ...]
    more: int
    """How many groups are not listed; none of them loses more than the last one that is."""


@dataclass(frozen=True, slots=True)
class RowLine:
    """One candidate as reviewers see it. `values` fit the summary's `columns`."""

    mark: str
    risk: str
    key: str
    values: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """An object whose next step is not due yet: which one, from when on, and what was done to it last."""

    key: str
    step: str
    until: str
    last: str


@dataclass(frozen=True, slots=True)
class Summary:
    """See the module."""

    verdict: Verdict
    what: str
    reversible: str
    describe: str
    evidence: tuple[EvidenceLine, ...]
    caps: str
    since: str | None
    undecided: tuple[Group, ...]
    kept: tuple[Group, ...]
    struck: tuple[str, ...]
    """Which objects reviewers took out."""
    protections: tuple[ProtectionLine, ...]
    floors: tuple[FloorLine, ...]
    expected: tuple[ExpectationLine, ...]
    rule: str
    parameters: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[RowLine, ...]
    patterns: tuple[PatternLine, ...]
    near: tuple[str, ...]
    closest: str | None
    act: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]
    """What a graduated act does tonight: how many objects are at which step."""
    waiting: tuple[Waiting, ...]
    clocks: str | None
    """Whose clocks began, and whose ended without a release."""
    notes: tuple[str, ...]
    next_step: str | None
    """The command that a reader of a plan that waits would type."""
    short: str
    plan_id: str
    undoes: tuple[tuple[str, str], ...] = ()
    """What an undo says of itself; nothing of any other plan."""
