"""Where the cursor stands: in which blocks, in which clause, after what, and which terminals could come next.

The grammar itself says what can come next. So that a mistake elsewhere does not matter, it is asked about the least
text that leads to the cursor: the head of each block around it, and the clause or entry that it stands in.
"""

from __future__ import annotations

import re
from typing import Final

from fullcount.dsl import tables
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.keywords import AGGREGATES, LIST_QUANTIFIERS, LISTS, QUANTIFIERS
from fullcount.dsl.outline import Outline, Raw, outline

_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9_]*\Z")
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|#[^\n]*')

#: The words behind which the name of an inventory, or of a list, makes them what they are.
BINDERS: Final = frozenset({*QUANTIFIERS, *AGGREGATES, *LIST_QUANTIFIERS})


@dataclass(frozen=True, slots=True)
class Bound:
    """A row or an item that is bound around the cursor, and what it runs over, as written."""

    name: str
    over: str
    is_item: bool


@dataclass(frozen=True, slots=True)
class Cursor:
    """`start` is where the word begins that is being typed. `quoted` is the text or comment the cursor is inside of.

    `blocks` are the kinds of the blocks around, the innermost last, with the words of their heads in `heads`. `clause`
    are the words since the clause or entry began, without the one being typed. `following` are terminals.
    """

    start: int
    typed: str
    quoted: str | None
    blocks: tuple[str, ...]
    heads: tuple[tuple[str, ...], ...]
    clause: tuple[str, ...]
    following: frozenset[str]
    bound: tuple[Bound, ...]
    in_call: tuple[str, ...]
    """The path of the operation or function whose arguments the cursor stands between; empty if it does not."""

    @property
    def before(self) -> str:
        """The word or sign before the one being typed; empty at the start of a clause."""
        return self.clause[-1] if self.clause else ""


def cursor_at(text: str, offset: int) -> Cursor:
    """Read a text up to an offset."""
    inside = _quoted_around(text, offset)
    typed = "" if inside is not None else _WORD_BEFORE.search(text[:offset]).group()  # type: ignore[union-attr]
    start = offset - len(typed)
    rough = outline(text[:start] if inside is None else text[: start - len(inside)])
    around = [index for index, block in enumerate(rough.blocks) if index > 0 and block.closes is None]
    first = _first_of_clause(rough, around[-1] if around else 0)
    clause = rough.tokens[first:]
    heads = [_head(rough, block) for block in around]
    lead = "".join(" ".join(each.text for each in head) + " " for head in heads)
    written = tuple(each.text for each in clause)
    return Cursor(
        start=start,
        typed=typed,
        quoted=inside,
        blocks=tuple(rough.blocks[block].kind for block in around),
        heads=tuple(tuple(each.text for each in head) for head in heads),
        clause=written,
        following=frozenset() if inside is not None else _following(lead, clause),
        bound=tuple(_bound(rough, around, first)),
        in_call=_call_around(rough, first),
    )


def _quoted_around(text: str, offset: int) -> str | None:
    """Return what of a text in quotes or a comment stands before the cursor, if it stands in one."""
    begin = text.rfind("\n", 0, offset) + 1
    for match in _QUOTED.finditer(text, begin):
        if match.start() >= offset:
            return None
        closed = match.group().startswith('"') and len(match.group()) > 1 and match.group().endswith('"')
        if offset < match.end() or (offset == match.end() and not closed):
            return text[match.start() : offset]
    return None


def _first_of_clause(rough: Outline, block: int) -> int:
    """Return the index of the token that began the clause, or the entry of a list, at the end of the text."""
    opens = rough.blocks[block].opens
    first = 0 if opens is None else opens + 1
    in_list = rough.blocks[block].kind in LISTS
    for index in range(first, len(rough.tokens)):
        token = rough.tokens[index]
        if token.block != block:
            continue
        if in_list:
            first = index + 1 if token.text == "," and index not in rough.brackets else first
        elif rough.starts_clause(index):
            first = index
        elif token.text == "}":  # a block of its own ended a clause
            first = index + 1
    return first


def _head(rough: Outline, block: int) -> list[Raw]:
    """Return the tokens from the first word of the clause that opened a block to its brace."""
    found = rough.blocks[block]
    opens = found.opens or 0
    header = found.header
    return rough.tokens[opens if header is None else header : opens + 1]


def _following(lead: str, clause: list[Raw]) -> frozenset[str]:
    parser = tables.parser()
    words = [each.text for each in clause]
    found = parser.following(lead + " ".join(words))
    if not found and len(words) >= 2 and words[-2] in BINDERS:
        return frozenset({"AS"})  # not yet a keyword: what makes it one is still to be typed
    return found


def _bound(rough: Outline, around: list[int], first: int) -> list[Bound]:
    """Return the rows and items that can be used at the end of a text, the innermost last."""
    found: list[Bound] = []
    for block in around:
        words = [each.text for each in _head(rough, block)]
        if "as" in words[:-2]:
            at = words.index("as")
            over = words[words.index("from") + 1 : at] if "from" in words else words[1:at]
            found.append(Bound(words[at + 1], "".join(over), is_item=False))
    words = [each.text for each in rough.tokens[first:]]
    if words[:1] == ["protect"] and "as" in words[:-1]:
        at = words.index("as")
        found.append(Bound(words[at + 1], "".join(words[words.index("from") + 1 : at]), is_item=False))
    for opened in _open_brackets(rough, first):
        before = [each.text for each in rough.tokens[first:opened]]
        if len(before) >= 5 and before[-1] == "where" and before[-3] == "as":
            binder = max((i for i, word in enumerate(before[:-3]) if word in BINDERS), default=-1)
            if binder >= 0:
                is_item = before[binder] in LIST_QUANTIFIERS
                found.append(Bound(before[-2], "".join(before[binder + 1 : -3]), is_item))
    return found


def _open_brackets(rough: Outline, first: int) -> list[int]:
    """Return the `(` and `[` that are open at the end of a text, the outermost first."""
    stack: list[int] = []
    for index in range(first, len(rough.tokens)):
        token = rough.tokens[index]
        if token.kind == "open" and token.text != "{":
            stack.append(index)
        elif token.kind == "close" and token.text != "}" and stack:
            stack.pop()
    return stack


def _call_around(rough: Outline, first: int) -> tuple[str, ...]:
    opened = _open_brackets(rough, first)
    if not opened or rough.tokens[opened[-1]].text != "(":
        return ()
    at = opened[-1] - 1
    path: list[str] = []
    while at >= first and rough.tokens[at].kind == "word":
        path.insert(0, rough.tokens[at].text)
        if at - 1 < first or rough.tokens[at - 1].text != ".":
            break
        at -= 2
    return tuple(path)
