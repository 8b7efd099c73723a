"""FC4xx: who must agree before anything is done."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, tidy, with_people
from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import edited, session
from fullcount.dsl.diagnostics import Severity

_APPROVE = '  approve disable { 2 of role "iam-admin" not by author, expires after 3d }\n'
_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""
_DELETE = "  act disable with directory.delete(id: a.id)\n"
_AUTOMATIC = '  approve disable {{ automatically when {}, otherwise 1 of role "ops", expires after 3d }}\n'

_FINAL = edited(
    "accounts.fcw",
    ("    undo directory.update(id: a.id, locked: false)\n", ""),
    ("update(id: a.id, locked: true)", "delete(id: a.id)"),
    ('1 of role "iam', '2 of role "iam'),
)
_DELETABLE = ('writable = ["locked"]', 'writable = ["locked"]\ndeletable = true')
_PEOPLE = ('["uid:1000"]', '["uid:1000", "uid:1001", "uid:1002"]')
_THREE = edited("fullcount.toml", ("[roles]", "[policy]\nirreversible_approvals = 3\n\n[roles]"), _PEOPLE, _DELETABLE)


def _automatic(conditions: str, *changes: tuple[str, str]) -> str:
    return tidy((_APPROVE, _AUTOMATIC.format(conditions)), *changes)


CODES: tuple[Code, ...] = (
    Code(
        id="FC401",
        title="an act without an approval",
        explanation=(
            "An act runs only on a plan that people approved: the exact plan, by its digest. There is no switch "
            "that leaves the question out.\n\n"
            "Add an `approve` for the proposal."
        ),
        wrong=tidy((_APPROVE, "")),
        right=TIDY,
    ),
    Code(
        id="FC403",
        title="an approval by nobody",
        explanation="`0 of role` asks nobody. Zero means none, never `not needed`.",
        wrong=tidy(("2 of role", "0 of role")),
        right=TIDY,
    ),
    Code(
        id="FC404",
        title="an approval that does not end by itself",
        explanation=(
            "The world moves on: what was approved last month is not what would be approved tonight. An approval "
            "says how long it lives, and longer than nothing."
        ),
        wrong=tidy((", expires after 3d", "")),
        right=TIDY,
    ),
    Code(
        id="FC405",
        title="one person alone for an act that can't be taken back",
        severity=Severity.WARNING,
        explanation=(
            "The act has no `undo`, and a single approval lets it run: a mistake of one person would be final. "
            "Ask for two people, or use an operation that can be undone."
        ),
        wrong=tidy((_ACT, _DELETE), ("2 of role", "1 of role")),
        right=tidy((_ACT, _DELETE)),
    ),
    Code(
        id="FC406",
        title="an approval without an act",
        explanation=(
            "Nothing would follow from this approval. A proposal has both an `approve` and an `act`, or neither: "
            "then it is a report."
        ),
        wrong=tidy(("\n" + _ACT, "")),
        right=tidy(("\n" + _APPROVE + "\n" + _ACT, "")),
    ),
    Code(
        id="FC407",
        title="one role asked for twice",
        explanation=(
            "It is not clear whether the same person may count for both. Say once how many people of the role "
            "must agree."
        ),
        wrong=tidy(
            ('2 of role "iam-admin" not by author', '1 of role "iam-admin", 1 of role "iam-admin" not by author')
        ),
        right=TIDY,
    ),
    Code(
        id="FC408",
        title="more people asked for than there are",
        severity=Severity.WARNING,
        explanation=(
            "One person counts once, and for one quorum only. The roles of this approval, as `fullcount.toml` has "
            "them, hold too few different people to fill it, so every plan would wait for ever. Under `not by author` "
            "the owner of the workflow's file does not count; whoever makes the plan will not count either, which "
            "can't be known beforehand.\n\n"
            "Add people to the role, or ask for fewer."
        ),
        wrong=tidy(('2 of role "iam-admin"', '3 of role "ops"')),
        right=tidy(('2 of role "iam-admin"', '2 of role "ops"')),
    ),
    Code(
        id="FC409",
        title="a role with nobody in it",
        explanation=(
            "The role is configured and has no members, so nobody could ever give this approval. An empty role is "
            "never everybody.\n\n"
            "Name its people under `[roles]` in `fullcount.toml`."
        ),
        wrong=tidy(('role "iam-admin"', 'role "on-call"')),
        right=TIDY,
    ),
    Code(
        id="FC411",
        title="an automatic approval that the workspace does not allow",
        explanation=(
            "`automatically when …` lets a small plan be approved by the workflow's own rule. Whether there is such a "
            "thing at all, and of how many objects at most, is the policy of the workspace: `[policy] "
            "automatic_approval = 5` in fullcount.toml. Without it, or with 0, nothing is approved automatically.\n\n"
            "Stay within the policy, have it changed by who owns the workspace, or leave the decision to people."
        ),
        wrong=_automatic("count <= 500 and reversible"),
        right=_automatic("count <= 5 and reversible"),
    ),
    Code(
        id="FC412",
        title="an automatic approval of an act that can't be taken back",
        explanation=(
            "Nothing irreversible is done without a person. The act has no `undo` here, so no rule can approve it.\n\n"
            "Add an `undo` if the operation has one, or leave the decision to people."
        ),
        wrong=_automatic("count <= 5", (_ACT, _DELETE), ("otherwise 1", "otherwise 2")),
        right=_automatic("count <= 5"),
    ),
    Code(
        id="FC413",
        title="an automatic approval of a conclusion from absence",
        explanation=(
            "Where a rule concludes from what an inventory does not have (`no … where`, `count … < n`), or where the "
            "inventory may not have been read to its end (`bounded`), or where objects are ranked (`pick`), a person "
            "has to look at the evidence before anything is done.\n\n"
            "Leave the decision to people, or say the rule by what is found."
        ),
        wrong=with_people((_APPROVE, _AUTOMATIC.format("count <= 5 and reversible"))),
        right=with_people(
            (_APPROVE, _AUTOMATIC.format("count <= 5 and reversible")),
            rule="a.owner is present and some people as p where (p.id == a.owner and not p.active)",
        ),
    ),
    Code(
        id="FC414",
        title="an automatic approval without a number",
        explanation=(
            "What nobody looks at must be small: an automatic approval says of how many objects at most, and zero "
            "means none. A percentage may stand beside the number, never in its place.\n\n"
            "Write `automatically when count <= 5 and reversible`."
        ),
        wrong=_automatic("reversible"),
        right=_automatic("count <= 5 and percent <= 1% and reversible"),
    ),
    Code(
        id="FC415",
        title="too few people for what can't be taken back",
        explanation=(
            "The workspace says how many people must approve an act that nothing takes back "
            "(`[policy] irreversible_approvals` in `fullcount.toml`), and the workflow asks fewer. A mistake would be "
            "final, so that more people have to look before.\n\n"
            "Ask for as many people, or make it possible to take the act back: by an `undo`, or by a `backup` where "
            "the operation has one. The number is read again at each act: approvals that no longer suffice do not "
            "license the rest of a plan (FC779)."
        ),
        form=Form.COMMAND,
        wrong=session("fullcount check accounts.fcw"),
        right=session("fullcount check accounts.fcw"),
        files=(*_FINAL, *edited("fullcount.toml", _PEOPLE, _DELETABLE)),
        wrong_files=(*_FINAL, *_THREE),
    ),
)
