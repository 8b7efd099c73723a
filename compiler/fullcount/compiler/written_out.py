"""Arguments that are written out in a rule, and can be read before anything runs: patterns, networks, paths, ….

A text that means nothing to its function would make every object undecided, or none selected, night after night. One
that fits every text would select every object, as a prefix does that was left empty.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker

_IN_WORDS = {"starts_with": "begins with", "ends_with": "ends with", "contains": "holds"}

_ANYTHING = re.compile(r"\^?(?:\(\?s\))?\^?(?:\(?\.[*]\??\)?)+\$?")
"""The ways in which `.*` is written; a pattern that fits everything in a cleverer way is left to the reviewer."""


def can_be_read(checker: Checker, function: str, position: int, node: tree.Literal) -> bool:
    """Whether an argument that is written out means something to its function; if not, that is reported."""
    match function, position, node.value:
        case "starts_with" | "ends_with" | "contains", 1, "":
            return _fits_every_text(checker, f"every text {_IN_WORDS[function]} an empty one", node.span)
        case "matches", 1, str() as pattern:
            if _ANYTHING.fullmatch(pattern):
                return _fits_every_text(checker, "every text matches this pattern", node.span)
            return _pattern_compiles(checker, pattern, node.span)
        case "glob", 1, str() as pattern if pattern != "" and pattern.strip("*") == "":
            return _fits_every_text(checker, "every text matches this pattern", node.span)
        case "cidr_contains", 0, str() as text:
            return _network(checker, text, node.span)
        case "semver_compare", _, str() as text:
            return _version(checker, text, node.span)
        case "json", 1, str() as text:
            return _path(checker, text, node.span)
        case "sample", 1, Decimal() as percent:
            return _part(checker, percent, node.span)
        case _:
            return True


def _fits_every_text(checker: Checker, message: str, span: Span) -> bool:
    error(
        checker.context.sink,
        "FC208",
        message,
        span,
        why="the test is true of every object, as if it were not there",
        help="write what is meant, or remove the test; to select everything on purpose, write `where all`",
    )
    return False


def _network(checker: Checker, text: str, span: Span) -> bool:
    from fullcount.compiler.lower.networks import network

    if network(text) is not None:
        return True
    error(
        checker.context.sink,
        "FC230",
        f"`{text}` is not a network",
        span,
        note="no bits may be set behind the prefix" if "/" in text else "the length of its prefix is missing",
        help='write it like `"10.0.0.0/8"` or `"2001:db8::/32"`',
    )
    return False


def _version(checker: Checker, text: str, span: Span) -> bool:
    from fullcount.compiler.lower.versions import is_version

    if is_version(text):
        return True
    error(
        checker.context.sink,
        "FC230",
        f"`{text}` is not a version as Semantic Versioning has them",
        span,
        why="no version is before or behind it, so the comparison would never be known",
        help='write all three numbers, as `"1.10.0"` or `"v2.0.0-rc.1"`',
    )
    return False


def _path(checker: Checker, text: str, span: Span) -> bool:
    from fullcount.compiler.lower.json_text import is_path

    if is_path(text):
        return True
    error(
        checker.context.sink,
        "FC230",
        f"`{text}` is not a path into a JSON text",
        span,
        help='begin with `$` and go on with `.name`, `["name"]` or `[0]`, as `$.owner.email`; there are no wildcards',
    )
    return False


def _part(checker: Checker, percent: Decimal, span: Span) -> bool:
    if 0 < percent < 100:
        return True
    error(
        checker.context.sink,
        "FC230",
        f"a sample of {percent}% is {'nothing' if percent <= 0 else 'everything'}",
        span,
        why="it is the same for every object",
        help="give a percentage between 0% and 100%, or remove the test",
    )
    return False


def _pattern_compiles(checker: Checker, pattern: str, span: Span) -> bool:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as problem:
        said = problem.args[0].decode() if isinstance(problem.args[0], bytes) else str(problem.args[0])
        reason, _, fragment = said.partition(": ")
        found = pattern.find(fragment) if fragment else -1
        written = checker.context.sources[span.source].slice(span)
        if found >= 0 and written == f'"{pattern}"':
            span = Span(span.source, span.start + 1 + found, span.start + 1 + found + len(fragment))
        place = f", at character {found + 1}" if found >= 0 else ""
        error(
            checker.context.sink,
            "FC212",
            f"this pattern does not work: {reason}{place}",
            span,
            help="the pattern must match the whole text; look-around and back-references do not exist here",
        )
        return False
    return True
