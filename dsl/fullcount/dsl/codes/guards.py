"""FC521 to FC549: what holds a clean-up back besides its caps. A part of the hundred of the blast radius."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_LIMIT = "    limit 50, 5%\n"
_UNDO = "    undo directory.update(id: a.id, locked: false)\n"


def _keeping(clause: str) -> str:
    return tidy((_LIMIT, f"    {clause}\n{_LIMIT}"))


def _acting(clause: str) -> str:
    return tidy((_UNDO, f"{_UNDO}    {clause}\n"))


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
    Code(
        id="FC541",
        title="a canary of nothing",
        explanation=(
            "`canary N then wait D` acts on the first N objects, waits, and looks at them again before it goes on with "
            "the rest. With no object, or no wait, nothing would be learnt, and the clause would only read like a "
            "safety.\n\n"
            "Say how many and how long, or remove the clause."
        ),
        wrong=_acting("canary 0 then wait 15m"),
        right=_acting("canary 5 then wait 15m"),
    ),
    Code(
        id="FC542",
        title="a canary that waits too long",
        explanation=(
            "Before each act the evidence must still be fresh and the approval alive. This canary waits as long as the "
            "one or the other lasts, so when it is over nothing may be done any more, and of every plan only the "
            "canary would be.\n\n"
            "Wait less long, or say that the evidence may be older, or that the approval lives longer."
        ),
        wrong=_acting("canary 5 then wait 1h"),
        right=_acting("canary 5 then wait 45m"),
    ),
    Code(
        id="FC543",
        title="a key that the target forgets too soon",
        explanation=(
            "What makes repeating this operation harmless is the key that each call carries: the target knows it again "
            "and does nothing twice. It keeps keys for less than 24 hours, so a run that is gone on with the next day "
            "would repeat a call that the target takes for a new one.\n\n"
            "Act with an operation that is conditional on the object's version; or, if the target keeps its keys "
            "longer than its source's configuration says, correct `key_life` there."
        ),
        wrong=tidy((_UNDO, ""), ("directory.update(id: a.id, locked: true)", "cloud.post_note(note: a.id)")),
        right=tidy(),
    ),
    Code(
        id="FC531",
        title="a window that never opens",
        explanation=(
            "The window opens and closes at the same time, so nothing that was approved would ever be done. A window "
            "is open from its first time up to, and not at, its second one; one that ends before it begins goes on "
            "after midnight.\n\n"
            "For a whole day write `00:00-24:00`. To switch an act off, give its proposal `limit 0`."
        ),
        wrong=_acting('window "Mon-Fri 09:00-09:00"'),
        right=_acting('window "Mon-Fri 09:00-16:00" timezone "Europe/Berlin"'),
    ),
    Code(
        id="FC532",
        title="a window that can't be read",
        explanation=(
            "A window is days and two times of the day: `Mon-Thu 09:00-16:00`, `Sat,Sun 22:00-04:00`, `daily "
            "00:00-24:00`. Days are `Mon Tue Wed Thu Fri Sat Sun`, times have four digits, and only the second one may "
            "be `24:00`. What is read in another way than it was meant opens at another time, so nothing is guessed."
        ),
        wrong=_acting('window "weekdays 9-16"'),
        right=_acting('window "Mon-Fri 09:00-16:00"'),
    ),
)
