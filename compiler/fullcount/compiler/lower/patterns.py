"""Patterns of `matches` and `glob`: one RE2 pattern, used as it stands by both lowerings.

Both match the whole text, in time linear in its length. In `matches`, `.` does not match a line feed unless the pattern
says `(?s)`, which is RE2's own default in both engines; in `glob`, `*` and `?` match any character.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def glob_pattern(glob: str) -> str:
    """Translate a glob to the RE2 pattern that matches the same texts in full."""
    return "(?s)" + "".join(_glob_part(c) for c in glob)


def literal_pattern(text: str) -> str:
    """Return the RE2 pattern that matches this text and no other."""
    return "".join(map(_itself, text))


def _glob_part(character: str) -> str:
    return {"*": ".*", "?": "."}.get(character) or _itself(character)


def _itself(character: str) -> str:
    if character == "\0":
        return r"\x00"
    if character.isascii() and not (character.isalnum() or character == "_"):
        return "\\" + character
    return character


def full_match(pattern: str) -> Callable[[str], bool]:
    """Compile an RE2 pattern to a test for a full match.

    Raises ValueError if RE2 does not accept the pattern.
    """
    compiled = _compiled(pattern)

    def test(text: str) -> bool:
        return compiled.fullmatch(text) is not None

    return test


def found_in(pattern: str) -> Callable[[str], bool]:
    """Compile an RE2 pattern to a test for a match anywhere: for telling how near a text is, never for a rule.

    Raises ValueError if RE2 does not accept the pattern.
    """
    compiled = _compiled(pattern)

    def test(text: str) -> bool:
        return compiled.search(text) is not None

    return test


def in_any_case(pattern: str) -> str | None:
    """Return the pattern that matches the same texts in capitals or not; None if it is too large for the engine."""
    loose = "(?i)" + pattern
    try:
        _compiled(loose)
    except ValueError:
        return None
    return loose


def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"`{pattern}` is not a valid pattern: {error}") from error
