"""A rough reading of a text that does not parse: its words, its blocks, and where clauses start.

Only used after a failure, to say in which block it happened and where the next clause begins. It is never wrong about
offsets; about structure it guesses, as a reader would, from braces, line starts and indentation.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.keywords import BLOCK_CLAUSES, CLAUSES, CONTINUATIONS, FILE, LABELLED, LISTS

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\[^\n])*"?)|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<number>[0-9][\w.]*%?)|(?P<open>[{(\[])|(?P<close>[})\]])|(?P<other>[=!<>]=|.)""",
    re.DOTALL | re.VERBOSE,
)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_BEFORE_CLAUSE = frozenset({"{", "}", ")", "]"})
_AFTER_NAME = frozenset({"is", "in", "and", "or", "else"})


@dataclass(frozen=True, slots=True)
class Raw:
    """A word, text, number, bracket or sign. `block` is the block it stands in; a brace stands in the outer one."""

    kind: str
    text: str
    start: int
    end: int
    leads: bool  # the first on its line
    indent: int  # columns before the first one on its line
    block: int


@dataclass(slots=True)
class Block:
    """What stands between `{` and `}`. `kind` is a key of `CLAUSES` or `LISTS`, or empty where it is unknown."""

    kind: str
    parent: int
    opens: int | None  # indices of tokens
    closes: int | None = None
    header: int | None = None  # where the clause begins that the block belongs to


@dataclass(slots=True)
class Outline:
    """The tokens and blocks of a text; block 0 is the file."""

    tokens: list[Raw] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=lambda: [Block(FILE, 0, None)])
    brackets: dict[int, int] = field(default_factory=dict)  # token -> the innermost open `(` or `[` around it

    def at(self, offset: int) -> int:
        """Return the index of the token at or after an offset; past the last one, the number of tokens."""
        starts = [token.start for token in self.tokens]
        index = bisect_right(starts, offset) - 1
        if index >= 0 and offset < self.tokens[index].end:
            return index
        return index + 1

    def block_of(self, index: int) -> int:
        """Return the block that a failure at a token belongs to: the one that a `}` would close."""
        if index >= len(self.tokens):
            return self.open_block()
        token = self.tokens[index]
        if token.text == "}":
            closed = next((i for i, block in enumerate(self.blocks) if block.closes == index), None)
            return closed if closed is not None else token.block
        return token.block

    def open_block(self) -> int:
        """Return the innermost block that is still open at the end; 0 if every one is closed."""
        unclosed = [i for i, block in enumerate(self.blocks) if i > 0 and block.closes is None]
        return unclosed[-1] if unclosed else 0

    def ancestors(self, block: int) -> list[int]:
        """Return the blocks around a block, the nearest first."""
        found = []
        while block != 0:
            block = self.blocks[block].parent
            found.append(block)
        return found

    def starts_clause(self, index: int) -> bool:
        """Whether a token looks like the first word of a clause of its block."""
        token = self.tokens[index]
        kind = self.blocks[token.block].kind
        return self._labels(index) or (token.text in CLAUSES.get(kind, ()) and self._could_start(index))

    def leads_clause(self, index: int) -> bool:
        """Whether a token starts a line as a clause, known or not, would."""
        token = self.tokens[index]
        if not token.leads or token.kind != "word":
            return False
        return self._labels(index) or (token.text not in CONTINUATIONS and self._could_start(index))

    def escapes(self, index: int) -> bool:
        """Whether a token starts a line as a clause of an outer block, so that a `}` seems to be missing before it."""
        token = self.tokens[index]
        own = self.blocks[token.block]
        if not self.leads_clause(index) or token.text in (*CLAUSES.get(own.kind, ()), *LISTS.get(own.kind, ())):
            return False
        outer = {word for block in self.ancestors(token.block) for word in CLAUSES.get(self.blocks[block].kind, ())}
        if token.text not in outer:
            return False
        header = self.tokens[own.header] if own.header is not None else None
        return token.text in BLOCK_CLAUSES or header is None or token.indent <= header.indent

    def _labels(self, index: int) -> bool:
        """Whether a token names an entry of its block, as `warn:` names a step."""
        token = self.tokens[index]
        if self.blocks[token.block].kind not in LABELLED or token.kind != "word" or index in self.brackets:
            return False
        return index + 1 < len(self.tokens) and self.tokens[index + 1].text == ":"

    def _could_start(self, index: int) -> bool:
        token = self.tokens[index]
        before = self.tokens[index - 1] if index > 0 else None
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if after is not None and after.text in _AFTER_NAME and token.text != "except":
            return False  # an operator follows: the word is the name of a value
        if after is not None and after.kind in {"other", "close"} and after.text != "-":
            return False
        return token.leads or before is None or before.text in _BEFORE_CLAUSE or before.kind in {"string", "number"}


def outline(text: str) -> Outline:
    """Read a text roughly. Total: every text has an outline."""
    result = Outline()
    _split(text, result)
    _nest(result)
    return result


def _split(text: str, result: Outline) -> None:
    line_start, indent, leads = 0, 0, True
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "space":
            if "\n" in match.group():
                line_start, leads = match.start() + match.group().rindex("\n") + 1, True
            continue
        if kind == "comment":
            continue
        if leads:
            indent = match.start() - line_start
        result.tokens.append(Raw(kind, match.group(), match.start(), match.end(), leads, indent, 0))
        leads = False


def _nest(result: Outline) -> None:
    current = 0
    stack: list[int] = []  # open brackets, as indices of tokens
    clause: dict[int, int] = {}  # block -> the token that started its latest clause
    for index, token in enumerate(result.tokens):
        if token.text == "}" and current != 0:
            while stack and result.tokens[stack.pop()].text != "{":
                pass
            result.blocks[current].closes = index
            current = result.blocks[current].parent
        elif token.kind == "close" and stack and result.tokens[stack[-1]].text == _PAIRS[token.text]:
            stack.pop()
        result.tokens[index] = token = Raw(
            token.kind, token.text, token.start, token.end, token.leads, token.indent, current
        )
        if stack and result.tokens[stack[-1]].text != "{":
            result.brackets[index] = stack[-1]
        if result.starts_clause(index):
            clause[current] = index
        if token.kind == "open":
            stack.append(index)
        if token.text == "{":
            result.blocks.append(_block(result, index, current, clause.get(current)))
            current = len(result.blocks) - 1


def _block(result: Outline, index: int, parent: int, header: int | None) -> Block:
    before = result.tokens[index - 1].text if index > 0 else ""
    if before in {"fields", "record"}:
        return Block(before, parent, index, header=index - 1)
    word = result.tokens[header].text if header is not None else ""
    if before == "steps" and word == "act":
        return Block(before, parent, index, header=header)
    return Block(word if word in BLOCK_CLAUSES else "", parent, index, header=header)
