"""The words of the language in groups, for whatever colours it: all of them read from the tables of `fullcount.dsl`."""

from __future__ import annotations

from typing import Final

from fullcount.compiler.functions import FUNCTIONS
from fullcount.compiler.types import SCALARS
from fullcount.dsl import keywords, tables

FILE_WORDS: Final = keywords.CLAUSES[keywords.FILE]
CLAUSE_WORDS: Final = tuple(
    sorted({word for block, words in keywords.CLAUSES.items() if block != keywords.FILE for word in words})
)
"""`now` is among them, which a test sets in a clause, and among the constants: whoever colours asks for these first."""
OPERATOR_WORDS: Final = tuple(sorted(keywords.OPERATORS))
CONSTANTS: Final = ("false", "never", "now", "true", "unknown")
TYPES: Final = (*SCALARS, "list", "map", "record")
FUNCTION_NAMES: Final = tuple(FUNCTIONS)


def all_keywords() -> tuple[str, ...]:
    """Return every word that the grammar takes as a keyword somewhere."""
    return tuple(sorted(tables.parser().keywords))


def other_words() -> tuple[str, ...]:
    """Return the keywords that neither begin a clause nor join values: `from`, `within`, `some`, …"""
    return tuple(word for word in all_keywords() if word not in {*FILE_WORDS, *CLAUSE_WORDS, *OPERATOR_WORDS})
