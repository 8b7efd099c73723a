"""Findings as a document of plain values, for scripts and editors. Its keys are a promise; new ones may come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from fullcount.dsl.diagnostics import Diagnostic, Fix, Severity
from fullcount.dsl.source import Source, Span

SCHEMA_VERSION: Final = 1


def to_json(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> dict[str, object]:
    """Return the findings as a document of plain values. Lines and columns are 1-based, ends exclusive."""
    found = list(diagnostics)
    return {
        "schema_version": SCHEMA_VERSION,
        "errors": sum(item.severity is Severity.ERROR for item in found),
        "warnings": sum(item.severity is Severity.WARNING for item in found),
        "diagnostics": [
            {
                "code": item.code,
                "severity": str(item.severity),
                "message": item.message,
                **_place(item.span, sources),
                "note": item.note,
                "labels": [{**_place(label.span, sources), "text": label.text} for label in item.labels],
                "why": item.why,
                "help": item.help,
                "fix": _fix(item.fix, sources) if item.fix is not None else None,
            }
            for item in found
        ],
    }


def _place(span: Span, sources: Mapping[str, Source]) -> dict[str, object]:
    source = sources.get(span.source)
    if source is None:
        return {"file": span.source, "start": None, "end": None}
    ends = []
    for offset in (span.start, span.end):
        line, column = source.position(min(offset, len(source.text)))
        ends.append({"line": line, "column": column, "offset": offset})
    return {"file": span.source, "start": ends[0], "end": ends[1]}


def _fix(fix: Fix, sources: Mapping[str, Source]) -> dict[str, object]:
    return {
        "title": fix.title,
        "safe": fix.safe,
        "edits": [{**_place(edit.span, sources), "replacement": edit.replacement} for edit in fix.edits],
    }
