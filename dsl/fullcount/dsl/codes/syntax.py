"""FC0xx: what the text of a file may not be, before any name in it means anything."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

RIGHT = """\
workflow disable_idle {
  describe "Disable accounts that nobody uses."
  owner "iam-team"

  inventory accounts from directory.accounts {
    key id
    incarnation entry_uuid
    fields { id: text, entry_uuid: text, team: text, last_login: timestamp? }
    scope team == "payments"
    deadline 10m
  }

  verify accounts { complete, fresh within 1h, change at most 20% }

  propose disable from accounts as a {
    where a.last_login is present and a.last_login < now - 90d
    limit 50, 5%
    show a.last_login
  }

  approve disable { 2 of role "iam-admin" not by author, expires after 3d }

  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
    rate 10 per second
    concurrency 4
    stop after 3 failures or 1%
  }
}
"""


def _changed(old: str, new: str, text: str = RIGHT) -> str:
    """Return the example with one passage changed, so that an example shows one mistake and nothing else."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} must stand exactly once in the example")
    return text.replace(old, new)


_WHERE = "where a.last_login is present and a.last_login < now - 90d"
_PEOPLE = _changed(
    "  verify accounts {",
    """\
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
    deadline 10m
  }

  verify people { complete, fresh within 24h }

  verify accounts {""",
)
_RIGHT_NONE = _changed(_WHERE, "where no people as p where (p.id == a.id and p.active)", _PEOPLE)
_RIGHT_ALL = _changed(_WHERE, "where all")
_RIGHT_ELSE = _changed(_WHERE, "where (a.last_login else never) < now - 90d")

