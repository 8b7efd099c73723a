"""Between offsets in a text and places on a screen, as the protocol counts them.

A line ends in `\\n`, `\\r\\n` or `\\r`, whatever else a text holds. Within a line the editor counts in the units that
it agreed on with the server: bytes of UTF-8, units of UTF-16 (where 😀 counts two), or code points.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Final

_LINE_END: Final = re.compile(r"\r\n|\n|\r")

UNITS: Final[dict[str, Callable[[str], int]]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text) + sum(char > "\uffff" for char in text),
    "utf-32": len,
}
"""How long a text is, by the name of an encoding in the protocol."""


class Positions:
    """The lines of one text, counted in one encoding."""

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._units = UNITS[encoding]
        ends = [(match.start(), match.end()) for match in _LINE_END.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        self._ends = [*(start for start, _ in ends), len(text)]

    def of(self, offset: int) -> tuple[int, int]:
        """Return the line and the unit in it, from 0, of an offset; inside a line end it is the end of the line."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return line, self._units(self._text[start : min(offset, self._ends[line])])

    def offset(self, line: int, unit: int) -> int:
        """Return the offset of a place; past the end of a line it is that end, past the last line the end of the text.

        A place inside a character is the character's start.
        """
        if line >= len(self._starts):
            return len(self._text)
        at, counted = self._starts[line], 0
        while at < self._ends[line]:
            counted += self._units(self._text[at])
            if counted > unit:
                break
            at += 1
        return at
