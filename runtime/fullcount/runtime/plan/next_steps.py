"""What a person does next about an apply that did not come to its end: by its cause, as commands.

Whoever reads this was woken by it. So each cause says whether the same plan goes on, with the command to type, or
whether the rest is planned anew; and that what is done is not done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fullcount.runtime import format as fmt
from fullcount.runtime.evidence.refusal import Finding

PLAN_ANEW: Final = frozenset(
    {
        "FC708", "FC710", "FC711", "FC712", "FC756", "FC757", "FC758", "FC759", "FC761", "FC764",
        "FC772", "FC801",
    }
)  # fmt: skip
"""Causes that stay: the same plan can't be gone on with, or what is to be done about them is another plan."""

INVALID: Final = "FC741"
"""Sums that do not hold: nothing is to be done with the plan at all before somebody has looked."""

_SAID_BY_GOING_ON: Final = frozenset({"FC765"})
"""Causes whose own way on is to go on."""


def next_steps(
    plan_id: str,
    *,
    stopped_by: Finding | None,
    not_started: int,
    unknown: int,
    left_alone: int,
    planned: int,
    resumes: str | None = None,
    lost: int = 0,
    undoes: str | None = None,
    untold: int = 0,
) -> tuple[str, ...]:
    """Return what to do, in order; nothing when there is nothing left to do.

    `undoes`: the plan that is taken back, where it is an undo; `left_alone`: how many were refused or failed, for good
    as far as this plan goes;
    `resumes`: from when on a run that is only paused can be gone on with; `lost`: of those not started, how many can't
    be restored because their backups are not where they were put; `untold`: objects of which an undo could not tell
    whether they can be taken back, so that it does not list them.
    """
    if stopped_by is not None and stopped_by.code == INVALID:
        return stopped_by.ways_on
    if resumes is not None:
        going_on = _goes_on(not_started, unknown, planned)
        return (f"{resumes} {going_on}; `fullcount serve` does so by itself   fullcount apply {plan_id}",)
    steps: list[str] = []
    stays = stopped_by is not None and stopped_by.code in PLAN_ANEW
    if stays and unknown > 0:
        told = "is 1 unknown, which" if unknown == 1 else f"are {fmt.count(unknown)} unknown, which"
        steps.append(
            f"there {told} the same plan finds out by reading, before anything else   fullcount apply {plan_id}"
        )
    if stopped_by is not None and stopped_by.code not in _SAID_BY_GOING_ON:
        steps += [way.replace("PLAN`", f"{plan_id}`") for way in stopped_by.ways_on]
    if lost > 0:
        said = fmt.counted(lost, "object")
        steps.append(
            f"the backups of {said} are gone or changed, the rows say which: put the folder of backups back as it was"
        )
    if stopped_by is None and not_started > lost:
        silent = fmt.counted(not_started - lost, "object")
        steps.append(f"the sources gave no answer about {silent}: see that they do")
    if not stays and not_started + unknown > 0:
        then = "then " if len(steps) > 0 else ""
        steps.append(f"{then}{_goes_on(not_started, unknown, planned)}   fullcount apply {plan_id}")
    elif stopped_by is None and left_alone > 0 and undoes is None:
        steps.append("look into why, and plan again: what is still due will be in the new plan   fullcount plan FILE")
    if untold > 0:
        said = fmt.counted(untold, "object")
        steps.append(f"{said} could not be told when this was planned: look again   fullcount undo {undoes}")
    return tuple(steps)


def _goes_on(not_started: int, unknown: int, planned: int) -> str:
    if not_started == planned:
        return "begin anew, nothing was done so far"
    parts: Sequence[str] = [
        *((f"{fmt.count(not_started)} not started",) if not_started > 0 else ()),
        *((f"{fmt.count(unknown)} unknown, which are read first",) if unknown > 0 else ()),
    ]
    return f"go on where it stopped ({', '.join(parts)}), nothing is done twice"
