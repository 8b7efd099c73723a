"""How a command ends: known errors become one clear message and an exit code; bugs stay bugs, with a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from fullcount.runtime.errors import FullcountError


@contextmanager
def reported(arguments: Sequence[str]) -> Iterator[None]:
    """Turn an error that a person can act on into a message and an exit code.

    With `--json` among the arguments the message is JSON on standard output, so that a script always gets JSON.
    """
    try:
        yield
    except FullcountError as error:
        show_error(error, as_json="--json" in arguments)
        sys.exit(int(error.exit))


def show_error(error: FullcountError, *, as_json: bool) -> None:
    """Print one error: what, where, what to do, where to read more."""
    if as_json:
        document = {"error": {"code": error.code, "message": error.message, "help": error.help}}
        typer.echo(json.dumps(document, indent=2))
        return
    from fullcount.runtime.text import plain

    lines = [f"error[{error.code}]: {plain(error.message)}"]
    if error.help:
        lines.append(f"  = help: {plain(error.help)}")
    lines.append(f"  = more: fullcount explain {error.code}")
    typer.echo("\n".join(lines), err=True)
