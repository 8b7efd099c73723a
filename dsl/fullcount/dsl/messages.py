"""From a failure of the parser to what a person is told: what stands there, what could, and what was probably meant.

Pure functions. The slips that people make (a missing brace, a word of another language, a quantifier without its
parentheses) are recognised first, each by one function that returns None if it does not apply; what is left gets the
general message with the words that the grammar would have taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fullcount.dsl import keywords
from fullcount.dsl.diagnostics import Diagnostic, Label
from fullcount.dsl.outline import Outline, Raw
from fullcount.dsl.recover import Failure
from fullcount.dsl.source import Source, Span
from fullcount.dsl.suggest import closest

_SIGNS: Final[dict[str, str]] = {
    "'": "write texts in double quotes",
    "`": "write texts in double quotes",
    "\u201c": 'use the plain double quote `"`',
    "\u201d": 'use the plain double quote `"`',
    "\u201e": 'use the plain double quote `"`',
    "\u2018": "write texts in plain double quotes",
    "\u2019": "write texts in plain double quotes",
    ";": "clauses need no separator: start the next one on a new line",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`, or `!=` for unequal",
    "%": "write the number before it: `5%`",
    "\u2013": "use the plain minus sign `-`",
    "\u2014": "use the plain minus sign `-`",
    "\u2212": "use the plain minus sign `-`",
    "\u2264": "write `<=`",
    "\u2265": "write `>=`",
    "\u2260": "write `!=`",
    "\u00a0": "replace the no-break space with a plain one",
}


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
    """Find the token to blame: the one that failed, or the clause word before it that was taken for a name."""
    index = outline.at(failure.offset)
    swallowed = (
        failure.previous == "NAME"
        and index > 0
        and outline.tokens[index - 1].leads
        and outline.starts_clause(index - 1)
    )
    if swallowed and not (index < len(outline.tokens) and outline.tokens[index].leads):
        accepts = frozenset({"NAME"})
        return Scene(
            source, Failure(outline.tokens[index - 1].start, accepts, None, unreadable=False), outline, index - 1
        )
    return Scene(source, failure, outline, index)


def explain(at: Scene) -> tuple[Diagnostic, bool]:
    """Return what to tell, and whether a whole clause is to blame rather than something inside of one."""
    for recognise in (_file_ends, _unreadable, _missing_brace, _outside, _open_bracket, _quantifier):
        found = recognise(at)
        if found is not None:
            return found, recognise is _outside
    unknown = _unknown_clause(at)
    return (unknown, True) if unknown is not None else (_unexpected(at), False)


# ---------------------------------------------------------------------------------------------- slips


def _file_ends(at: Scene) -> Diagnostic | None:
    if at.token is not None:
        return None
    block = at.outline.blocks[at.outline.open_block()]
    if block.opens is None:
        return None
    what = f"the block of `{block.kind}`" if block.kind else "this block"
    return Diagnostic(
        "FC010",
        f"{what} is never closed: the file ends before its `}}`",
        at.place(block.opens),
        note="opened here",
        help="add the missing `}`",
    )


def _unreadable(at: Scene) -> Diagnostic | None:
    token = at.token
    if token is None or not at.failure.unreadable:
        return None
    if token.kind == "string":
        return Diagnostic(
            "FC011",
            "this text is never closed",
            at.source.span(token.start, token.start + 1),
            note="opened here",
            help='end it with `"` on the same line; a line break inside of a text is written `\\n`',
        )
    char = token.text[0] if token.kind != "word" else next(c for c in token.text if not c.isascii())
    start = token.start + token.text.index(char)
    span = at.source.span(start, start + 1)
    if char.isalnum():
        return Diagnostic(
            "FC018",
            f"`{char}` cannot be part of a name ({_unicode_name(char)})",
            span,
            why="letters of other alphabets can look the same and be another name",
            help="names are made of the letters a-z and A-Z, digits and `_`",
        )
    return Diagnostic(
        "FC018",
        f"`{char}` is not a sign of the language",
        span,
        help=_SIGNS.get(char, "remove it, or put it into a text in double quotes"),
    )


def _missing_brace(at: Scene) -> Diagnostic | None:
    if at.token is None or not at.outline.escapes(at.index):
        return None
    block = at.outline.blocks[at.block]
    if block.opens is None:
        return None
    what = f"the block of `{block.kind}`" if block.kind else "the block before it"
    return Diagnostic(
        "FC010",
        f"{what} is not closed before `{at.token.text}`",
        at.span,
        note="a `}` is missing before this",
        labels=(Label(at.place(block.opens), "opened here"),),
        help="close the block with `}`",
    )


def _outside(at: Scene) -> Diagnostic | None:
    token = at.token
    if token is None or at.block != 0 or not at.failure.accepts & {"WORKFLOW"}:
        return None
    if token.text == "}":
        return Diagnostic(
            "FC010",
            "this `}` closes nothing",
            at.span,
            why="what follows it stands outside of the workflow",
            help="remove it, or look for a block before it that is closed twice",
        )
    inner = [kind for kind, words in keywords.CLAUSES.items() if token.text in words]
    if inner and token.text != "workflow":
        return Diagnostic(
            "FC002",
            f"`{token.text}` stands outside of any workflow",
            at.span,
            help=f"put it into the block of a `{inner[0]}`; look for a `}}` before it that closes too early",
        )
    return None


def _open_bracket(at: Scene) -> Diagnostic | None:
    token = at.token
    opened = at.outline.brackets.get(at.index if token is not None else at.index - 1)
    if opened is None or token is None or not at.failure.accepts & {"RPAR", "RSQB"}:
        return None
    if not (token.text in {"{", "}"} or (token.leads and at.outline.starts_clause(at.index))):
        return None
    sign = at.outline.tokens[opened].text
    return Diagnostic(
        "FC010",
        f"this `{sign}` is not closed before `{token.text}`",
        at.place(opened),
        note="opened here",
        labels=(Label(at.span, f"a `{')' if sign == '(' else ']'}` is missing before this"),),
        help=f"add the missing `{')' if sign == '(' else ']'}`",
    )


def _quantifier(at: Scene) -> Diagnostic | None:
    """`no people where …`, `no people as p where p.x`, `count(people …`: the form is what people forget."""
    words = (*keywords.QUANTIFIERS, *keywords.AGGREGATES)
    nearby = at.outline.tokens[max(at.index - 5, 0) : at.index]
    token = at.token
    if token is None or (token.leads and at.is_clause_place and token.text not in keywords.CONTINUATIONS):
        return None
    starts = [i for i, raw in enumerate(nearby) if raw.text in words and raw.kind == "word"]
    if not starts:
        return None
    tail = nearby[starts[-1] :]
    texts = [raw.text for raw in tail]
    bare = len(tail) == 1 and token.kind == "word" and at.failure.previous == "NAME"
    called = len(tail) == 3 and texts[1] == "(" and tail[2].kind == "word" and token.text in {"as", "where"}
    no_parentheses = len(tail) == 5 and texts[2] == "as" and texts[4] == "where" and token.text != "("
    no_where = len(tail) == 4 and texts[2] == "as" and token.text != "where"
    if not (bare or called or no_parentheses or no_where):
        return None
    word = texts[0]
    inventory = token.text if bare else texts[2] if called else texts[1]
    row = texts[3] if no_parentheses or no_where else inventory[:1]
    of = f" of {row}.…" if word in {"min", "max", "sum"} else ""
    return Diagnostic(
        "FC025",
        f"the condition of `{word}` goes into parentheses" if no_parentheses else f"`{word}` is not complete",
        at.span,
        help=f"write `{word} {inventory} as {row} where (…){of}`",
    )


def _unknown_clause(at: Scene) -> Diagnostic | None:
    token = at.token
    if token is None or token.kind != "word":
        return None
    if at.kind in keywords.LISTS:
        return _unknown_entry(at, token)
    operators = at.failure.accepts & keywords.AFTER_VALUE
    if not at.is_clause_place or (operators and not token.leads):
        return None
    words = keywords.CLAUSES[at.kind]
    if token.text in words:
        return None
    meant = closest(token.text, words)
    operator = closest(token.text, _words(operators))
    if meant is None and operator is not None:
        return None
    return _unknown(at, token, "file" if at.kind == keywords.FILE else f"`{at.kind}`", "clause", words, meant)


def _unknown_entry(at: Scene, token: Raw) -> Diagnostic | None:
    words = keywords.LISTS[at.kind]
    starts = at.before is not None and at.before.text in {"{", ","}
    if not words or not starts or token.text in words:
        return None
    return _unknown(
        at, token, f"`{at.kind}`", "claim" if at.kind == "verify" else "rule", words, closest(token.text, words)
    )


def _unknown(at: Scene, token: Raw, block: str, what: str, words: tuple[str, ...], meant: str | None) -> Diagnostic:
    elsewhere = [kind for kind, clauses in keywords.CLAUSES.items() if token.text in clauses]
    elsewhere += [kind for kind, entries in keywords.LISTS.items() if token.text in entries]
    if meant is not None:
        advice = f"did you mean `{meant}`? write it like `{keywords.EXAMPLES[meant]}`"
    elif elsewhere:
        advice = f"`{token.text}` belongs into `{elsewhere[0]}`"
    else:
        listed = _listed(words) if at.kind != "approve" else '`N of role "…"` and `expires`'
        advice = (
            f"the {what}s of {block} are {listed}"
            if len(words) > 1 or at.kind == "approve"
            else (f"a {block} holds `{words[0]}` blocks only")
        )
    return Diagnostic(
        "FC002",
        f"`{token.text}` is not a {what} of {block}"
        if at.kind != keywords.FILE
        else f"`{token.text}` is not a `workflow`",
        at.span,
        note=f"unknown {what}",
        why="a line that is not understood is never skipped: it may have been the one that protects something",
        help=advice,
    )


# ---------------------------------------------------------------------------------------------- the rest


def _unexpected(at: Scene) -> Diagnostic:
    token, accepts = at.token, at.failure.accepts
    found = f"found {_shown(token)}" if token is not None else "the file ends"
    if token is not None and "COMMA" in accepts and at.kind in keywords.LISTS and token.kind in {"word", "number"}:
        return Diagnostic(
            "FC001", f"a `,` is missing before {_shown(token)}", at.span, help="entries are separated by commas"
        )
    meant = closest(token.text, _words(accepts)) if token is not None and token.kind == "word" else None
    after = f" after `{at.before.text}`" if at.before is not None and at.before.kind == "word" else ""
    if meant is not None:
        message = f"expected `{meant}`, {found}"
    else:
        message = f"expected {_expected(accepts, at.kind)}{after}, {found}" if accepts else f"{found[6:]} is unexpected"
    return Diagnostic("FC001", message, at.span, help=_advice(at, meant))


def _advice(at: Scene, meant: str | None) -> str:
    token, before, accepts = at.token, at.before, at.failure.accepts
    if meant is not None:
        return f"did you mean `{meant}`?"
    if token is None:
        return ""
    pair = (before.text if before is not None else "") + token.text
    advice = ""
    if token.text == "=" and "COLON" in accepts:
        advice = "write `name: value`"
    elif pair == "//":
        advice = "comments start with `#`"
    elif pair == "<>":
        advice = "write `!=` for unequal"
    elif pair in {"===", "=="} and token.text == "=":
        advice = "write `==` to compare"
    elif token.kind == "word" and before is not None and before.kind == "number":
        advice = f"write a unit without a space: `{before.text}{token.text}`" if len(token.text) <= 2 else ""
    elif before is not None and before.text in keywords.EXAMPLES and at.outline.starts_clause(at.index - 1):
        advice = f"write it like `{keywords.EXAMPLES[before.text]}`"
    return advice


def _expected(accepts: frozenset[str], kind: str) -> str:
    rest, parts = set(accepts), []
    if rest >= keywords.VALUE_START:
        parts.append("a value")
        rest -= keywords.VALUE_START | keywords.VALUE_WORDS
    if len(rest & keywords.AFTER_VALUE) > 3:
        parts.append("an operator")
        rest -= keywords.AFTER_VALUE | {"LPAR"}  # `(` would make a call of the name before it
    if rest >= {"NUMBER", "QUANTITY", "MOMENT"}:
        parts.append("a number")
        rest -= {"NUMBER", "QUANTITY", "MOMENT"}
    clauses = {word.upper() for word in keywords.CLAUSES.get(kind, ())}
    if len(rest & clauses) > 1:
        parts.append(f"the next clause of `{kind}`" if kind != keywords.FILE else "a workflow")
        rest -= clauses
    parts += sorted((keywords.meaning(terminal) for terminal in rest - keywords.IGNORED), key=_by_kind)
    return _joined(parts, "or")


def _by_kind(part: str) -> tuple[bool, str]:
    return not part.startswith("a "), part


def _words(terminals: Iterable[str]) -> list[str]:
    return [word for terminal in terminals if (word := keywords.word(terminal)) is not None]


def _listed(words: tuple[str, ...]) -> str:
    return _joined([f"`{word}`" for word in words], "and")


def _joined(parts: list[str], last: str) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def _shown(token: Raw) -> str:
    text = token.text if len(token.text) <= 40 else f"{token.text[:37]}…"
    return f"the text {text}" if token.kind == "string" else f"`{text}`"


def _unicode_name(char: str) -> str:
    import unicodedata

    return unicodedata.name(char, "a character without a name").lower()
