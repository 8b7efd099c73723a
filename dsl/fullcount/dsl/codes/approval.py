"""FC4xx: who must agree before anything is done."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, tidy
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_APPROVE = '  approve disable { 2 of role "iam-admin" not by author, expires after 3d }\n'
_ACT = """\
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
"""
_DELETE = "  act disable with directory.delete(id: a.id)\n"

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
)
