"""FC09x: warnings that a comment allows."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, tidy
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_INVENTORY = "  inventory accounts from"
_UNUSED = "  param idle: duration = 90d\n\n"
_ALLOWED = tidy((_INVENTORY, "  # allow FC123: because the rule of May will use it\n" + _UNUSED + _INVENTORY))

CODES: tuple[Code, ...] = (
    Code(
        id="FC091",
        title="a warning is allowed without a code or a reason",
        explanation="""\
A warning can be allowed by a comment on the line before it or at the end of its line:

    # allow FC123: because the rule of May will use it

The code says which warning, the reason says how long it makes sense. A comment that begins like one and has neither
is an error, because its author believes that something is in force which is not. Several codes are separated by
commas.""",
        wrong=tidy((_INVENTORY, "  # allow FC123\n" + _INVENTORY)),
        right=_ALLOWED,
    ),
    Code(
        id="FC092",
        title="something is allowed that cannot be",
        explanation="""\
Only warnings can be allowed. An error says that the workflow could act on objects without the evidence, the approval or
the limits that it needs, and no comment makes up for that. A code that does not exist cannot be allowed either: look
for a slip of the keys.""",
        wrong=tidy((_INVENTORY, "  # allow FC301: because it is urgent\n" + _INVENTORY)),
        right=TIDY,
    ),
    Code(
        id="FC093",
        title="a warning is allowed that is not there",
        explanation="""\
The comment allows a warning on a line that has none of this kind, so the reason that it gives is about something that
was mended or moved. Left standing, it would hide the next warning of the kind, for a reason that nobody gave for it.
`fullcount check --fix` removes it.""",
        severity=Severity.WARNING,
        wrong=tidy((_INVENTORY, "  # allow FC123: because the rule of May will use it\n" + _INVENTORY)),
        right=_ALLOWED,
    ),
)
