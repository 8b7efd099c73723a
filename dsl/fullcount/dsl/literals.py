"""From the text of a literal to its value: texts, numbers, amounts with a unit, moments.

Every function is total: it returns either a value or a `Problem`, never raises, and never rounds. Whole numbers are
held to what a signed 64-bit field can carry, because that is what sources, snapshots and comparisons carry.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Final

from fullcount.dsl.dataclass import dataclass

INT_MAX: Final = 2**63 - 1
_MAX_DIGITS: Final = 38

DURATIONS: Final[dict[str, int]] = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
SIZES: Final[dict[str, int]] = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SPELLINGS: Final[dict[str, str]] = {
    "µs": "us", "usec": "us", "msec": "ms", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "min": "m", "mins": "m", "minute": "m", "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "D": "d", "H": "h", "S": "s", "week": "w", "weeks": "w", "W": "w",
    "b": "B", "k": "KB", "K": "KB", "kb": "KB", "kB": "KB", "Kb": "KB", "mb": "MB", "Mb": "MB", "gb": "GB", "Gb": "GB",
    "G": "GB", "g": "GB", "tb": "TB", "Tb": "TB", "T": "TB", "t": "TB", "kib": "KiB", "kiB": "KiB", "mib": "MiB",
    "gib": "GiB", "tib": "TiB", "Ki": "KiB", "Mi": "MiB", "Gi": "GiB", "Ti": "TiB",
}  # fmt: skip
_CALENDAR: Final = frozenset({"mo", "mon", "month", "months", "y", "yr", "yrs", "year", "years"})

_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9_]*)?)[ \t]*(.+)", re.DOTALL)
# compiled when they are first needed, which in most files they are not
_MOMENT = r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt]([0-9:.]+)(Z|z|[+-][0-9:]+)?)?"
_CLOCK = r"(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?"
_OFFSET = r"([+-])(\d{2}):?(\d{2})"
_ESCAPE = r'\\(?:u\{([0-9A-Fa-f]{1,6})\}|(["\\nt])|(.))'
_PLAIN: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Value:
    """A decoded literal: the language's kind and the canonical form that `tree.Literal` documents."""

    kind: str
    value: str | int | Decimal


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a literal has no value. `start` and `end` are offsets inside the literal; None means the whole of it.

    `instead` is what to write there, if there is such a thing; `certain` if it can be nothing else.
    """

    code: str
    message: str
    help: str = ""
    why: str = ""
    start: int | None = None
    end: int | None = None
    instead: str = ""
    certain: bool = False


def text(raw: str) -> tuple[Value, list[Problem]]:
    """Decode a text in double quotes; each bad escape is one problem and decodes to nothing."""
    problems: list[Problem] = []

    def decode(match: re.Match[str]) -> str:
        point, plain, other = match.groups()
        if plain is not None:
            return _PLAIN[plain]
        if point is not None:
            number = int(point, 16)
            if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF:
                return chr(number)
            message = f"`{match.group()}` is not a character"
        else:
            message = f"`\\{other}` is not an escape"
        problems.append(Problem("FC012", message, _ESCAPE_HELP, _ESCAPE_WHY, match.start() + 1, match.end() + 1))
        return ""

    inside = raw[1:-1]
    decoded = re.sub(_ESCAPE, decode, inside, flags=re.DOTALL) if "\\" in inside else inside
    return Value("text", decoded), problems


_ESCAPE_HELP = 'the escapes are `\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}` with a hexadecimal code; a backslash is `\\\\`'
_ESCAPE_WHY = "a pattern that lost its backslash selects other objects than the one that was meant"


def number(raw: str) -> Value | Problem:
    """Decode `100`, `1_000` or `2.5`."""
    digits = raw.replace("_", "")
    if _too_long(digits):
        return _out_of_range(raw)
    if "." in digits:
        return Value("decimal", Decimal(digits))
    value = int(digits)
    return Value("int", value) if value <= INT_MAX else _out_of_range(raw)


def quantity(raw: str) -> Value | Problem:
    """Decode a number with a unit: `90d`, `10 GiB`, `5%`."""
    match = _QUANTITY.fullmatch(raw)
    if match is None:
        return _unknown_unit(raw, raw, "")
    digits, unit = match.group(1).replace("_", ""), match.group(2).strip()
    if _too_long(digits):
        return _out_of_range(raw)
    if unit == "%":
        return Value("percent", Decimal(digits))
    if unit in DURATIONS:
        return _scaled(raw, "duration", "microseconds", Decimal(digits), DURATIONS[unit])
    if unit in SIZES:
        return _scaled(raw, "size", "bytes", Decimal(digits), SIZES[unit])
    return _unknown_unit(raw, digits, unit)


def moment(raw: str) -> Value | Problem:
    """Decode a date, `2026-11-30`, or a time with an offset, `2026-11-30T02:00:00Z`."""
    match = re.fullmatch(_MOMENT, raw, re.ASCII)
    if match is None:
        return _no_such_moment(raw)
    year, month, day, clock, offset = match.groups()
    if len(month) != 2 or len(day) != 2:
        return _no_such_moment(raw)
    try:
        date = datetime.date(int(year), int(month), int(day))
    except ValueError:
        return _no_such_moment(raw)
    days = (date - datetime.date(1970, 1, 1)).days
    if clock is None:
        return Value("date", days)
    time = re.fullmatch(_CLOCK, clock, re.ASCII)
    if time is None:
        return _no_such_moment(raw)
    hour, minute, second = int(time.group(1)), int(time.group(2)), int(time.group(3) or "0")
    if hour > 23 or minute > 59 or second > 59:
        return _no_such_moment(raw)
    if offset is None:
        return Problem(
            "FC015",
            f"`{raw}` has no offset, so it is another instant in each time zone",
            f"write `{raw}Z` for UTC, or the offset: `{raw}+01:00`",
            "an hour's difference decides which objects count as old",
        )
    shift = _offset_minutes(offset)
    if shift is None:
        return _no_such_moment(raw)
    minutes = (days * 24 + hour) * 60 + minute - shift
    fraction = (time.group(4) or "").ljust(6, "0")
    return Value("timestamp", (minutes * 60 + second) * 1_000_000 + int(fraction))


def _offset_minutes(offset: str) -> int | None:
    if offset in "Zz":
        return 0
    match = re.fullmatch(_OFFSET, offset, re.ASCII)
    if match is None or int(match.group(2)) > 14 or int(match.group(3)) > 59:
        return None
    minutes = int(match.group(2)) * 60 + int(match.group(3))
    return -minutes if match.group(1) == "-" else minutes


def _scaled(raw: str, kind: str, base: str, amount: Decimal, factor: int) -> Value | Problem:
    # in whole numbers, so that nothing is ever rounded
    _, digits, exponent = amount.as_tuple()
    shift = 10 ** -int(exponent)
    scaled, rest = divmod(int("".join(map(str, digits))) * factor, shift)
    if rest != 0:
        return Problem("FC013", f"`{raw}` is not a whole number of {base}", "use a smaller unit")
    return Value(kind, scaled) if scaled <= INT_MAX else _out_of_range(raw)


def _too_long(digits: str) -> bool:
    return len(digits.replace(".", "").lstrip("0")) > _MAX_DIGITS or len(digits) > 4 * _MAX_DIGITS


def _out_of_range(raw: str) -> Problem:
    shown = raw if len(raw) <= 40 else f"{raw[:37]}…"
    return Problem(
        "FC013",
        f"`{shown}` is out of range",
        "whole numbers, durations (in microseconds) and sizes (in bytes) go up to 9223372036854775807",
    )


def _no_such_moment(raw: str) -> Problem:
    return Problem(
        "FC016",
        f"`{raw}` is not a date or a time",
        "write a date as `2026-11-30`, a time as `2026-11-30T02:00:00Z` or `2026-11-30T02:00:00+01:00`",
    )


def _unknown_unit(raw: str, digits: str, unit: str) -> Problem:
    if unit in _CALENDAR:
        return Problem(
            "FC014",
            f"`{raw}`: months and years have no fixed length",
            "write the number of days: `30d`, `365d`",
            "`1 month` before 31 March is a day that does not exist, and every reading of it selects other objects",
        )
    spelling = _SPELLINGS.get(unit)
    if spelling is not None:
        # `10 K` may be meant in powers of 1000 or of 1024
        instead = f"{digits} {spelling}" if spelling in SIZES else digits + spelling
        certain = spelling not in SIZES
        return Problem("FC014", f"`{unit}` is not a unit", f"write `{instead}`", instead=instead, certain=certain)
    if re.search(r"[0-9]", unit):
        return Problem(
            "FC014",
            f"`{raw}` has more than one unit",
            "write one number and one unit: `90m` instead of `1h30m`",
        )
    return Problem(
        "FC014",
        f"`{unit}` is not a unit",
        "durations are in us, ms, s, m, h, d or w; sizes in B, KB, MB, GB, TB, KiB, MiB, GiB or TiB",
    )
