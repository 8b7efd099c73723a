"""FC700 to FC749: what approvals, plans, leases, the ledger and the journal refuse."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tried
from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPLY, APPROVE, CANARY, PLAN, edited, session, unlocked

_MANY = 'given accounts [] and 6 more { owner: "p9" } and 20 more\ngiven people [{ id: "p1" }]'

_STORE_AT = ('name = "acme"', 'name = "acme"\nstore = "sqlite:///.fullcount/state.db"')


_PEOPLE = """\
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
  }
"""
_AUTOMATIC = (
    (_PEOPLE, ""),
    ("  verify people { complete, fresh within 24h }\n", ""),
    ("\n      and no people as p where (p.id == a.owner and p.active)", ""),
    ("50%", "100%"),
    ("1 of role", "automatically when count <= 5, otherwise 1 of role"),
)
_LOWERED = "sed -i 's/automatic_approval = 5/automatic_approval = 0/' fullcount.toml"

_APPROVALS: tuple[Code, ...] = (
    Code(
        "FC701",
        "not a member of a role that may approve",
        "The workflow's `approve` clause names roles, and the roles' members stand under `[roles]` in fullcount.toml. "
        "Who you are comes from the operating system: the user id under which the command runs, never an option, an "
        "environment variable or a name that a file gives.\n\n"
        "Ask one of the people that the message names. If you should be one of them, have the role changed in the "
        "usual way; that is a change that others can see.",
        form=Form.COMMAND,
        wrong=session(APPROVE),
        right=session(APPROVE),
        files=edited("fullcount.toml"),
        wrong_files=edited("fullcount.toml", ('"uid:1000"', '"uid:1001"')),
    ),
    Code(
        "FC702",
        "authors can't approve what they made",
        "The clause says `not by author`: whoever wrote the rule or made the plan does not count, even as a member of "
        "the role. A second pair of eyes is the point of it.\n\n"
        "It is also refused when the plan's author can't be resolved to a user of this system, since then nobody can "
        "tell whether an approver is the author. Make the plan again on this system.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE),
        right=session(APPROVE),
        files=edited("accounts.fcw"),
        wrong_files=edited("accounts.fcw", ('"iam-admin"', '"iam-admin" not by author')),
    ),
    Code(
        "FC703",
        "one person counts once",
        "You approved this plan before, and that still counts. A quorum of two needs two people; approving again "
        "under another name of the same user id changes nothing.\n\n"
        "`fullcount show PLAN` names who can still approve.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPROVE),
        right=session(APPROVE),
        files=(
            *edited("accounts.fcw", ("1 of role", "2 of role")),
            *edited("fullcount.toml", ('"uid:1000"', '"uid:1000", "uid:1001"')),
        ),
    ),
    Code(
        "FC704",
        "the digest is not that of the plan",
        "An approval is a decision over exactly what was looked at. The digest that was given, or that the approval "
        "carries, belongs to another plan: perhaps the plan was made anew in between, and an object, a cap, a "
        "parameter or a version is different.\n\n"
        "Look at the plan again, and have exactly that one approved, with the digest that is shown.",
        form=Form.COMMAND,
        wrong=session("fullcount approve PLAN --digest 0000-0000"),
        right=session(APPROVE),
    ),
    Code(
        "FC705",
        "the role can't be resolved",
        "A role that the workflow names is missing in fullcount.toml, or it has a member that this system's user "
        "database does not know. An unknown name is never read as nobody or as everybody: it might be a misspelt "
        "name, or someone whose account was removed and whose user id belongs to someone else tomorrow.\n\n"
        "Mend the name, remove it, or write the member as `uid:1000`.",
        form=Form.COMMAND,
        wrong=session(APPROVE),
        right=session(APPROVE),
        files=edited("fullcount.toml"),
        wrong_files=edited("fullcount.toml", ("iam-admin =", "iam-admins =")),
    ),
    Code(
        "FC706",
        "nobody is named who could approve",
        "The proposal has no quorum of at least one person, or its approval would expire at once. Nothing is done "
        "without an approval, so nothing can be done.\n\n"
        'Add to the workflow: approve NAME { 1 of role "ops", expires after 3d }',
    ),
    Code(
        "FC707",
        "the plan waits for approval",
        "Nothing is changed on the word of a rule alone: the people named in `approve` have to agree to exactly this "
        "plan first, as themselves, under the account they are logged in with. Votes that ran out, or that were for "
        "another digest, do not count.\n\n"
        "`fullcount show PLAN` says how many are missing and who can give them. No option stands in for an approval.",
        form=Form.COMMAND,
        wrong=session(APPLY),
        right=session(APPROVE, APPLY),
    ),
    Code(
        "FC708",
        "the approval has run out",
        "`expires after` in the approve clause bounds how long a decision holds, because what it was made over grows "
        "old. The time is that of the store, and each vote has its own. If it ran out in the middle of an apply, what "
        "was done stays done and the rest was not started.\n\n"
        "Approve again (a new approval has a new key), or better, make a new plan first: objects change.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPROVE, APPLY, "sleep 30m", f"{APPLY} --json"),
        right=session(PLAN, APPROVE, APPLY, "sleep 30m", f"{APPLY} --json"),
        files=edited("accounts.fcw", CANARY),
        wrong_files=edited("accounts.fcw", CANARY, ("after 3d", "after 20m")),
    ),
    Code(
        "FC709",
        "the approval was taken back",
        "Somebody revoked the approval of this plan, or a plan with another digest made it void. Acts that were done "
        "before stay done; nothing else begins.\n\n"
        "The message names who, when and why. If the plan is right after all, it must be approved anew, by anybody "
        "who may.",
        form=Form.COMMAND,
        wrong=session("fullcount approve PLAN --revoke 'not this week'"),
        right=session(APPROVE, "fullcount approve PLAN --revoke 'not this week'"),
    ),
)

_PLANS: tuple[Code, ...] = (
    Code(
        "FC710",
        "a newer plan has taken its place",
        "For each proposal only the newest plan counts. The older one rests on older evidence, an object in it may "
        "have come into use since, or a reviewer has struck rows from it. An undo gives way only to a newer one "
        "of all its objects.\n\n"
        "Look at the newer plan. If it is identical, it has kept the approval, and nobody has to be asked again.",
        form=Form.COMMAND,
        wrong=session("fullcount apply OLDER"),
        right=session(APPROVE, APPLY),
    ),
    Code(
        "FC711",
        "the plan selects more than its limit allows",
        "The number of objects is above `limit`, of which the stricter half holds. Such a plan is kept so that it can "
        "be looked at, and can't be approved: a clean-up that suddenly selects far more than usual is most often a "
        "clean-up whose evidence or rule has gone wrong.\n\n"
        "Find out why so many were selected. Then narrow the rule or raise the limit, and make a new plan.",
        form=Form.TEST,
        wrong=tried(_MANY, "refused FC711", ("limit 50, 50%", "limit 5, 50%")),
        right=tried(_MANY, "count 6"),
    ),
    Code(
        "FC712",
        "the plan's state does not allow it",
        "A plan is made once, approved, applied once and then done with; applying it again changes nothing and repeats "
        "what came of it. What was asked does not fit where this plan stands: it was applied already, or no apply of "
        "it has begun.\n\n"
        "If there is more to do, make a new plan; it lists what is still due.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPLY, "fullcount strike PLAN a01"),
        right=session("fullcount strike PLAN a01"),
    ),
    Code(
        "FC713",
        "there is no such plan",
        "No plan in this workspace's store has an id that begins like this.\n\n"
        "`fullcount runs` lists plans with their ids. Another workspace has another store.",
        form=Form.COMMAND,
        wrong=session("fullcount show 01ZZZ"),
        right=session("fullcount show PLAN"),
    ),
    Code(
        "FC714",
        "more than one plan is meant",
        "Several plans have an id that begins like this. Ids begin with the time they were made, so plans of one day "
        "share their first letters.\n\n"
        "Write more letters of the id.",
        form=Form.COMMAND,
        wrong=session("fullcount show 01"),
        right=session("fullcount show PLAN"),
    ),
    Code(
        "FC715",
        "the stored plan is damaged",
        "What the store holds is not the plan that was made: its hash, its digest, its sums or its form do not fit. A "
        "damaged plan is never used in part.\n\n"
        "Make a new plan. Then find out what changed this one: `fullcount verify` says whether the journal or the "
        "plan was touched.",
        form=Form.COMMAND,
        wrong=session(
            *unlocked("plans_no_change", "UPDATE plans SET document = replace(document, 'a01', 'a03')"),
            "fullcount show PLAN",
        ),
        right=session("fullcount show PLAN"),
    ),
    Code(
        "FC716",
        "the plan has all its approvals",
        "The quorum was reached before, and the approval is still valid; one more yes has nothing to add.\n\n"
        "Apply the plan.",
        form=Form.COMMAND,
        wrong=session(APPROVE, APPROVE),
        right=session(APPROVE),
    ),
)

_STRIKES: tuple[Code, ...] = (
    Code(
        "FC718",
        "no row of the plan",
        "`fullcount strike` takes rows out of a plan, so that nothing is done to them. What was named is none of its "
        "rows: the plan keeps it anyway, could not decide about it, or does not know it. Nothing was struck at all, "
        "so that a slip of a key does not look like a strike.\n\n"
        "`fullcount show PLAN --all` lists the rows with their keys.",
        form=Form.COMMAND,
        wrong=session("fullcount strike PLAN a04"),
        right=session("fullcount strike PLAN a01"),
    ),
)

_LEDGER: tuple[Code, ...] = (
    Code(
        "FC717",
        "a stored envelope is damaged",
        "What the store holds of a reading does not fit the hash that it was kept under, so nothing is concluded from "
        "it.\n\n"
        "Read again with a new plan. `fullcount verify` says what else was touched.",
    ),
    Code(
        "FC719",
        "nobody was asked, and the workspace no longer allows that",
        "The plan was approved by the rule of its workflow (`automatically when …`) while the policy of the workspace "
        "allowed it. `[policy] automatic_approval` in fullcount.toml has since been lowered or removed, and it is read "
        "again before each act, so nothing further is done on the word of a rule.\n\n"
        "Have the plan approved by the people that the workflow names.",
        form=Form.COMMAND,
        wrong=session(PLAN, APPLY, "sleep 30m", _LOWERED, f"{APPLY} --json"),
        right=session(PLAN, APPLY, "sleep 30m", f"{APPLY} --json"),
        files=(
            *edited("fullcount.toml", ("[roles]", "[policy]\nautomatic_approval = 5\n\n[roles]")),
            *edited("accounts.fcw", CANARY, *_AUTOMATIC),
        ),
    ),
    Code(
        "FC720",
        "another run is at work on it",
        "Two runs never act on one plan at the same time. The message names who holds the lease and until when; the "
        "holder moves that time on as long as it lives.\n\n"
        "Wait. If the holder has died, its lease runs out by itself, and the next run goes on where it stopped.",
    ),
    Code(
        "FC721",
        "this run lost its lease",
        "Each run that acts holds a lease on its plan, with a number that only grows. The run was away for longer "
        "than its lease lives (a suspended machine, a stalled disk), and another may have taken over. It must not "
        "write any more, so it stops before its next act; this is what keeps an object from being acted on twice.\n\n"
        "Wait for the other run to end, if there is one; then run the same command again: it goes on where things "
        "stand, and resolves what was left open.",
    ),
    Code(
        "FC722",
        "all acting is halted",
        "Someone has pulled the stop for everything that acts from this store, on any host; runs under way stop before "
        "their next act. Plans can still be made and looked at.\n\n"
        "The message says who and why. Ask them, and lift it when the cause is gone: `fullcount halt --release`.",
        form=Form.COMMAND,
        wrong=session(APPROVE, "fullcount halt 'the directory moves'", f"{APPLY} --json"),
        right=session(APPROVE, "fullcount halt 'the directory moves'", "fullcount halt --release", f"{APPLY} --json"),
    ),
    Code(
        "FC723",
        "the plan does not name the object",
        "An act was asked on an object that is not a row of the approved plan. The store refuses to record the "
        "intent, so that the act can't happen.\n\n"
        "This is a mistake in the program, or somebody tried to widen a plan after its approval. Please report it.",
    ),
    Code(
        "FC724",
        "the same act was asked with other parameters",
        "Under one approval an object is acted on once, with one operation and one set of parameters. Asking again "
        "with the same gives the stored result; asking with others is refused (`IDEMPOTENCY_MISMATCH`), because a "
        "target that deduplicates by key would answer for the first act.\n\n"
        "A different act needs a new plan and a new approval.",
    ),
    Code(
        "FC725",
        "the object has its outcome already",
        "Each object of a plan ends exactly once, and a final outcome is never rewritten; only `unknown` can still "
        "become final.\n\n"
        "Look at what the ledger holds: `fullcount show PLAN`.",
    ),
    Code(
        "FC726",
        "an outcome that nothing led to",
        "`done`, `failed` and `unknown` are outcomes of an act, and an act is always preceded by a recorded intent. "
        "For this object none was recorded, so the outcome can't be true.\n\n"
        "This is a mistake in the program. Please report it.",
    ),
    Code(
        "FC727",
        "there is nothing to undo",
        "Only what a plan has done can be undone under it: objects whose outcome is `done`.\n\n"
        "`fullcount show PLAN` lists the outcome of every object.",
    ),
    Code(
        "FC738",
        "an act of another plan stands in the way",
        "Another plan has acted on this very object, or meant to, and nobody knows yet what came of it: its run is "
        "still at work, was stopped in the middle, or got no answer. Acting on the object once more could do it twice. "
        "The other act was looked for by reading, and that did not tell; so the object was left alone and counts as "
        "`refused`. It is the same when another plan acted on the object between the moment in which this run read it "
        "and its own act.\n\n"
        "Apply the plan that is named: that settles by reading what can be read. What can't is settled by somebody who "
        "has looked at the object: `fullcount settle PLAN KEY --took-effect --because 'why'`, or `--no-effect`. Then "
        "plan again: the new plan has the object if it is still due.",
    ),
    Code(
        "FC739",
        "there is nothing to settle",
        "`fullcount settle` says what came of an act whose outcome nobody knows. For the object that was named the "
        "plan has no such act: none was meant, or its outcome is known, and what is known is never changed. Nothing "
        "was recorded at all.\n\n"
        "`fullcount report PLAN --format csv` lists the outcome of every object.",
        form=Form.COMMAND,
        wrong=session("fullcount settle PLAN a01 --no-effect --because 'the log says so'"),
        right=session("fullcount show PLAN"),
    ),
    Code(
        "FC729",
        "a step was asked for that is not due",
        "Where an object of a graduated act stands is part of the record: which step was done to it last, and when. "
        "An act on a step was asked for that does not come next, or before its time. Nothing was recorded and nothing "
        "is done.\n\n"
        "Plan again: the new plan has the step that is due by now.",
    ),
    Code(
        "FC728",
        "the canary does not stand so",
        "The rest of a plan waits until its first objects were acted on, the wait is over, and they were found as they "
        "were left. What was asked of the record does not fit that: there is no canary, or its wait is not over.\n\n"
        "Apply the plan again when the wait is over; `fullcount show PLAN` says when.",
    ),
)

_STORE: tuple[Code, ...] = (
    Code(
        "FC730",
        "the store can't be used",
        "Everything that is decided or done is recorded first, so without the store nothing happens. The database "
        "can't be opened, read or written, or it is not one of this program.\n\n"
        "Check the address (`store` under `[workspace]` in fullcount.toml), the rights on the file, and the space on "
        "its disk.",
        form=Form.COMMAND,
        wrong=session("fullcount runs"),
        right=session("fullcount runs"),
        files=edited("fullcount.toml", _STORE_AT),
        wrong_files=edited("fullcount.toml", (_STORE_AT[0], _STORE_AT[1].replace(".fullcount/state.db", "hr.db"))),
    ),
    Code(
        "FC731",
        "the store is from a newer version",
        "A newer version of the program has changed the tables. This one does not know what they mean now, and "
        "does not guess.\n\n"
        "Use the newer version. An older one can't be gone back to without the backup that was made before.",
    ),
    Code(
        "FC732",
        "there is no store yet",
        "Commands that only look make nothing, so without a store they have nothing to look at. In a workspace in "
        "which nothing was planned that is as it should be.\n\n"
        "If something was planned here before, the store went away or the address points elsewhere: look at `store` "
        "under `[workspace]` in fullcount.toml before anything is planned anew, since a new store knows nothing of "
        "what was approved and done.",
        form=Form.COMMAND,
        wrong=session("rm -r .fullcount", "fullcount show 01"),
        right=session("fullcount show PLAN"),
    ),
    Code(
        "FC733",
        "the run does not fit",
        "Every change of state belongs to a run that has begun and has not ended, and that is of the right kind: "
        "only a run that applies a plan can record acts of that plan.\n\n"
        "This is a mistake in the program. Please report it.",
    ),
    Code(
        "FC734",
        "the slot is not being run",
        "A planned instant is taken once, run once and finished once. This one was finished or skipped before, or "
        "never taken.\n\n"
        "`fullcount runs` shows what became of it.",
    ),
    Code(
        "FC735",
        "the store has to be brought up to date first",
        "It was written by an older version, and its tables are not yet those of this one. Commands that only look "
        "change nothing, not even that.\n\n"
        "Any command that writes brings it up to date, such as `fullcount plan FILE` or `fullcount serve`, run by "
        "somebody who may write to it. Make a backup before: the older version can't use it afterwards.",
    ),
    Code(
        "FC740",
        "the journal does not verify",
        "An entry does not fit the chain, or what the store says now is not what was recorded when it happened. The "
        "message names the first entry that is wrong and in which way.\n\n"
        "Stop acting, keep a copy of the store as it is, and compare with a backup or with a head that was noted "
        "elsewhere. Nothing mends a journal: that is its use.",
        form=Form.COMMAND,
        wrong=session(*unlocked("journal_head_no_delete", "DELETE FROM journal_head"), PLAN),
        right=session(PLAN),
    ),
    Code(
        "FC741",
        "the sums do not hold",
        "Objects of the inventory must be candidates, kept or undecided, and every candidate has exactly one outcome. "
        "When these sums do not hold, something was lost or counted twice, and the run is invalid.\n\n"
        "Do not rely on what the run reports. Run `fullcount verify` and keep the store as it is: something wrote to "
        "it that should not have, or the program has a mistake to be reported.",
    ),
)

CODES: tuple[Code, ...] = _APPROVALS + _PLANS + _STRIKES + _LEDGER + _STORE
