"""Going on after a failure, so that one run reports every mistake once.

The part of the text that is to blame (a sign, an entry of a list, a clause) is blanked out, with every offset kept, and
the rest is parsed again. A brace that is missing is put where it is missed. What was touched is remembered as damage,
so that nobody is told that something is missing where something unreadable stood.
"""

from __future__ import annotations

import re
from enum import StrEnum

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.keywords import LISTS
from fullcount.dsl.outline import Outline

_NOT_A_LINE_END = re.compile(r"[^\n]")


class Blame(StrEnum):
    """What is to blame for a failure, and so what is taken away or put in."""

    PART = "part"  # something inside a clause or an entry: it goes with all of it
    CLAUSE = "clause"  # a clause that does not belong here: it goes, and only it
    SIGN = "sign"  # one sign too much
    CLOSE = "close"  # a `}` is missing before the token
    OPEN = "open"  # a `{` is missing before the token
    EARLY = "early"  # the `}` before the token is one too much


@dataclass(frozen=True, slots=True)
class Repair:
    """The text to go on with, of at least the same length, and the damage `[start, end)` that the repair did."""

    text: str
    start: int
    end: int


def repair(text: str, outline: Outline, index: int, blame: Blame) -> Repair | None:
    """Return the text without what is to blame at a token; None if there is nothing left to take away."""
    tokens = outline.tokens
    if index >= len(tokens):
        missing = sum(block.closes is None for block in outline.blocks[1:])
        return Repair(text + "}" * missing, len(text), len(text)) if missing > 0 else _blank_last(text, outline)
    if blame in {Blame.CLOSE, Blame.OPEN}:
        return _put_before(text, outline, index, "}" if blame is Blame.CLOSE else "{")
    if blame in {Blame.SIGN, Blame.EARLY}:
        sign = tokens[index if blame is Blame.SIGN else index - 1]
        return _blank(text, outline, sign.start, sign.end, index)
    in_list = outline.blocks[outline.block_of(index)].kind in LISTS
    start, end = _entry(outline, index) if in_list else _clause(outline, index, blame is Blame.CLAUSE)
    return _blank(text, outline, start, end, index)


def _blank(text: str, outline: Outline, start: int, end: int | None, index: int) -> Repair:
    stop = end if end is not None else len(text)
    if not text[start:stop].strip():
        start, stop = outline.tokens[index].start, outline.tokens[index].end
    return Repair(text[:start] + _NOT_A_LINE_END.sub(" ", text[start:stop]) + text[stop:], start, stop)


def _blank_last(text: str, outline: Outline) -> Repair | None:
    starts = [i for i in range(len(outline.tokens)) if outline.starts_clause(i)]
    start = outline.tokens[starts[-1]].start if starts else 0
    if not text[start:].strip():
        return None
    return Repair(text[:start] + _NOT_A_LINE_END.sub(" ", text[start:]), start, len(text))


def _put_before(text: str, outline: Outline, index: int, brace: str) -> Repair | None:
    """Put a brace into the white space or comment before a token; there is always some before a line's first."""
    gap, end = outline.tokens[index - 1].end, outline.tokens[index].start
    if gap >= end:
        return None
    return Repair(text[:gap] + brace + _NOT_A_LINE_END.sub(" ", text[gap + 1 : end]) + text[end:], gap, end)


def _entry(outline: Outline, index: int) -> tuple[int, int | None]:
    """Return the entry of a comma-separated block around a token, with the comma after it."""
    block = outline.block_of(index)
    tokens = outline.tokens
    opens = outline.blocks[block].opens
    first = index
    while first - 1 > (opens if opens is not None else -1) and not _is_comma(outline, first - 1, block):
        first -= 1
    if _is_comma(outline, index, block) and first < index:
        return tokens[first].start, tokens[index].end
    last = index
    while last < len(tokens):
        if last == outline.blocks[block].closes or (last > index and outline.escapes(last)):
            return tokens[first].start, tokens[last].start
        if _is_comma(outline, last, block):
            return tokens[first].start, tokens[last].end
        last += 1
    return tokens[first].start, None


def _is_comma(outline: Outline, index: int, block: int) -> bool:
    token = outline.tokens[index]
    return token.text == "," and token.block == block and index not in outline.brackets


def _clause(outline: Outline, index: int, is_clause: bool) -> tuple[int, int | None]:
    """Return the clause around a token: from its first word to the next clause of the same block, or its end."""
    block = outline.block_of(index)
    tokens = outline.tokens
    first = index
    if not is_clause:
        starts = [i for i in range(index + 1) if tokens[i].block == block and outline.starts_clause(i)]
        # a failure at the first word of a clause is the end of the clause before it
        before = [i for i in starts if i < index]
        opens = outline.blocks[block].opens
        first = before[-1] if before else (opens + 1 if opens is not None else 0)
        if starts and starts[-1] == index and first < index:
            return tokens[first].start, tokens[index].start
    for i in range(max(first, index), len(tokens)):
        if i == outline.blocks[block].closes and i > first:
            return tokens[first].start, tokens[i].start
        if i <= max(first, index) or tokens[i].block != block:
            continue
        if outline.escapes(i) or _begins(outline, i, tokens[first].indent):
            return tokens[first].start, tokens[i].start
    return tokens[first].start, None


def _begins(outline: Outline, index: int, indent: int) -> bool:
    token = outline.tokens[index]
    if not outline.leads_clause(index):
        return False
    guessed = token.block != 0 and token.indent <= indent and index not in outline.brackets
    return outline.starts_clause(index) or guessed
