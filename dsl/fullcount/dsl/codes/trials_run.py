"""FC64x and FC66x: sources that are only declared, and tests that are run. Their examples are sessions."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import PLAN, edited, session

_DECLARED = (
    ('connector = "sql"\nurl = "sqlite:///hr.db"', 'connector = "declared"'),
    ('table = "employees"\n', 'consistency = "pinned"\nvisibility = "vouched"\nlookup = ["id"]\n'),
)
_TEST = """\
  test "an account that is nobody's and idle is locked" {
    given accounts [{ id: "a1", entry_uuid: "e1", owner: "p9", last_login: now - 91d, locked: false }] and 3 more {
      entry_uuid: "e2", owner: "p1", last_login: now, locked: false
    }
    given people [{ id: "p1", active: true }]
    expect plan ["a1"]
  }
"""


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
        form=Form.COMMAND,
        wrong=session(PLAN),
        right=session(PLAN),
        files=edited("fullcount.toml"),
        wrong_files=edited("fullcount.toml", *_DECLARED),
    ),
    Code(
        id="FC660",
        title="there is no test to run",
        explanation="""\
None of the files has a `test` block, or none with the name that was asked for. A run of no tests must not pass for one
in which all of them passed.

Write a test into a workflow: `test "what must hold" { given … expect … }`.""",
        form=Form.COMMAND,
        wrong=session("fullcount test accounts.fcw"),
        right=session("fullcount test accounts.fcw"),
        files=edited("accounts.fcw", ("    stop after 1 failure\n  }\n", f"    stop after 1 failure\n  }}\n\n{_TEST}")),
        wrong_files=edited("accounts.fcw"),
    ),
)
