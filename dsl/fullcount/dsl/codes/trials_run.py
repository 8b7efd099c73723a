"""FC64x and FC66x: sources that are only declared, and tests that are run.

No text of a workflow can produce these; they have no `.fcw` examples.
"""

from __future__ import annotations

from fullcount.dsl.codes.model import Code

CODES: tuple[Code, ...] = (
    Code(
        id="FC640",
        title="a source that is only declared",
        explanation="""\
The source has `connector = "declared"`: `fullcount.toml` says which resources, fields and operations it has, and
nothing says how to reach it. That is enough to write, check and test workflows (`check`, `fmt`, `evidence`, `graph`,
`test`), and not enough to read or to act: nothing was contacted.

To run the workflow, configure the source with a connector that speaks to the real system and declares the same
resources; tests and rules stay as they are.""",
    ),
    Code(
        id="FC660",
        title="there is no test to run",
        explanation="""\
None of the files has a `test` block, or none with the name that was asked for. A run of no tests must not pass for one
in which all of them passed.

Write a test into a workflow: `test "what must hold" { given … expect … }`.""",
    ),
)
