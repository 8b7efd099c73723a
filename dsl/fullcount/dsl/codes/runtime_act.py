"""FC756 to FC799: why an act, or its undoing, was not done. A part of the run time's hundred."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tried
from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import ACCOUNTS, APPLY, APPROVE, CANARY, PLAN, edited, session, unlocked

_CHANGE = """sqlite3 directory.db "UPDATE accounts SET owner = 'p1', row_version = 9 WHERE id = 'a01'\""""
_UNLOCK = """sqlite3 directory.db "UPDATE accounts SET locked = 0, row_version = 9 WHERE id = 'a01'\""""
_FREEZE = """\
[[freeze]]
from = 2026-01-01T00:00:00Z
to = 2026-01-02T00:00:00Z
reason = "end of year"

"""
_REPORT = ACCOUNTS[: ACCOUNTS.index("\n  approve")].replace("not a.locked\n      and ", "") + "}\n"


_LEFT = 'given accounts [{ id: "kept" }, { id: "left", owner: "p9" }]\ngiven people [{ id: "p1" }, { id: "p2" }]'
_EXCEPT = ("    limit 50", "    except in exemptions\n    limit 50")
_UNDO = "    undo directory.update(id: a.id, locked: false)\n"
_WINDOW = (_UNDO, f'{_UNDO}    window "Mon-Fri 09:00-16:00"\n')
_CLOSED = 'refused FC774\n    expect outcome "left" = not_started'
_PROTECT = """\
protect board from directory.accounts as a
  where (a.team == "board") because "the board's own accounts"
"""

