"""`cidr_contains`: whether an address, or a whole network, lies in a network; for the closure, and in SQL.

An address is what IPv4 (four numbers, no leading zeros) and IPv6 (RFC 4291, also with an IPv4 tail) write, without a
zone. A network is an address with `/` and the length of its prefix. The two versions never contain each other: an
IPv4-mapped IPv6 address is an IPv6 address. A text that is neither is not known to lie anywhere.

Both sides write an address as its hexadecimal digits, of which ranges are compared as texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fullcount.compiler.lower import sql_text
from fullcount.dsl.dataclass import dataclass

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = "[0-9A-Fa-f]{1,4}"


def _ipv6() -> str:
    """Eight groups, or fewer around one `::`; the last two may be written as an IPv4 address."""
    forms = [f"(?:{_GROUP}:){{7}}{_GROUP}", f"(?:{_GROUP}:){{6}}{_IPV4}"]
    for left in range(8):
        before = f"{_GROUP}(?::{_GROUP}){{{left - 1}}}" if left else ""
        room = 7 - left
        after = [f"(?:{_GROUP}:){{0,{room - 1}}}{_GROUP}"] if room >= 1 else []
        after += [f"(?:{_GROUP}:){{0,{room - 2}}}{_IPV4}"] if room >= 2 else []
        forms.append(f"{before}::" + (f"(?:{'|'.join(after)})?" if after else ""))
    return "|".join(forms)


_PREFIX4 = "(?:/(?:3[0-2]|[12]?[0-9]))?"
_PREFIX6 = "(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?"
V4, V6 = f"(?:{_IPV4}){_PREFIX4}", f"(?:{_ipv6()}){_PREFIX6}"
_V4, _V6 = re.compile(V4), re.compile(V6)
_BITS = {4: 32, 6: 128}


@dataclass(frozen=True, slots=True)
class Network:
    """A network: its first and last address as hexadecimal digits, and the length of its prefix."""

    version: int
    low: str
    high: str
    prefix: int


def network(text: str) -> Network | None:
    """Return the network that a text names, or None if it names none: no prefix, or bits set behind it."""
    read = _read(text)
    if read is None or "/" not in text:
        return None
    version, digits, prefix = read
    bits = _BITS[version]
    behind = (1 << (bits - prefix)) - 1
    first = int(digits, 16)
    if first & behind:
        return None
    return Network(version, digits, f"{first | behind:0{bits // 4}x}", prefix)


def contains(wanted: Network) -> Callable[[str], bool | None]:
    """Return the test that a text lies in a network; None where the text is neither an address nor a network."""

    def test(text: str) -> bool | None:
        read = _read(text)
        if read is None:
            return None
        version, digits, prefix = read
        return version == wanted.version and wanted.low <= digits <= wanted.high and prefix >= wanted.prefix

    return test


def _read(text: str) -> tuple[int, str, int] | None:
    """Return version, digits and length of the prefix of an address or network."""
    version = 4 if _V4.fullmatch(text) else 6 if _V6.fullmatch(text) else None
    if version is None:
        return None
    address, _, prefix = text.partition("/")
    digits = _digits4(address) if version == 4 else _digits6(address)
    return version, digits, int(prefix) if prefix else _BITS[version]


def _digits4(address: str) -> str:
    return "".join(f"{int(octet):02x}" for octet in address.split("."))


def _digits6(address: str) -> str:
    if "." in address:
        head, _, tail = address.rpartition(":")
        digits = _digits4(tail)
        address = f"{head}:{digits[:4]}:{digits[4:]}"
    left, _, right = address.partition("::")
    before, after = ("".join(g.lower().zfill(4) for g in part.split(":")) if part else "" for part in (left, right))
    return before + "0" * (32 - len(before) - len(after)) + after


# ---------------------------------------------------------------------------------------------- the same in SQL


def contains_sql(wanted: Network, value: str, variable: Callable[[], str]) -> str:
    """Return the test over a DuckDB expression; `variable` gives fresh names."""
    v, address = variable(), variable()
    digits = _digits4_sql(address, variable) if wanted.version == 4 else _digits6_sql(address, variable)
    in_range = sql_text.bound(
        f"split_part({v}, '/', 1)", address, f"{digits} BETWEEN '{wanted.low}' AND '{wanted.high}'"
    )
    bits = _BITS[wanted.version]
    length = f"CASE WHEN contains({v}, '/') THEN TRY_CAST(split_part({v}, '/', 2) AS INTEGER) ELSE {bits} END"
    same, other = (V4, V6) if wanted.version == 4 else (V6, V4)
    return sql_text.bound(
        value,
        v,
        f"CASE WHEN regexp_full_match({v}, {sql_text.text(same)}) THEN {in_range} AND {length} >= {wanted.prefix}"
        f" WHEN regexp_full_match({v}, {sql_text.text(other)}) THEN FALSE END",
    )


def _digits4_sql(address: str, variable: Callable[[], str]) -> str:
    octet = variable()
    shown = f"lambda {octet}: printf('%02x', TRY_CAST({octet} AS INTEGER))"
    return f"array_to_string(list_transform(string_split({address}, '.'), {shown}), '')"


def _digits6_sql(address: str, variable: Callable[[], str]) -> str:
    tail, digits, plain, before, after = (variable() for _ in range(5))
    head = f"substr({address}, 1, length({address}) - length({tail}))"
    spelt = f"{head} || substr({digits}, 1, 4) || ':' || substr({digits}, 5)"
    without_tail = (
        f"CASE WHEN contains({address}, '.') THEN "
        + sql_text.bound(
            f"regexp_extract({address}, '[^:]*$')", tail, sql_text.bound(_digits4_sql(tail, variable), digits, spelt)
        )
        + f" ELSE {address} END"
    )
    filled = f"{before} || repeat('0', 32 - length({before}) - length({after})) || {after}"
    left, right = (_groups_sql(f"split_part({plain}, '::', {n})", variable) for n in (1, 2))
    both = sql_text.bound(left, before, sql_text.bound(right, after, filled))
    return sql_text.bound(without_tail, plain, both)


def _groups_sql(part: str, variable: Callable[[], str]) -> str:
    groups, group = variable(), variable()
    padded = f"list_transform(string_split({groups}, ':'), lambda {group}: lpad(lower({group}), 4, '0'))"
    return sql_text.bound(part, groups, f"CASE WHEN {groups} = '' THEN '' ELSE array_to_string({padded}, '') END")
