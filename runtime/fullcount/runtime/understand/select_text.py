"""What `eval` and `diff` show, for a terminal and as JSON. They lay out and word; nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.plan.layout import BLANK, FAINT, Flow, Rows, labelled, stacked, verdict_line
from fullcount.runtime.plan.summary import pattern_line
from fullcount.runtime.plan.summary_parts import Tone
from fullcount.runtime.plan.text import pattern_lines
from fullcount.runtime.text import one_line, plain
from fullcount.runtime.understand.compare import Comparison, Moved
from fullcount.runtime.understand.edit import Answer
from fullcount.runtime.understand.select import SelectedRow, Selection

LISTED: Final = 20
_KEY, _VALUE = 40, 24


def render_selection(found: Selection, *, rows: int | None = LISTED) -> Group:
    """Return what a workflow would select; `rows` None lists every row."""
    sums, inventory = found.sums, found.proposal.inventory
    share = fmt.percent(sums.candidates, sums.inventory)
    head = f"{fmt.count(sums.candidates)} of {fmt.count(sums.inventory)} {plain(inventory)} ({share})"
    return stacked(
        verdict_line("WOULD SELECT", (head, "no source was read, nothing stored"), Tone.DONE),
        labelled(_facts(found)),
        None if len(found.rows) == 0 else BLANK,
        None if len(found.rows) == 0 else _rows(found.rows if rows is None else found.rows[:rows]),
        _rest(len(found.rows), rows),
        *_undecided(found, rows),
    )


def render_comparison(found: Comparison, *, rows: int | None = LISTED) -> Group:
    """Return what enters and leaves; `rows` None lists every object."""
    before, after = found.before.sums, found.after.sums
    counts = f"{fmt.count(before.candidates)} -> {fmt.count(after.candidates)} of {fmt.count(after.inventory)}"
    moved = f"{fmt.count(len(found.enter))} enter, {fmt.count(len(found.leave))} leave"
    return stacked(
        verdict_line(
            found.edit.answer.upper(), (f"{counts} {plain(found.after.proposal.inventory)}", moved), Tone.DONE
        ),
        labelled(_difference(found)),
        *_moved("enter", found.enter, rows),
        *_moved("leave", found.leave, rows),
    )


# -- one selection ----------------------------------------------------------------------------------------------------


def _facts(found: Selection) -> Iterator[tuple[str, RenderableType]]:
    yield "on", Text(_on(found))
    yield "rule", Text(one_line(found.proposal.where_text))
    if len(found.params) > 0:
        yield "with", Text(", ".join(f"{plain(n)} = {plain(str(v))}" for n, v in _params(found).items()))
    yield from pattern_lines(tuple(map(pattern_line, found.patterns)))
    if found.caps.exceeded:
        allowed = fmt.count(found.caps.effective)
        yield "caps", Text(f"OVER: at most {allowed} are allowed, a plan could not be approved", style="bold red")
    if found.sums.kept > 0:
        items = [Text(f"{fmt.count(group.count)} {plain(group.reason)}") for group in found.kept]
        yield "kept", Flow([Text.assemble(f"{fmt.count(found.sums.kept)} = ", items[0]), *items[1:]])
    if found.sums.undecided > 0:
        yield "undecided", Text(fmt.count(found.sums.undecided), style="yellow")
    for name in found.incomplete:
        said = f"{plain(name)} was not read to its end: nothing is concluded from what it does not have"
        yield "note", Text(said, style="yellow")
    for note in found.notes:
        yield "note", Text(plain(note), style="yellow")


def _on(found: Selection) -> str:
    document = found.held.document
    if document is None:
        return found.held.origin
    made = f"{found.held.origin}, as of {fmt.moment(document.now)}"
    return f"{made}; its own rule selected {fmt.count(document.sums.candidates)}"


def _params(found: Selection) -> dict[str, Any]:
    types = {param.name: param.type for param in found.workflow.params}
    return {name: to_json(value, types[name]) for name, value in sorted(found.params.items())}


def _rows(rows: Sequence[SelectedRow]) -> RenderableType:
    labels = list(dict.fromkeys(label for row in rows for label in row.shown))
    lines = [
        (
            Text(""),
            Text(fmt.key(row.key, _KEY)),
            [Text(plain(row.shown.get(label, ""), _VALUE)) for label in labels],
            Text(""),
        )
        for row in rows
    ]
    return Rows(("", "object", *(one_line(label) for label in labels), ""), lines)


def _undecided(found: Selection, rows: int | None) -> Iterator[RenderableType | None]:
    if len(found.undecided) == 0:
        return
    shown = found.undecided if rows is None else found.undecided[:rows]
    lines = [
        (Text(""), Text(fmt.key(row.key, _KEY)), (), Text("; ".join(plain(part) for part in row.missing)))
        for row in shown
    ]
    yield BLANK
    yield Rows(("", "undecided", "missing"), lines)
    yield _rest(len(found.undecided), rows)


def _rest(number: int, rows: int | None) -> RenderableType | None:
    if rows is None or number <= rows:
        return None
    return Text(f"  …     {fmt.count(number - rows)} more   --all | --json", style=FAINT)


# -- two selections ---------------------------------------------------------------------------------------------------

_MEANS: Final[dict[Answer, str]] = {
    Answer.SHRINKS: "proven: whatever is read, the edit selects nothing that was not selected before",
    Answer.GROWS: "proven: whatever is read, the edit still selects everything that was selected before",
    Answer.SAME: "proven: whatever is read, both select the same",
    Answer.UNKNOWN: "not proven either way: over another reading objects may enter as well as leave",
}


def _difference(found: Comparison) -> Iterator[tuple[str, RenderableType]]:
    yield "on", Text(_on(found.after))
    yield "the edit", Text(_MEANS[found.edit.answer])
    if found.edit.answer is Answer.UNKNOWN:
        for label, obstacles in (("may grow", found.edit.not_shrinking), ("may shrink", found.edit.not_growing)):
            for number, obstacle in enumerate(obstacles):
                yield label if number == 0 else "", Text(plain(obstacle))
    if found.before.sums.undecided != found.after.sums.undecided:
        yield (
            "undecided",
            Text(f"{fmt.count(found.before.sums.undecided)} -> {fmt.count(found.after.sums.undecided)}"),
        )
    notes = dict.fromkeys((*found.before.notes, *found.after.notes))
    for name in dict.fromkeys((*found.before.incomplete, *found.after.incomplete)):
        yield "note", Text(f"{plain(name)} was not read to its end", style="yellow")
    for note in notes:
        yield "note", Text(plain(note), style="yellow")


def _moved(what: str, moved: Sequence[Moved], rows: int | None) -> Iterator[RenderableType | None]:
    if len(moved) == 0:
        return
    where = "was" if what == "enter" else "is now"
    shown = moved if rows is None else moved[:rows]
    labels = list(dict.fromkeys(label for each in shown for label in each.row.shown))
    lines = [
        (
            Text("+" if what == "enter" else "-"),
            Text(fmt.key(each.row.key, _KEY)),
            [Text(plain(each.row.shown.get(label, ""), _VALUE)) for label in labels],
            Text(f"{where} {each.otherwise}"),
        )
        for each in shown
    ]
    yield BLANK
    yield Rows(("", f"{what}s" if len(moved) == 1 else what, *(one_line(label) for label in labels), ""), lines)
    yield _rest(len(moved), rows)


# -- JSON -------------------------------------------------------------------------------------------------------------


def selection_json(found: Selection) -> dict[str, Any]:
    """Return a selection for programs."""
    return {
        "on": found.held.origin,
        "workflow": found.workflow.name,
        "proposal": found.proposal.name,
        "parameters": _params(found),
        "sums": found.sums.model_dump(mode="json"),
        "caps": found.caps.model_dump(mode="json"),
        "rows": [{"key": list(row.key), "shown": dict(row.shown)} for row in found.rows],
        "undecided": [row.model_dump(mode="json") for row in found.undecided],
        "kept": [group.model_dump(mode="json") for group in found.kept],
        "incomplete": list(found.incomplete),
        "patterns": [each.model_dump(mode="json") for each in found.patterns],
        "notes": list(found.notes),
    }


def comparison_json(found: Comparison) -> dict[str, Any]:
    """Return a comparison for programs."""
    return {
        "answer": found.edit.answer,
        "not_shrinking": list(found.edit.not_shrinking),
        "not_growing": list(found.edit.not_growing),
        "enter": [_moved_json(each) for each in found.enter],
        "leave": [_moved_json(each) for each in found.leave],
        "before": selection_json(found.before),
        "after": selection_json(found.after),
    }


def _moved_json(moved: Moved) -> dict[str, Any]:
    return {"key": list(moved.row.key), "shown": dict(moved.row.shown), "otherwise": moved.otherwise}
