"""Lines for a screen without a terminal library: wrapped at the width of a report, harmless whatever is in them."""

from __future__ import annotations

from fullcount.runtime.text import WIDTH, wrapped

__all__ = ["WIDTH", "paragraphs", "wrapped"]


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
