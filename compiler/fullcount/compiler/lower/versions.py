"""`semver_compare`: the order of Semantic Versioning 2.0.0, for the closure and in SQL.

A version is what the specification says, with an optional `v` before it, as tags have it. Build metadata takes no part
in the order. What is no version has no place in it, so that comparing it is unknown.

Both sides turn a version into the same list of texts, whose order as texts is the order of versions: a number is
written behind its length, a release behind its pre-releases, and a numeric identifier before others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fullcount.compiler.lower import sql_text

_NUMBER = "(?:0|[1-9][0-9]*)"
_CORE = rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
_IDENTIFIER = f"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = rf"{_CORE}(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
_VERSION = re.compile(VERSION)
_PARTS = r"^v?([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([0-9A-Za-z.-]+))?"
_PARTS_OF = re.compile(_PARTS)
_WIDTH = 9
"""Digits for the length of a number: no text is longer."""


def is_version(text: str) -> bool:
    """Whether a text is a version."""
    return _VERSION.fullmatch(text) is not None


def compare(left: str, right: str) -> int | None:
    """Return -1, 0 or 1 as the left version is before, level with or behind the right one; None if one is none."""
    first, second = _key(left), _key(right)
    if first is None or second is None:
        return None
    return (first > second) - (first < second)


def _key(text: str) -> tuple[str, ...] | None:
    found = _PARTS_OF.match(text) if is_version(text) else None
    if found is None:
        return None
    *core, before_release = found.groups()
    identifiers = before_release.split(".") if before_release else []
    ranked = ("0" + _number(each) if each.isdigit() else "1" + each for each in identifiers)
    return (*map(_number, core), "0" if before_release else "1", *ranked)


def _number(digits: str) -> str:
    return f"{len(digits):0{_WIDTH}d}{digits}"


# ---------------------------------------------------------------------------------------------- the same in SQL


def compare_sql(left: str, right: str, variable: Callable[[], str]) -> str:
    """Return the comparison of two DuckDB expressions; `variable` gives fresh names."""
    first, second = variable(), variable()
    ordered = (
        f"CASE WHEN {first} IS NULL OR {second} IS NULL THEN NULL"
        f" WHEN {first} < {second} THEN CAST(-1 AS BIGINT)"
        f" WHEN {first} > {second} THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END"
    )
    inner = sql_text.bound(_key_sql(right, variable), second, ordered)
    return sql_text.bound(_key_sql(left, variable), first, inner)


def _key_sql(value: str, variable: Callable[[], str]) -> str:
    v, before, each = variable(), variable(), variable()
    parts = sql_text.text(_PARTS)
    core = ", ".join(_number_sql(f"regexp_extract({v}, {parts}, {group})", variable) for group in (1, 2, 3))
    number = _number_sql(each, variable)
    ranked = f"lambda {each}: CASE WHEN regexp_full_match({each}, '[0-9]+') THEN '0' || {number} ELSE '1' || {each} END"
    identifiers = (
        f"CASE WHEN {before} = '' THEN ['1'] ELSE ['0'] || list_transform(string_split({before}, '.'), {ranked}) END"
    )
    key = f"[{core}] || " + sql_text.bound(f"regexp_extract({v}, {parts}, 4)", before, identifiers)
    return sql_text.bound(value, v, f"CASE WHEN regexp_full_match({v}, {sql_text.text(VERSION)}) THEN {key} END")


def _number_sql(digits: str, variable: Callable[[], str]) -> str:
    d = variable()
    return sql_text.bound(digits, d, f"lpad(CAST(length({d}) AS VARCHAR), {_WIDTH}, '0') || {d}")
