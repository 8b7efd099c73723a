"""Lint: warnings about workflows that mean what they say and may not say what is meant.

Their rules stand in `fullcount.compiler.lint`, one in each file. FC260 to FC269 are about conditions, FC560 to FC569
about how much may happen, and when.
"""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, ruled, tidy
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_LIMIT = "limit 50, 5%"
_AGE = ("(a.last_login else a.created)", "a.created")
_BACK = "undo directory.update(id: a.id, locked: false)"
_UNDO = f" {{\n    {_BACK}\n  }}"


def _scheduled(schedule: str) -> str:
    return tidy(("  inventory accounts", f"  schedule {schedule}\n\n  inventory accounts"))


def _idle(default: str) -> str:
    param = f"  param idle: duration = {default}\n\n  inventory accounts"
    return tidy(("  inventory accounts", param), ("now - 90d", "now - idle"))


CODES: tuple[Code, ...] = (
    Code(
        id="FC260",
        title="the same condition twice",
        severity=Severity.WARNING,
        explanation=(
            "Two parts of one `and` or `or` say the same, so one of them changes nothing. One of the two was probably "
            "copied and meant to be something else."
        ),
        wrong=ruled('a.owner is absent and a.team == "ops" and a.owner is absent'),
        right=ruled('a.owner is absent and a.team == "ops"'),
    ),
    Code(
        id="FC261",
        title="two conditions that make each other void",
        severity=Severity.WARNING,
        explanation=(
            "Of two parts of an `and` never both are true, so it selects nothing; or of two parts of an `or` always "
            'one is true, so it rules nothing out. `a.team != "ops" or a.team != "core"` is true of every team.\n\n'
            "Join the two by the other word, or correct one of them."
        ),
        wrong=ruled('a.team != "ops" or a.team != "core"'),
        right=ruled('a.team != "ops" and a.team != "core"'),
    ),
    Code(
        id="FC262",
        title="a comparison that changes nothing",
        severity=Severity.WARNING,
        explanation=(
            "Another comparison beside it is stricter (in an `and`) or wider (in an `or`), so this one decides "
            "nothing. Whoever reads it believes that it holds something back: of two borders for one value, only one "
            "counts."
        ),
        wrong=ruled("a.created < now - 30d and a.created < now - 90d"),
        right=ruled("a.created < now - 90d"),
    ),
    Code(
        id="FC263",
        title="a pattern that is a plain text",
        severity=Severity.WARNING,
        explanation=(
            "A pattern matches a value from its beginning to its end. One without any sign of a pattern in it is an "
            "equality in disguise, and was probably meant to find the text anywhere in the value.\n\n"
            "Write `==`, `contains`, or the pattern that is meant: `svc-.*`."
        ),
        wrong=ruled('matches(a.team, "ops")'),
        right=ruled('matches(a.team, "ops-.*")'),
    ),
    Code(
        id="FC264",
        title="an exemption of nothing",
        severity=Severity.WARNING,
        explanation=(
            "The condition of `except when` is false for every object that the rule selects, so it keeps nothing. That "
            "looks like a safety and is none: perhaps the rule has changed since it was written."
        ),
        wrong=tidy((_LIMIT, "except when a.created > now - 30d\n    limit 50, 5%"), _AGE),
        right=tidy((_LIMIT, "except when a.created < now - 900d\n    limit 50, 5%"), _AGE),
    ),
    Code(
        id="FC265",
        title="a parameter below zero",
        severity=Severity.WARNING,
        explanation=(
            "A length below zero turns `now - idle` into a time to come, and every object is older than that: one sign "
            "selects all there is. `--param` takes a length below zero only where the default is one too."
        ),
        wrong=_idle("-90d"),
        right=_idle("90d"),
    ),
    Code(
        id="FC560",
        title="a large limit that is no part of the inventory",
        severity=Severity.WARNING,
        explanation=(
            "A limit in the hundreds says little about how large a part of the inventory may go: where it suits the "
            "busiest night, it may be everything that a smaller inventory has. With a percentage beside it the "
            "stricter of both holds."
        ),
        wrong=tidy((_LIMIT, "limit 2000")),
        right=tidy((_LIMIT, "limit 2000, 5%")),
    ),
    Code(
        id="FC561",
        title="an act that could be taken back",
        severity=Severity.WARNING,
        explanation=(
            "The source has an operation that takes this one back, and the act does not say how, so `fullcount undo` "
            "would have nothing to go by on the one night it is needed. Add an `undo`."
        ),
        wrong=tidy((_UNDO, "")),
        right=TIDY,
    ),
    Code(
        id="FC562",
        title="a schedule that skips what it misses",
        severity=Severity.WARNING,
        explanation=(
            "The schedule runs once a day or less, and a run that is missed (a restart, a full disk, a night of "
            "maintenance) is skipped until the next one. Say within which time it may still be made up for: `catch up "
            "within 4h`. If skipping does no harm, allow the warning with that reason."
        ),
        wrong=_scheduled('cron "0 2 * * *" timezone "Europe/Berlin"'),
        right=_scheduled('cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h'),
    ),
    Code(
        id="FC563",
        title="a canary of everything",
        severity=Severity.WARNING,
        explanation=(
            "A canary does the first few, waits, and looks whether they still are as they were left before it does the "
            "rest. Where it is of as many objects as the limit allows there never is a rest: every plan is carried out "
            "at once, and the clause changes nothing."
        ),
        wrong=tidy((_BACK, f"{_BACK}\n    canary 50 then wait 15m")),
        right=tidy((_BACK, f"{_BACK}\n    canary 5 then wait 15m")),
    ),
    Code(
        id="FC564",
        title="an undo of one half",
        severity=Severity.WARNING,
        explanation=(
            "The act sets several things, and its `undo` gives back only some of them. The plan says that the act can "
            "be taken back, fewer people are asked on that word, and after an undo the object is still not what it "
            "was.\n\n"
            "Give back the rest as well. Where what was there before can't be named, leave it alone in the act; where "
            "it does not matter, such as a note, allow the warning with that reason."
        ),
        wrong=tidy(("locked: true", 'locked: true, note: "idle"')),
        right=tidy(("locked: true", 'locked: true, note: "idle"'), ("locked: false", 'locked: false, note: ""')),
    ),
    Code(
        id="FC565",
        title="a percentage that holds nothing back",
        severity=Severity.WARNING,
        explanation=(
            "Nothing shrinks by more than 100 %, and nothing is more than 100 % of what there is. With `change at most "
            "500%` an inventory may come back empty and pass; `stop after 100%` stops when nothing is left to do; "
            "`limit 100%` is every object; `percent <= 100%` is true of every plan.\n\n"
            "Give a percentage that a bad night would exceed. Where an inventory may really grow to a multiple from "
            "one night to the next, allow the warning with that reason, and add `rows at least` against its loss."
        ),
        wrong=tidy((_BACK, f"{_BACK}\n    stop after 100%")),
        right=tidy((_BACK, f"{_BACK}\n    stop after 1%")),
    ),
)
