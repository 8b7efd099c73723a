"""The refusal: a first-class outcome, "not licensed by the evidence", with codes and ways on. It is not an error."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field

from fullcount.runtime.evidence.envelope import Wire

UNDOING: Final = "undo"
"""The stage of refusals of a planned undo."""


class Ground(StrEnum):
    """What kind of rule said no; decides the exit code."""

    EVIDENCE = "evidence"
    POLICY = "policy"
    STALE = "stale"


class Need(Wire):
    """A use that needed what was missing: where it stands and which claims it asked for."""

    stage: str
    place: str
    """`orphans.fcw:27:31`"""
    claims: tuple[str, ...]


class Finding(Wire):
    """One thing that was missing or in the way.

    `code` is a reason or warning code of a source (`RESULT_LIMIT_REACHED`) or an FC7xx code of the run time.
    """

    code: str
    message: str
    inventory: str | None = None
    detail: str = ""
    needed_by: tuple[Need, ...] = ()
    ways_on: tuple[str, ...] = ()


class Refusal(Wire):
    """Why a stage did not start. `prevented` says, as counts only, what a believed answer would have led to."""

    stage: str
    ground: Ground
    findings: tuple[Finding, ...] = Field(min_length=1)
    prevented: Prevented | None = None


class Prevented(Wire):
    """What would have happened had the evidence been believed: counts, never objects."""

    selected: int
    population: int
