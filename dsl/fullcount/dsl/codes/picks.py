"""FC511 to FC519: taking only some of what a rule selects. A part of the hundred of the blast radius."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_LIMIT = "    limit 50, 5%\n"


_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""
_STEPS = """\
  act disable with steps {
    warn: directory.update(id: a.id, locked: false, note: "to be locked")
    lock: directory.update(id: a.id, locked: true) after 14d
    release: directory.update(id: a.id, locked: false, note: "")
  }
"""


def _stepping(clause: str) -> str:
    return tidy((_ACT, _STEPS), (_LIMIT, f"{clause}{_LIMIT}"))


def _picking(clause: str) -> str:
    return tidy((_LIMIT, f"    {clause}\n{_LIMIT}"))


CODES: tuple[Code, ...] = (
    Code(
        id="FC511",
        title="a pick that takes nothing",
        explanation=(
            "`pick` says how many of the selected objects a plan takes. Zero means none, so the proposal would never "
            "propose anything.\n\n"
            "Take at least one, or remove the clause."
        ),
        wrong=_picking("pick oldest 0 by a.created"),
        right=_picking("pick oldest 10 per a.team by a.created"),
    ),
    Code(
        id="FC512",
        title="a sample that is none",
        explanation=(
            "A random pick takes a part of the selected objects, by the digest of a seed and the key, so that a plan "
            "that is made again takes the same ones. All of them are no sample, and without a seed nothing says which "
            "order was meant.\n\n"
            'Take less than 100%, and name a seed: `pick 10% at random seed "2026-q4", at most 15`.'
        ),
        wrong=_picking('pick 100% at random seed "q4"'),
        right=_picking('pick 10% at random seed "q4", at most 15'),
    ),
    Code(
        id="FC513",
        title="a pick of objects that have clocks",
        explanation=(
            "The steps of a graduated act follow each other over many nights, and the clock of an object runs as long "
            "as it qualifies. A `pick` takes an object because of what the others are: it would be passed over one "
            "night and taken the next without having changed, and its clock would stop and start with that.\n\n"
            "Leave the `pick` out. `limit` bounds how many objects one night takes."
        ),
        wrong=_stepping("    pick oldest 10 by a.created\n"),
        right=_stepping(""),
    ),
)
