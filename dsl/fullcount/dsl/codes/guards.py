"""FC521 to FC549: what holds a clean-up back besides its caps. A part of the hundred of the blast radius."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_LIMIT = "    limit 50, 5%\n"


def _keeping(clause: str) -> str:
    return tidy((_LIMIT, f"    {clause}\n{_LIMIT}"))


CODES: tuple[Code, ...] = (
    Code(
        id="FC521",
        title="a floor that keeps nothing",
        explanation=(
            "`keep at least N` says how many objects of each group stay whatever the rule says of them. Zero means "
            "none: the clause reads like a safety and is none.\n\n"
            "Keep at least one, or remove the clause."
        ),
        wrong=_keeping("keep at least 0 per a.team newest by a.created"),
        right=_keeping("keep at least 3 per a.team newest by (a.last_login else a.created)"),
    ),
)
