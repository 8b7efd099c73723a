"""A plan in words, in the order of a reviewer's questions: the one source of what every screen says of it.

Each string here is harmless (`plain`) and ready to show; the renderers only lay it out, so that terminal, page and file
never tell different stories. Nothing here decides anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.connectors.base import TARGET_FACTS
from fullcount.runtime.evidence.codes import WARNING_TEXT, Severity, severity_of
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.series import in_words
from fullcount.runtime.evidence.warned import WarningSeen
from fullcount.runtime.evidence.wording import incompleteness, unusable_fields
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.document import (
    CertificateDoc,
    ExpectationDoc,
    FloorDoc,
    KeptGroup,
    PatternDoc,
    PlanDocument,
    PlanRow,
    ProtectionDoc,
    StepDoc,
)
from fullcount.runtime.plan.review import QuorumView, ReviewStatus
from fullcount.runtime.plan.strike import struck_groups
from fullcount.runtime.plan.undo_words import taken_back, undo_lines
from fullcount.runtime.text import one_line, plain

NAMED = 12
"""How many objects of a group are named on screens."""
KEY_WIDTH = 60
"""Longer keys are shortened in the middle on screens; the CSV has them whole."""
VALUE_WIDTH = 60
_FIELD = re.compile(r"\w+\.(\w+)", re.ASCII)


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


MARKS = {0: "", 1: "!", 2: "!!", 3: "!!!"}
RISKS = {0: "", 1: "look", 2: "look closely", 3: "look first"}


def summarise(doc: PlanDocument, status: ReviewStatus, rows: int | None = None) -> Summary:
    """Return the plan in words, with where it stands, and its first `rows` rows (None: all)."""
    labels = _labels(doc)
    closest = next((item.closest for item in doc.sensitivity if item.closest is not None), None)
    return Summary(
        verdict=verdict(doc, status),
        what=_what(doc),
        reversible=_reversible(doc),
        describe=one_line(doc.describe),
        evidence=tuple(evidence_lines(doc)),
        caps=_caps(doc),
        since=_since(doc),
        undecided=undecided_groups(doc),
        kept=tuple(
            Group(plain(g.reason), g.count, tuple(fmt.key(key, KEY_WIDTH) for key in g.examples[:NAMED]))
            for g in doc.kept
        ),
        struck=tuple(_struck(doc, group) for group in struck_groups(doc)),
        protections=tuple(_protection(each) for each in doc.protections),
        floors=tuple(_floor(each) for each in doc.floors),
        expected=tuple(_expectation(each) for each in doc.expectations),
        rule=one_line(doc.rule),
        parameters=tuple((plain(name), plain(fmt.parameter(value))) for name, value in sorted(doc.parameters.items())),
        columns=(*(("step", "clock") if doc.steps is not None else ()), *(_heading(label) for label in labels)),
        rows=tuple(_row_line(row, labels, graduated=doc.steps is not None) for row in doc.rows[:rows]),
        patterns=tuple(map(pattern_line, doc.patterns)),
        near=tuple(
            f"{plain(item.change)} -> {fmt.count(item.candidates)}"
            for item in doc.sensitivity
            if item.candidates != (doc.sums.candidates if doc.steps is None else doc.steps.selected)
        ),
        closest=None if closest is None else plain(closest),
        act=_act(doc.act, undo=doc.undo is not None),
        steps=_steps(doc),
        waiting=_waiting_lines(doc),
        clocks=_clocks(doc),
        notes=tuple(plain(note) for note in doc.notes),
        next_step=_next_step(doc, status),
        undoes=undo_lines(doc),
        short=short_digest(doc.digest),
        plan_id=plain(doc.plan_id),
    )


# -- the verdict ------------------------------------------------------------------------------------------------------


def verdict(doc: PlanDocument, status: ReviewStatus) -> Verdict:
    """Return where the plan stands. A state that this module does not know is shown as it is, as a reason to stop."""
    candidates = fmt.count(doc.sums.candidates)
    match status.state:
        case _ if not doc.sums.hold:
            return Verdict("INVALID", ("the sums of this plan do not hold, nothing may follow from it",), Tone.STOP)
        case "applying" | "approved" if status.resumes_at is not None:
            return Verdict("PAUSED", (f"goes on from {fmt.weekday_moment(status.resumes_at)} on",), Tone.ASK)
        case "over_cap":
            candidates += "" if doc.along == 0 else f" + {fmt.count(doc.along)} that go along"
            allowed = "none is" if doc.caps.effective == 0 else f"at most {fmt.count(doc.caps.effective)} are"
            return Verdict(
                "OVER CAP", (f"{candidates} selected, {allowed} allowed: this can't be approved",), Tone.STOP
            )
        case "superseded":
            what = "plan of this proposal" if doc.undo is None else "undo of the same objects"
            return Verdict("SUPERSEDED", (f"a newer {what} has replaced it",), Tone.STOP)
        case "expired":
            again = "plan again" if doc.undo is None else f"fullcount undo {plain(doc.undo.plan_id)}"
            return Verdict("EXPIRED", (f"its approval is too old: {again}",), Tone.STOP)
        case "applying":
            return Verdict("APPLYING", ("it is being acted on",), Tone.GO)
        case "applied":
            return Verdict("APPLIED", ("a plan is used once",), Tone.DONE)
        case "report":
            return Verdict("REPORT", ("this workflow has no act: there is nothing to approve",), Tone.DONE)
        case "approved" | "waiting" if doc.sums.candidates == 0:
            return Verdict("NOTHING TO DO", ("no object is selected",), Tone.DONE)
        case "approved":
            return Verdict("APPROVED", _approved(status), Tone.GO)
        case "waiting":
            return Verdict("NEEDS APPROVAL", _waiting(status), Tone.ASK)
        case other:
            return Verdict(plain(other).upper().replace("_", " "), ("nothing may be done with it",), Tone.STOP)


def _next_step(doc: PlanDocument, status: ReviewStatus) -> str | None:
    """Return the command that a reader would type next; None where nothing follows from the plan."""
    match verdict(doc, status).word:
        case "NEEDS APPROVAL":
            return f"fullcount approve {plain(doc.plan_id)}"
        case "APPROVED" | "APPLYING" | "PAUSED":
            return f"fullcount apply {plain(doc.plan_id)}"
        case _:
            return None


def _approved(status: ReviewStatus) -> tuple[str, ...]:
    if status.automatic is not None:
        by = f"approved automatically: {plain(status.automatic)}"
        return (by,) if status.expires_at is None else (by, f"expires {fmt.weekday_moment(status.expires_at)}")
    people = ", ".join(plain(name) for quorum in status.quorums for name in quorum.given)
    by = f"{status.given} of {status.needed}" + (f" by {people}" if people else "")
    return (by,) if status.expires_at is None else (by, f"expires {fmt.weekday_moment(status.expires_at)}")


def _waiting(status: ReviewStatus) -> tuple[str, ...]:
    parts = [f"{status.given} of {status.needed}"]
    if status.asked_because is not None:
        parts.append(f"not automatically: {plain(status.asked_because)}")
    if status.broken is not None:
        parts.append(f"its approval no longer holds: {plain(status.broken)}")
    if status.unreachable is not None:
        parts.append(f"this can't be approved as `[roles]` in fullcount.toml are: {plain(status.unreachable)}")
    given = [plain(name) for quorum in status.quorums for name in quorum.given]
    if len(given) > 0:
        parts.append(f"given by {', '.join(given)}")
    missing = [_next(quorum) for quorum in status.quorums if len(quorum.given) < quorum.needed]
    if len(missing) > 0:
        parts.append(f"next: {' and '.join(missing)}{_but_not(status)}")
    return tuple(parts)


def _next(quorum: QuorumView) -> str:
    open_ = quorum.needed - len(quorum.given)
    words = {1: "any one", 2: "any two", 3: "any three"}.get(open_, f"any {open_}")
    if len(quorum.may) == 0:
        return f"{words} of {plain(quorum.role)}, in which nobody is left who may"
    return f"{words} of {plain(quorum.role)} ({', '.join(plain(name) for name in quorum.may)})"


def _but_not(status: ReviewStatus) -> str:
    if not any(quorum.not_by_author for quorum in status.quorums):
        return ""
    if status.viewer_is_author:
        return ", not you (author)"
    return f", not {', '.join(plain(name) for name in status.authors)} (author)" if len(status.authors) > 0 else ""


# -- what, on which evidence, within which caps -----------------------------------------------------------------------


def base(doc: PlanDocument) -> CertificateDoc | None:
    """Return the certificate of the inventory whose objects are proposed: the first."""
    return doc.certificates[0] if len(doc.certificates) > 0 else None


def _what(doc: PlanDocument) -> str:
    if doc.undo is not None:
        acting = {row.undo.operation.partition(".")[0] for row in doc.rows if row.undo is not None}
        return taken_back(doc, _target(doc, min(acting)) if len(acting) == 1 else "")
    first = base(doc)
    noun = "objects" if first is None else plain(first.inventory)
    share = fmt.percent(doc.sums.candidates, doc.sums.inventory)
    verb = plain(doc.proposal).replace("_", " ")
    where = _target(doc, None if first is None else first.source)
    if first is not None and len(first.incomplete) > 0:
        # of what was not counted there is no share
        numbers = f"{fmt.count(doc.sums.candidates)} of the {fmt.count(doc.sums.inventory)} {noun} that were found"
    else:
        numbers = f"{fmt.count(doc.sums.candidates)} of {fmt.count(doc.sums.inventory)} {noun} ({share})"
    return f"{verb[:1].upper()}{verb[1:]} {numbers}{where}."


def _target(doc: PlanDocument, source: str | None) -> str:
    facts = doc.target.get(source or "", {})
    named = [plain(value, VALUE_WIDTH) for name, value in sorted(facts.items()) if name.startswith(TARGET_FACTS)]
    if len(named) == 0:
        return "" if source is None else f" in {plain(source)}"
    return f" in {', '.join(named)}"


def _reversible(doc: PlanDocument) -> str:
    if doc.act is None:
        return "Nothing is done: a report."
    if doc.undo is not None:
        return "An undo is not undone."
    final = final_rows(doc)
    if final == 0:
        return "Reversible."
    if doc.steps is None or final == doc.sums.candidates:
        return "NOT REVERSIBLE."
    return f"NOT REVERSIBLE for {fmt.count(final)} of {fmt.count(doc.sums.candidates)}."


def final_rows(doc: PlanDocument) -> int:
    """Return for how many objects what the plan does can't be taken back; in a graduated act that is up to the step."""
    if doc.act is None:
        return 0
    if doc.steps is None:
        return 0 if doc.act.get("reversible") is True else max(doc.sums.candidates, 1)
    final = {each["step"] for each in doc.act["steps"] if each["reversible"] is not True}
    return sum(1 for row in doc.rows if row.step is None or row.step.label in final)


