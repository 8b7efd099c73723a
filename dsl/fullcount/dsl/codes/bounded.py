"""FC320 to FC329: what a clean-up of an inventory that was not read to its end may rest on. A part of FC3xx."""

from __future__ import annotations

from fullcount.dsl.codes.examples import PEOPLE, VERIFY_PEOPLE
from fullcount.dsl.codes.model import Code

_RIGHT = """\
workflow tidy_test_accounts {
  inventory accounts from directory.accounts {
    key id
    incarnation entry_uuid
    fields { id: text, entry_uuid: text, owner: text?, environment: text, last_login: timestamp? }
    scope environment == "test"
  }

  verify accounts { fresh within 1h }

  propose disable from accounts as a {
    bounded
    where a.last_login is present and a.last_login < now - 90d
    limit 20
  }

  approve disable { 2 of role "iam-admin" not by author, expires after 3d }

  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
}
"""
_RULE = "a.last_login is present and a.last_login < now - 90d"


def _changed(old: str, new: str) -> str:
    if old not in _RIGHT:
        raise ValueError(f"the example has no `{old}`")
    return _RIGHT.replace(old, new, 1)


_VERIFY = "  verify accounts { fresh within 1h }\n"

CODES: tuple[Code, ...] = (
    Code(
        id="FC320",
        title="`bounded` beside a claim about the whole inventory",
        explanation=(
            "`bounded` says that a proposal may take what was found, although the inventory may not have been read to "
            "its end. `complete`, `rows at least`, `change at most` and `count agrees with` are about all rows there "
            "are: with one of them an incomplete reading is refused, and `bounded` would only look as if it meant "
            "something.\n\n"
            "Remove the claim, or remove `bounded`. How old the reading may be (`fresh within`) is asked in any case."
        ),
        wrong=_changed("{ fresh within 1h }", "{ complete, fresh within 1h }"),
        right=_RIGHT,
    ),
    Code(
        id="FC321",
        title="`bounded` without a scope that names what is meant",
        explanation=(
            "Where the whole can't be counted, a clean-up must at least say which part it is about: a scope in which a "
            "field equals a value, is one of several, or begins with a text. A scope that only leaves something out "
            '(`environment != "production"`) takes in whatever else there may be.\n\n'
            'Give the inventory a scope, as `scope environment == "test"`.'
        ),
        wrong=_changed('    scope environment == "test"\n', '    scope environment != "production"\n'),
        right=_RIGHT,
    ),
    Code(
        id="FC322",
        title="`bounded` with a rule that rests on absence",
        explanation=(
            "An object that was found proves something about itself. `no`, `count … < n` and their like conclude from "
            "rows that were not returned, of this inventory or another one. In a proposal that is declared to act on "
            "incomplete readings that is not allowed anywhere, not even where the other inventory is verified.\n\n"
            "Say it by what is found (`some … where (…)`, a field of the object itself), or remove `bounded`."
        ),
        wrong=_changed(_RULE, "a.owner is present and no people as p where (p.id == a.owner)").replace(
            _VERIFY, PEOPLE + _VERIFY + VERIFY_PEOPLE
        ),
        right=_changed(
            _RULE, "a.owner is present and some people as p where (p.id == a.owner and not p.active)"
        ).replace(_VERIFY, PEOPLE + _VERIFY + VERIFY_PEOPLE),
    ),
    Code(
        id="FC323",
        title="`bounded` with a clause that compares objects with each other",
        explanation=(
            "`keep at least N newest` and `pick oldest N` rank the objects of an inventory. Of one that was not read "
            "to its end nobody can say which object comes first: it may be one that was not returned.\n\n"
            "Remove the clause, or remove `bounded` and verify the inventory as complete."
        ),
        wrong=_changed(
            "    limit 20\n", "    keep at least 3 newest by (a.last_login else 2020-01-01T00:00:00Z)\n    limit 20\n"
        ),
        right=_RIGHT,
    ),
    Code(
        id="FC324",
        title="`bounded` without a cap that is a number",
        explanation=(
            "A percentage is a part of all objects, and in a `bounded` proposal nobody knows how many these are. The "
            "cap must be a number, and there must be one.\n\n"
            "Write `limit 20`."
        ),
        wrong=_changed("    limit 20\n", "    limit 20, 5%\n"),
        right=_RIGHT,
    ),
)
