"""What key somebody means who typed it: as it is, as a JSON list of its parts, or just as a screen showed it.

Guarantees: a text that could be several of the objects in question is refused (FC681) with arguments that name each in
another way; one that can be one of them alone is that one. A key that was shortened for a screen is taken for the one
object that it can be. Looks at nothing: whoever asks says what is there.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator
from itertools import combinations, islice, product
from typing import Any, Final, TypeVar

from fullcount.runtime import format as fmt
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.plan.digest import CanonicalError
from fullcount.runtime.text import ELLIPSIS, plain
from fullcount.runtime.typed import object_argument
from fullcount.runtime.understand.errors import NoAnswerError

Parts = tuple[Any, ...]
K = TypeVar("K", bound=Parts)

_BETWEEN: Final = " / "
_MOST: Final = 256
"""Readings of one text at most: one with more separators than that has is to be written as a list."""
_NAMED: Final = 3
_ESCAPE: Final = re.compile(r"\\(?:(\\)|([nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_SHORT: Final = {"n": "\n", "r": "\r", "t": "\t"}
_BOOLS: Final = {"True": True, "False": False}


def readings(text: str, parts: int | None = None) -> tuple[Parts, ...]:
    """Return the keys of so many parts (None: of any number) that a text may stand for, the plainest first."""
    found: dict[str, Parts] = {}
    for key in islice(_readings(text), _MOST):
        written = _written(key)
        if written is not None and parts in (None, len(key)):
            found.setdefault(written, key)  # by what is written: `1 == True`, and the two are not one key
    return tuple(found.values())


def _readings(text: str) -> Iterator[Parts]:
    yield (text,)
    yield from _as_list(text)
    shown = _unescaped(text)
    if shown is None:
        return
    pieces = shown.split(_BETWEEN)
    for cuts in range(len(pieces)):
        for at in combinations(range(1, len(pieces)), cuts):
            ends = (0, *at, len(pieces))
            texts = [_BETWEEN.join(pieces[ends[n] : ends[n + 1]]) for n in range(len(ends) - 1)]
            yield from product(*map(_values, texts))


def _as_list(text: str) -> tuple[Parts, ...]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(value, list) or len(value) == 0 or not all(isinstance(part, str | int) for part in value):
        return ()
    return (tuple(value),)


def _values(text: str) -> tuple[Any, ...]:
    """Return what a part of a shown key may be: a text, or a number or a truth value that shows as it."""
    if text in _BOOLS:
        return text, _BOOLS[text]
    if re.fullmatch(r"-?[0-9]{1,40}", text, re.ASCII) and str(int(text)) == text:
        return text, int(text)
    return (text,)


def _written(key: Parts) -> str | None:
    """Return how the record writes a key; None: it can be the key of nothing, as one of broken characters."""
    try:
        return canonical_text(list(key))
    except (CanonicalError, UnicodeError):
        return None


def _unescaped(text: str) -> str | None:
    """Return what shows as this text; None: nothing does."""
    try:
        found = _ESCAPE.sub(_character, text)
    except (ValueError, OverflowError):
        return None
    return found if fmt.key((found,)) == text else None


def _character(escape: re.Match[str]) -> str:
    backslash, short, *points = escape.groups()
    if backslash is not None:
        return "\\"
    return _SHORT[short] if short is not None else chr(int(next(each for each in points if each is not None), 16))


def meant(text: str, there: Collection[K]) -> K | None:
    """Return which of the objects that a text could be it is, by their keys; None if there are none.

    Raises `NoAnswerError` FC681 where it could be several.
    """
    among = list(dict.fromkeys(there))
    if len(among) > 1:
        named = " or ".join(_otherwise(key, text) for key in among[:_NAMED])
        raise NoAnswerError(
            "FC681", f"`{plain(text, 60)}` could be {fmt.count(len(among))} objects", help=f"name one of them: {named}"
        )
    return among[0] if len(among) == 1 else None


def _otherwise(key: Parts, text: str) -> str:
    """Return an argument that names a key in another way than this text."""
    if key in _as_list(text):
        # with a blank more it is the same list, and no longer what the other object looks like
        return shlex.quote(f"[ {text.lstrip()[1:]}")
    return object_argument(key)


def shortened(text: str, keys: Collection[K]) -> list[K]:
    """Return those of the keys that show as this text when their middle is cut out."""
    if ELLIPSIS not in text:
        return []
    return [key for key in keys if len(fmt.key(key)) > len(text) and fmt.key(key, len(text)) == text]
