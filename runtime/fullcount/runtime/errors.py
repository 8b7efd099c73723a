"""Errors that a person can do something about: what was found, and what to do; never a bare exception text.

Every such error of the run time derives from `FullcountError`, so that the outermost layers need one handler and can
let everything else be the bug that it is.
"""

from __future__ import annotations

from fullcount.runtime.exit_codes import Exit


class FullcountError(Exception):
    """`code` is a key of the FC registry; `message` says what and where; `help` what to do."""

    exit: Exit = Exit.ERROR

    def __init__(self, code: str, message: str, *, help: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
