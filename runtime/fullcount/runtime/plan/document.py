"""The plan: an immutable document that says what would be done, to what, and on which evidence.

The digest (see `digest.py`) covers everything but the parts listed in `CLOCK_PARTS`: clock and identifiers, so that a
re-made identical plan has the same digest and any changed row another. The stored document as a whole has its own
hash, which the journal records.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import AwareDatetime, Field

from fullcount.compiler.values import FieldState
from fullcount.runtime.evidence.envelope import Envelope, Wire
from fullcount.runtime.evidence.warned import WarningSeen

CLOCK_PARTS: frozenset[str] = frozenset(
    {"plan_id", "run_id", "created_at", "now", "created_by", "digest", "envelopes", "measurements", "clocks"}
)
"""Top-level parts that the digest leaves out. The envelopes' lasting facts stand in `certificates`; what `clocks` says
of the clocks that run on is in the rows and in `steps`."""


WAITS = "selected, waits for step "
"""How the reason begins for which an object of a graduated act is kept whose next step is not due."""


STRUCK: Final = "struck by "
"""How the reason begins for which a struck object is kept; no other reason does, and every such object is named."""


def _nothing(part: object) -> bool:
    """Whether a part is left out of the document: most plans are no undo, and say nothing of one."""
    return part is None


class CellDoc(Wire):
    """A field of an object: its state, and its value in JSON (instants as ISO 8601 text) when present."""

    state: FieldState
    value: Any = None


class CertificateDoc(Wire):
    """That the claims of a `verify` held for a snapshot, and what they were measured on; no clock."""

    inventory: str
    source: str
    resource: str
    snapshot_digest: str
    rows: int
    distinct_keys: int
    claims: tuple[str, ...]
    """The claims that held, in words: `complete`, `snapshot pinned`, `fresh within 1h`, …"""
    consistency: str
    visibility: str
    end_marker: str
    incomplete: tuple[str, ...] = ()
    """Why the reading is not complete (`RESULT_LIMIT_REACHED`, with the part that it is about): only where a proposal
    is `bounded` is a certificate given for such a reading."""
    parts: tuple[str, ...] = ()
    """The parts that were read (`region=eu-west-1`); empty: the source is one listing."""
    count_agrees: str | None = None
    accepted_warnings: tuple[str, ...] = ()


class Measurement(Wire):
    """What a certificate was issued on besides its reading; it differs from night to night for equal evidence."""

    previous_rows: int | None = None
    agreed_count: int | None = None
    series: tuple[int, ...] | None = None
    """Rows of the certified readings before it, the latest first; None: nothing rests on what is not in it."""
    warnings: tuple[WarningSeen, ...] = ()
    """How often in a row its warnings came."""


class StepDoc(Wire):
    """The step of a graduated act that is due for an object: `release` for one that no longer qualifies.

    `before` was done last, at `since`; None: none was, and `since` is when the object was first selected, if its first
    step waits. `due` is from when on the step may be taken; None: at once. Both by the store's time. `mark` is the
    version that its clock runs for, where the object has no incarnation.
    """

    label: str
    before: str | None = None
    since: AwareDatetime | None = None
    due: AwareDatetime | None = None
    mark: str | None = None


class WaitingRow(Wire):
    """A selected object of a graduated act whose next step is not due yet."""

    key: tuple[Any, ...]
    step: StepDoc


class StepsDoc(Wire):
    """What a graduated act does not do tonight. `selected`: how many objects the rule selects, whatever is due."""

    selected: int
    waiting: tuple[WaitingRow, ...]
    finished: int
    """Objects to which every step was done, and that the rule still selects."""


class ClockBegan(Wire):
    """An object that was selected for the first time, and waits for the first step."""

    key: tuple[Any, ...]
    incarnation: str


class ClockEnded(Wire):
    """An object whose clock ended, and why."""

    key: tuple[Any, ...]
    because: str


class ClocksDoc(Wire):
    """What the plan found of clocks, at an instant of the store's time. `lapsed` objects no longer qualify."""

    at: AwareDatetime
    began: tuple[ClockBegan, ...] = ()
    lapsed: tuple[tuple[Any, ...], ...] = ()
    ended: tuple[ClockEnded, ...] = ()