CODES: tuple[Code, ...] = (
    Code(
        "FC001",
        "something stands where the language expects something else",
        """\
The text can be read up to this place and not further. The message names what could have stood here.

A clean-up is never run from a file that was understood in part: what could not be read may have been the condition
that protects the objects. The rest of the file is still checked, so that one run shows every mistake.""",
        wrong=_changed("inventory accounts from", "inventory accounts form"),
        right=RIGHT,
    ),
    Code(
        "FC002",
        "a clause that the block does not have",
        """\
Each block takes a fixed set of clauses, and a word that is not one of them is an error, never a comment. A misspelt
`limit` that was skipped would be a clean-up without a limit.

Look for a spelling mistake, for a clause that belongs into another block, or for a `}` that closes a block too
early.""",
        wrong=_changed("limit 50, 5%", "limt 50, 5%"),
        right=RIGHT,
    ),
    Code(
        "FC003",
        "the same clause twice in one block",
        """\
A block may carry each of these clauses once. With two of them, one would win silently, and a reader who sees the other
one approves something else. Keep one. Clauses that add up (`expect`, `except`, `param`) may be repeated.""",
        wrong=_changed("limit 50, 5%", "limit 50, 5%\n    limit 500"),
        right=RIGHT,
    ),
    Code(
        "FC004",
        "a block lacks a part that it cannot do without",
        """\
An inventory needs its `key` (or no object could be told from another) and its `fields` (only a field that was asked for
can be known to be absent). A `verify` needs at least one claim, and an `approve` at least one quorum: an approval that
nobody has to give is no approval.""",
        wrong=_changed("    key id\n", ""),
        right=RIGHT,
    ),
    Code(
        "FC005",
        "a proposal does not say which objects it means",
        """\
A `propose` without `where` could be read as "none" or as "every object", and the second reading destroys things. So
neither is assumed. Write the condition, or `where all` if every object of the inventory is meant.""",
        wrong=_changed(f"    {_WHERE}\n", ""),
        right=_RIGHT_ALL,
    ),
    Code(
        "FC006",
        "a selector that is always true by accident",
        """\
`where true` is what a condition looks like that was emptied while trying something out. To select every object on
purpose, type `where all`: nobody writes that by accident, and a reviewer sees it.""",
        wrong=_changed(_WHERE, "where true"),
        right=_RIGHT_ALL,
    ),
    Code(
        "FC007",
        "`all` inside of a condition",
        """\
`all` selects every object and stands alone after `where`. Joined with other conditions it would say nothing, and in a
`scope` it is the same as no scope at all: leave it out there.""",
        wrong=_changed(_WHERE, "where all and a.last_login is present"),
        right=_RIGHT_ALL,
    ),
    Code(
        "FC008",
        "two comparisons in a row",
        """\
`a < b < c` looks like a range, and many languages read it as "is the answer of `a < b` less than `c`". Neither reading
is taken. Join two comparisons with `and`: `a < b and b < c`.""",
        wrong=_changed(_WHERE, "where now - 90d < a.last_login < now"),
        right=RIGHT,
    ),
    Code(
        "FC009",
        "a single `=` in a condition",
        """\
Conditions compare with `==`. A single `=` gives a parameter its default and does nothing else, so that no one has to
guess which was meant.""",
        wrong=_changed('team == "payments"', 'team = "payments"'),
        right=RIGHT,
    ),
    Code(
        "FC010",
        "a bracket without its partner",
        """\
A `{`, `(` or `[` is never closed, or one is closed that was never opened. The message points at the place where the
partner is missed; the mistake itself may stand a few lines before it. Until it is mended, the rest of the file is read
as if the bracket stood there.""",
        wrong=_changed("limit 50, 5%\n    show a.last_login\n  }", "limit 50, 5%\n    show a.last_login"),
        right=RIGHT,
    ),
    Code(
        "FC011",
        "a text that is never closed",
        """\
A text begins and ends with `"` on the same line. A line break inside of a text is written `\\n`, a quote `\\"`.""",
        wrong=_changed('owner "iam-team"', 'owner "iam-team'),
        right=RIGHT,
    ),
    Code(
        "FC012",
        "an escape that the language does not have",
        """\
After a backslash in a text comes one of `"`, `\\`, `n`, `t`, or `u{…}` with the hexadecimal code of a character.
Anything else is an error, because a backslash that disappears changes a pattern: to match a dot, write `"\\\\."`.""",
        wrong=_changed('team == "payments"', 'team == "pay\\ments"'),
        right=RIGHT,
    ),
    Code(
        "FC013",
        "a number that is too large, or not whole",
        """\
Whole numbers, durations (counted in microseconds) and sizes (counted in bytes) go up to 9223372036854775807, which is
what sources and snapshots can carry. Decimal numbers have at most 38 digits. Nothing is ever rounded: `0.5us` is
refused.""",
        wrong=_changed("limit 50, 5%", "limit 99999999999999999999, 5%"),
        right=RIGHT,
    ),
    Code(
        "FC014",
        "a unit that the language does not have",
        """\
A duration is one number and one unit: `us`, `ms`, `s`, `m` (minutes), `h`, `d` (24 hours) or `w` (7 days). A size ends
in `B`, `KB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024).

There are no months and years: they have no fixed length, so two readers would select different objects. Write
`30d`.""",
        wrong=_changed("now - 90d", "now - 3months"),
        right=RIGHT,
    ),
    Code(
        "FC015",
        "a time without an offset",
        """\
`2026-11-30T02:00:00` is a different instant in each time zone, and the difference decides which objects count as old.
Add `Z` for UTC or the offset: `2026-11-30T02:00:00+01:00`.""",
        wrong=_changed("now - 90d", "2026-11-30T02:00:00"),
        right=_changed("now - 90d", "2026-11-30T02:00:00Z"),
    ),
    Code(
        "FC016",
        "not a date or a time",
        """\
A date is written `2026-11-30`, a time `2026-11-30T02:00:00Z`, with up to six digits after the seconds. This one does
not exist in the calendar, or is written in another way.""",
        wrong=_changed("now - 90d", "2026-02-30T02:00:00Z"),
        right=_changed("now - 90d", "2026-11-30T02:00:00Z"),
    ),
    Code(
        "FC017",
        "a character that makes the file read differently from how it looks",
        """\
A workflow is approved by people who read it. Marks that turn the direction of the text, characters without width,
control characters and line breaks that only some editors show make the file say something else than what is seen, so
they are errors everywhere, comments included. A text that needs such a character writes it as an escape:
`\\u{200d}`.""",
        wrong=_changed('team == "payments"', 'team == "pay\u200bments"'),
        right=RIGHT,
    ),
    Code(
        "FC018",
        "a sign that the language does not have",
        """\
This character begins nothing in the language. Frequent ones: texts are written in double quotes, not in single ones;
`and`, `or` and `not` are words; clauses need no `;` between them; names are made of a-z, A-Z, 0-9 and `_`, because
letters of other alphabets can look the same and be another name.""",
        wrong=_changed('team == "payments"', "team == 'payments'"),
        right=RIGHT,
    ),
    Code(
        "FC019",
        "an expression with too many levels",
        """\
Expressions and types may be 100 levels deep, counting parentheses and the members of a long chain. Nobody can review
a rule that is deeper. A long chain of `or` is a list: `a.team in ["x", "y", "z"]`.""",
        wrong=_changed('scope team == "payments"', f'scope {"(" * 120}team == "payments"{")" * 120}'),
        right=RIGHT,
    ),
    Code(
        "FC020",
        "letters of another alphabet that look alike",
        """\
A Cyrillic `а` in the middle of Latin letters looks right and is another text, so a comparison with it selects other
objects than the reader believes. The same goes for a text that is written in such letters throughout, and for a comment
whose words are not what they seem. Type the word again; if it is meant, allow the warning with a reason.""",
        Severity.WARNING,
        wrong=_changed('team == "payments"', 'team == "p\u0430yments"'),
        right=RIGHT,
    ),
    Code(
        "FC021",
        "a parameter or row with the name of a word of the language",
        """\
`true`, `false`, `now`, `never`, `all`, `not`, `and`, `or`, `in`, `is`, `else` and the words that other languages have
for a missing value cannot name a parameter or a row, because every later use would be read as the word. Fields may have
any name: they come from the source and stand after a dot.""",
        wrong=_changed("  inventory accounts", "  param now: duration = 90d\n\n  inventory accounts"),
        right=RIGHT,
    ),
    Code(
        "FC022",
        "an amount of the wrong kind",
        """\
Each clause takes one kind of amount: `deadline 10m` a duration, `limit 50, 5%` a number and a percentage, `rate 10 per
second` a number. A bare `deadline 10` would leave open whether seconds or minutes are meant.""",
        wrong=_changed("deadline 10m", "deadline 10"),
        right=RIGHT,
    ),
    Code(
        "FC023",
        "a word of other languages for a missing value",
        """\
There is no `null`. A value that the source positively says is absent, one that was not asked for and one that could not
be read are different things, and only the first is evidence. Test with `is absent`, `is present` or `is known`, or say
what absent means: `a.last_login else never`.""",
        wrong=_changed("a.last_login is present and", "a.last_login != null and"),
        right=RIGHT,
    ),
    Code(
        "FC024",
        "`never` in another place than after `else`",
        """\
`never` is the instant of an event that did not happen; it is earlier than every other. It says what an absent time
means, so it stands after `else`: `(a.last_login else never) < now - 90d`. To ask whether there is a time at all, write
`a.last_login is absent`.""",
        wrong=_changed(_WHERE, "where a.last_login is present and a.last_login == never"),
        right=_RIGHT_ELSE,
    ),
    Code(
        "FC025",
        "a quantifier or an aggregate that is not complete",
        """\
The forms are `some people as p where (…)`, `no people as p where (…)`, `count people as p where (…)`, and
`max logins as l where (…) of l.at` for `min`, `max`, `sum` and `avg`, which may end in `needs 12`. The forms for the
items of a list are `any a.groups as g where (…)` and `all a.groups as g where (…)`. The parentheses are needed, so that
no one has to guess how far the condition goes. `where (all)` takes every row.""",
        wrong=_changed("(p.id == a.id and p.active)", "p.id == a.id and p.active", _RIGHT_NONE),
        right=_RIGHT_NONE,
    ),
    Code(
        "FC026",
        "`otherwise` is missing, or stands where it does not belong",
        """\
Behind `automatically when …` the next rule says who is asked when its conditions do not hold, and it begins with
`otherwise`. Without `automatically` before it there is nothing that it could stand against.""",
        wrong=_changed("2 of role", "automatically when count <= 5 and reversible, 2 of role"),
        right=_changed("2 of role", "automatically when count <= 5 and reversible, otherwise 2 of role"),
    ),
    Code(
        "FC030",
        "an edition that is not known",
        """\
An edition is a version of the language, counted apart from the version of the program. A file says which one it was
written in, so that a later version never gives it another meaning. An edition that is not known is not guessed at:
a newer Fullcount may read the file, or the year is mistyped.""",
        wrong='edition "2062"\n\n' + RIGHT,
        right='edition "2026"\n\n' + RIGHT,
    ),
    Code(
        "FC031",
        "`edition` is not the first statement",
        """\
`edition` says how everything in the file is to be read, so it stands before everything else. Comments may stand
above it.""",
        wrong=RIGHT + '\nedition "2026"\n',
        right='edition "2026"\n\n' + RIGHT,
    ),
)
