"""The plan on a terminal, in the order of a reviewer's questions.

Verdict; one sentence with count, population, share, target, reversibility; evidence; caps; what is undecided and kept;
the rule; the rows, riskiest first; near misses; the act; the digest. It renders `Summary` and adds nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.layout import BLANK, FAINT, Flow, Rows, flow, labelled, stacked, verdict_line
from fullcount.runtime.plan.lists import in_words
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.summary import KEY_WIDTH, PatternLine, RowLine, Summary, summarise
from fullcount.runtime.plan.summary import Group as Reasons
from fullcount.runtime.text import plain, shorten

ROWS: Final = 10
"""How many rows stand on the first screen; the riskiest."""
GROUPS: Final = 6
"""How many groups of a floor stand on the first screen; those that lose most."""
AUTHORS_WORDS: Final = "in its author's words"
"""Stands before a description: whoever proposes something wrote it, and nothing holds it against what is done."""
_KEY, _VALUE = 28, 24
_MARKS: Final = {"!": "yellow", "!!": "bold yellow", "!!!": "bold red"}


def render_plan(
    doc: PlanDocument, status: ReviewStatus, *, rows: int | None = ROWS, exit_code: int | None = None
) -> Group:
    """Return the plan as reviewers see it; `rows` None lists every row."""
    said = summarise(doc, status, rows)
    return stacked(
        verdict_line(said.verdict.word, said.verdict.details, said.verdict.tone),
        BLANK,
        Text(f"{said.what} {said.reversible}", style="bold"),
        None if said.describe == "" else Text(f"{AUTHORS_WORDS}: {said.describe}", style=FAINT),
        labelled((*((name, Text(text)) for name, text in said.undoes), *_facts(doc, said))),
        BLANK,
        labelled(_why(said)),
        None if len(said.rows) == 0 else BLANK,
        None if len(said.rows) == 0 else _rows(said),
        _more(doc, said),
        BLANK,
        labelled(_ending(doc, said, exit_code)),
    )


def render_rows(doc: PlanDocument, status: ReviewStatus) -> RenderableType:
    """Return every row, for `--all`."""
    return _rows(summarise(doc, status))


def render_undecided(doc: PlanDocument) -> RenderableType:
    """Return every undecided object with the evidence that is missing, for `--undecided`."""
    lines = [
        (Text(""), Text(fmt.key(row.key, KEY_WIDTH)), (), Text("; ".join(plain(part) for part in row.missing)))
        for row in doc.undecided
    ]
    return Rows(("", "object", "missing"), lines)


def render_waiting(doc: PlanDocument, status: ReviewStatus) -> RenderableType:
    """Return every object whose next step is not due yet, for `--waiting`."""
    lines = [
        (Text(""), Text(shorten(each.key, _KEY)), [Text(each.step), Text(each.until)], Text(each.last))
        for each in summarise(doc, status).waiting
    ]
    return Rows(("", "object", "next step", "due from", "last"), lines)


def _facts(doc: PlanDocument, said: Summary) -> Iterator[tuple[str, RenderableType]]:
    label = "evidence"
    for line in said.evidence:
        items = [Text(fact) for fact in line.facts]
        items[0] = Text.assemble((line.inventory, "bold"), f" ({line.resource}): ", items[0])
        items += [Text(f"accepted: {warning}", style="yellow") for warning in line.warnings]
        yield label, Flow(items, ", ")
        label = ""
        for reason in line.missing:
            yield label, Text(reason, style="bold yellow")
        for text in line.refused:
            yield label, Text(f"  {text}", style="yellow")
    yield "caps", Text(said.caps, style="bold red" if doc.caps.exceeded else "")
    if said.since is not None:
        yield "", Text(said.since)
    if len(said.undecided) > 0:
        yield "undecided", _reasons(doc.sums.undecided, said.undecided, "yellow")
        yield "", Text(f"fullcount show {said.plan_id} --undecided", style=FAINT)
    if len(said.steps) > 0:
        yield "steps", flow(said.steps)
    yield "kept" if doc.undo is None else "left alone", _reasons(doc.sums.kept, said.kept)
    if len(said.waiting) > 0:
        yield "waiting", Text(f"{fmt.count(len(said.waiting))}, the first until {said.waiting[0].until}")
        yield "", Text(f"fullcount show {said.plan_id} --waiting", style=FAINT)
    if said.clocks is not None:
        yield "clocks", Text(said.clocks)
    if len(said.protections) > 0:
        yield "protected", flow(f"{each.kept} by {each.name}" for each in said.protections)
    yield from _by_others(doc, said)
    for names in said.struck:
        yield "struck", Text(names)
    for each in said.expected:
        yield "expected", Text(f"{each.clause}, {each.found}: {each.because}")
    for note in said.notes:
        yield "note", Text(note, style="yellow")


def _by_others(doc: PlanDocument, said: Summary) -> Iterator[tuple[str, RenderableType]]:
    """What other objects and lists made of the selection."""
    for floor in said.floors:
        yield "floor", Text(f"{floor.clause}: {floor.what}")
        yield "", flow(_group(group) for group in floor.groups[:GROUPS])
        rest = len(floor.groups[GROUPS:]) + floor.more
        if rest > 0:
            yield "", Text(f"… {fmt.counted(rest, 'more group')}", style=FAINT)
    for pick in doc.picks:
        open_ = "" if pick.unranked == 0 else f", of {fmt.count(pick.unranked)} it can't be told"
        yield "picked", Text(f"{plain(pick.clause)}: {fmt.count(pick.passed_over)} passed over{open_}")
    for use in doc.lists:
        yield "list", Text(plain(in_words(use)))


def _group(group: tuple[str, str, str, str]) -> str:
    name, size, taken, kept = group
    held = "" if kept == "0" else f", {kept} stay by it"
    return f"{name}: {taken} of {size} go{held}"


def _reasons(total: int, groups: Sequence[Reasons], style: str = "") -> RenderableType:
    if len(groups) == 1:
        return Text(f"{fmt.count(total)}  {groups[0].reason}", style=style)
    items = [Text(f"{fmt.count(group.count)} {group.reason}", style=style) for group in groups]
    head = f"{fmt.count(total)}" if len(items) == 0 else f"{fmt.count(total)} = "
    return Flow([Text.assemble((head, style), items[0] if len(items) > 0 else ""), *items[1:]])


def _why(said: Summary) -> Iterator[tuple[str, RenderableType]]:
    yield "why these", Text(said.rule)
    if len(said.parameters) > 0:
        yield "with", Text(", ".join(f"{name} = {value}" for name, value in said.parameters))
    yield from pattern_lines(said.patterns)


def pattern_lines(patterns: Sequence[PatternLine]) -> Iterator[tuple[str, RenderableType]]:
    """Yield what each pattern of the rule matched, and under it what it nearly matched."""
    for each in patterns:
        yield "pattern", Text(each.matched)
        if each.nearly is not None:
            yield "", Text(each.nearly, style="yellow")


def _rows(said: Summary) -> RenderableType:
    return Rows(("risk", "object", *said.columns, "note"), [_row(line) for line in said.rows])


def _row(line: RowLine) -> tuple[Text, Text, Sequence[Text], Text]:
    return (
        Text(line.mark, style=_MARKS.get(line.mark, "")),
        Text(shorten(line.key, _KEY)),
        [Text(shorten(value, _VALUE)) for value in line.values],
        Text(line.note),
    )


def _more(doc: PlanDocument, said: Summary) -> RenderableType | None:
    rest = len(doc.rows) - len(said.rows)
    if rest <= 0:
        return None
    return Text(f"  …     {fmt.count(rest)} more   fullcount show {said.plan_id} --all | --csv | --html", style=FAINT)


def _ending(doc: PlanDocument, said: Summary, exit_code: int | None) -> Iterator[tuple[str, RenderableType]]:
    if len(said.near) > 0:
        yield "if instead", flow(said.near)
    if said.closest is not None:
        yield "closest", Text(f"{said.closest}, which is kept")
    for name, text in said.act:
        yield name, Text(text)
    if said.next_step is not None:
        yield "next", Text(said.next_step)
    end = "" if exit_code is None else f"        exit {exit_code}"
    yield "digest", Text(f"{said.short}   plan {said.plan_id}{end}")
