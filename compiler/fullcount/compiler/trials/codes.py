"""Codes that a test names: the reasons and warnings of sources, and what a run may be refused for."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from fullcount.compiler.report import error, near
from fullcount.compiler.source_codes import Reason, WarningCode
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics

_Code = TypeVar("_Code", bound=StrEnum)

_REFUSING = ("FC3", "FC4", "FC5", "FC7")
"""The hundreds of codes that a run can be refused for: evidence, approval, blast radius, run time."""


def reason(name: tree.Name, sink: Diagnostics) -> Reason | None:
    """Return the reason of a source that is named, or None with a finding."""
    return _one_of(name, Reason, "reason why an answer is not complete", "reasons", sink)


def warning(name: tree.Name, sink: Diagnostics) -> WarningCode | None:
    """Return the warning of a source that is named, or None with a finding."""
    return _one_of(name, WarningCode, "warning of a source", "warnings", sink)


def refusal(name: tree.Name, sink: Diagnostics) -> str | None:
    """Return the code of a refusal that is named, or None with a finding."""
    from fullcount.dsl.codes import CODES  # only a file with tests pays for the explanations

    known = [*Reason, *WarningCode, *(code for code in CODES if code.startswith(_REFUSING))]
    if name.text in known:
        return name.text
    error(
        sink,
        "FC175",
        f"no run is refused for `{name.text}`",
        name.span,
        why="a test that expects what can't happen fails for the wrong reason, or hides the right one",
        **near(name.text, name.span, known, "codes"),
    )
    return None


def _one_of(name: tree.Name, codes: type[_Code], what: str, plural: str, sink: Diagnostics) -> _Code | None:
    known = {str(code): code for code in codes}
    if name.text in known:
        return known[name.text]
    error(
        sink,
        "FC175",
        f"`{name.text}` is not a {what}",
        name.span,
        **near(name.text, name.span, known, plural),
    )
    return None
