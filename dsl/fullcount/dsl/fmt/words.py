"""How single words and signs are written, and the space between two of them."""

from __future__ import annotations

import re
from typing import Final

from fullcount.dsl.literals import SIZES
from fullcount.dsl.parse_tree import Token

_QUANTITY = re.compile(r"([0-9_.]+)[ \t]*(.+)")
_CLOSING: Final = frozenset({"COMMA", "COLON", "DOT", "OPTIONAL", "RPAR", "RSQB"})
_OPENING: Final = frozenset({"DOT", "LPAR", "LSQB"})


def spelled(token: Token, before: Token | None) -> str:
    """Return how a token is written; `before` is the one before it in the same clause."""
    if token.type == "QUANTITY":
        match = _QUANTITY.fullmatch(token)
        if match is not None:
            number, unit = match.groups()
            return f"{number} {unit}" if unit in SIZES else number + unit
    if token.type == "FAILURES" and before is not None:
        return "failure" if before == "1" else "failures"
    return str(token)


def space(rule: str, left: Token, right: Token) -> str:
    """Return what stands between two neighbours in a node of a rule: a space or nothing."""
    if left.type in _OPENING or left.type == "SPREAD" or right.type in _CLOSING:
        return ""
    if right.type == "LPAR" and left.type == "NAME":
        return ""  # a call; before every other `(` stands a keyword or an operator
    if rule == "index" and right.type == "LSQB":
        return ""
    if rule == "negative" and left.type == "MINUS":
        return ""
    if rule in {"type", "type_arguments"} and ("LESS" in {left.type, right.type} or right.type == "GREATER"):
        return ""
    return " "
