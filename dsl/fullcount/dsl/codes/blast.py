"""FC5xx: how much may happen, how fast, and when."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, tidy
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_LIMIT = "    limit 50, 5%\n"
_ACT = "act disable with directory.update(id: a.id, locked: true) {\n"


def _scheduled(schedule: str) -> str:
    return tidy(("  inventory accounts", f"  schedule {schedule}\n\n  inventory accounts"))


CODES: tuple[Code, ...] = (
    Code(
        id="FC501",
        title="an act without a limit",
        explanation=(
            "When a rule goes wrong, the limit is what is left between it and every object there is. A proposal "
            "that is acted on has one: a number, a percentage of the inventory, or both; the stricter holds."
        ),
        wrong=tidy((_LIMIT, "")),
        right=TIDY,
    ),
    Code(
        id="FC502",
        title="a limit that allows nothing",
        severity=Severity.WARNING,
        explanation=(
            "Zero means none, never `unlimited`: every plan with objects in it exceeds this limit. That is a way "
            "to keep an act switched off, if it is meant."
        ),
        wrong=tidy(("limit 50, 5%", "limit 0")),
        right=TIDY,
    ),
    Code(
        id="FC503",
        title="more than all there is",
        explanation="A cap above 100 % never holds anything back.",
        wrong=tidy(("limit 50, 5%", "limit 50, 500%")),
        right=TIDY,
    ),
    Code(
        id="FC504",
        title="a pace of nothing",
        explanation=(
            "Zero means none: with `concurrency 0` or a rate of zero nothing is ever done, and `stop after 0 "
            "failures` stops before the first act. To keep an act switched off, give its proposal `limit 0`."
        ),
        wrong=tidy((_ACT, _ACT + "    concurrency 0\n")),
        right=tidy((_ACT, _ACT + "    concurrency 4\n")),
    ),
    Code(
        id="FC505",
        title="a cron text that can't be read",
        explanation=(
            "A cron text has five parts: minute, hour, day of month, month, day of week. One that is read in "
            "another way than it was meant runs at another time, so nothing is guessed."
        ),
        wrong=_scheduled('cron "0 2 * *"'),
        right=_scheduled('cron "0 2 * * *" catch up within 4h'),
    ),
    Code(
        id="FC506",
        title="unknown time zone",
        explanation="Time zones are named as in the IANA database, as `Europe/Berlin`.",
        wrong=_scheduled('cron "0 2 * * *" timezone "Europe/Berln"'),
        right=_scheduled('cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h'),
    ),
    Code(
        id="FC507",
        title="more often than hourly",
        severity=Severity.WARNING,
        explanation=(
            "The schedule fires more than 24 times in one day, and each run reads every source in full. `* 1 * * "
            "*` fires sixty times between one and two o'clock; once a day at one is `0 1 * * *`. A period is counted "
            "the same way: `every 30m` fires 48 times."
        ),
        wrong=_scheduled('cron "* 1 * * *"'),
        right=_scheduled('cron "0 1 * * *" catch up within 4h'),
    ),
    Code(
        id="FC508",
        title="a time of nothing in a schedule",
        explanation="A period, and the time within which a missed run is caught up, are longer than nothing.",
        wrong=_scheduled("every 0h"),
        right=_scheduled("every 6h"),
    ),
)
