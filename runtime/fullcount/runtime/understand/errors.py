"""Why a question about a stored plan or its snapshots has no answer."""

from __future__ import annotations

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit


class NoAnswerError(FullcountError):
    """The question can't be put to what is stored; nothing is guessed."""

    exit = Exit.USAGE


class ContradictionError(FullcountError):
    """FC914: an explanation came to another verdict than its plan holds."""

    def __init__(self, planned: str, traced: str) -> None:
        super().__init__(
            "FC914",
            f"the plan holds the object as {planned}, but deciding again over its snapshots gives {traced}",
            help="plan again with this version, and ask that plan",
        )
