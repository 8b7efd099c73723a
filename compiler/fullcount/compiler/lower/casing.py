"""`lower` and `upper`: each code point by itself, equal to what DuckDB answers for the same text.

DuckDB maps a code point to exactly one other. Python's own mapping does the same except for the code points below,
whose full mapping is longer; the tables hold DuckDB's answer for them, and a test compares all code points. A code
point that is in no table, and whose mapping in Python is longer than one, stays as it is.
"""

from __future__ import annotations

LOWER_EXCEPTIONS = {"\u0130": "i"}

UPPER_EXCEPTIONS = {
    "\u00df": "\u1e9e",
    "\u1fb3": "\u1fbc",
    "\u1fc3": "\u1fcc",
    "\u1ff3": "\u1ffc",
    **{chr(small): chr(small + 8) for start in (0x1F80, 0x1F90, 0x1FA0) for small in range(start, start + 8)},
}


def lower(text: str) -> str:
    """Return the text with each code point in lower case."""
    if text.isascii():
        return text.lower()
    return "".join(_one(c, c.lower(), LOWER_EXCEPTIONS) for c in text)


def upper(text: str) -> str:
    """Return the text with each code point in upper case."""
    if text.isascii():
        return text.upper()
    return "".join(_one(c, c.upper(), UPPER_EXCEPTIONS) for c in text)


def _one(original: str, mapped: str, exceptions: dict[str, str]) -> str:
    exception = exceptions.get(original)
    if exception is not None:
        return exception
    return mapped if len(mapped) == 1 else original
