"""A failure of the parser with everything around it that a message may need."""

from __future__ import annotations

from fullcount.dsl import keywords
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.failure import Failure
from fullcount.dsl.outline import Outline, Raw
from fullcount.dsl.source import Source, Span


@dataclass(frozen=True, slots=True)
class Scene:
    """A failure with everything around it that a message may need. `token` is None at the end of the file."""

    source: Source
    failure: Failure
    outline: Outline
    index: int

    @property
    def token(self) -> Raw | None:
        """The word or sign that could not be taken."""
        return self.outline.tokens[self.index] if self.index < len(self.outline.tokens) else None

    @property
    def before(self) -> Raw | None:
        """The word or sign before it."""
        return self.outline.tokens[self.index - 1] if self.index > 0 else None

    @property
    def block(self) -> int:
        """The block it stands in."""
        return self.outline.block_of(self.index)

    @property
    def kind(self) -> str:
        """The kind of that block: `workflow`, `propose`, `fields`, … or empty."""
        return self.outline.blocks[self.block].kind

    @property
    def span(self) -> Span:
        """The place to point at."""
        if self.token is not None:
            return self.source.span(self.token.start, self.token.end)
        return self.source.span(len(self.source.text), len(self.source.text))

    def place(self, index: int) -> Span:
        """Return the span of another token."""
        token = self.outline.tokens[index]
        return self.source.span(token.start, token.end)

    @property
    def is_clause_place(self) -> bool:
        """Whether a clause of the block could have started here."""
        words = {word.upper() for word in keywords.CLAUSES.get(self.kind, ())}
        return bool(self.failure.accepts & words)


def scene(source: Source, failure: Failure, outline: Outline) -> Scene:
    """Find the token to blame: the one that failed, or the word before it that was taken for a name.

    A clause word after an unfinished clause, an operator after an operator, or a field after `fields` without its
    brace reads as a name at first; the parser only stumbles over what follows.
    """
    index = outline.at(failure.offset)
    here = Scene(source, failure, outline, index)
    if failure.previous != "NAME" or index == 0:
        return here
    before = outline.tokens[index - 1]
    leads = index < len(outline.tokens) and outline.tokens[index].leads
    if before.leads and outline.starts_clause(index - 1) and not leads:
        accepts = frozenset({"NAME"})
    elif before.text in keywords.OPERATORS:
        accepts = keywords.VALUE_START
    elif (
        index >= 2 and outline.tokens[index - 2].text == "fields" and here.token is not None and here.token.text == ":"
    ):
        accepts = frozenset({"LBRACE"})  # a field, read as the name of a record
    else:
        return here
    return Scene(source, Failure(before.start, accepts, None, unreadable=False), outline, index - 1)
