"""From text to tokens, knowing what the parser can take next.

The result is that of a contextual lexer: of the terminals that are accepted, the one with the highest priority that
matches. A word is read once and looked up among the keywords, so that no pattern has to name them all.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Final

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.parse_tree import Token

_WORD: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Terminals:
    """What the grammar says of its terminals. Wherever there are several for a text, the first that is accepted wins.

    `skipped`: the pattern of what stands between tokens. `keywords`: by word, each terminal with the pattern that must
    match as well (None: it is that word wherever it is accepted). `signs`: by first character. `patterns`: the rest,
    each with the characters that it can begin with. `names`: patterns of words that come before any keyword.
    """

    skipped: str
    keywords: Mapping[str, Sequence[tuple[str, str | None]]]
    signs: Mapping[str, Sequence[tuple[str, str]]]
    patterns: Sequence[tuple[str, str, str]]
    names: Sequence[tuple[str, str]]


class Lexer:
    """Reads one token at a time."""

    def __init__(self, terminals: Terminals) -> None:
        self._terminals = terminals
        self._skipped = re.compile(terminals.skipped)
        self._patterns: dict[str, list[tuple[str, str]]] = {}
        for name, pattern, starts in terminals.patterns:
            for char in starts:
                self._patterns.setdefault(char, []).append((name, pattern))
        self._compiled: dict[str, re.Pattern[str]] = {}

    def skip(self, text: str, at: int) -> int:
        """Return the offset of the next token: behind white space and comments."""
        found = self._skipped.match(text, at)
        return at if found is None else found.end()

    def token(self, text: str, at: int, accepted: Container[str] | None) -> Token | None:
        """Return the token that begins at an offset, if it is of an accepted terminal (None: any will do)."""
        word = _WORD.match(text, at)
        if word is not None:
            for name, label in self._terminals.names:
                if (accepted is None or name in accepted) and self._match(label, text, at) == word.group():
                    return Token(name, word.group(), at)
            for name, pattern in self._terminals.keywords.get(word.group(), ()):
                if (accepted is None or name in accepted) and (pattern is None or self._match(pattern, text, at)):
                    return Token(name, word.group(), at)
        else:
            for name, sign in self._terminals.signs.get(text[at], ()):
                if (accepted is None or name in accepted) and text.startswith(sign, at):
                    return Token(name, sign, at)
        for name, pattern in self._patterns.get(text[at], ()):
            if (accepted is None or name in accepted) and (found := self._match(pattern, text, at)) is not None:
                return Token(name, found, at)
        return None

    def _match(self, pattern: str, text: str, at: int) -> str | None:
        compiled = self._compiled.get(pattern)
        if compiled is None:  # most files need few of them
            compiled = self._compiled[pattern] = re.compile(pattern)
        found = compiled.match(text, at)
        return None if found is None else found.group()
