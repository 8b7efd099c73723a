"""Text that came from somewhere else, made harmless for a screen, a page or a ticket.

`plain` is the one function that every renderer passes foreign text through (names, values, messages of sources). What
it returns is one line that shows what is there and can do nothing: no terminal escape, no direction override, nothing
invisible, no pile of accents. It never drops a character without a trace, and never decides what a value *is*.
`escaped` is the same for a value by itself, told apart from one in which the escape is written out.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import Final

WIDTH: Final = 100
"""Columns of a report: what fits a ticket and a terminal beside a log."""
ELLIPSIS: Final = "…"
_INERT: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, invisible formatting (direction overrides, zero width, tags), surrogates, private and unassigned."""
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")
"""Letters and marks that show as nothing, and so can make two names look the same. Variation selectors are too."""
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKS_IN_A_ROW: Final = 2
_FORMULA: Final = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What begins a formula in a spreadsheet, in full width as well."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)


def plain(text: str, limit: int | None = None) -> str:
    """Return foreign text as one harmless line, shortened in the middle to at most `limit` characters."""
    if text.isascii() and text.isprintable():
        return shorten(text, limit)
    shown: list[str] = []
    marks = 0
    # What is far beyond any limit is cut first, so that a megabyte of a name costs no more than a line of it.
    source = text if limit is None or len(text) <= 4 * limit else text[: 2 * limit] + ELLIPSIS + text[-2 * limit :]
    for character in source:
        if character in _SHORT:
            shown.append(_SHORT[character])
            continue
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if _inert(character, category) or marks > _MARKS_IN_A_ROW or (marks == 1 and len(shown) == 0):
            shown.append(_escape(character))
        else:
            shown.append(character)
    return shorten("".join(shown), limit)


def escaped(text: str, limit: int | None = None) -> str:
    """Return a foreign value as `plain` does, with each of its own backslashes doubled: two values never look the same.

    For values where they enter a sentence or a cell, once; what is made of them passes through `plain` unchanged.
    """
    return plain(text.replace("\\", "\\\\"), limit)


def shown_bytes(data: bytes) -> str:
    """Return bytes that are no text as what they are: text as far as it is, the rest as `\\xff`."""
    return data.decode("utf-8", "backslashreplace")


def shorten(text: str, limit: int | None) -> str:
    """Return the text with its middle cut out if it is longer than `limit` characters: both ends tell names apart."""
    if limit is None or len(text) <= limit:
        return text
    room = max(0, limit - 1)
    tail = room // 2
    return text[: room - tail] + ELLIPSIS + (text[-tail:] if tail > 0 else "")


_COMMAND: Final = re.compile(r"fullcount [a-z](?:(?!;|, |   | \(|[`)]).)*")
_HELD: Final = "\ue000"
"""Stands for a space at which no line ends; `plain` lets none through."""


def lines_of(text: str, width: int) -> list[str]:
    """Return the text in lines. A long word (a path) and a command that may be copied stay whole."""
    held = _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), text)
    lines = textwrap.wrap(held, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace(_HELD, " ") for line in lines]


def wrapped(lead: str, text: str, width: int = WIDTH) -> str:
    """Return `lead` and the text after it, further lines indented below the text; see `lines_of`."""
    lines = lines_of(text, width - len(lead))
    return f"\n{' ' * len(lead)}".join([f"{lead}{lines[0]}".rstrip(), *lines[1:]])


def formula_safe(text: str) -> str:
    """Return harmless text that a spreadsheet takes for text: what would begin a formula gets a `'` before it.

    A number stays a number.
    """
    if text[:1] in _FORMULA and _NUMBER.fullmatch(text) is None:
        return f"'{text}"
    return text


def one_line(text: str) -> str:
    """Return text of several lines (a rule as written) as one, runs of white space as one space; then `plain`."""
    return plain(" ".join(text.split()))


def _inert(character: str, category: str) -> bool:
    if category in _INERT or character in _BLANK_LETTERS:
        return True
    variation = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return variation or (category == "Zs" and character != " ")


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
