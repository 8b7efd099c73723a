"""FC8xx: taking back what was done, by a plan of its own.

What an undo finds of single objects has codes of the run time (FC768 to FC770, FC789), as acts have.
"""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPLY, APPROVE, session

CODES: tuple[Code, ...] = (
    Code(
        "FC800",
        "an undo is not undone",
        "What was named is an undo itself: a plan that took back what another one did. Taking it back would be to act "
        "again, without a rule that selects the objects now and without the checks of an act.\n\n"
        "To act again on what was taken back, plan again: objects that the rule still selects are in the new plan.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPLY, "fullcount undo PLAN", APPROVE, APPLY, "fullcount undo PLAN"),
        right=session(APPROVE, APPLY, "fullcount undo PLAN", APPROVE, APPLY),
    ),
    Code(
        "FC801",
        "the undo is too old",
        "An undo says how the objects stood when it was made, and people approve that. It can be approved and begun "
        "for as long as an approval of its workflow lives (`expires after …`), counted from then.\n\n"
        "Look again with `fullcount undo`, and have the new plan approved.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPLY, "fullcount undo PLAN", "sleep 100000m", APPROVE),
        right=session(APPROVE, APPLY, "fullcount undo PLAN", APPROVE, APPLY),
    ),
)
