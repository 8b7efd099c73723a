"""What every code must say of itself."""

from __future__ import annotations

from enum import StrEnum

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Severity


class Form(StrEnum):
    """What the examples of a code are."""

    WORKFLOW = "workflow"
    """A file that `fullcount check` has this finding about."""
    TEST = "test"
    """A workflow whose test is refused with this code; its counterpart is not."""
    SETTINGS = "fullcount.toml"
    """A workspace that can't be used; `files` stand beside it."""
    COMMAND = "session"
    """Lines of a terminal, `$ fullcount …`, in the workspace of `codes.terminal`; `files` take the place of its own."""


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    `title` is one lower-case line. `explanation` is a few paragraphs for someone who meets the code at night: what it
    means, why it matters for a clean-up, what to do. `wrong` and `right` are whole files of the `form`, workflows
    against the example catalogue of the tests; both are empty for what no text brings about (an event of a run).
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
    form: Form = Form.WORKFLOW
