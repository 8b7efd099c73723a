"""How a run ended, on a terminal: a refusal with its codes and ways on, or what an apply did.

A refusal names every finding, never just the first. What was done is told with the sum that accounts for each planned
object; a sum that does not hold is said before anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from fullcount.runtime import format as fmt
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.envelope import Envelope, Status
from fullcount.runtime.evidence.refusal import UNDOING, Finding, Ground, Need, Prevented, Refusal
from fullcount.runtime.evidence.wording import unusable_fields
from fullcount.runtime.plan.layout import BLANK, FAINT, Said, labelled, stacked, verdict_line
from fullcount.runtime.plan.review import AppliedView
from fullcount.runtime.plan.summary_parts import Tone
from fullcount.runtime.text import plain

_WORDS: Final = {Ground.EVIDENCE: "REFUSED", Ground.POLICY: "REFUSED BY POLICY", Ground.STALE: "STALE"}
_UNAPPROVED: Final = "FC707"
NOT_PROPOSED: Final = "nothing was proposed, nothing can be approved"
NOT_DONE: Final = "nothing was done"
NOT_UNDONE: Final = "nothing can be taken back, so there is nothing to approve"
_NOUNS: Final = {
    Outcome.DONE: "done",
    Outcome.ALREADY_GONE: "already gone",
    Outcome.CHANGED: "changed",
    Outcome.REFUSED: "refused",
    Outcome.FAILED: "failed",
    Outcome.UNKNOWN: "unknown",
    Outcome.NOT_STARTED: "not started",
}
_ALWAYS: Final = frozenset({Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN})


def render_refusal(
    workflow: str,
    refusals: Sequence[Refusal],
    envelopes: Sequence[Envelope],
    *,
    at: datetime,
    proposal: str | None = None,
    base: str | None = None,
    exit_code: int | None = None,
    meaning: str = NOT_PROPOSED,
    next_step: str | None = None,
) -> Group:
    """Return why nothing was proposed (or done): each inventory with its findings, then what the refusal prevented.

    `base` is the inventory whose objects the proposal is about, `meaning` what follows from the refusal. Raises
    `ValueError` without a refusal.
    """
    if len(refusals) == 0:
        msg = "there is no refusal to show"
        raise ValueError(msg)
    order = list(Ground)
    word = _WORDS[min((refusal.ground for refusal in refusals), key=order.index)]
    if {finding.code for refusal in refusals for finding in refusal.findings} == {_UNAPPROVED}:
        word = "NEEDS APPROVAL"
    if word == _WORDS[Ground.POLICY] and all(refusal.stage == UNDOING for refusal in refusals):
        word = "NOT UNDONE"  # it is what the objects are that forbids it, no rule that somebody set
    findings = list(dict.fromkeys(_identity(f) for refusal in refusals for f in refusal.findings))
    by_identity = {_identity(f): f for refusal in refusals for f in refusal.findings}
    found = [by_identity[identity] for identity in findings]
    told = next((refusal.prevented for refusal in refusals if refusal.prevented is not None), None)
    blocks: list[RenderableType] = []
    for envelope in sorted(envelopes, key=lambda e: e.complete):
        mine = [finding for finding in found if finding.inventory == envelope.inventory]
        blocks.append(_inventory(envelope, at, refused=len(mine) > 0))
        unusable: list[tuple[str, RenderableType]] = [
            ("", Text(plain(text), style="yellow")) for text in unusable_fields(envelope)
        ]
        if len(unusable) > 0:
            blocks.append(labelled(unusable, indent=4, width=22))
        blocks.append(_findings(mine, named=True))
    shown = {envelope.inventory for envelope in envelopes}
    others = [finding for finding in found if finding.inventory not in shown]
    if len(others) > 0 and len(blocks) > 0:
        blocks.append(BLANK)
    for inventory in dict.fromkeys(finding.inventory for finding in others):
        if inventory is not None:
            blocks.append(Text(f"  {plain(inventory)}", style="bold"))
        blocks.append(_findings([finding for finding in others if finding.inventory == inventory], named=False))
    return stacked(
        verdict_line(word, (plain(workflow), meaning), Tone.STOP),
        BLANK,
        *blocks,
        None if told is None else BLANK,
        None if told is None else _prevented(told, proposal, base),
        None if next_step is None else labelled([("next", Text(plain(next_step)))], width=8),
        None if exit_code is None else Text(f"  exit {exit_code}", style=FAINT),
    )


def _identity(finding: Finding) -> str:
    return finding.model_dump_json()


def _inventory(envelope: Envelope, at: datetime, *, refused: bool) -> Text:
    line = Text("  ")
    line.append(plain(envelope.inventory), style="bold")
    line.append(f" ({plain(f'{envelope.scope.source}.{envelope.scope.resource}')})   ")
    status = envelope.status.value
    incomplete = envelope.status is not Status.COMPLETE
    line.append(status.upper() if incomplete or refused else status, style="bold red" if incomplete else "")
    line.append(f"   {', '.join(_work(envelope, at))}")
    return line


def _work(envelope: Envelope, at: datetime) -> Iterator[str]:
    work = envelope.work
    total = work.total
    if envelope.complete or total is None or total <= work.rows:
        yield fmt.counted(work.rows, "row")
    else:
        least = "" if work.total_exact else "at least "
        yield f"{fmt.count(work.rows)} of {least}{fmt.counted(total, 'row')}"
    parts = envelope.scope.parts
    lacking = [plain(part.name) for part in parts if part.status is not Status.COMPLETE]
    if len(lacking) > 0:
        yield f"{fmt.count(len(parts) - len(lacking))} of {fmt.counted(len(parts), 'part')}, not {'; '.join(lacking)}"
    elif len(parts) > 0:
        yield fmt.counted(len(parts), "part")
    if work.pages > 0:
        yield fmt.counted(work.pages, "page")
    yield "no end marker" if work.end_marker is None else "end marker seen"
    yield f"{fmt.length(at - envelope.scope.started_at)} old"


def _findings(findings: Sequence[Finding], *, named: bool) -> RenderableType:
    """Return findings about one thing, then once what needed what is missing, and once each way on.

    `named`: the line above already says which inventory it is and how far it was read.
    """
    lines: list[tuple[str, RenderableType]] = []
    for finding in findings:
        told = finding.detail if named and finding.detail != "" else finding.message
        lines.append((plain(finding.code), Said(plain(told))))
        if not named and finding.detail != "":
            lines.append(("", Text(plain(finding.detail), style=FAINT)))
    needs = dict.fromkeys(_need(need) for finding in findings for need in finding.needed_by)
    ways = dict.fromkeys(way for finding in findings for way in finding.ways_on)
    lines += [("needed by" if place == 0 else "", Text(plain(need))) for place, need in enumerate(needs)]
    lines += [("ways on" if place == 0 else "", Said(plain(way), style="green")) for place, way in enumerate(ways)]
    return labelled(lines, indent=4, width=22)


def _need(need: Need) -> str:
    return f"{need.stage}, {' '.join(need.place.split())}  ->  {', '.join(need.claims)}"


def _prevented(told: Prevented, proposal: str | None, base: str | None) -> Text:
    noun = "objects" if base is None else plain(base)
    share = fmt.percent(told.selected, told.population)
    what = "selected" if proposal is None else f"selected by {plain(proposal)}"
    return Text(
        f"  if it had been believed: {fmt.count(told.selected)} of {fmt.count(told.population)} {noun} ({share})"
        f" would have been {what}",
        style="bold",
    )


def render_applied(view: AppliedView, *, exit_code: int | None = None) -> Group:
    """Return what an apply or undo did, with the sum that accounts for every planned object."""
    counts = {outcome: view.counts.get(outcome, 0) for outcome in Outcome}
    parts = [part for outcome in Outcome for part in _counted(view, outcome, counts[outcome])]
    word, tone = _ended(view)
    sum_ = " + ".join(fmt.count(number) for number, _ in parts if number > 0) or "0"
    relation = "=" if view.sums_hold else "IS NOT"
    lines: list[tuple[str, RenderableType]] = [
        (
            "sums",
            Text(f"{fmt.count(view.planned)} planned {relation} {sum_}", style="" if view.sums_hold else "bold red"),
        )
    ]
    if view.stopped_by is not None:
        style = "bold red" if view.resumes is None else "yellow"
        lines.append(("stopped by", Said(plain(view.stopped_by), style=style)))
    if view.resumes is not None:
        lines.append(("goes on", Text(f"{plain(view.resumes)}   fullcount apply {plain(view.plan_id)}")))
    else:
        lines += [
            ("next" if n == 0 else "", Said(plain(step), style="green")) for n, step in enumerate(view.next_steps)
        ]
    if view.stopped_code is not None and view.resumes is None:  # a pause goes as it was meant to
        lines.append(("more", Text(f"fullcount explain {plain(view.stopped_code)}")))
    for key, outcome, detail in view.attention:
        lines.append(("look at", Said(f"{plain(key, 40)}: {_NOUNS[outcome]}, {plain(detail)}", style="yellow")))
    if view.moved_in_all > 0:
        lines.append(
            (
                "still due",
                Text(f"{fmt.counted(view.moved_in_all, 'object')} had changed since the plan, the rule still held:"),
            )
        )
        lines += [("", Text(f"{plain(key, 40)}: {plain(what)}")) for key, what in view.moved]
        if view.moved_in_all > len(view.moved):
            lines.append(
                ("", Text(f"… {fmt.count(view.moved_in_all - len(view.moved))} more: with --json", style=FAINT))
            )
    if view.taken_back > 0:
        of = fmt.count(view.counts.get(Outcome.DONE, 0))
        lines.append(("taken back", Text(f"{fmt.count(view.taken_back)} of {of} done, by an undo")))
    if view.undo_command is not None:
        lines.append(("undo", Text(view.undo_command)))
    if view.journal_head is not None:
        checked = {True: "verified", False: "DOES NOT VERIFY", None: ""}[view.journal_verified]
        style = "bold red" if view.journal_verified is False else ""
        lines.append(("journal", Text(f"head {plain(view.journal_head)} {checked}".rstrip(), style=style)))
    if exit_code is not None:
        lines.append(("exit", Text(str(exit_code), style=FAINT)))
    return stacked(
        verdict_line(word, [f"{fmt.count(number)} {what}" for number, what in parts], tone), labelled(lines, width=10)
    )


def _ended(view: AppliedView) -> tuple[str, Tone]:
    if not view.sums_hold:
        return "INVALID", Tone.STOP
    if view.resumes is not None:
        return "PAUSED", Tone.ASK
    if view.stopped_by is not None or view.counts.get(Outcome.NOT_STARTED, 0) > 0:
        return "STOPPED", Tone.STOP
    if view.counts.get(Outcome.FAILED, 0) + view.counts.get(Outcome.UNKNOWN, 0) > 0:
        return "ENDED WITH FAILURES", Tone.STOP
    if view.planned > 0 and view.counts.get(Outcome.DONE, 0) + view.counts.get(Outcome.ALREADY_GONE, 0) == 0:
        return "NOTHING DONE", Tone.ASK
    return "DONE", Tone.GO


def _counted(view: AppliedView, outcome: Outcome, number: int) -> Iterator[tuple[int, str]]:
    if outcome is Outcome.CHANGED and number > 0 and sum(view.changed.values()) == number:
        for what, part in view.changed.items():
            yield part, plain(what)
    elif number > 0 or outcome in _ALWAYS:
        yield number, plain(view.verb if outcome is Outcome.DONE else _NOUNS[outcome])
