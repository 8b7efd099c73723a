"""Which token each comment belongs to, and where the author left an empty line.

A comment at the end of a line belongs to the token before it, a comment on a line of its own to the token after it. No
comment is ever dropped or passed by another: where the layout moves a sign (a comma, an `and`), its comments go to the
nearest place that keeps their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.parse_tree import Token, Tree

Node = Tree
Child = Node | Token


@dataclass(frozen=True, slots=True)
class Own:
    """A comment on a line of its own. `spaced`: the author left an empty line before it."""

    text: str
    spaced: bool


@dataclass(slots=True)
class Comments:
    """The comments of one file, by the offset at which their token starts; `end` stands for the end of the file."""

    end: int
    before: dict[int, list[Own]] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)
    spaced: set[int] = field(default_factory=set)  # tokens with an empty line right before them

    def leading(self, at: int) -> list[Own]:
        """Take the comments on lines of their own before a token."""
        return self.before.pop(at, [])

    def trailing(self, at: int) -> str | None:
        """Take the comment at the end of the line after a token."""
        return self.after.pop(at, None)

    def any_within(self, node: Child) -> bool:
        """Whether a token of a node has a comment that would stand inside of it, or right after it."""
        return any(start(token) in self.before or start(token) in self.after for token in leaves(node))

    def give_back(self, sign: Token, item: Child | None, following: int) -> None:
        """Move the comments around a sign that ends an item: to the end of the item, or before what follows."""
        self._move(start(sign), item, following)

    def put_before(self, sign: Token, item: Child, operand: Child) -> None:
        """Move the comments around an operator before it, so that it leads its line with its operand."""
        own = self.leading(start(first(operand)))
        self._move(start(sign), item, start(sign))
        if own:
            self.before.setdefault(start(sign), []).extend(own)

    def _move(self, sign: int, item: Child | None, following: int) -> None:
        own, note = self.leading(sign), self.trailing(sign)
        if note is not None:
            ends = start(last(item)) if item is not None else None
            if ends is not None and not own and ends not in self.after:
                self.after[ends] = note
            else:
                own.append(Own(note, spaced=False))
        if own:
            self.before[following] = own + self.before.get(following, [])


def attach(text: str, root: Node, comments: Iterable[tree.Comment]) -> Comments:
    """Attach every comment of a text to a token of its parse."""
    tokens = [(start(token), token.end_pos) for token in leaves(root)]
    found = Comments(len(text))
    waiting: list[Own] = []
    ends, previous = 0, None
    remaining = [(comment.span.start, comment.span.end, comment.text) for comment in comments]
    remaining.reverse()
    for begins, stops in [*tokens, (len(text), len(text))]:
        while remaining and remaining[-1][0] < begins:
            at, until, words = remaining.pop()
            gap = text[ends:at].count("\n")
            if previous is not None and gap == 0 and not waiting:
                found.after[previous] = words.rstrip()
            else:
                waiting.append(Own(words.rstrip(), spaced=gap > 1))
            ends = until
        if text[ends:begins].count("\n") > 1:
            found.spaced.add(begins)
        if waiting:
            found.before[begins] = waiting
            waiting = []
        ends, previous = stops, begins
    return found


def leaves(node: Child) -> Iterator[Token]:
    """Yield the tokens of a node in order."""
    stack: list[Child] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Token):
            yield item
        else:
            stack.extend(reversed(item.children))


def first(node: Child) -> Token:
    """Return the first token of a node that is not empty."""
    return next(leaves(node))


def last(node: Child) -> Token:
    """Return the last token of a node that is not empty."""
    while not isinstance(node, Token):
        node = node.children[-1]
    return node


def start(token: Token) -> int:
    """Return the offset at which a token starts, by which its comments are kept."""
    return token.start_pos