def evidence_lines(doc: PlanDocument) -> list[EvidenceLine]:
    """Return a line for each certificate, with the age that its read had when the plan was made."""
    envelopes = {envelope.inventory: envelope for envelope in doc.envelopes}
    return [
        EvidenceLine(
            inventory=plain(held.inventory),
            resource=plain(f"{held.source}.{held.resource}"),
            facts=(*_facts(held, envelopes.get(held.inventory), doc.created_at), *_series(doc, held)),
            end=plain(held.end_marker),
            warnings=tuple(plain(warning) for warning in held.accepted_warnings),
            refused=tuple(_refused(envelopes.get(held.inventory))),
            notices=tuple(_notices(envelopes.get(held.inventory))),
            missing=tuple(_missing(held, envelopes.get(held.inventory))),
        )
        for held in doc.certificates
    ]


def _facts(held: CertificateDoc, envelope: Envelope | None, at: datetime) -> list[str]:
    """Return what was seen, claim by claim, with what it was measured on."""
    age = None if envelope is None else fmt.length(at - envelope.scope.started_at)
    facts = [fmt.counted(held.rows, "row")]
    if len(held.incomplete) > 0:
        facts.append("NOT COMPLETE: there may be more")
    if len(held.parts) > 0:
        facts.append(f"{fmt.counted(len(held.parts), 'part')}: {'; '.join(plain(part) for part in held.parts)}")
    for claim in held.claims:
        if claim.startswith("snapshot "):
            facts.append(f"{plain(held.consistency)} snapshot")
        elif claim.startswith("fresh ") and age is not None:
            facts.append(f"{age} old ({plain(claim)})")
        elif claim.startswith("count agrees"):
            facts.append(f"{plain(claim)} ({fmt.count(held.distinct_keys)})")
        else:
            facts.append(plain(claim))
    return facts


