"""The slips that people make, each recognised by one function that returns None if it does not apply.

A bracket without its partner, a sign of another language, a clause outside of its block, a quantifier without its
parentheses. What none of them recognises gets the general message of `messages.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fullcount.dsl import keywords
from fullcount.dsl.diagnostics import Diagnostic, Edit, Fix, Label
from fullcount.dsl.literals import DURATIONS
from fullcount.dsl.recover import Blame
from fullcount.dsl.scene import Scene

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
#: Of these, the ones that can mean only one sign of the language.
_SAME_SIGN: Final[dict[str, str]] = {
    "\u2212": "-",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u00a0": " ",
}


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
    odd = next((i for i, c in enumerate(token.text) if not c.isascii()), None) if token.kind == "word" else 0
    # a space of another alphabet stands before its word, not in it
    start = token.start + odd if odd is not None else at.failure.offset
    char = at.source.text[start]
    span = at.source.span(start, start + 1)
    if char.isalnum():
        return Diagnostic(
            "FC018",
            f"`{char}` cannot be part of a name ({_unicode_name(char)})",
            span,
            why="letters of other alphabets can look the same and be another name",
            help="names are made of the letters a-z and A-Z, digits and `_`",
        )
    sign = _SAME_SIGN.get(char)
    return Diagnostic(
        "FC018",
        f"`{char}` is not a sign of the language",
        span,
        help=_SIGNS.get(char, "remove it, or put it into a text in double quotes"),
        fix=Fix(f"write `{sign}`", (Edit(span, sign),), safe=True) if sign is not None else None,
    )


def _brace_too_much(at: Scene) -> Diagnostic | None:
    if at.token is None or at.before is None or at.token.text != "{" or at.before.text != "{":
        return None
    return Diagnostic("FC010", "this `{` is one too much", at.span, help="remove it")


def _closed_too_early(at: Scene) -> Diagnostic | None:
    """A clause of the block that was closed just before it, and indented as if it were still open."""
    token = at.token
    if token is None or at.before is None or at.before.text != "}" or not at.outline.leads_clause(at.index):
        return None
    closed = next((block for block in at.outline.blocks if block.closes == at.index - 1), None)
    if closed is None or closed.header is None or at.outline.tokens[closed.header].indent >= token.indent:
        return None
    if token.text not in keywords.CLAUSES.get(closed.kind, ()) or token.text in keywords.CLAUSES.get(at.kind, ()):
        return None
    return Diagnostic(
        "FC010",
        f"the block of `{closed.kind}` is closed before its `{token.text}`",
        at.place(at.index - 1),
        note="closed too early",
        labels=(Label(at.span, f"this belongs into the `{closed.kind}`"),),
        help="remove this `}`, or one before it",
    )


def _brace_missing(at: Scene) -> Diagnostic | None:
    """The first word of a block's inside, where its `{` should have been."""
    token, outline = at.token, at.outline
    if token is None or "LBRACE" not in at.failure.accepts or at.index < 2:
        return None
    starts = [i for i in range(at.index) if outline.tokens[i].block == token.block and outline.starts_clause(i)]
    header = outline.tokens[starts[-1]].text if starts else ""
    after = outline.tokens[at.index + 1].text if at.index + 1 < len(outline.tokens) else ""
    inside = (
        token.text in (*keywords.CLAUSES.get(header, ()), *keywords.LISTS.get(header, ()))
        or (header == "fields" and after == ":")
        or (header == "approve" and token.kind == "number")
    )
    if not inside or token.text in keywords.CLAUSES.get(at.kind, ()):
        return None
    return Diagnostic(
        "FC010",
        f"the block of `{header}` is not opened before `{token.text}`",
        at.span,
        note="a `{` is missing before this",
        labels=(Label(at.place(starts[-1]), "the block of this"),),
        help="open the block with `{`",
    )


def _not_closed(at: Scene) -> Diagnostic | None:
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


def _second_key(at: Scene) -> Diagnostic | None:
    """`key region, id`: fields of one key stand together."""
    token, before = at.token, at.outline.tokens[max(at.index - 2, 0) : at.index]
    if token is None or token.text != "," or len(before) < 2 or before[0].text != "key" or at.kind != "inventory":
        return None
    after = at.outline.tokens[at.index + 1 : at.index + 2]
    others = after[0].text if len(after) > 0 and after[0].kind == "word" and not after[0].leads else "…"
    return Diagnostic(
        "FC001",
        "a key of several fields stands in parentheses",
        at.span,
        help=f"write `key ({before[1].text}, {others})`",
    )


def _spaced_unit(at: Scene) -> Diagnostic | None:
    token, before = at.token, at.before
    if token is None or before is None or token.leads or before.kind != "number" or token.text not in DURATIONS:
        return None
    span, joined = at.source.span(before.start, token.end), before.text + token.text
    return Diagnostic(
        "FC014",
        "a duration has no space before its unit",
        span,
        help=f"write `{joined}`",
        fix=Fix(f"write `{joined}`", (Edit(span, joined),), safe=True),
    )


def _null(at: Scene) -> Diagnostic | None:
    token = at.token
    if token is None or token.text not in keywords.NULL_WORDS or "ABSENT" not in at.failure.accepts:
        return None
    return Diagnostic(
        "FC023",
        f"there is no `{token.text}` in this language",
        at.span,
        why="a value that is absent and a value that could not be read are different things",
        help="write `is absent` or `is present`",
    )


def _quantifier(at: Scene) -> Diagnostic | None:
    """`no people where …`, `no people as p where p.x`, `count(people …`: the form is what people forget."""
    words = (*keywords.QUANTIFIERS, *keywords.AGGREGATES, "any")
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
    if word in keywords.LIST_QUANTIFIERS:
        return Diagnostic("FC025", f"`{word}` is not complete", at.span, help=f"write `{word} a.groups as g where (…)`")
    inventory = token.text if bare else texts[2] if called else texts[1]
    row = texts[3] if no_parentheses or no_where else inventory[:1]
    of = f" of {row}.…" if word in {"min", "max", "sum", "avg"} else ""
    return Diagnostic(
        "FC025",
        f"the condition of `{word}` goes into parentheses" if no_parentheses else f"`{word}` is not complete",
        at.span,
        help=f"write `{word} {inventory} as {row} where (…){of}`",
    )


def _unicode_name(char: str) -> str:
    import unicodedata

    return unicodedata.name(char, "a character without a name").lower()


#: The slips in the order in which they are looked for, each with what is to blame.
SLIPS: Final[tuple[tuple[Callable[[Scene], Diagnostic | None], Blame], ...]] = (
    (_file_ends, Blame.PART),
    (_unreadable, Blame.PART),
    (_brace_too_much, Blame.SIGN),
    (_closed_too_early, Blame.EARLY),
    (_not_closed, Blame.CLOSE),
    (_brace_missing, Blame.OPEN),
    (_outside, Blame.CLAUSE),
    (_open_bracket, Blame.PART),
    (_second_key, Blame.PART),
    (_spaced_unit, Blame.PART),
    (_null, Blame.PART),
    (_quantifier, Blame.PART),
)
