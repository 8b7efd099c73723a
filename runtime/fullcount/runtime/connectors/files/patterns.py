"""Which paths belong to a resource, and which texts can be the path of an object at all. Pure.

Guarantees: a pattern is matched name by name, so that `*` never reaches into another folder; `**` as a whole name
stands for any number of folders. Case counts. A text that could lead out of the root is the path of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

Parts = tuple[str, ...]
States = frozenset[tuple[int, int]]
"""Where in which pattern a path has come to."""

ANY_FOLDERS = "**"


def parts_of(path: str) -> Parts | None:
    """Return the names that a path is made of; None for a text that no listed object can have as its path."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return None
    parts = tuple(path.split("/"))
    return None if any(part in {"", ".", ".."} or "\0" in part for part in parts) else parts


def why_no_pattern(pattern: str) -> str | None:
    """Return what is wrong with a pattern, or None."""
    if parts_of(pattern) is None:
        return "it is no path below the root: no `/` at its ends, no empty name, no `.` and no `..`"
    if any(ANY_FOLDERS in part and part != ANY_FOLDERS for part in pattern.split("/")):
        return "`**` stands for whole folders: write it as a name of its own, as in `logs/**/*.gz`"
    return None


@lru_cache(maxsize=1024)
def _name(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


@dataclass(frozen=True, slots=True)
class Patterns:
    """Several patterns; a path fits if it fits one of them."""

    parts: tuple[Parts, ...]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Patterns:
        """Return the patterns that are written like this."""
        return cls(tuple(tuple(pattern.split("/")) for pattern in patterns))

    @property
    def start(self) -> States:
        """Where the root is."""
        return self._closed((number, 0) for number in range(len(self.parts)))

    def _closed(self, states: Iterable[tuple[int, int]]) -> States:
        found, left = set[tuple[int, int]](), list(states)
        while left:
            number, at = state = left.pop()
            if state not in found:
                found.add(state)
                if at < len(self.parts[number]) and self.parts[number][at] == ANY_FOLDERS:
                    left.append((number, at + 1))  # no folder at all
        return frozenset(found)

    def step(self, states: States, name: str) -> States:
        """Return where a path has come to with one more name."""
        following = []
        for number, at in states:
            pattern = self.parts[number]
            if at == len(pattern):
                continue
            if pattern[at] == ANY_FOLDERS:
                following.append((number, at))
            elif _name(pattern[at]).match(name) is not None:
                following.append((number, at + 1))
        return self._closed(following)

    def ends(self, states: States) -> bool:
        """Whether a path that has come here fits."""
        return any(at == len(self.parts[number]) for number, at in states)

    def leads_on(self, states: States) -> bool:
        """Whether a path that goes on from here may fit."""
        return any(at < len(self.parts[number]) for number, at in states)

    def fit(self, parts: Parts) -> bool:
        """Whether a path fits."""
        return self.ends(self._after(parts))

    def fit_part_of(self, parts: Parts) -> bool:
        """Whether a path fits, or a folder that it leads through."""
        states = self.start
        for name in parts:
            states = self.step(states, name)
            if self.ends(states):
                return True
        return False

    def _after(self, parts: Parts) -> States:
        states = self.start
        for name in parts:
            states = self.step(states, name)
        return states