def _series(doc: PlanDocument, held: CertificateDoc) -> list[str]:
    """Return how the reading stands to those before it: its size, and the warnings that came again."""
    measured = doc.measurements.get(held.inventory)
    if measured is None:
        return []
    series = [] if measured.series is None else [in_words(held.rows, measured.series)]
    return series + [
        plain(f"{seen.code} {_times(seen)} since {seen.since:%Y-%m-%d} ({seen.owner}{_until(seen)})")
        for seen in measured.warnings
        if severity_of(seen.code) is not Severity.NOTES
    ]


def _times(seen: WarningSeen) -> str:
    return "once" if seen.runs == 1 else f"{seen.runs:,} times in a row"


def _until(seen: WarningSeen) -> str:
    return "" if seen.accepted_until is None else f", accepted until {seen.accepted_until}"


def _refused(envelope: Envelope | None) -> list[str]:
    return [] if envelope is None else [plain(text) for text in unusable_fields(envelope)]


def _notices(envelope: Envelope | None) -> list[str]:
    if envelope is None:
        return []
    return [plain(f"{notice.code}: {notice.detail or WARNING_TEXT[notice.code]}") for notice in envelope.warnings]


def _missing(held: CertificateDoc, envelope: Envelope | None) -> list[str]:
    """Return the reasons as the plan holds them, with what the source said of each where that is at hand."""
    said = {} if envelope is None else {incompleteness(r): r.detail for r in envelope.completeness.reasons}
    return [plain(f"{code}: {said[code]}" if said.get(code) else code) for code in held.incomplete]


