"""FC790 to FC799: what a rule takes for granted of its data, and the data does not bear out."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tried
from fullcount.dsl.codes.model import Code, Form

_SAY_SO = "If it is meant, say so in the proposal, with a reason that reviewers see in each plan: "

_LEFT = 'given accounts [{ id: "kept" }, { id: "left", owner: "p9" }]\n'
_TEAMS = 'given accounts [{ id: "kept", owner: "p9", team: "security" }, { id: "left", owner: "p9" }, { id: "own" }]\n'
_PEOPLE = 'given people [{ id: "p1" }, { id: "p2" }]'


def _excepting(team: str) -> tuple[str, str]:
    return "limit 50", f'except when a.team == "{team}"\n    limit 50'


_LOWER = ("    key id\n    fields { id: text, active", "    key id normalized by lower\n    fields { id: text, active")
_PLANNED = 'plan ["left"]'

CODES: tuple[Code, ...] = (
    Code(
        "FC790",
        "a join that matches nobody",
        "`some`, `no` or an aggregate joins two inventories by an equality, or by `in`, and of all rows on the outside "
        "not one has a partner. Two systems that spell their ids differently look exactly like that, and "
        "`no people as p where (p.id == a.owner)` then takes every account for an orphan.\n\n"
        "It is asked of the rows in the scope of both inventories, from the first row on whose side of the equality is "
        "known, and by the key alone: whatever else the condition says is left out. An inventory without rows matches "
        "nobody either.\n\n"
        "Compare the two sides: another field, another spelling (`key id normalized by lower`), a scope that is too "
        f'narrow. {_SAY_SO}`expect no people as p where (p.id == a.owner) because "…"`.',
        form=Form.TEST,
        wrong=tried(_LEFT + 'given people [{ id: "P1" }, { id: "P2" }]', "refused FC790"),
        right=tried(
            _LEFT + 'given people [{ id: "P1" }, { id: "P2" }]',
            _PLANNED,
            _LOWER,
        ),
    ),
    Code(
        "FC791",
        "a field that nobody has a value of",
        "A field that decides is absent or empty for every object that was read: a tag that nobody carries, an owner "
        "that nobody has. That is more often a call that failed, a permission that was taken away or a name that was "
        "misspelt than the truth, and a rule that asks for what is absent then selects all of them.\n\n"
        "It is asked of the rows in scope whose state is known, from the first one on.\n\n"
        f'See what the source delivers. {_SAY_SO}`expect no accounts as a where (a.owner is present) because "…"`.',
        form=Form.TEST,
        wrong=tried('given accounts [{ id: "kept", owner: absent }]\n' + _PEOPLE, "refused FC791"),
        right=tried(_LEFT + _PEOPLE, _PLANNED),
    ),
    Code(
        "FC792",
        "a negative condition that rules nobody out",
        "The rule says `!=`, `not in` or `not …`, or the condition stands inside `no` or `except when`, and what it "
        'names occurs nowhere. `environment != "prouction"` is true of production as well: a protection that is '
        "misspelt protects nobody, and nothing else would ever show it. Of a list each value is asked for.\n\n"
        "It is asked of the rows in scope of which the test is known, from the first one on. What the act itself "
        "brings about is left alone (`not a.locked` before an act that locks), and so is what protections say.\n\n"
        f'Correct the value. {_SAY_SO}`expect no accounts as a where (a.environment == "staging") because "…"`.',
        form=Form.TEST,
        wrong=tried(_TEAMS + _PEOPLE, "refused FC792", _excepting("securty")),
        right=tried(_TEAMS + _PEOPLE, _PLANNED, _excepting("security")),
    ),
    Code(
        "FC793",
        "two objects that are one key",
        "The inventory says that its key is `normalized by` some rules, and two of its objects have different keys "
        "that these rules spell alike, such as `SVC-Billing` and `svc-billing`. A join would find either of them for "
        "the other, and an exemption of the one would keep both.\n\n"
        "The refusal names both as the source has them. Find out whether they are one object that was entered twice; "
        "if they really are two, leave out the rule that joins them.",
        form=Form.TEST,
        wrong=tried(_LEFT + 'given people [{ id: "p1" }, { id: "P1" }]', "refused FC793", _LOWER),
        right=tried(_LEFT + 'given people [{ id: "P1" }, { id: "P2" }]', _PLANNED, _LOWER),
    ),
)
