"""How a command ends: known errors become one clear message and an exit code; bugs stay bugs, with a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import TracebackType

import click

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit


class NotUnderstoodError(FullcountError):
    """The command line itself can't be read."""

    exit = Exit.USAGE


@contextmanager
def reported(arguments: Sequence[str]) -> Iterator[None]:
    """Turn an error that a person can act on into a message and an exit code.

    With `--json` or `--format json` among the arguments the message is JSON on standard output, so that a script
    always gets JSON. A bug is shown as such, with its traceback, by the hook that this sets.
    """
    as_json = _wants_json(arguments)

    def show_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, KeyboardInterrupt):
            show_error(_bug(error), as_json=as_json)

    sys.excepthook = show_bug
    try:
        yield
    except FullcountError as error:
        show_error(error, as_json=as_json)
        sys.exit(int(error.exit))
    except click.ClickException as error:
        show_error(_not_understood(error, arguments), as_json=as_json)
        sys.exit(int(Exit.USAGE))
    except click.Abort:
        show_error(FullcountError("FC699", "the input ended before an answer; nothing was done"), as_json=as_json)
        sys.exit(int(Exit.ERROR))


def _wants_json(arguments: Sequence[str]) -> bool:
    pairs = pairwise(arguments)
    return "--json" in arguments or "--format=json" in arguments or ("--format", "json") in pairs


def show_error(error: FullcountError, *, as_json: bool) -> None:
    """Print one error: what, where, what to do, where to read more."""
    if as_json:
        document = {"error": {"code": error.code, "message": error.message, "help": error.help}}
        click.echo(json.dumps(document, indent=2))
        return
    from fullcount.runtime.cli.layout import wrapped
    from fullcount.runtime.text import plain

    lines = [wrapped(f"error[{error.code}]: ", plain(error.message))]
    if error.help:
        lines.append(wrapped("  = help: ", plain(error.help)))
    lines.append(f"  = more: fullcount explain {error.code}")
    click.echo("\n".join(lines), err=True)


def _not_understood(error: click.ClickException, arguments: Sequence[str]) -> FullcountError:
    from fullcount.runtime.typed import argument

    message = error.format_message().rstrip(".")
    help_of = f"see `fullcount {argument(arguments[0])} --help`"
    return NotUnderstoodError("FC699", message[:1].lower() + message[1:], help=help_of)


def _bug(error: BaseException) -> FullcountError:
    return FullcountError(
        "FC901",
        f"Fullcount made a mistake and stopped where it was: {type(error).__name__}: {error}",
        help="see what was recorded with `fullcount runs` and `fullcount verify`, and report the text above",
    )
