"""A lexer for Pygments, found by its entry point: `pygmentize -l fullcount`, Sphinx, MkDocs.

It colours and does not judge. Keywords are soft in the language, so a clause is known by where it stands: at the start
of a line, or behind a brace.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Token, Whitespace

from fullcount.runtime.editors.words import (
    CLAUSE_WORDS,
    CONSTANTS,
    FILE_WORDS,
    FUNCTION_NAMES,
    OPERATOR_WORDS,
    TYPES,
    other_words,
)

_NAME = r"[A-Za-z_]\w*"


class FullcountLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Workflows of Fullcount, `.fcw`."""

    name = "Fullcount"
    aliases: ClassVar = ["fullcount", "fcw"]
    filenames: ClassVar = ["*.fcw"]
    mimetypes: ClassVar = ["text/x-fullcount"]
    url = ""

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (r'"(?:[^"\\\n]|\\[^\n])*"?', String.Double),
            (r"\d{4}-\d{1,2}-\d{1,2}(?:[Tt][0-9:.]+(?:[Zz]|[+-][0-9:]+)?)?", Number.Date),
            (r"\d[\d_]*(?:\.[\d_]+)?(?:[ \t]*%|[ \t]+(?:[KMGT]i?)?B\b|[A-Za-z]\w*)?", Number),
            (rf"(\.)({_NAME})", bygroups(Punctuation, Name.Attribute)),
            (rf"({_NAME})([ \t]*)(:)", bygroups(Name.Attribute, Whitespace, Punctuation)),
            (words(FUNCTION_NAMES, prefix=r"\b", suffix=r"(?=\()"), Name.Builtin),
            (words(FILE_WORDS, prefix=r"(?<![\w.])", suffix=r"\b(?=[ \t]+[\w\"])"), Keyword.Declaration),
            (words(CONSTANTS, prefix=r"(?<![\w.])", suffix=r"\b"), Keyword.Constant),
            (words(CLAUSE_WORDS, prefix=r"(?<![\w.])", suffix=r"\b(?=[ \t]+[\w\"{(.-])"), Keyword),
            (words(OPERATOR_WORDS, prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(TYPES, prefix=r"\b", suffix=r"\b(?=[?>,\s)}<]|$)"), Keyword.Type),
            (words(other_words(), prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            (_NAME, Name),
            (r"==|!=|<=|>=|[<>=+*/-]", Operator),
            (r"\.\.\.|[{}()\[\],:.?]", Punctuation),
            (r".", Token.Error),
        ]
    }