CODES: tuple[Code, ...] = (
    Code(
        "FC756",
        "the engine is not the one of the plan",
        "The plan records the version that selected its objects. Another version may read the same rule another way, "
        "so what was approved is not necessarily what would be done.\n\n"
        "Plan again with the installed version. If nothing in the plan changes but the version, reviewers see just "
        "that.",
    ),
    Code(
        "FC757",
        "a connector is not the one of the plan",
        "The plan records the version of each connector it used. Another version may read fields or carry out the "
        "operation differently.\n\n"
        "Plan again with the installed version.",
    ),
    Code(
        "FC758",
        "the system to act on is not the one of the plan",
        "Reading and acting use different credentials, and these credentials lead to another system: another host, "
        "database, account or repository than the one whose objects were counted and approved. The same keys may "
        "well exist there, and mean other objects.\n\n"
        "Compare the source's settings for reading and for acting in `fullcount.toml`.",
        form=Form.COMMAND,
        wrong=session(APPROVE, "sed -i s/directory.db/hr.db/ fullcount.toml", f"{APPLY} --json"),
        right=session(APPROVE, f"{APPLY} --json"),
    ),
    Code(
        "FC759",
        "the cap is reached",
        "`limit` says how many objects one plan may act on: a number, a share of the population, or both, of which the "
        "stricter binds. A share is rounded down and 0 means none. It is checked when the plan is made (FC711), and "
        "counted again before each act: as many acts were made or are in flight as it allows, so no other begins.\n\n"
        "Narrow the rule, or raise the limit and have the change reviewed; then make a new plan.",
    ),
    Code(
        "FC760",
        "the object was exempted since the plan was made",
        "Exemption lists are read again right before each act. This object is on one of them by now, so it was left "
        "alone and counts as refused.\n\n"
        "Nothing needs to be done. If the exemption is a mistake, remove it and plan again.",
        form=Form.TEST,
        wrong=tried(f'{_LEFT}\nbefore act exempt "left" in exemptions', 'outcome "left" = refused FC760', _EXCEPT),
        right=tried(f'{_LEFT}\nbefore act exempt "kept" in exemptions', 'outcome "left" = done', _EXCEPT),
    ),
    Code(
        "FC761",
        "the evidence is too old to act on",
        "`fresh within …` says how old an inventory may be when its conclusions are acted on. This one is older by "
        "now, or its age can't be told, so somebody may have appeared in it who was not there before.\n\n"
        "Plan again. If the new plan is the same in every row, it keeps the approval of the old one until that "
        "expires, and can be applied at once.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPLY, "sleep 90m", f"{APPLY} --json"),
        right=session(PLAN, APPROVE, APPLY, "sleep 30m", f"{APPLY} --json"),
        files=edited("accounts.fcw", CANARY),
    ),
    Code(
        "FC764",
        "stopped after too many failures",
        "`stop after …` was reached: so many acts failed, or ended without a known outcome, that going on would "
        "repeat a mistake. Objects that were not reached were not started. The count belongs to the plan: applying "
        "it again stops at once.\n\n"
        "Find the cause in the journal, then plan again.",
    ),
    Code(
        "FC765",
        "stopped on request",
        "The run was asked to stop. It took up no further object, waited for the acts that were under way, and "
        "recorded what came of them.\n\n"
        "Apply the same plan again to go on with the objects that were not started.",
    ),
    Code(
        "FC766",
        "the call does not fit the object",
        "Right before the act the arguments of the operation are worked out from the object as it is now. For this "
        "object one of them has no known value, or the one that names the object names another one. The connector "
        "was not called.\n\n"
        "Say in the workflow what to pass when the field has no value, for example with `else`.",
    ),
    Code(
        "FC767",
        "the recheck could not decide",
        "Each object is read again right before the act, and the whole rule must be proven true again. For this "
        "object it could be neither proven nor disproven: the source did not answer, hid a field, or could not look "
        "up the records on whose absence the rule rests. Unknown is never taken for true, so it was left alone.\n\n"
        "Make the source answer and plan again.",
        form=Form.TEST,
        wrong=tried(f'{_LEFT}\nbefore act change accounts "left" {{ owner: forbidden }}', 'outcome "left" = undecided'),
        right=tried(f'{_LEFT}\nbefore act change accounts "left" {{ owner: "p8" }}', 'outcome "left" = done'),
    ),
    Code(
        "FC768",
        "there is nothing to undo with",
        "The act of this workflow can't be taken back: it has no `undo`, or its operation is not reversible. The plan "
        "said so when it was approved.\n\n"
        "Restore the objects by other means; `fullcount show PLAN` lists each with the values it had.",
        form=Form.COMMAND,
        wrong=session(PLAN, "fullcount undo PLAN --json"),
        right=session(PLAN, "fullcount undo PLAN --json"),
        files=edited("accounts.fcw"),
        wrong_files=edited("accounts.fcw", ("    undo directory.update(id: a.id, locked: false)\n", "")),
    ),
    Code(
        "FC769",
        "the object was changed since the act",
        "Undo takes back what Fullcount did, and nothing that anybody did after it. This object was changed, removed "
        "or made anew since, so it is left as it is: the undo does not list it, or leaves it alone if it was changed "
        "after the undo was planned. So is one that another undo took back meanwhile.\n\n"
        "Look at the object and decide by hand.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPLY, "fullcount undo PLAN", APPROVE, _CHANGE, f"{APPLY} --json"),
        right=session(APPROVE, APPLY, "fullcount undo PLAN", APPROVE, f"{APPLY} --json"),
    ),
    Code(
        "FC770",
        "what came of the act is not known",
        "The call was sent and no answer came, and reading the object does not tell whether it took effect. It is "
        "counted as unknown and never tried again blindly.\n\n"
        "Look at the object at the source. Applying the plan again reads it once more.",
    ),
    Code(
        "FC772",
        "the plan has no act",
        "The workflow only reports: it has no `act`, so there is nothing to apply.\n\nAdd an `act` and plan again.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPLY),
        right=session(APPROVE, APPLY),
        files=edited("accounts.fcw"),
        wrong_files=(("accounts.fcw", _REPORT),),
    ),
    Code(
        "FC773",
        "the record does not verify",
        "Approvals, outcomes and the halt stand in the store, and its journal says what was written there. Before it "
        "acts, Fullcount compares the two. They differ: something changed the store from outside, so an approval in it "
        "may be forged, or an act that was done may be missing.\n\n"
        "Nothing was acted on. Keep the store as it is, see everything that differs with `fullcount verify`, and find "
        "out who could write there before going on with a restored one.",
        form=Form.COMMAND,
        wrong=session(
            APPROVE, *unlocked("approval_votes_no_update", "UPDATE approval_votes SET name = 'somebody'"), APPLY
        ),
        right=session(APPROVE, APPLY),
    ),
    Code(
        "FC778",
        "the object is protected",
        "The workspace protects this object: a `protect` says so, or it could not be ruled out on what was read of the "
        "object right before the act. Protections are read again before each act, so one that was added after the "
        "approval holds as well. The object was left alone and counts as refused.\n\n"
        "Nothing needs to be done. No workflow can take what the workspace protects; if the protection is a mistake, "
        "have it changed where it stands, and plan again.",
        form=Form.TEST,
        wrong=tried(
            f'{_LEFT}\nbefore act change accounts "left" {{ team: "board" }}', 'outcome "left" = refused FC778'
        ),
        right=tried(f'{_LEFT}\nbefore act change accounts "left" {{ team: "staff" }}', 'outcome "left" = done'),
        files=(("protect.fcw", _PROTECT),),
    ),
    Code(
        "FC780",
        "the object stands at another step by now",
        "The act goes from step to step, each after its time. This object does not stand where the plan says: a step "
        "was done or taken back since, it had stopped to qualify, or its time has not passed. The object was left "
        "alone and counts as changed.\n\n"
        "Plan again: the new plan has the step that is due by now.",
    ),
    Code(
        "FC774",
        "outside of the act's window",
        "The act has a `window`, and the clock of its time zone shows a time at which it is closed. It is open from "
        "its first time up to, and not at, its second one. The run is paused: what was done stays done, the rest was "
        "not started, and nothing failed.\n\n"
        "Apply the same plan again from the instant that is named, or let `fullcount serve` do it. Undoing is not "
        "bound to a window.",
        form=Form.TEST,
        wrong=tried(f"now 2026-11-28T10:00:00Z\n{_LEFT}", _CLOSED, _WINDOW),
        right=tried(f"now 2026-11-27T10:00:00Z\n{_LEFT}", 'outcome "left" = done', _WINDOW),
    ),
    Code(
        "FC775",
        "acting is frozen",
        "A `[[freeze]]` in `fullcount.toml` holds at this moment. No object is acted on by any run of this workspace; "
        "runs under way stop before their next act. The run is paused: what was done stays done, and nothing "
        "failed.\n\n"
        "Apply the same plan again from the instant that is named, or let `fullcount serve` do it. Undoing is not "
        "bound to a freeze.",
        form=Form.COMMAND,
        wrong=session(APPROVE, f"{APPLY} --json"),
        right=session(APPROVE, f"{APPLY} --json"),
        files=edited("fullcount.toml", ("[roles]", f"{_FREEZE}[roles]")),
        wrong_files=edited("fullcount.toml", ("[roles]", f"{_FREEZE.replace('2026-01-02', '2999-01-02')}[roles]")),
    ),
    Code(
        "FC776",
        "the rest waits for the canary",
        "The act says `canary N then wait D`: the first N objects were acted on, and nothing more is done until the "
        "wait is over and each of them was found as it was left. The wait is kept in the store: nothing has to run "
        "meanwhile, and applying again does not begin it anew. The run is paused; nothing has failed.\n\n"
        "Apply the same plan again from the instant that is named, or let `fullcount serve` do it.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, f"{APPLY} --json"),
        right=session(APPROVE, f"{APPLY} --json"),
        files=edited("accounts.fcw"),
        wrong_files=edited("accounts.fcw", CANARY),
    ),
    Code(
        "FC777",
        "the canary does not hold",
        "Among the first objects of the plan an act failed, or its outcome is not known; or after the wait one of them "
        "was no longer as the act had left it, or could not be read; or of what the workflow has counted then (`then "
        "at most 0 monitoring.firing_alerts`) there were more than may be, or it could not be counted. The rest of "
        "the plan was not started. Applying it again looks at the canary again, and stops again as long as that is "
        "so.\n\n"
        "Look at what is named. What was done can be taken back with `fullcount undo PLAN`.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPLY, _UNLOCK, "sleep 30m", f"{APPLY} --json"),
        right=session(PLAN, APPROVE, APPLY, "sleep 30m", f"{APPLY} --json"),
        files=edited("accounts.fcw", CANARY),
    ),
    Code(
        "FC785",
        "the workflow is paused",
        "Someone has paused this one workflow; others go on. A run under way stops before its next act: what was done "
        "stays done, the rest was not started, and nothing failed. An act that was meant and not called is gone on "
        "with later, under the same key. Taking back is not bound to a pause.\n\n"
        "The message says who and why. Let it go on with `fullcount pause WORKFLOW --release`, and apply the same plan "
        "again while its approval and its evidence last; to end it, take the approval back with "
        "`fullcount approve PLAN --revoke 'why'`.",
        form=Form.COMMAND,
        wrong=session(APPROVE, "fullcount pause lock_orphans 'the directory moves'", f"{APPLY} --json"),
        right=session(
            APPROVE,
            "fullcount pause lock_orphans 'the directory moves'",
            "fullcount pause lock_orphans --release",
            f"{APPLY} --json",
        ),
    ),
    Code(
        "FC763",
        "somebody said what came of the act",
        "No answer was kept of the call of this act, and reading did not tell whether it took effect. Somebody looked "
        "at the object and said so: `fullcount settle`. Who, and on what ground, stands with the outcome and in the "
        "journal.\n\n"
        "Nothing is to be done. An outcome that is known is never changed again; a new plan judges the object as it "
        "is.",
    ),
    Code(
        "FC795",
        "it is gone, and nobody can tell whose it was",
        "A deletion was meant and its call made, or about to be made, and no answer was kept; the object is gone by "
        "now. That counts as `done`: the call was under way, and what it was for has come about. Whether this call did "
        "it, or somebody else at the same time, the target does not tell.\n\n"
        "An undo of the plan leaves such an object alone: somebody may have meant it to be gone. To bring it back all "
        "the same, name it: `fullcount undo PLAN OBJECT`.",
    ),
    Code(
        "FC786",
        "the act must not be made twice",
        "The call of this act was made, or was about to be, and no answer was kept; reading shows no effect of it by "
        "now. Repeating it is what usually helps, and here it must not be: the operation is declared as one that does "
        "something else or something more the second time (a second `DELETE` that destroys what the first one put "
        "away), or the target no longer knows the key by which it would tell a repetition. A call that is still under "
        "way may take effect later.\n\n"
        "Look at the object at the source. While the call could still arrive, the outcome stays unknown; after that it "
        "counts as failed, and a new plan has the object if it is still due.",
    ),
    Code(
        "FC787",
        "the same kind of failure again and again",
        "Several acts in a row failed for the same kind of reason: the target answered that it is too busy, was not "
        "there, refused them for good, or gave no answer. More of the same would follow, so the run stopped before "
        "its next act, whatever the workflow's own `stop` allows.\n\n"
        "Find the cause in the outcomes. The rest of the plan was not started; applying the same plan again goes on "
        "with it.",
    ),
    Code(
        "FC779",
        "the approval no longer holds",
        "The roles in `fullcount.toml` are read again right before each act. Somebody whose yes was counted is no "
        "longer among those who may give it, so too few people stand behind this plan: they left the role, or the role "
        "is gone. What was done under the approval stays done, the rest was not started.\n\n"
        "Have the same plan approved anew with `fullcount approve PLAN`: everybody who is in the role now agrees once "
        "more, which makes a new approval. If the person should still be in the role, put them back; the approval then "
        "holds again until it expires.",
        form=Form.COMMAND,
        wrong=session(APPROVE, "sed -i s/uid:1000/uid:1001/ fullcount.toml", APPLY),
        right=session(APPROVE, APPLY),
    ),
)
