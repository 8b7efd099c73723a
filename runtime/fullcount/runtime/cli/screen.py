"""The screen: where text goes, how wide it is, and progress on long work."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH = 100
"""Columns of a report: what fits a ticket and a terminal beside a log."""


def console() -> Console:
    """Return the console that reports go to: plain where the output is no terminal, never wider than a report."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False, markup=False)
    found.width = min(found.width, WIDTH) if found.is_terminal else WIDTH
    return found


def show(renderable: RenderableType) -> None:
    """Print a report."""
    console().print(renderable)


def show_json(document: Any) -> None:
    """Print a document as JSON."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows how far work has come, on one line of standard error that is cleared at the end.

    Nothing is shown when `quiet`, or when standard error is no terminal: a log should not fill with progress.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False, emoji=False, markup=False).status("") as status:
        yield lambda text: status.update(text)