def _caps(doc: PlanDocument) -> str:
    caps, sums = doc.caps, doc.sums
    if doc.undo is not None:
        return f"counts against none of the act's; at most the {fmt.counted(sums.candidates, 'object')} of this plan"
    taken = fmt.count(sums.candidates) if doc.along == 0 else f"{fmt.count(sums.candidates)} + {fmt.count(doc.along)}"
    if doc.bounded and caps.count is not None:
        # a percentage of what was found would be none of what there is
        over = f"OVER: {taken} of {fmt.count(caps.count)}; at most {fmt.count(caps.effective)}"
        return over if caps.exceeded else f"{taken} of {fmt.count(caps.count)}"
    share = fmt.percent(doc.taken, sums.inventory)
    if caps.count is None and caps.percent is None:
        return f"no limit: {taken} of {fmt.count(sums.inventory)} ({share})"
    parts = []
    if caps.count is not None:
        parts.append(f"{taken} of {fmt.count(caps.count)}")
    if caps.percent is not None:
        parts.append(f"{share} of {fmt.written_percent(plain(caps.percent))}")
    said = " · ".join(parts)
    if caps.exceeded:
        return f"OVER: {said}; at most {fmt.count(caps.effective)}"
    return said


def _since(doc: PlanDocument) -> str | None:
    if doc.since is None:
        return None
    new, gone = doc.since.new, doc.since.gone
    then = f", when {' and '.join(plain(part) for part in doc.since.differs)}" if doc.since.differs else ""
    return (
        f"since {fmt.moment(doc.since.created_at)}{then}:"
        f" {'+' if new > 0 else ''}{fmt.count(new)} new, {'-' if gone > 0 else ''}{fmt.count(gone)} gone"
    )


