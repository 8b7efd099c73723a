"""Did-you-mean, with a threshold: a suggestion that is far away is worse than none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
