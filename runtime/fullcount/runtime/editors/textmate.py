"""The TextMate grammar that editors colour workflows by, made from the words of the language.

`python -m fullcount.runtime.editors.textmate` prints it; it stands in `docs/editors/vscode/syntaxes`, where a test
holds it equal to this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fullcount.runtime.editors.words import (
    CLAUSE_WORDS,
    CONSTANTS,
    FILE_WORDS,
    FUNCTION_NAMES,
    OPERATOR_WORDS,
    TYPES,
    other_words,
)

_NAME = "[A-Za-z_][A-Za-z0-9_]*"


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words))})"


def grammar() -> dict[str, Any]:
    """Return the grammar. What stands first wins."""
    patterns = [
        ("comment.line.number-sign", r"#.*$"),
        ("constant.numeric.date", r"\b\d{4}-\d{1,2}-\d{1,2}(?:[Tt][0-9:.]+(?:[Zz]|[+-][0-9:]+)?)?"),
        ("constant.numeric", r"\b\d[\d_]*(?:\.[\d_]+)?(?:\s*%|\s+(?:[KMGT]i?)?B\b|[A-Za-z]\w*)?"),
        ("variable.other.member", rf"(?<=\.){_NAME}"),
        ("variable.parameter", rf"\b{_NAME}(?=\s*:)"),
        ("support.function", rf"\b{_any(FUNCTION_NAMES)}(?=\()"),
        ("keyword.declaration", rf"(?<![\w.]){_any(FILE_WORDS)}\b(?=\s+[\w\"])"),
        ("constant.language", rf"\b{_any(CONSTANTS)}\b"),
        ("keyword.control", rf"(?<![\w.]){_any(CLAUSE_WORDS)}\b(?=\s+[\w\"{{(.\-])"),
        ("keyword.operator.word", rf"\b{_any(OPERATOR_WORDS)}\b"),
        ("storage.type", rf"\b{_any(TYPES)}\b(?=[?>,\s)}}<]|$)"),
        ("keyword.other", rf"\b{_any(other_words())}\b"),
        ("keyword.operator", r"==|!=|<=|>=|[<>=+*/-]"),
    ]
    text = {
        "name": "string.quoted.double.fullcount",
        "begin": '"',
        "end": r"\"|$",
        "patterns": [{"name": "constant.character.escape.fullcount", "match": r"\\(?:u\{[0-9A-Fa-f]{1,6}\}|.)"}],
    }
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Fullcount",
        "scopeName": "source.fullcount",
        "fileTypes": ["fcw"],
        "patterns": [text, *({"name": f"{scope}.fullcount", "match": match} for scope, match in patterns)],
    }


if __name__ == "__main__":
    print(json.dumps(grammar(), indent=2))  # noqa: T201