class ClosureDoc(Wire):
    """What goes with an object when it is deleted, counted by what and where (`deletes main.grants`).

    `first`: the objects of the plan that refer to it, and go before it.
    """

    counts: dict[str, int]
    first: tuple[tuple[Any, ...], ...] = ()

    @property
    def size(self) -> int:
        """How many others go or change."""
        return sum(self.counts.values())


class TakenBackDoc(Wire):
    """What an undo takes back of one object: the act that did it, by what, and how the object was found to stand.

    `left`: the fields that may be written down, as the act left them; none after a deletion. `backup`: the hash of what
    the object is restored from.
    """

    act_id: str
    operation: str
    left: dict[str, CellDoc]
    backup: str | None = None


class HeadDoc(Wire):
    """An entry of the journal."""

    seq: int
    hash: str


class UndoDoc(Wire):
    """What a plan takes back, where it is an undo: what another plan did, as the record of it stood at `head`.

    `by`: who proposed it (`uid:1000`). After `valid_until` nobody can approve or begin it; both by the store's time.
    """

    plan_id: str
    plan_digest: str
    runs: tuple[str, ...]
    """The runs that meant the acts."""
    head: HeadDoc
    by: str
    read_at: AwareDatetime
    valid_until: AwareDatetime


class PlanRow(Wire):
    """One object to act on. `fields` are all that were read; `shown` what reviewers asked to see."""

    key: tuple[Any, ...]
    incarnation: str | None = None
    version: str | None = None
    fields: dict[str, CellDoc]
    shown: dict[str, str] = Field(default_factory=dict)
    arguments: dict[str, Any] = Field(default_factory=dict)
    step: StepDoc | None = None
    closure: ClosureDoc | None = None
    """What goes with it; None: nothing does, and nothing goes before it."""
    undo: TakenBackDoc | None = Field(default=None, exclude_if=_nothing)
    """What is taken back, in a plan that is an undo."""
    risk: int = Field(default=0, ge=0, le=3)
    notes: tuple[str, ...] = ()

    @property
    def step_label(self) -> str | None:
        """The name of the step that is due; None where the act has one operation."""
        return None if self.step is None else self.step.label


class UndecidedRow(Wire):
    """An object for which the rule could not be decided, with the evidence that is missing."""

    key: tuple[Any, ...]
    missing: tuple[str, ...]
    step: str | None = None
    """The step of a graduated act that is due, and whose call lacks a value."""


class KeptGroup(Wire):
    """Objects that stay, counted by the reason: the rule is false, exempted, protected, struck."""

    reason: str
    count: int
    examples: tuple[tuple[Any, ...], ...] = ()


class ProtectionDoc(Wire):
    """A protection of the workspace that the plan was made under, and how many objects it kept.

    `not_ruled_out`: objects kept because it is not known whether the protection is about them.
    """

    name: str
    because: str
    condition: str
    kept: int
    not_ruled_out: int


class ExpectationDoc(Wire):
    """What the workflow expects of no row, so that the run was not refused for it; `found` were there all the same."""

    clause: str
    because: str
    found: int


class NearMatch(Wire):
    """A value that a pattern nearly matched, and why it did not; `value` is shortened if it is long."""

    key: tuple[Any, ...]
    value: str
    because: str


class PatternDoc(Wire):
    """What a `matches` or `glob` of the rule matched, over the known values of the inventory's rows that were read.

    `nearly`: how many values differ in capitals, by space around them, or have only a part that is like the pattern.
    """

    written: str
    inventory: str
    values: int
    matched: int
    nearly: int
    near: tuple[NearMatch, ...] = ()


class FloorGroup(Wire):
    """One group of a floor: how many objects it has, how many the plan takes, how many stay only because of the floor.

    `group` is None where all objects are one group.
    """

    group: Any
    size: int
    candidates: int
    kept: int


class FloorDoc(Wire):
    """A floor and its groups. `small` groups have no more objects than the floor keeps.

    `unplaced`: objects that may be in scope and whose group or place is not known; each of them is kept.
    """

    clause: str
    groups: int
    small: int
    unplaced: int
    listed: tuple[FloorGroup, ...]


