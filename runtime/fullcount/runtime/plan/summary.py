"""A plan in words, in the order of a reviewer's questions: the one source of what every screen says of it.

Each string here is harmless (`plain`) and ready to show; the renderers only lay it out, so that terminal, page and file
never tell different stories. Nothing here decides anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.connectors.base import TARGET_FACTS, TARGET_IDS
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
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.strike import struck_groups
from fullcount.runtime.plan.summary_evidence import evidence_lines
from fullcount.runtime.plan.summary_parts import (
    ExpectationLine,
    FloorLine,
    Group,
    PatternLine,
    ProtectionLine,
    RowLine,
    Summary,
    Waiting,
)
from fullcount.runtime.plan.summary_verdict import next_step, verdict
from fullcount.runtime.plan.undo_words import taken_back, undo_lines
from fullcount.runtime.text import one_line, plain

NAMED = 12
"""How many objects of a group are named on screens."""
KEY_WIDTH = 60
"""Longer keys are shortened in the middle on screens; the CSV has them whole."""
VALUE_WIDTH = 60
_FIELD = re.compile(r"\w+\.(\w+)", re.ASCII)


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
        rows=tuple(
            _row_line(row, labels, graduated=doc.steps is not None)
            for row in sorted(doc.rows, key=lambda row: -row.risk)[:rows]
        ),
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
        next_step=next_step(doc, status),
        undoes=undo_lines(doc),
        short=short_digest(doc.digest),
        plan_id=plain(doc.plan_id),
    )


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
    named = [
        plain(value, VALUE_WIDTH)
        for name, value in sorted(facts.items())
        if name.startswith(TARGET_FACTS) and not name.startswith(TARGET_IDS)
    ]
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
