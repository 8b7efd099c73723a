"""Lines for a screen without a terminal library: wrapped at the width of a report, harmless whatever is in them."""

from __future__ import annotations

import textwrap

WIDTH = 100
"""Columns of a report: what fits a ticket and a terminal beside a log."""


def wrapped(lead: str, text: str, width: int = WIDTH) -> str:
    """Return `lead` and the text after it, further lines indented below the text. A long word (a path) stays whole."""
    lines = textwrap.wrap(text, width - len(lead), break_long_words=False, break_on_hyphens=False) or [""]
    return f"\n{' ' * len(lead)}".join([f"{lead}{lines[0]}".rstrip(), *lines[1:]])


def paragraphs(text: str, width: int = WIDTH) -> str:
    """Return running text wrapped anew; indented lines (examples) stay as they are."""
    shown: list[str] = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        shown.append(block if any(line.startswith(" ") for line in lines) else wrapped("", " ".join(lines), width))
    return "\n\n".join(shown)


def count(number: int, noun: str) -> str:
    """Return `1 file` or `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
