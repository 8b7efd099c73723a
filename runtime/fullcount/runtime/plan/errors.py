"""Why no plan could be built: an error, because no plan is better than one that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.runtime.evidence.refusal import Finding


class PlanError(FullcountError):
    """A plan could not be built."""


class UnborneError(PlanError):
    """The data does not bear out what the rule takes for granted. It is a refusal: `findings` say why, with ways on."""

    exit = Exit.REFUSED_BY_EVIDENCE

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__(findings[0].code, "; ".join(each.message for each in findings), help=findings[0].ways_on[-1])
        self.findings = findings


class SumsError(PlanError):
    """FC910: an object was lost or counted twice between the snapshot and the plan."""

    exit = Exit.INVALID_SUMS

    def __init__(self, message: str) -> None:
        super().__init__("FC910", message, help="collect again; if it comes back, report it with these counts")
