"""How numbers, shares, times and values look to people, everywhere the same.

Rounding here never hides a fact: a share that is not nothing is never shown as 0 %, and one that is not everything
never as 100 %; an age is rounded down. What is compared or hashed is never taken from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.plan.cells import decimal_text
from fullcount.runtime.text import escaped

_STEPS: Final = (
    (timedelta(days=3), timedelta(days=1), "d"),
    (timedelta(hours=3), timedelta(hours=1), "h"),
    (timedelta(minutes=2), timedelta(minutes=1), "min"),
    (timedelta(seconds=1), timedelta(seconds=1), "s"),
    (timedelta(milliseconds=1), timedelta(milliseconds=1), "ms"),
)
_SIZES: Final = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

NONE_TEXT: Final = "(none)"
"""What stands for a value that the source said is not there."""


def count(number: int) -> str:
    """Return `1,204`."""
    return f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 row`, `1,204 rows`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(part: int, whole: int) -> str:
    """Return `3.1 %`; between nothing and everything also where rounding would say otherwise."""
    if whole == 0:
        return "0 %"
    if 100 * part % whole == 0:
        return f"{100 * part // whole} %"
    if 0 < part < whole:
        tenths = round(1000 * part / whole)
        if tenths == 0:
            return "<0.1 %"
        if tenths == 1000:
            return ">99.9 %"
    return f"{100 * part / whole:.1f} %"


def written_percent(text: str) -> str:
    """Return `5 %` for `5%`."""
    return f"{text.removesuffix('%')} %"


def length(amount: timedelta) -> str:
    """Return about how long: `41 s`, `3 min`, `5 h`, `89 d`, rounded down."""
    if amount < timedelta(0):
        return f"-{length(-amount)}"
    for least, unit, name in _STEPS:
        if amount >= least:
            return f"{count(amount // unit)} {name}"
    return f"{amount // _MICROSECOND} us" if amount > timedelta(0) else "0 s"


def moment(instant: datetime) -> str:
    """Return `2026-08-31 04:00 UTC`."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def weekday_moment(instant: datetime) -> str:
    """Return `Thu 2026-12-03 04:00 UTC`: a deadline, which people plan by the day of the week."""
    return f"{instant.astimezone(UTC):%a %Y-%m-%d %H:%M} UTC"


def day(value: date) -> str:
    """Return `2026-08-31`."""
    return value.isoformat()


def size(number: int) -> str:
    """Return `10 GiB`, `1.5 MiB`, `17 B`."""
    for name, unit in _SIZES:
        if abs(number) >= unit:
            scaled = number / unit
            return f"{scaled:.0f} {name}" if number % unit == 0 else f"{scaled:,.1f} {name}"
    return f"{count(number)} B"


def key(parts: tuple[Any, ...] | list[Any], limit: int | None = None) -> str:
    """Return an object's key: its parts joined by ` / `, harmless, shortened in the middle."""
    return escaped(" / ".join(str(part) for part in parts), limit)


def cell(found: Cell, of: Type) -> str:
    """Return a field's value for people, harmless; states that are no knowledge are named, never left blank."""
    if found.state is FieldState.ABSENT:
        return NONE_TEXT
    if found.state is not FieldState.PRESENT or found.value is None:
        return f"({found.state.value.replace('_', ' ')})"
    return escaped(value(found.value, of))


def value(known: Any, of: Type) -> str:
    """Return a canonical value for people; not yet harmless, `cell` does that."""
    match of:
        case ListOf(item=item):
            return ", ".join(value(part, item) for part in known) if len(known) > 0 else "(empty list)"
        case MapOf(value=inner) if isinstance(known, Mapping):
            parts = [f"{name}={value(part, inner)}" for name, part in sorted(known.items())]
            return ", ".join(parts) if len(parts) > 0 else "(empty map)"
        case RecordOf(parts=parts_of) if isinstance(known, Mapping):
            said = [f"{p.name}={value(known[p.name], p.type.type)}" for p in parts_of if p.name in known]
            return f"{{{', '.join(said)}}}"
        case Scalar(kind=kind):
            return _scalar(known, kind)
        case _:
            return str(known)


def _scalar(known: Any, kind: Kind) -> str:
    match kind:
        case Kind.TEXT:
            # A text that could be taken for one of our own words, or whose ends can't be seen, is put in quotes.
            return f'"{known}"' if known == "" or known[0] in "( " or known[-1] == " " else known
        case Kind.BOOL:
            return "yes" if known else "no"
        case Kind.DECIMAL:
            return decimal_text(known)
        case Kind.SIZE:
            return size(known)
        case Kind.DURATION:
            return length(timedelta(microseconds=known)) if abs(known) < 10**17 else f"{known} us"
        case Kind.TIMESTAMP:
            return _calendar(lambda: f"{_EPOCH + timedelta(microseconds=known):%Y-%m-%d %H:%M}Z", f"@{known}")
        case Kind.DATE:
            return _calendar(lambda: day((_EPOCH + timedelta(days=known)).date()), f"@{known}")
        case _:
            return str(known)


def _calendar(write: Any, otherwise: str) -> str:
    try:
        return str(write())
    except OverflowError:
        return otherwise


def parameter(known: Any) -> str:
    """Return a parameter's value in JSON for people; not yet harmless."""
    match known:
        case bool():
            return "yes" if known else "no"
        case list() | tuple():
            return ", ".join(parameter(part) for part in known)
        case _:
            return str(known)
