"""FC571 to FC584: what goes with an object, what is kept of it, and the rehearsal of bringing it back.

A part of the hundred on how much may happen.
"""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, tidy
from fullcount.dsl.codes.model import Code

_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""
_DELETE = "  act disable with directory.delete(id: a.id) {{ {} }}\n"
_GROUPS = """\
workflow tidy_groups {
  inventory groups from archive.groups {
    key id
    fields { id: text, created: timestamp }
  }

  verify groups { complete, fresh within 1h }

  propose remove from groups as g {
    where g.created < now - 900d
    limit 50, 5%
  }

  approve remove { 2 of role "iam-admin" not by author, expires after 3d }

  act remove with archive.OPERATION(id: g.id)
}
"""
_LOGS = _GROUPS.replace("groups", "logs").replace("created", "at")


_REHEARSED = """\
  act remove with archive.OPERATION(id: g.id) {
    backup kept for 30d
    canary 5 then wait 15m
    rehearse restore
  }
"""
_SHREDDED = _LOGS.replace("  act remove with archive.OPERATION(id: g.id)\n", _REHEARSED)

_STEPS = """\
  act disable with steps {
    lock:   directory.update(id: a.id, locked: true)
            undo directory.update(id: a.id, locked: false)
            rehearse restore
    delete: directory.delete(id: a.id)
            backup kept for 30d
            rehearse restore
            after 30d
    canary 5 then wait 15m
  }
"""
_GRADUATED = tidy((_ACT, _STEPS))


def _deleting(*clauses: str) -> str:
    return tidy((_ACT, _DELETE.format(" ".join(clauses))))


