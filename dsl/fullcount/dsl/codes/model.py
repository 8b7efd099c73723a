"""What every code must say of itself."""

from __future__ import annotations

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    `title` is one lower-case line. `explanation` is a few paragraphs for someone who meets the code at night: what it
    means, why it matters for a clean-up, what to do. `wrong` and `right` are whole `.fcw` files against the example
    catalogue of the tests; both are empty for codes that no text of a workflow can produce (workspace, run time).
    `files` are what the examples may import, as path and text; `wrong_files` stand in their place for `wrong`.
    """

    id: str
    title: str
    explanation: str
    severity: Severity = Severity.ERROR
    wrong: str = ""
    right: str = ""
    files: tuple[tuple[str, str], ...] = ()
    wrong_files: tuple[tuple[str, str], ...] = ()
