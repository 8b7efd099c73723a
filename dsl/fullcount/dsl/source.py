"""Where text stands: sources and spans.

A span is a pair of offsets; line and column are worked out only when a person is shown something.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range `[start, end)` of code-point offsets in the source called `source`."""

    source: str
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of `other` (same source)."""
        return Span(self.source, self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Source:
    """One file's text. `name` is what people are shown: the path as it was given."""

    name: str
    text: str
    _line_starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "_line_starts", starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based (line, column) of an offset; columns count code points."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of the 1-based line `number`, without its line end; empty past the last line."""
        if not 1 <= number <= len(self._line_starts):
            return ""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def span(self, start: int, end: int) -> Span:
        """Return a span in this source."""
        return Span(self.name, start, end)

    def slice(self, span: Span) -> str:
        """Return the text that a span covers."""
        return self.text[span.start : span.end]
