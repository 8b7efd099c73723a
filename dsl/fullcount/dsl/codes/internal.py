"""FC9xx: mistakes of Fullcount itself."""

from __future__ import annotations

from fullcount.dsl.codes import internal_plan
from fullcount.dsl.codes.model import Code

CODES: tuple[Code, ...] = (
    Code(
        "FC901",
        "Fullcount made a mistake",
        """\
Something happened that Fullcount believed to be impossible. It stopped where it was: nothing was approved or acted on
because of it, and what had been done before is in the journal.

This is a mistake of the program, not of the workflow. Report it with the text of the error, the version, and the
smallest workflow that shows it; leave out what is confidential.""",
    ),
    Code(
        "FC920",
        "the formatter would have changed what a file says",
        """\
After laying a file out, the formatter parses its own text and compares: the same tree, the same comments in the same
order, and the same text when it is laid out once more. Here one of these did not hold, so the file was left as it was.

This is a mistake of Fullcount, not of the file. Report it with the smallest file that shows it.""",
    ),
    *internal_plan.CODES,
)
