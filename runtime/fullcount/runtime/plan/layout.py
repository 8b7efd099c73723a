"""How lines stand in a terminal: labels in one column, what they say beside them, nothing that breaks when copied.

No box drawing, no markup (foreign text is never parsed for it), colour only as an addition to words and marks.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fullcount.runtime.plan.summary_parts import Tone
from fullcount.runtime.text import lines_of, shorten

WIDTH: Final = 100
STYLES: Final = {Tone.STOP: "bold red", Tone.ASK: "bold yellow", Tone.GO: "bold green", Tone.DONE: "bold"}
FAINT: Final = "dim"
_LABEL: Final = 10
_NOTE: Final = 16
_NARROW: Final = 8
_TABLE_FROM: Final = 80


def verdict_line(word: str, details: Iterable[str], tone: Tone) -> RenderableType:
    """Return the first line; a long detail goes on under itself."""
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(no_wrap=True)
    row.add_column()
    row.add_row(Text(word, style=STYLES[tone]), flow(details))
    return row


def labelled(lines: Iterable[tuple[str, RenderableType]], *, indent: int = 2, width: int = _LABEL) -> RenderableType:
    """Return lines of a label and what it says."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, width=indent - 2 if indent > 2 else 0)
    grid.add_column(no_wrap=True, min_width=width)
    grid.add_column()
    for label, said in lines:
        grid.add_row("", Text(label, style=FAINT), said)
    return grid


@dataclass(frozen=True, slots=True)
class Flow:
    """Items one after the other; a line ends between two items and only breaks one that is longer than a line."""

    items: Sequence[Text]
    between: str = " · "

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        line = Text()
        for number, item in enumerate(self.items):
            last = number == len(self.items) - 1
            whole = Text.assemble(item, "" if last else self.between.rstrip())
            gap = " " if self.between.endswith(" ") else ""
            if line.cell_len > 0 and line.cell_len + len(gap) + whole.cell_len > options.max_width:
                yield line
                line = whole
            else:
                line = Text.assemble(line, gap if line.cell_len > 0 else "", whole)
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


def flow(items: Iterable[str], between: str = " · ") -> Flow:
    """Return plain items as a `Flow`."""
    return Flow([Text(item) for item in items], between)


@dataclass(frozen=True, slots=True)
class Said:
    """Words in which commands stand: a line ends before one or after it, so that it can be copied whole."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in lines_of(self.text, options.max_width):
            yield Text(line, style=self.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


@dataclass(frozen=True, slots=True)
class Rows:
    """A mark, a name, values, and a note. On a narrow terminal the values and the note stand under the name."""

    headings: Sequence[str]
    """Of the mark, the name, each value, and the note."""
    lines: Sequence[tuple[Text, Text, Sequence[Text], Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        widths = self._widths(options.max_width)
        if widths is None:
            yield from self._under_each_other()
        else:
            yield self._table(widths)

    def _widths(self, room: int) -> list[int] | None:
        """Return the width of each column, the widest shortened first; None if there is no room for a table.

        A table that is wider than the terminal would lose its end without a trace, so its width is settled here.
        """
        table = [[mark, name, *values, note] for mark, name, values, note in self.lines]
        widths = [
            max([cell_len(heading), *(row[n].cell_len for row in table)]) for n, heading in enumerate(self.headings)
        ]
        left = room - 2 - 2 * (len(widths) - 1)
        least_note = min(widths[-1], _NOTE)
        while sum(widths[:-1]) + least_note > left:
            widest = max(range(1, len(widths) - 1), key=lambda n: widths[n])
            if widths[widest] <= _NARROW:
                return None
            widths[widest] -= 1
        widths[-1] = min(widths[-1], left - sum(widths[:-1]))
        return widths if room >= _TABLE_FROM else None

    def _table(self, widths: Sequence[int]) -> Table:
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style=FAINT)
        table.add_column(Text(""), width=0)
        for number, (heading, width) in enumerate(zip(self.headings, widths, strict=True)):
            note = number == len(widths) - 1
            table.add_column(Text(heading), no_wrap=not note, overflow="fold" if note else "ellipsis", width=width)
        for mark, name, values, note_text in self.lines:
            cells = [_fit(cell, width) for cell, width in zip([mark, name, *values], widths, strict=False)]
            table.add_row(Text(""), *cells, note_text)
        return table

    def _under_each_other(self) -> Iterator[RenderableType]:
        names = self.headings[2:-1]
        for mark, name, values, note in self.lines:
            yield Text.assemble("  ", mark, " " * (4 - mark.cell_len), name)
            told = [Text.assemble((f"{label}: ", FAINT), value) for label, value in zip(names, values, strict=True)]
            if len(note.plain) > 0:
                told.append(note)
            yield Padding(Flow(told), (0, 0, 0, 6))


def _fit(text: Text, width: int) -> Text:
    """Return the text, its middle cut out until it is no wider: both ends tell names apart."""
    limit = len(text.plain)
    fitted = text
    while fitted.cell_len > width and limit > 1:
        limit -= 1
        fitted = Text(shorten(text.plain, min(limit, width)), style=text.style)
    return fitted


def stacked(*parts: RenderableType | None) -> Group:
    """Return the parts one under the other, without the ones that are None."""
    return Group(*(part for part in parts if part is not None))


BLANK: Final = Text("")


def to_text(renderable: RenderableType, width: int = WIDTH) -> str:
    """Return what a terminal without colours shows, for tickets, logs and tests."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, highlight=False, legacy_windows=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
