"""Did-you-mean, with a threshold: a suggestion that is far away is worse than none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fullcount.dsl.diagnostics import Edit, Fix
from fullcount.dsl.source import Span

#: How alike two words must be (difflib's ratio). `adn` and `and` are at 0.67, `keep` and `key` at 0.57.
THRESHOLD: Final = 0.66


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most like `word`, or None if none is like it."""
    import difflib  # only a failed run pays for it

    # a word that is much longer is another word: `notify` is no misspelt `not`
    known = sorted({each for each in candidates if abs(len(each) - len(word)) <= max(1, len(each) // 3)})
    lowered = {candidate.lower(): candidate for candidate in reversed(known)}
    found = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=THRESHOLD)
    return lowered[found[0]] if found else None


def rename(span: Span, wrong: str, right: str, known: Iterable[str]) -> Fix:
    """Return the fix that writes `right` over a place; safe if it can only have been a slip of the keys."""
    slips = {each for each in known if is_slip(wrong, each)}
    return Fix(f"write `{right}` instead of `{wrong}`", (Edit(span, right),), safe=slips == {right})


def is_slip(wrong: str, right: str) -> bool:
    """Whether two words differ by one letter: missing, too much, another one, or two that changed places.

    Digits and very short words do not count: `volume1` is no slip of `volume2`.
    """
    if wrong == right or min(len(wrong), len(right)) < 3:
        return False
    start = 0
    while start < min(len(wrong), len(right)) and wrong[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(wrong), len(right)) - start and wrong[-1 - end] == right[-1 - end]:
        end += 1
    one, other = wrong[start : len(wrong) - end], right[start : len(right) - end]
    if any(char.isdigit() for char in one + other):
        return False
    return (len(one) <= 1 and len(other) <= 1) or (len(one) == 2 and one == other[::-1])
