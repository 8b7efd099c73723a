"""How the wrong example of a code becomes the right one, as lines of a difference: for the page and for `explain`.

Both examples are whole files, or whole sessions; only what differs says what the code is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff

from fullcount.dsl.codes import terminal
from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.render import visible

_WHOLE = 1_000
"""So many lines of context that a session is always shown whole."""


def change(code: Code) -> list[str]:
    """Return the lines: of the example itself, then of each file beside it that changes with it.

    A session or a test is nothing without its files, so those that it has in both cases come first, as far as they
    differ from the workspace that all sessions have.
    """
    if code.form is not Form.COMMAND:
        given = _given(code) if code.form is Form.TEST else []
        return [*given, *_difference(code.wrong.split("\n"), code.right.split("\n")), *_files(code)]
    return [*_given(code), *_session(code), *_files(code)]


def setting(code: Code) -> str:
    """Return where a session takes place, and what those of its words stand for that a reader has to fill in."""
    words = set(re.findall(r"\b[A-Z]+\b", code.wrong + code.right))
    said = [f"`{word}` is {means}" for word, means in terminal.MEANT.items() if word in words]
    return "; ".join(["This is a workspace with the workflow `accounts.fcw`", *said]) + "."


def _session(code: Code) -> list[str]:
    wrong, right = code.wrong.splitlines(), code.right.splitlines()
    return [f" {line}" for line in wrong] if wrong == right else _difference(wrong, right, _WHOLE)


def _difference(wrong: Sequence[str], right: Sequence[str], context: int = 2) -> list[str]:
    lines = [visible(line) for line in unified_diff(wrong, right, n=context, lineterm="")]
    return ["…" if line.startswith("@@") else line for line in lines[2:]][1:]


def _files(code: Code) -> list[str]:
    if len(code.wrong_files) == 0:
        return []
    wrong, right = dict(code.wrong_files), dict(code.files)
    lines: list[str] = []
    for path in (*wrong, *(path for path in right if path not in wrong)):
        old, new = wrong.get(path, "").split("\n"), right.get(path, "").split("\n")
        if old != new:
            lines += [f"# {path}", *_difference(old if path in wrong else [], new if path in right else [])]
    return lines


def _given(code: Code) -> list[str]:
    lines: list[str] = []
    for path, text in code.files:
        if dict(code.wrong_files or code.files).get(path) == text:
            usual = terminal.FILES.get(path, "").splitlines()
            lines += [f"# {path}", *(f" {visible(line)}" for line in text.splitlines() if line not in usual)]
    return [*lines, f"# {code.form}"] if len(lines) > 0 else []
