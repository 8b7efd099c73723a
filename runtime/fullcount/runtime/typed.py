"""Foreign text as an argument of a command that people are told to type.

Guarantees: what is returned is one argument of a shell, whatever the text is, and names exactly what it was made of;
it is never read as an option, and nothing in it can't be seen. Names of objects and files come from elsewhere: no
message may put one into a command but through here.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fullcount.runtime.text import plain


def argument(text: str) -> str:
    """Return a text as one argument; one that can't be seen as it is, as the shell's `$'…'`."""
    if _as_it_is(text):
        return shlex.quote(text)
    inert = "".join(c if c.isascii() and c.isprintable() and c not in "\\'" else _escape(c) for c in text)
    return f"$'{inert}'"


def path_argument(path: str | Path) -> str:
    """Return a file's path as one argument, also where its name looks like an option."""
    text = str(path)
    return argument(f"./{text}" if text.startswith("-") else text)


def object_argument(key: Sequence[Any]) -> str:
    """Return an object's key for `fullcount undo PLAN`: its text, or a JSON list wherever a text could be misread."""
    return shlex.quote(object_text(key))


def object_text(key: Sequence[Any]) -> str:
    """Return an object's key as `object_argument` does, as the program gets it from the shell."""
    if len(key) == 1 and isinstance(key[0], str):
        text = key[0]
        seen = text.strip() != "" and _as_it_is(text) and "\\" not in text
        if seen and not text.startswith("-") and not _means_more(text):
            return text
    return json.dumps(list(key))


def _as_it_is(text: str) -> bool:
    return plain(text) == text


def _means_more(text: str) -> bool:
    """Whether a text is read as JSON: as a list of parts, or as a number as well."""
    try:
        return isinstance(json.loads(text), list | int)
    except ValueError:
        return False


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
