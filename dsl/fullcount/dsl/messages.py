"""From a failure of the parser to what a person is told: what stands there, what could, and what was probably meant.

Pure functions. The slips that people make (`slips.py`) are looked for first, then a clause that the block does not
have; what is left gets the general message with the words that the grammar would have taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fullcount.dsl import keywords
from fullcount.dsl.diagnostics import Diagnostic
from fullcount.dsl.outline import Raw
from fullcount.dsl.recover import Blame
from fullcount.dsl.scene import Scene
from fullcount.dsl.slips import SLIPS
from fullcount.dsl.suggest import closest, rename

#: Clauses that hold expressions, of which an example says little.
_FREE: Final = frozenset({"define", "where", "scope", "expect", "except", "undecided", "show", "undo", "param", "act"})


def explain(at: Scene) -> tuple[Diagnostic, Blame]:
    """Return what to tell a person, and what to blame."""
    for recognise, blame in SLIPS:
        found = recognise(at)
        if found is not None:
            return found, blame
    unknown = _unknown_clause(at)
    if unknown is not None:
        return unknown, Blame.CLAUSE
    return _unexpected(at), Blame.PART


def _unknown_clause(at: Scene) -> Diagnostic | None:
    token = at.token
    if token is None or token.kind != "word":
        return None
    if at.kind in keywords.LISTS:
        words = keywords.LISTS[at.kind]
        starts = at.before is not None and at.before.text in {"{", ","}
        known = not words or not starts or token.text in words
        return None if known else _unknown(at, token, "claim" if at.kind == "verify" else "rule", words)
    operators = at.failure.accepts & keywords.AFTER_VALUE
    if not at.is_clause_place or (operators and not token.leads):
        return None
    words = keywords.CLAUSES[at.kind]
    is_operator = closest(token.text, words) is None and closest(token.text, _words(operators)) is not None
    return None if token.text in words or is_operator else _unknown(at, token, "clause", words)


def _unknown(at: Scene, token: Raw, what: str, words: tuple[str, ...]) -> Diagnostic:
    meant = closest(token.text, words)
    return Diagnostic(
        "FC002",
        f"`{token.text}` cannot stand in a file by itself"
        if at.kind == keywords.FILE
        else f"`{token.text}` is not a {what} of `{at.kind}`",
        at.span,
        note=f"unknown {what}",
        why="a line that is not understood is never skipped: it may have been the one that protects something",
        help=_what_is_known(at.kind, token.text, what, words, meant),
        fix=rename(at.span, token.text, meant, words) if meant is not None else None,
    )


def _what_is_known(kind: str, word: str, what: str, words: tuple[str, ...], meant: str | None) -> str:
    if word == "across":
        return 'it stands in the head of an inventory: `inventory v from s.r across region in ["eu", "us"] {`'
    if kind in keywords.LABELLED and word in keywords.STEP_CLAUSES:
        return f"write `{word} …` behind the operation of the step that it is about, and before the next step"
    if meant is not None:
        return f"did you mean `{meant}`? write it like `{keywords.EXAMPLES[meant]}`"
    blocks = [*keywords.CLAUSES.items(), *keywords.LISTS.items()]
    elsewhere = [block for block, inside in blocks if word in inside]
    if elsewhere:
        outermost = elsewhere[0] == keywords.FILE
        return f"`{word}` belongs " + (
            "into the file itself, outside of any block" if outermost else f"into `{elsewhere[0]}`"
        )
    if kind == keywords.FILE:
        return f"a file holds {_joined([f'`{known}`' for known in words], 'and')}, and nothing else"
    listed = [f"`{known}`" for known in words]
    if kind == "approve":  # a quorum starts with its number
        listed.insert(0, '`2 of role "…"`')
    return f"the {what}s of `{kind}` are {_joined(listed, 'and')}"


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
    fix = rename(at.span, token.text, meant, _words(accepts)) if token is not None and meant is not None else None
    return Diagnostic("FC001", message, at.span, help=_advice(at, meant), fix=fix)


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
    return advice or _example(at)


def _example(at: Scene) -> str:
    """Return how the clause or entry around the failure is written, unless its form is free."""
    tokens = at.outline.tokens
    first = at.index - 1
    if at.kind in keywords.LISTS:
        while first > 0 and tokens[first - 1].text not in {"{", ","}:
            first -= 1
    else:
        while first > 0 and not (tokens[first].block == at.block and at.outline.starts_clause(first)):
            first -= 1
    word = tokens[first].text if first >= 0 else ""
    return f"write it like `{keywords.EXAMPLES[word]}`" if word in keywords.EXAMPLES and word not in _FREE else ""


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


def _joined(parts: list[str], last: str) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def _shown(token: Raw) -> str:
    text = token.text if len(token.text) <= 40 else f"{token.text[:37]}…"
    return f"the text {text}" if token.kind == "string" else f"`{text}`"