class Caps(Wire):
    """Caps as written and as they bind: the stricter of both, percent rounded down, 0 means none."""

    count: int | None
    percent: str | None
    effective: int
    exceeded: bool


class Sensitivity(Wire):
    """How many objects another value of a parameter or threshold would select."""

    change: str
    candidates: int
    closest: str | None = None
    """The kept object that this value would take first, and how near it is: `svc-mailer (89 d)`."""


class Since(Wire):
    """What came and went since the plan before this one of the same proposal."""

    plan_id: str
    created_at: AwareDatetime
    new: int
    gone: int
    differs: tuple[str, ...] = ()
    """What else was different then, so that the numbers are not those of the world alone: `idle was 90d`."""


class PickDoc(Wire):
    """A pick and how it came out: how many selected objects it passes over, and of how many it can't tell."""

    clause: str
    passed_over: int
    unranked: int


class ListUse(Wire):
    """A list that the proposal names: exemptions with how they bear on it, or the values of a file (`sha256`)."""

    name: str
    place: str = ""
    """Where exemptions stand: `exemptions.toml`, `cmdb.exceptions`."""
    entries: int
    """Those for this workflow, ended ones among them; or the values."""
    matched: int = 0
    unused: int = 0
    ended: int = 0
    sha256: str | None = None


class Sums(Wire):
    """`inventory = candidates + kept + undecided`; a document whose sums do not hold is invalid."""

    inventory: int
    candidates: int
    kept: int
    undecided: int

    @property
    def hold(self) -> bool:
        """Whether the conservation sum holds."""
        return self.inventory == self.candidates + self.kept + self.undecided


class PlanDocument(Wire):
    """The whole plan of one proposal."""

    schema_version: Literal[1] = 1
    plan_id: str
    run_id: str
    created_at: AwareDatetime
    created_by: str
    """`uid:1000`, from the operating system."""
    now: AwareDatetime
    workflow: str
    proposal: str
    describe: str
    owner: str
    rule: str
    bounded: bool = False
    """Whether it takes what was found of an inventory that may not have been read to its end."""
    program_digest: str
    program: dict[str, Any]
    """The checked workflow as a document: what the apply runs, whatever happened to the file."""
    parameters: dict[str, Any]
    engine_version: str
    connector_versions: dict[str, str]
    target: dict[str, dict[str, str]]
    """Target identity by source."""
    act: dict[str, Any] | None
    """Operation, arguments and undo in words, reversibility, pace."""
    authors: tuple[str, ...]
    """Who wrote the rule and who made the plan (`uid:…`): they never count for `not by author`."""
    certificates: tuple[CertificateDoc, ...]
    envelopes: tuple[Envelope, ...]
    measurements: dict[str, Measurement] = Field(default_factory=dict)
    """By inventory: with them each certificate can be issued again from its envelope."""
    caps: Caps
    sums: Sums
    columns: tuple[str, ...] = ()
    """What reviewers asked to see (the keys of each row's `shown`), in the order of the rule."""
    rows: tuple[PlanRow, ...]
    undecided: tuple[UndecidedRow, ...]
    kept: tuple[KeptGroup, ...]
    protections: tuple[ProtectionDoc, ...] = ()
    floors: tuple[FloorDoc, ...] = ()
    picks: tuple[PickDoc, ...] = ()
    lists: tuple[ListUse, ...] = ()
    expectations: tuple[ExpectationDoc, ...] = ()
    steps: StepsDoc | None = None
    undo: UndoDoc | None = Field(default=None, exclude_if=_nothing)
    """What it takes back; None: it is no undo."""
    clocks: ClocksDoc | None = None
    patterns: tuple[PatternDoc, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    since: Since | None = None
    notes: tuple[str, ...] = ()
    merkle_root: str
    digest: str

    @property
    def acted_plan_id(self) -> str:
        """The plan whose objects it acts on, and under whose lease: its own, of an undo the one that it takes back."""
        return self.plan_id if self.undo is None else self.undo.plan_id

    @property
    def along(self) -> int:
        """How many others go with the objects of the plan, or are changed."""
        return sum(row.closure.size for row in self.rows if row.closure is not None)

    @property
    def taken(self) -> int:
        """How many objects count against the caps: those of the plan, and what goes with them."""
        return self.sums.candidates + self.along
