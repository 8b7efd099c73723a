"""FC551 to FC559: graduated acts. A part of the hundred of the blast radius."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, WHERE, ruled, tidy
from fullcount.dsl.codes.model import Code

_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""
_NOTE = 'warn: directory.update(id: a.id, locked: false, note: "to be locked")'
_LOCK = "lock: directory.update(id: a.id, locked: true)"
_DELETE = "delete: directory.delete(id: a.id)"
_RELEASE = 'release: directory.update(id: a.id, locked: false, note: "")'


def _steps(*steps: str, text: str = TIDY) -> str:
    written = "".join(f"    {step}\n" for step in steps)
    return text.replace(_ACT, f"  act disable with steps {{\n{written}  }}\n")


_RIGHT = _steps(_NOTE, f"{_LOCK} after 14d", f"{_DELETE} after 30d", _RELEASE)
_VOLUMES = (
    """\
workflow retire_volumes {
  inventory volumes from cloud.volumes {
    key id
    fields { id: text, attached: bool }
    expect id == "canary"
  }

  verify volumes { complete, fresh within 1h }

  propose retire from volumes as v {
    where not v.attached
    limit 50, 5%
  }

  approve retire { 2 of role "iam-admin" not by author, expires after 3d }

""",
    "}\n",
)
_UNLOCKED = ruled(f"not a.locked and {WHERE}").replace(
    "last_login: timestamp? }", "last_login: timestamp?, locked: bool }"
)

CODES: tuple[Code, ...] = (
    Code(
        id="FC551",
        title="a graduated act without a step",
        explanation=(
            "`with steps { … }` holds what is done to an object, one step after the other. With no step in it, or with "
            "a `release` alone, nothing is ever done.\n\n"
            "Add a step, or use an act with one operation."
        ),
        wrong=_steps(_RELEASE),
        right=_RIGHT,
    ),
    Code(
        id="FC552",
        title="a step without a clock",
        explanation=(
            "Between two steps stands a time in which somebody can say that the object is still needed. Each step but "
            "the first says how long that is: `after 14d` counts from when the step before it was done. Without it, or "
            "with no time, the next night would take the next step.\n\n"
            "The first step may wait as well, from the night that first selected the object."
        ),
        wrong=_steps(_NOTE, _LOCK),
        right=_RIGHT,
    ),
    Code(
        id="FC553",
        title="a release that does more than let go",
        explanation=(
            "`release` is what is done to an object that no longer qualifies. It is due as soon as that is proven, and "
            "the object starts again from the first step if it ever qualifies anew, so a release has neither a time "
            "nor an `undo`, and nothing of it is kept, taken along or rehearsed."
        ),
        wrong=_steps(_NOTE, f"{_LOCK} after 14d", f"{_RELEASE} after 7d"),
        right=_RIGHT,
    ),
    Code(
        id="FC554",
        title="a clock for objects that can't be told apart",
        explanation=(
            "The clock of a step belongs to one object. Where a source can't tell an object from one that was made "
            "anew under the same key, the clock of the one that was warned would go on for the other, which nobody was "
            "ever warned about.\n\n"
            "An incarnation tells them apart. Without one the clock is bound to the version (a branch to its commit), "
            "and begins anew with each change; so no step but a deletion at the end may change the object itself. With "
            "neither there is no clock: use an act with one operation, or read the objects from a source that has "
            "one of the two."
        ),
        wrong=_VOLUMES[0]
        + "  act retire with steps {\n    delete: cloud.delete_volume(id: v.id) after 14d\n  }\n"
        + _VOLUMES[1],
        right=_VOLUMES[0] + "  act retire with cloud.delete_volume(id: v.id)\n" + _VOLUMES[1],
    ),
    Code(
        id="FC555",
        title="a deletion in the wrong place",
        explanation=(
            "After a step that deletes the object nothing is left for the next one, and a release that deletes is the "
            "opposite of letting go. A deletion is the last step, or there is none."
        ),
        wrong=_steps(_DELETE, f"{_LOCK} after 14d"),
        right=_RIGHT,
    ),
    Code(
        id="FC556",
        title="one operation and steps as well",
        explanation=(
            "An act does one operation, or one step after the other. With both nobody can say which of them an "
            "approved object would get."
        ),
        wrong=tidy((_ACT, _ACT.replace("  }\n", f"    {_DELETE} after 30d\n  }}\n"))),
        right=_RIGHT,
    ),
    Code(
        id="FC557",
        title="a step that takes its object out of the rule",
        explanation=(
            "Every night the whole rule is asked again, and only what still qualifies gets its next step. A step that "
            "sets a field by which the rule is then false ends the chain by itself: the steps after it never come, and "
            "a `release` takes back the night after what was done.\n\n"
            "Leave that field out of the rule: which step was done to an object is known without it. As a last step "
            "without a `release` it is fine: nothing is to follow."
        ),
        wrong=_steps(_NOTE, f"{_LOCK} after 14d", f"{_DELETE} after 30d", text=_UNLOCKED),
        right=_RIGHT,
    ),
    Code(
        id="FC558",
        title="a step that is repeated once, or without end",
        explanation=(
            "`nag: … every 2h, 11 times` stands for eleven steps, `nag` to `nag 11`, each two hours after the one "
            "before it: every one of them is planned, approved and rechecked by itself. It is for reminders on the "
            "way to another step, from 2 to 100 of them."
        ),
        wrong=_steps(f"{_NOTE} every 1d, 1 times", f"{_LOCK} after 14d"),
        right=_steps(f"{_NOTE} every 1d, 13 times", f"{_LOCK} after 1d", _RELEASE),
    ),
)
