"""FC511 to FC519: taking only some of what a rule selects. A part of the hundred of the blast radius."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_LIMIT = "    limit 50, 5%\n"


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
)
