"""Findings as text for people. Pure, without a terminal library; the forms for tools are in `output/`.

User text is shown, never obeyed: control characters, terminal escapes and marks that turn the direction of the text
come out escaped, in source lines as in messages. Carets stand under what they mean, also beside tabs, wide characters
and accents.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fullcount.dsl.characters import is_unseen
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostic, Severity
from fullcount.dsl.source import Source, Span

#: Columns of source text that are shown; a longer line is cut around the place.
WIDTH: Final = 92
_TAB: Final = 4

_RESET = "\x1b[0m"
_STYLES: Final = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "strong": "\x1b[1m",
    "quiet": "\x1b[34m",
    "label": "\x1b[36m",
}


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, color: bool) -> str:
    """Return the findings as text, each with its source lines, closed by their number; empty if there are none.

    `sources` are keyed by `Source.name`; a finding whose source is not among them is shown without lines.
    """
    found = list(diagnostics)
    if not found:
        return ""
    pen = _Pen(color)
    blocks = [_Finding(item, sources, pen).text() for item in found]
    return "\n\n".join([*blocks, summary(found)]) + "\n"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the closing line: `2 errors, 1 warning`."""
    found = list(diagnostics)
    counts = [(sum(item.severity is severity for item in found), str(severity)) for severity in Severity]
    return ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in counts if count > 0)


# ---------------------------------------------------------------------------------------------- user text


def visible(text: str) -> str:
    """Return user text with everything that a terminal would act on, or an eye would miss, shown as an escape."""
    return text if text.isascii() and text.isprintable() else "".join(_shown(char)[0] for char in text)


def _shown(char: str) -> tuple[str, int]:
    """Return how a character is shown, and in how many columns."""
    if " " <= char <= "~":
        return char, 1
    category = unicodedata.category(char)
    if char == "\n":
        return "\\n", 2
    if category in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or is_unseen(char):
        escape = f"\\u{{{ord(char):x}}}"
        return escape, len(escape)
    if category in {"Mn", "Me"}:
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cells(line: str) -> list[tuple[str, int]]:
    cells: list[tuple[str, int]] = []
    column = 0
    for char in line:
        if char == "\t":
            step = _TAB - column % _TAB
            cell = (" " * step, step)
        else:
            cell = _shown(char)
        cells.append(cell)
        column += cell[1]
    return cells


# ---------------------------------------------------------------------------------------------- layout


@dataclass(frozen=True, slots=True)
class _Pen:
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.color and text else text


@dataclass(frozen=True, slots=True)
class _Mark:
    """One underlined place: its line, the code points `[first, last)` in that line, and the words beside it."""

    source: Source
    line: int
    first: int
    last: int
    sign: str
    style: str
    text: str


class _Finding:
    """Lays out one finding."""

    def __init__(self, item: Diagnostic, sources: Mapping[str, Source], pen: _Pen) -> None:
        self._item = item
        self._pen = pen
        self._source = sources.get(item.span.source)
        places = [(item.span, "^", str(item.severity), item.note)]
        places += [(label.span, "-", "label", label.text) for label in item.labels]
        self._marks = [
            _mark(source, span, sign, style, text)
            for span, sign, style, text in places
            if (source := sources.get(span.source)) is not None
        ]
        self._gutter = max([2, *(len(str(mark.line)) for mark in self._marks)])

    def text(self) -> str:
        item, pen = self._item, self._pen
        head = pen(str(item.severity), f"{item.severity}[{item.code}]") + pen("strong", f": {visible(item.message)}")
        lines = [head, f"  {self._location()}", *self._snippets()]
        edge = pen("quiet", f"{' ' * self._gutter} =")
        for word, words in (("why", item.why), ("help", item.help), ("more", f"fullcount explain {item.code}")):
            if words:
                lines.append(f"{edge} {pen('strong', word + ':')} {visible(words)}")
        return "\n".join(lines)

    def _location(self) -> str:
        if self._source is None:
            return visible(self._item.span.source)
        line, column = self._source.position(min(self._item.span.start, len(self._source.text)))
        return f"{visible(self._source.name)}:{line}:{column}"

    def _snippets(self) -> list[str]:
        lines: list[str] = []
        shown: list[tuple[str, int]] = []
        for mark in self._marks:
            place = (mark.source.name, mark.line)
            if place in shown:
                continue
            together = [other for other in self._marks if (other.source.name, other.line) == place]
            if shown and shown[-1][0] != mark.source.name:
                lines += [f"  {visible(mark.source.name)}:{mark.line}:{mark.first + 1}"]
            lines += [self._edge(""), *self._line(together)]
            shown.append(place)
        return lines

    def _line(self, marks: Sequence[_Mark]) -> list[str]:
        """Return one source line with its underlines."""
        whole = marks[0].source.line(marks[0].line)
        # only what can be shown is laid out: a line may be as long as the file
        skipped = max(0, marks[0].first - WIDTH)
        cells = _cells(whole[skipped : marks[0].first + 2 * WIDTH])
        start, stop = _window(cells, marks[0].first - skipped)
        before = "…" if skipped + start > 0 else ""
        after = "…" if skipped + stop < len(whole) else ""
        text = before + "".join(cell for cell, _ in cells[start:stop]) + after
        number = self._pen("quiet", f"{marks[0].line:>{self._gutter}} |")
        lines = [f"{number} {text}".rstrip()]
        for mark in marks:
            first, last = max(mark.first - skipped, start), min(mark.last - skipped, stop)
            if first > stop or last < start:
                continue
            indent = len(before) + sum(width for _, width in cells[start:first])
            length = max(1, sum(width for _, width in cells[first:last]))
            drawn = self._pen(mark.style, f"{mark.sign * length} {visible(mark.text)}".rstrip())
            lines.append(self._edge(f"{' ' * indent}{drawn}"))
        return lines

    def _edge(self, text: str) -> str:
        return f"{self._pen('quiet', ' ' * self._gutter + ' |')} {text}".rstrip()


def _mark(source: Source, span: Span, sign: str, style: str, text: str) -> _Mark:
    start = min(span.start, len(source.text))
    line, column = source.position(start)
    length = len(source.line(line))
    first = min(column - 1, length)
    # a place that goes on over several lines is underlined to the end of its first
    return _Mark(source, line, first, max(first, min(first + max(span.end - start, 0), length)), sign, style, text)


def _window(cells: Sequence[tuple[str, int]], mark: int) -> tuple[int, int]:
    """Return the part of a line to show: all of it, or about `WIDTH` columns that begin a little before the mark."""
    if sum(width for _, width in cells) <= WIDTH:
        return 0, len(cells)
    start, room = min(mark, len(cells)), WIDTH // 3
    while start > 0 and room >= cells[start - 1][1]:
        start -= 1
        room -= cells[start][1]
    stop, room = start, WIDTH
    while stop < len(cells) and room >= cells[stop][1]:
        room -= cells[stop][1]
        stop += 1
    return start, stop
