"""The screen: where text goes, how wide it is, and progress on long work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullcount.runtime.cli.layout import WIDTH

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def console() -> Console:
    """Return the console that reports go to: plain where the output is no terminal, never wider than a report."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False, markup=False)
    found.width = min(found.width, WIDTH) if found.is_terminal else WIDTH
    return found


def show(renderable: RenderableType) -> None:
    """Print a report; without the blanks that fill its lines where it may be copied into a file or a ticket."""
    screen = console()
    if screen.is_terminal:
        screen.print(renderable)
        return
    with screen.capture() as captured:
        screen.print(renderable)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def colour() -> bool:
    """Whether plain text may be coloured: on a terminal whose user did not decline it."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def show_json(document: Any) -> None:
    """Print a document as JSON, in ASCII: foreign text in it does nothing to a terminal, whatever its encoding."""
    click.echo(json.dumps(document, indent=2))


def write_file(path: Path, text: str, *, ours: Callable[[str], bool], force: bool, as_json: bool) -> None:
    """Write a file and say so. `ours` knows from its beginning a file that may be replaced.

    Raises `UsageError` when it can't be written, or holds something else and there is no `force`.
    """
    from fullcount.runtime.cli.overwriting import check_overwriting
    from fullcount.runtime.workflow_files import UsageError

    check_overwriting(path, ours, force=force)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "FC690", f"can't write `{path}`: {error.strerror}", help="name a file in a folder that you may write to"
        ) from error
    if as_json:
        show_json({"written": str(path)})
    else:
        click.echo(f"written to {path}")


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