CODES: tuple[Code, ...] = (
    Code(
        id="FC571",
        title="nobody says what else goes with a deleted object",
        explanation=(
            "Deleting one object may delete others with it: the members of a group, the files of a folder, the "
            "records of a zone. What goes along was proposed by no rule, was seen by no reviewer, and is counted by no "
            "limit.\n\n"
            "A database says what goes along, and Fullcount looks it up for each row. Of any other source somebody has "
            'to say it: `closure = "none"` at the operation in `fullcount.toml`, after a look at what the API does. '
            "If something does go along, delete that first, by a workflow of its own."
        ),
        wrong=_GROUPS.replace("OPERATION", "dissolve"),
        right=_GROUPS.replace("OPERATION", "delete"),
    ),
    Code(
        id="FC572",
        title="nothing goes along that could be counted",
        explanation=(
            "`cascades within limit` lets go what goes with an object, and counts it against the limit. The operation "
            "here takes nothing along, so that the clause says something that is not so."
        ),
        wrong=_deleting("cascades within limit"),
        right=_deleting(),
    ),
    Code(
        id="FC574",
        title="a backup that is kept for no time",
        explanation="Zero means none: the backup would be gone before anybody could miss the object.",
        wrong=_deleting("backup kept for 0d"),
        right=_deleting("backup kept for 30d"),
    ),
    Code(
        id="FC575",
        title="two ways back",
        explanation=(
            "An act with a backup is taken back by restoring the object from it, whole. With an `undo` beside it "
            "nobody can say which of the two `fullcount undo` would take. Remove one of them."
        ),
        wrong=tidy(("    undo directory.update", "    backup kept for 30d\n    undo directory.update")),
        right=TIDY,
    ),
    Code(
        id="FC576",
        title="nothing can be restored",
        explanation=(
            "The operation is none of which a backup is taken, or its source has no operation that brings an object "
            "back from one. A backup that nothing brings back is none.\n\n"
            "Remove `backup`, and let more than one person approve."
        ),
        wrong=_GROUPS.replace("OPERATION(id: g.id)", "delete(id: g.id) { backup kept for 30d }"),
        right=_GROUPS.replace("OPERATION", "delete"),
    ),
    Code(
        id="FC577",
        title="a backup, where more goes than it holds",
        explanation=(
            "A backup holds the object itself. What goes along with it (`cascades within limit`) could not be "
            "restored, and the plan would say that the act can be taken back. Delete what goes along first, by a "
            "workflow of its own with its own backup, or do without the backup and let more people approve."
        ),
        wrong=_LOGS.replace("OPERATION(id: g.id)", "purge(id: g.id) { backup kept for 30d cascades within limit }"),
        right=_LOGS.replace("OPERATION(id: g.id)", "purge(id: g.id) { backup kept for 30d }"),
    ),
    Code(
        id="FC578",
        title="an act that restores",
        explanation=(
            "The operation restores an object from its backup, and only `fullcount undo` calls it: without a backup "
            "there is nothing that it could restore. Write `backup kept for 30d` in the act that deletes; its undo is "
            "made of that."
        ),
        wrong=tidy(
            (
                _ACT.removesuffix("\n  }\n").lstrip(),
                "act disable with directory.delete(id: a.id) {\n    undo directory.restore(id: a.id)",
            )
        ),
        right=_deleting("backup kept for 30d"),
    ),
    Code(
        id="FC579",
        title="a rehearsal without a canary",
        explanation=(
            "`rehearse restore` brings back one object of the canary, compares it with what it was, acts on it again, "
            "and only then lets the rest of the plan be done. Without a canary there is no rest that waits: everything "
            "would have been acted on before anybody knows whether it can be restored. Add `canary 5 then wait 15m`."
        ),
        wrong=_deleting("backup kept for 30d", "rehearse restore"),
        right=_deleting("backup kept for 30d", "canary 5 then wait 15m", "rehearse restore"),
    ),
    Code(
        id="FC580",
        title="a rehearsal of nothing",
        explanation=(
            "`rehearse restore` does what `fullcount undo` would do, with one object. This act has neither a backup "
            "nor an `undo` that takes back what it does, so that there is nothing to rehearse. Add one of them; where "
            "nothing brings an object back, let more than one person approve instead."
        ),
        wrong=_deleting("canary 5 then wait 15m", "rehearse restore"),
        right=_deleting("backup kept for 30d", "canary 5 then wait 15m", "rehearse restore"),
    ),
    Code(
        id="FC581",
        title="a rehearsal of what must not be done twice",
        explanation=(
            "A rehearsal acts on its object a second time, after it was restored. The source declares of this "
            "operation that a second time does something more than the first (`escalates = true`): a second `DELETE` "
            "that destroys what the first one put away. It is never repeated, and so its restore can't be rehearsed."
        ),
        wrong=_SHREDDED.replace("OPERATION", "shred"),
        right=_SHREDDED.replace("OPERATION", "shred").replace("    rehearse restore\n", ""),
    ),
    Code(
        id="FC582",
        title="a canary with no room for every rehearsal",
        explanation=(
            "Each step that says `rehearse restore` is rehearsed with an object of its own, which the canary has to "
            "do first. A canary of fewer objects than there are such steps would leave one of them without, and the "
            "rest of a plan would never be done. Let the canary be larger, or rehearse fewer steps. Of a step that is "
            "repeated (`every 1h, 11 times`) each time counts as one."
        ),
        wrong=_GRADUATED.replace("canary 5", "canary 1"),
        right=_GRADUATED,
    ),
    Code(
        id="FC583",
        title="a rehearsal of what comes back as something else",
        explanation=(
            "A rehearsal restores an object and acts on it again, if the rule still holds for it. The source declares "
            "that a restored object does not have a field back (`set_by_source`, `sets_anew`): it gives it a new "
            "id, or the time at which it was restored. Where that field tells the object from every other one, or "
            "the rule reads it, the object is another one after the restore, and no rehearsal could ever hold.\n\n"
            "A backup of it is still worth something, and `fullcount undo` restores it: remove `rehearse restore`."
        ),
        wrong=_SHREDDED.replace("OPERATION", "drop"),
        right=_SHREDDED.replace("OPERATION", "drop").replace("    rehearse restore\n", ""),
    ),
    Code(
        id="FC584",
        title="a backup that is over too soon",
        explanation=(
            "The first objects of a plan are acted on, a canary waits, the rest follows; then somebody sees that it "
            "was wrong, plans an undo, has it approved and applies it. A backup whose time is over by then restores "
            "nothing, and `rehearse restore` finds that out only when the objects of the canary are gone.\n\n"
            "So a backup is kept for at least 24 hours, and for at least 24 hours longer than the canary waits; in a "
            "graduated act that holds for the backup of each step. Keep it for as long as it may take until somebody "
            "misses an object: `backup kept for 30d`.\n\n"
            "The time of a backup begins with the act on its object, not with the plan: however long a plan waits for "
            "its approval and for its apply, and however late it goes on with the rest, each object has its whole "
            "time. So `expires after` does not count here; the wait of the canary does, because it was asked for in "
            "order to look at what the first objects came to."
        ),
        wrong=_deleting("backup kept for 1s", "canary 2 then wait 15m", "rehearse restore"),
        right=_deleting("backup kept for 30d", "canary 2 then wait 15m", "rehearse restore"),
    ),
)