def _struck(doc: PlanDocument, group: KeptGroup) -> str:
    named = ", ".join(fmt.key(key, KEY_WIDTH) for key in group.examples[:NAMED])
    rest = group.count - NAMED
    more = f", {fmt.count(rest)} more (fullcount show {plain(doc.plan_id)} --json)" if rest > 0 else ""
    return f"{named}{more}"


def undecided_groups(doc: PlanDocument) -> tuple[Group, ...]:
    """Return the undecided objects by the evidence that is missing, the commonest first."""
    counts: Counter[tuple[str, ...]] = Counter(row.missing for row in doc.undecided)
    groups = []
    for missing, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        examples = [fmt.key(row.key, KEY_WIDTH) for row in doc.undecided if row.missing == missing][:3]
        groups.append(Group("; ".join(plain(part) for part in missing), number, tuple(examples)))
    return tuple(groups)


def _protection(doc: ProtectionDoc) -> ProtectionLine:
    unsure = "" if doc.not_ruled_out == 0 else f", {fmt.count(doc.not_ruled_out)} more not ruled out"
    return ProtectionLine(plain(doc.name), one_line(doc.because), plain(doc.condition), fmt.count(doc.kept) + unsure)


def _expectation(doc: ExpectationDoc) -> ExpectationLine:
    found = "and there is none" if doc.found == 0 else f"not needed: there are {fmt.count(doc.found)}"
    return ExpectationLine(plain(doc.clause.removeprefix("expect ")), one_line(doc.because), found)


def pattern_line(doc: PatternDoc) -> PatternLine:
    """Return what a pattern matched and nearly matched, in words."""
    matched = (
        f"`{plain(doc.written)}` matches {fmt.count(doc.matched)} of {fmt.count(doc.values)} {plain(doc.inventory)}"
    )
    if doc.nearly == 0:
        return PatternLine(matched, None)
    named = ", ".join(f'"{plain(each.value, VALUE_WIDTH)}" ({plain(each.because)})' for each in doc.near)
    more = "" if doc.nearly == len(doc.near) else f", and {fmt.count(doc.nearly - len(doc.near))} more"
    verb = "matches" if doc.nearly == 1 else "match"
    return PatternLine(matched, f"{fmt.count(doc.nearly)} nearly {verb}: {named}{more}")


def _floor(doc: FloorDoc) -> FloorLine:
    parts = [fmt.counted(doc.groups, "group")]
    if doc.small > 0:
        parts.append(f"{fmt.count(doc.small)} no larger than the floor")
    if doc.unplaced > 0:
        parts.append(f"{fmt.counted(doc.unplaced, 'object')} without a known place, kept")
    groups = tuple(
        (
            "all" if each.group is None else plain(fmt.parameter(each.group), VALUE_WIDTH),
            fmt.count(each.size),
            fmt.count(each.candidates),
            fmt.count(each.kept),
        )
        for each in doc.listed
    )
    return FloorLine(one_line(doc.clause), ", ".join(parts), groups, doc.groups - len(groups))


# -- rows, near misses, act -------------------------------------------------------------------------------------------


def _labels(doc: PlanDocument) -> tuple[str, ...]:
    """Return what the rule asks to be shown, in its own order."""
    shown = dict.fromkeys(label for row in doc.rows for label in row.shown)
    return (
        *(label for label in doc.columns if label in shown),
        *(label for label in shown if label not in doc.columns),
    )


def _heading(label: str) -> str:
    """Return what stands over a column: a plain field without the name of the row, anything else as written."""
    field = _FIELD.fullmatch(label)
    return one_line(label) if field is None else field[1].replace("_", " ")


