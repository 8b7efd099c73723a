"""Running the parsing table over a text: an LALR(1) parser that knows nothing of the language.

The table is Lark's (`tables.py`), and so are the trees: a test holds both equal. Lark itself stays out of the way of a
command that has to answer at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.failure import Failure
from fullcount.dsl.lexer import Lexer, Terminals
from fullcount.dsl.parse_tree import Token, Tree

END: Final = "$END"


class Rule(NamedTuple):
    """One way in which a rule of the grammar is written.

    `origin` is the symbol that it becomes in the table, `name` what its tree is called, `size` of how many symbols it
    is made. `single`: with one child it is that child. `spliced`: the symbols whose own children take their place.
    """

    origin: str
    name: str
    size: int
    single: bool
    spliced: Sequence[int]


@dataclass(frozen=True, slots=True)
class Table:
    """For each state what to do on a symbol: go to a state (0 and up), or reduce by rule `-n - 1` (below 0)."""

    terminals: Terminals
    rules: Sequence[Rule]
    states: Sequence[Mapping[str, int]]
    start: int
    end: int


class Parser:
    """Parses texts by one table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lexer = Lexer(table.terminals)
        self._sizes = [rule.size for rule in table.rules]
        self._origins = [rule.origin for rule in table.rules]
        #: Rules that are nothing but their only part: most of those that an expression goes through.
        self._passing = [rule.single and rule.size == 1 and not rule.spliced for rule in table.rules]

    @property
    def keywords(self) -> frozenset[str]:
        """Every word that the grammar takes as a keyword somewhere."""
        return frozenset(self._table.terminals.keywords)

    def parse(self, text: str) -> Tree | Failure:
        """Parse a text, up to the first token that the grammar cannot take."""
        stack: list[int] = [self._table.start]
        values: list[Tree | Token] = []
        failure = self._run(text, stack, values)
        if failure is not None:
            return failure
        last = values[-1] if len(values) > 0 else None  # after a token nothing is reduced until the next one is known
        if not self._take(END, stack, values):
            return self._failure(len(text), stack, last if isinstance(last, Token) else None, unreadable=False)
        root = values[-1]
        if isinstance(root, Token):
            raise TypeError("the grammar ended in a token")
        return root

    def following(self, text: str) -> frozenset[str]:
        """Return the terminals that could go on after a text; none if it can't be the beginning of anything."""
        stack = [self._table.start]
        failure = self._run(text, stack, [])
        return frozenset() if failure is not None else self._failure(len(text), stack, None, unreadable=False).accepts

    def _run(self, text: str, stack: list[int], values: list[Tree | Token]) -> Failure | None:
        skip, read, states = self._lexer.skip, self._lexer.token, self._table.states
        last: Token | None = None
        at, end = skip(text, 0), len(text)
        while at < end:
            # a token that is not accepted here may still be one of the language
            token = read(text, at, states[stack[-1]]) or read(text, at, None)
            if token is None or not self._take(token.type, stack, values):
                return self._failure(at, stack, last, unreadable=token is None)
            values.append(token)
            last = token
            at = skip(text, token.end_pos)
        return None

    def _take(self, symbol: str, stack: list[int], values: list[Tree | Token] | None) -> bool:
        """Reduce as far as it goes before a symbol, then go on to it; False where the symbol can't stand.

        Without `values` no trees are made: whether it can stand is all that is asked.
        """
        states, end = self._table.states, self._table.end
        while True:
            action = states[stack[-1]].get(symbol)
            if action is None:
                return False
            if action >= 0:
                stack.append(action)
                return True
            number = -action - 1
            size = self._sizes[number]
            if values is not None and not self._passing[number]:
                first = len(values) - size
                values[first:] = [_reduced(self._table.rules[number], values[first:])]
            if size > 0:
                del stack[-size:]
            stack.append(states[stack[-1]][self._origins[number]])
            if symbol == END and stack[-1] == end:
                return True

    def _failure(self, at: int, stack: list[int], last: Token | None, *, unreadable: bool) -> Failure:
        terminals = [symbol for symbol in self._table.states[stack[-1]] if symbol.isupper()]
        accepts = frozenset(symbol for symbol in terminals if self._take(symbol, [*stack], None))
        return Failure(at, accepts, None if last is None else last.type, unreadable)


def _reduced(rule: Rule, parts: list[Tree | Token]) -> Tree | Token:
    """Join what a rule is made of."""
    _, name, _, single, spliced = rule
    children = parts
    if spliced:
        first = parts[0]
        # a list grows at its end: what has been read of it is not copied
        children = first.children if 0 in spliced and isinstance(first, Tree) else [first]
        for index, part in enumerate(parts[1:], 1):
            if index in spliced and isinstance(part, Tree):
                children += part.children
            else:
                children.append(part)
    if single and len(children) == 1:
        return children[0]
    start, end = -1, -1
    for part in parts:
        if part.start_pos >= 0:  # else it holds no token
            start = part.start_pos if start < 0 else start
            end = part.end_pos
    return Tree(name, children, start, end)
