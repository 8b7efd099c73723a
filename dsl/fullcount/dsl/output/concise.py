"""Findings one on each line, `path:line:column: error[FC301]: message`, for editors and for `grep`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fullcount.dsl.diagnostics import Diagnostic
from fullcount.dsl.output.places import region
from fullcount.dsl.render import visible
from fullcount.dsl.source import Source


def to_concise(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Return the findings as lines; empty if there are none."""
    return "".join(f"{_line(item, sources)}\n" for item in diagnostics)


def _line(item: Diagnostic, sources: Mapping[str, Source]) -> str:
    at = region(item.span, sources)
    place = f"{item.span.source}:{at.line}:{at.column}" if at is not None else item.span.source
    return visible(f"{place}: {item.severity}[{item.code}]: {item.message}")