def _row_line(row: PlanRow, labels: Sequence[str], *, graduated: bool) -> RowLine:
    shown = tuple(plain(row.shown.get(label, ""), VALUE_WIDTH) for label in labels)
    step = () if not graduated else ("", "") if row.step is None else (plain(row.step.label), last_step(row.step))
    return RowLine(
        mark=MARKS[row.risk],
        risk=RISKS[row.risk],
        key=fmt.key(row.key, KEY_WIDTH),
        values=(*step, *shown),
        note=plain("; ".join(row.notes)),
    )


def last_step(step: StepDoc) -> str:
    """Return what was done to an object before the step that is due, and when."""
    if step.before is not None and step.since is not None:
        return f"{plain(step.before)} {fmt.moment(step.since)}"
    return "at once" if step.since is None else f"selected {fmt.moment(step.since)}"


def _steps(doc: PlanDocument) -> tuple[str, ...]:
    """Return how many objects are due for which step, in the order of the act."""
    if doc.steps is None or doc.act is None:
        return ()
    due = Counter(row.step.label for row in doc.rows if row.step is not None)
    return tuple(
        f"{fmt.count(due[each['step']])} {plain(each['step'])}" for each in doc.act["steps"] if due[each["step"]] > 0
    )


def _waiting_lines(doc: PlanDocument) -> tuple[Waiting, ...]:
    """Return the objects whose next step is not due yet, those that are due first at the top."""
    if doc.steps is None:
        return ()
    first_due = sorted(doc.steps.waiting, key=lambda row: (row.step.due or doc.now, tuple(map(str, row.key))))
    return tuple(
        Waiting(
            fmt.key(row.key, KEY_WIDTH),
            plain(row.step.label),
            "" if row.step.due is None else fmt.moment(row.step.due),
            last_step(row.step),
        )
        for row in first_due
    )


def _clocks(doc: PlanDocument) -> str | None:
    clocks = doc.clocks
    if clocks is None:
        return None
    ended = Counter(each.because for each in clocks.ended)
    parts = [f"{fmt.count(len(clocks.began))} began"] if len(clocks.began) > 0 else []
    parts += [f"{fmt.count(number)} ended: {plain(because)}" for because, number in sorted(ended.items())]
    return ", ".join(parts) or None


def _step_lines(steps: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    lines = []
    for step in steps:
        after = "" if step["after"] is None else f" after {step['after']}"
        undo = f"   undo {step['undo']}" if step["undo"] is not None else ""
        lines.append((str(step["step"]), f"{step['call']}{after}{undo}{_kept(step)}"))
    return lines


def _kept(call: dict[str, Any]) -> str:
    """Return what is kept of an object before a call, and whether something may go along: behind its way back."""
    backup = f", from a backup {call['backup']}" if call.get("backup") is not None else ""
    return f"{backup}   cascades {call['cascades']}" if call.get("cascades") is not None else backup


def _act(act: dict[str, Any] | None, *, undo: bool = False) -> tuple[tuple[str, str], ...]:
    if act is None:
        return ()
    if act.get("steps") is not None:
        lines = _step_lines(act["steps"])
    else:
        way_back = str(act.get("undo") or "none: this can't be taken back")
        lines = [("does", str(act.get("call", "")))]
        lines += [] if undo else [("undo", f"{way_back}{_kept(act)}")]
    pace = [f"{act['concurrency']} at a time"] if act.get("concurrency") is not None else []
    pace.append(f"{act['rate']}/s" if act.get("rate") is not None else "as fast as the target answers")
    lines.append(("pace", ", ".join(pace)))
    if act.get("canary") is not None:
        lines.append(("canary", f"{act['canary']}; the rest follows if these still are as they were left"))
    if act.get("rehearse") is not None:
        lines.append(("rehearse", str(act["rehearse"])))
    if act.get("windows"):
        lines.append(("window", " · ".join(map(str, act["windows"]))))
    if act.get("approved") is not None:
        lines.append(("approval", str(act["approved"])))
    lines.append(("stops", str(act.get("stop") or "only when told to")))
    return tuple((name, plain(text)) for name, text in lines)
