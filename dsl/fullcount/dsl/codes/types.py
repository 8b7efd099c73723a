"""FC2xx: types, absence, and conditions that mean what they look like."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, ruled, tidy, with_people
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_FIELD = "team: text"

CODES: tuple[Code, ...] = (
    Code(
        id="FC201",
        title="two types that do not meet",
        explanation=(
            "Nothing is converted on the way: a text is never a number, a date never an instant. Otherwise one "
            "rule would mean one thing in the database and another at the recheck of a single object.\n\n"
            "Bring both sides to the same type."
        ),
        wrong=ruled('a.created < "2026-01-31"'),
        right=ruled("a.created < 2026-01-31T00:00:00Z"),
    ),
    Code(
        id="FC202",
        title="what absent means was not said",
        explanation=(
            "The value may be absent, and the rule does not say what that means. An absent value is neither more "
            "nor less than any other; taking it for one of them is how accounts that never logged in get deleted, "
            "or kept for ever.\n\n"
            "Say it: `x is present and …`, `x is absent or …`, or give a fallback with `else`."
        ),
        wrong=ruled("a.last_login < now - 90d"),
        right=ruled("a.last_login is present and a.last_login < now - 90d"),
    ),
    Code(
        id="FC203",
        title="never absent",
        explanation=(
            "The value is declared as always there, so asking whether it is absent, or giving it an `else`, can "
            "never make a difference. Either the declaration is wrong (it should end in `?`) or the rule is."
        ),
        wrong=ruled("a.team is absent"),
        right=ruled("a.owner is absent"),
    ),
    Code(
        id="FC204",
        title="neither true nor false",
        explanation=(
            "Only a `bool` or a test is true or false. `0`, an empty text and an empty list are values like any "
            "other; a rule must say what it compares them with."
        ),
        wrong=ruled("a.team"),
        right=ruled('a.team == "ops"'),
    ),
    Code(
        id="FC205",
        title="no meaning for these types",
        explanation=(
            "The operator or function does not exist for values of these types: decimals are compared but not "
            "computed with, `bool` has no order, lists and maps are looked into, not compared as a whole."
        ),
        wrong=ruled("a.created + a.created < now"),
        right=ruled("a.created + 90d < now"),
    ),
    Code(
        id="FC206",
        title="a number that does not fit",
        explanation=(
            "Whole numbers, sizes, durations and instants are held in 64 bits, decimals in 38 digits of which 9 "
            "follow the point. What does not fit is never rounded or wrapped, because a threshold would move "
            "without a word. Division by zero belongs here too."
        ),
        wrong=ruled("a.created < now - 90d * 10000000000"),
        right=ruled("a.created < now - 90d * 10"),
    ),
    Code(
        id="FC207",
        title="`never` out of its place",
        explanation=(
            "`x else never` says that an event that did not happen fails every comparison. That is clear where "
            "the comparison selects, and ambiguous under a negation, where failing would select. So `never` is "
            "only the last fallback of an instant or a date in `<`, `<=`, `>` or `>=`, and not under `not` or "
            "`no`."
        ),
        wrong=ruled("not (a.last_login else never) > now - 90d"),
        right=ruled("(a.last_login else never) < now - 90d"),
    ),
    Code(
        id="FC208",
        title="the same for every object",
        explanation=(
            'The test does not depend on any object, or holds for whatever there is, as `starts_with(a.team, "")` and '
            "`length(a.groups) >= 0` do, so the rule selects everything or nothing. To select every object, write "
            "`where all`: someone has then meant it."
        ),
        wrong=ruled("1 < 2"),
        right=ruled("all"),
    ),
    Code(
        id="FC210",
        title="an aggregate out of its place",
        explanation=(
            "As long as rows may be missing, `count`, `min`, `max` and `sum` stand for a range of values. Only a "
            "comparison, `is present`, `is absent` and `else` can deal with that and say `unknown`; arithmetic "
            "and functions can't."
        ),
        wrong=with_people(rule="count people as p where (p.id == a.team) + 1 > 3"),
        right=with_people(rule="count people as p where (p.id == a.team) > 2"),
    ),
    Code(
        id="FC211",
        title="looking into another inventory from the wrong place",
        explanation=(
            "Only the rule of a proposal may look into other inventories: there the compiler works out what "
            "evidence that needs. A `scope` is a question to one source, and what is shown or handed to an "
            "operation comes from the object itself."
        ),
        wrong=with_people(("    limit 50", "    show some people as q where (q.id == a.team)\n    limit 50")),
        right=with_people(("    limit 50", "    show a.team\n    limit 50")),
    ),
    Code(
        id="FC212",
        title="a pattern that does not work",
        explanation=(
            "Patterns, networks and paths are written out in the rule, so that they can be checked here and reviewed. "
            "Patterns match the whole text in linear time; look-around and back-references do not exist."
        ),
        wrong=ruled('matches(a.team, "ops-(")'),
        right=ruled('matches(a.team, "ops-.*")'),
    ),
    Code(
        id="FC213",
        title="arguments that a function does not take",
        explanation="Functions take a fixed number of arguments.",
        wrong=ruled("starts_with(a.team)"),
        right=ruled('starts_with(a.team, "ops-")'),
    ),
    Code(
        id="FC214",
        title="no such type",
        explanation=(
            "The types of fields are text, int, decimal, bool, timestamp, date, duration, size, and lists and "
            "maps of these. A `?` behind the type says that the value may be absent."
        ),
        wrong=tidy((_FIELD, "team: string")),
        right=TIDY,
    ),
    Code(
        id="FC215",
        title="a percentage in an expression",
        explanation=(
            "A percentage is of something, and only `limit`, `change at most`, `stop after` and the function `sample` "
            "say of what."
        ),
        wrong=ruled("a.created < now - 90d and a.team != 5%"),
        right=ruled('a.created < now - 90d and a.team != "ops"'),
    ),
    Code(
        id="FC216",
        title="a default that is not a constant of the type",
        explanation="The default of a parameter is written out and of the declared type.",
        wrong=tidy(
            ("  inventory accounts", "  param idle: duration = 90\n\n  inventory accounts"), ("now - 90d", "now - idle")
        ),
        right=tidy(
            ("  inventory accounts", "  param idle: duration = 90d\n\n  inventory accounts"),
            ("now - 90d", "now - idle"),
        ),
    ),
    Code(
        id="FC217",
        title="a condition that forgets its row",
        explanation=(
            "The condition of `some`, `no` or an aggregate never looks at the row it is about, so it is true for "
            "every row or for none. In `no people as p where (a.team == a.owner)` that selects every object there "
            "is. Name a field of the row, or write `where (all)` if any row at all is meant. The same holds for the "
            "items of a list, in `any` and `all`."
        ),
        wrong=with_people(rule='no people as p where (a.team == "ops")'),
        right=with_people(rule="no people as p where (p.id == a.team)"),
    ),
    Code(
        id="FC218",
        title="a rule that never looks at the object",
        severity=Severity.WARNING,
        explanation=(
            "The rule has conditions, but none of them is about the object that would be acted on: it selects "
            "every object or none. That may be meant (`where no jobs as j where (j.running)`), and is worth a "
            "second look."
        ),
        wrong=with_people(rule="no people as p where (p.active)"),
        right=with_people(rule="no people as p where (p.active and p.id == a.team)"),
    ),
    Code(
        id="FC219",
        title="a test that rules nothing out",
        severity=Severity.WARNING,
        explanation=(
            "The value is declared as always there, so `is present` is never false. To ask whether it could be "
            "read at all, write `is known`."
        ),
        wrong=ruled('a.team is present and a.team == "ops"'),
        right=ruled('a.team == "ops"'),
    ),
    Code(
        id="FC220",
        title="a test used as a value",
        explanation=(
            "A test is true, false or unknown; it is joined with `and`, `or` and `not`, and not compared or handed on."
        ),
        wrong=ruled('(a.team == "ops") == (a.owner is absent)'),
        right=ruled('a.team == "ops" and a.owner is absent'),
    ),
    Code(
        id="FC221",
        title="a list out of its place",
        explanation=(
            "A list that is written out stands behind `in` or is handed to a function or a definition, and it holds "
            "constants only."
        ),
        wrong=ruled('a.team == ["ops"]'),
        right=ruled('a.team in ["ops", "platform"]'),
    ),
    Code(
        id="FC230",
        title="a text that its function can't read",
        explanation=(
            "What is written out for a function is read here: the network of `cidr_contains` has a prefix and no bits "
            "behind it, a version of `semver_compare` has three numbers, a path of `json` begins with `$`, a sample "
            "is more than nothing and less than everything. Otherwise the test would be undecided, or the same, for "
            "every object."
        ),
        wrong=ruled('cidr_contains("10.0.0.1/8", a.team)'),
        right=ruled('cidr_contains("10.0.0.0/8", a.team)'),
    ),
)
