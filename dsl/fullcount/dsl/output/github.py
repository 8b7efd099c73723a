"""Findings as workflow commands of GitHub Actions, which shows them beside the changed lines.

What a user wrote cannot end a command or begin another one: line breaks and the signs of the form come out encoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fullcount.dsl.diagnostics import Diagnostic
from fullcount.dsl.output.places import Root, region
from fullcount.dsl.render import visible
from fullcount.dsl.source import Source


def to_github(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], root: Root) -> str:
    """Return one command for each finding; empty if there are none."""
    return "".join(f"{_command(item, sources, root)}\n" for item in diagnostics)


def _command(item: Diagnostic, sources: Mapping[str, Source], root: Root) -> str:
    properties = {"file": root.path(item.span.source)}
    at = region(item.span, sources)
    if at is not None:
        properties |= {"line": str(at.line), "endLine": str(at.end_line)}
        if at.line == at.end_line:  # columns mean something only within one line
            properties |= {"col": str(at.column), "endColumn": str(at.end_column)}
    properties["title"] = f"fullcount {item.code}"
    told = [item.message]
    told += [f"{word}: {words}" for word, words in (("why", item.why), ("help", item.help)) if words]
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{item.severity} {given}::{_data(chr(10).join(visible(each) for each in told))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
