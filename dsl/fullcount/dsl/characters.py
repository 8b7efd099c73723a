"""Characters that make a file read differently from how it looks.

A workflow is reviewed by eye, so what the eye cannot see must not be there: control characters, marks that turn the
direction of the text, characters without width, line breaks that only some editors show. They are errors wherever they
stand, comments included. Words in a text or a comment that mix alphabets which look alike are a warning, and so is a
text that is written in look-alikes of Latin letters throughout. Names have letters of one alphabet anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Severity
from fullcount.dsl.source import Source

MAX_FINDINGS: Final = 20

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_BREAKS = "\u0085\u2028\u2029\u000b\u000c"
_CONTROL = "\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f"

_SURROGATES = "\ud800-\udfff"

_PLAIN: Final = re.compile(r"[\t\n -~]*")
"""What most files consist of; for these the long lists below are never compiled."""

_WHAT: Final = {
    "bidi": "a mark that turns the direction of the text",
    "invisible": "a character that cannot be seen",
    "breaks": "a line break that not every editor shows",
    "control": "a control character",
    "broken": "half of a character",
}
_WHY: Final = {
    "bidi": "the text is read in another order than it is shown, so a review approves something else",
    "invisible": "two names or texts that look the same would not be the same",
    "breaks": "what looks like a line of its own may still belong to the comment before it",
    "control": "the file may show differently on each terminal, so a review approves something else",
    "broken": "the file is not valid text, so it has no one reading",
}
_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"|#[^\n]*')
_IN_DATA: Final = re.compile(r"\t|[\r\n]+")
"""What is usual in a file, and in a name makes one line look like two, or like another."""
_WORD = re.compile(r"\w+")
_LOOKALIKES: Final = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
_LATIN_LOOKS: Final = frozenset("асеорхуіјѕһԁԛԝӏАВЕКМНОРСТХІЈЅҮԌαονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
"""Cyrillic and Greek letters that most type faces draw like a Latin one."""


def is_unseen(char: str) -> bool:
    """Whether a character must be shown as an escape, because eye or terminal would take it for something else."""
    return _unseen().match(char) is not None


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{_BIDI}{_INVISIBLE}{_BREAKS}{_CONTROL}{_SURROGATES}]")


@cache
def _suspect() -> re.Pattern[str]:
    return re.compile(
        f"(?P<bidi>[{_BIDI}]+)|(?P<invisible>[{_INVISIBLE}]+)|(?P<breaks>[{_BREAKS}]+|\r+(?![\r\n]))"
        f"|(?P<control>[{_CONTROL}]+)|(?P<broken>[{_SURROGATES}]+)"
    )


def misleading(text: str) -> str | None:
    """Return what makes a text look like another one, in words; None if nothing does. It is for values of data."""
    found = _suspect().search(text)
    if found is not None:
        return f"{_WHAT[str(found.lastgroup)]} ({_points(found.group())})"
    broken = _IN_DATA.search(text)
    if broken is not None:
        what = "a tab" if broken.group() == "\t" else "a line break"
        return f"{what} ({_points(broken.group())})"
    for word in _WORD.findall(text):
        alphabet = _lookalike(word)
        if alphabet is not None:
            return f"a mixture of Latin letters with {alphabet.capitalize()} ones that look alike"
    return None


def clean(source: Source, diagnostics: Diagnostics) -> str:
    """Report every misleading character and return the text, of the same length, with spaces in their places."""
    text = source.text
    if _PLAIN.fullmatch(text) is not None:
        return text
    if text.startswith("\ufeff"):  # a byte order mark at the very start says nothing and is allowed
        text = " " + text[1:]
    matches = list(_suspect().finditer(text))
    for match in matches[:MAX_FINDINGS]:
        kind = str(match.lastgroup)
        points = _points(match.group())
        diagnostics.add(
            Diagnostic(
                "FC017",
                f"{_WHAT[kind]} ({points})",
                source.span(match.start(), match.end()),
                note="here",
                why=_WHY[kind],
                help="remove it"
                if kind in {"breaks", "broken"}
                else f"remove it; in a text that needs it, write {_escaped(match.group())}",
            )
        )
    if matches:
        text = _suspect().sub(lambda match: " " * len(match.group()), text)
    if not text.isascii():
        _warn_of_mixed_alphabets(source, text, diagnostics)
    return text


def _warn_of_mixed_alphabets(source: Source, text: str, diagnostics: Diagnostics) -> None:
    for start, word, what in islice(_mixed_words(text), MAX_FINDINGS):
        diagnostics.add(
            Diagnostic(
                "FC020",
                f"`{word}` {what}",
                source.span(start, start + len(word)),
                Severity.WARNING,
                why="a text that looks like another but differs from it selects other objects",
                help="type the word again, or keep it if the mixture is meant",
            )
        )


def _mixed_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield what is not the text that it looks like, in texts and comments: offset, word, what is wrong with it."""
    for quoted in _STRING.finditer(text):
        if quoted.group().isascii():
            continue
        for match in _WORD.finditer(quoted.group()):
            alphabet = _lookalike(match.group())
            if alphabet is not None:
                what = f"mixes Latin letters with {alphabet.capitalize()} ones that look alike"
                yield quoted.start() + match.start(), match.group(), what
        letters = [char for char in quoted.group() if char.isalpha()]
        if quoted.group().startswith('"') and len(letters) > 1 and _LATIN_LOOKS.issuperset(letters):
            what = "has no Latin letter, and every one of its letters looks like one"
            yield quoted.start() + 1, quoted.group()[1:-1], what


def _lookalike(word: str) -> str | None:
    if word.isascii():
        return None
    import unicodedata

    alphabets = {unicodedata.name(char, "").split(" ")[0] for char in word if char.isalpha()}
    if "LATIN" not in alphabets:
        return None
    return next((alphabet for alphabet in _LOOKALIKES if alphabet in alphabets), None)


def _points(run: str) -> str:
    shown = ", ".join(f"U+{ord(char):04X}" for char in run[:3])
    return shown if len(run) <= 3 else f"{shown}, …"


def _escaped(run: str) -> str:
    return "`" + "".join(f"\\u{{{ord(char):x}}}" for char in run[:3]) + "`"
