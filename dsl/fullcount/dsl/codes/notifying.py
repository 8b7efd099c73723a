"""FC130 and FC431 to FC439: who is told of what. Parts of the hundreds of names and of approval."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_HEAD = "workflow tidy_accounts {\n"
_APPROVE = """\
  approve disable { 2 of role "iam-admin" not by author, expires after 3d }

"""
_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""


def _telling(*clauses: str) -> str:
    written = "".join(f"  {clause}\n" for clause in clauses)
    return tidy((_HEAD, f"{_HEAD}{written}\n"))


def _report(clause: str) -> str:
    """Return the workflow without an act, and with a clause."""
    return _telling(clause).replace("\n" + _APPROVE + _ACT, "")


_RIGHT = _telling('notify "ops-mail" on waiting, refused, stopped')

CODES: tuple[Code, ...] = (
    Code(
        id="FC130",
        title="unknown notifier",
        explanation=(
            "`notify` names a notifier of the workspace: `[notify.NAME]` in `fullcount.toml` says by which way, and to "
            "whom. There is none of this name, so nobody would ever be told."
        ),
        wrong=_telling('notify "ops-male" on waiting, refused, stopped'),
        right=_RIGHT,
    ),
    Code(
        id="FC431",
        title="the same event told twice",
        explanation="A notifier is told of each event of a run once, so one of the two means nothing.",
        wrong=_telling('notify "ops-mail" on waiting, refused', 'notify "ops-mail" on refused, stopped'),
        right=_RIGHT,
    ),
    Code(
        id="FC432",
        title="told of an approval that nobody is asked for",
        explanation=(
            "The workflow has no act: its plan is a report and never waits for approval. Whoever waits to be told "
            "would wait for ever. A report is `done` with its plan."
        ),
        wrong=_report('notify "ops-mail" on waiting'),
        right=_report('notify "ops-mail" on done'),
    ),
)
