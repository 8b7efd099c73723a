"""Canonical JSON (RFC 8785) written out in full, and the two hashes that everything rests on.

It works on JSON as it stands in a file: numbers beyond 2^53 are tagged there (`{"$int": "…"}`), and a tag is text like
any other to whoever hashes it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

_SAFE: Final = 2**53 - 1
_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    **{chr(code): f"\\u{code:04x}" for code in range(0x20) if chr(code) not in "\b\f\n\r\t"},
}  # fmt: skip
_TABLE: Final = str.maketrans(_ESCAPES)


class NotCanonical(ValueError):  # noqa: N818 - what was found
    """A value has no canonical JSON, or a text is not in canonical form."""


def canonical(value: Any) -> str:
    """Return the canonical JSON of a value. Raises `NotCanonical`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            if not -_SAFE <= value <= _SAFE:
                raise NotCanonical("a number is too large to be exact")
            return str(value)
        case float():
            return _number(value)
        case list() | tuple():
            return "[" + ",".join(map(canonical, value)) + "]"
        case dict():
            # names are put in order by their UTF-16 code units, which is not the order of code points
            names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{_text(name)}:{canonical(value[name])}" for name in names) + "}"
    raise NotCanonical(f"{type(value).__name__} is nothing that JSON has")


def read_canonical_text(text: str) -> Any:
    """Return the value of canonical JSON. Raises `NotCanonical` for any other text."""
    try:
        value = json.loads(text)
        if canonical(value) != text:
            raise NotCanonical("it is JSON, but not in canonical form")
    except NotCanonical:
        raise
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"it is not JSON: {error}") from error
    return value


def sha256(data: bytes | str) -> str:
    """Return `sha256:…` of bytes, or of a text in UTF-8."""
    return "sha256:" + hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("a text is not Unicode") from error
    return f'"{value.translate(_TABLE)}"'


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it (Number::toString), which RFC 8785 prescribes."""
    if value != value or value in {float("inf"), float("-inf")}:
        raise NotCanonical("a number is not finite")
    if value == 0:
        return "0"
    sign, digits, point = "-" if value < 0 else "", *_digits(abs(value))
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _digits(value: float) -> tuple[str, int]:
    """Return the shortest digits that give the number, and where the point stands after its first digit."""
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + (int(exponent) if exponent else 0)
    point -= len(whole + part) - len((whole + part).lstrip("0"))
    return digits.rstrip("0") or "0", point
