"""FC784 to FC798: backups, rehearsals of restoring, what goes with an object, and what `undo` is about.

A part of the run time's hundred.
"""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPLY, APPROVE, PLAN, edited, session

_UNDO = "fullcount undo PLAN --json"
_DELETABLE = edited("fullcount.toml", ('writable = ["locked"]', 'writable = ["locked"]\ndeletable = true'))
_RULE = ("not a.locked\n      and a.last_login", "a.last_login")
_ACT = """\
directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
    stop after 1 failure"""
_KEPT = edited("accounts.fcw", _RULE, (_ACT, "directory.delete(id: a.id) {\n    backup kept for 1d"))
_ALONG = edited("accounts.fcw", _RULE, (_ACT, "directory.delete(id: a.id) {\n    cascades within limit"))
_REHEARSED = edited(
    "accounts.fcw",
    _RULE,
    (_ACT, "directory.delete(id: a.id) {\n    backup kept for 30d\n    canary 1 then wait 15m\n    rehearse restore"),
)
_OTHER = """sqlite3 directory.db "CREATE TRIGGER anew AFTER INSERT ON accounts BEGIN UPDATE accounts SET owner = 'x' \
WHERE id = NEW.id; END\""""
_GRANTS = """sqlite3 directory.db "CREATE TABLE grants (account TEXT REFERENCES accounts ON DELETE CASCADE)\""""
_GRANT = """sqlite3 directory.db "INSERT INTO grants VALUES ('a01')\""""
_TRIGGER = """sqlite3 directory.db "CREATE TRIGGER audit AFTER DELETE ON grants BEGIN SELECT 1; END\""""

CODES: tuple[Code, ...] = (
    Code(
        "FC788",
        "no backup could be taken",
        "The act says `backup kept for …`: each object is stored whole before anything is done to it. This one could "
        "not be read whole, or not be stored, so nothing was done to it. Where the folder itself can't be written to, "
        "nothing more is acted on at all.\n\n"
        "See what the message says of the source or of the folder (`[workspace] backups` in `fullcount.toml`). A "
        "database needs a credential for acting that may read every column of the table. Then plan again, or apply "
        "the same plan again if it was stopped.",
    ),
    Code(
        "FC789",
        "there is no backup to restore from",
        "The backup of this object, or what was put into quarantine when it was acted on, is not there, is not what "
        "was stored, or was kept for less long than that. The object was not restored, the others were.\n\n"
        "If the folder of the backups or the quarantine was lost or changed, put it back from your own backup of it "
        "and undo again. A backup whose time is over is gone for good: `backup kept for …` says how long.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPLY, "sleep 2d", _UNDO),
        right=session(PLAN, APPROVE, APPLY, _UNDO),
        files=(*_DELETABLE, *_KEPT),
    ),
    Code(
        "FC784",
        "what goes with an object can't be told",
        "Deleting the object would delete or change others, and something on the way makes it impossible to say which: "
        "a trigger, a rule, a chain of references that goes on, or too many rows. What can't be counted is approved by "
        "nobody, so there is no plan.\n\n"
        "Look at what the message names. If it is harmless, name the trigger in `known_triggers` of the resource; "
        "otherwise delete what refers to the objects first, by a workflow of its own.",
        form=Form.COMMAND,
        wrong=session(_GRANTS, _GRANT, _TRIGGER, f"{PLAN} --json"),
        right=session(_GRANTS, _GRANT, f"{PLAN} --json"),
        files=(*_DELETABLE, *_ALONG),
    ),
    Code(
        "FC794",
        "the rehearsal of a restore does not hold",
        "The act says `rehearse restore`: one object of the canary is restored just as `fullcount undo` would restore "
        "it, compared with what it was before the act, and acted on again, before the rest of the plan is done. Here "
        "it could not be restored, is not what it was, or was not acted on again. Nothing more is acted on. An object "
        "that is not what it was stays as the restore left it, and counts as `refused`.\n\n"
        "The message says what differs. Look at the object at the source: either the way back loses something, and "
        "then nothing of this plan can be taken back whole, or somebody changed it meanwhile. Make the restore whole, "
        "or do without the rehearsal and let more people approve; then plan again. What merely could not be told is "
        "gone on with by applying the same plan again.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPLY, _OTHER, "sleep 30m", f"{APPLY} --json"),
        right=session(PLAN, APPROVE, APPLY, "sleep 30m", f"{APPLY} --json"),
        files=(*_DELETABLE, *_REHEARSED),
    ),
    Code(
        "FC797",
        "an object that has to go first did not go",
        "Objects of one plan that refer to each other are acted on in the order that their references ask for: those "
        "that refer to others first. One of them was left alone (it was changed, exempted, refused, or it failed), so "
        "the object that it refers to stays as well.\n\n"
        "See in the outcomes why the other one stayed; both are in the next plan if the rule still selects them.",
    ),
    Code(
        "FC798",
        "there is nothing of this name to undo",
        "`fullcount undo` takes a plan, a run, or the key of an object that was acted on. What was named is none of "
        "these, was not acted on, or could be several: then nothing is taken back.\n\n"
        "`fullcount runs` lists plans and runs. An object that several plans acted on needs its plan before it: "
        "`fullcount undo PLAN OBJECT`. The key of several fields is a JSON list in one argument.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPLY, "fullcount undo a05"),
        right=session(APPROVE, APPLY, "fullcount undo a01"),
    ),
)
