"""Running one verb: find its command, hand it its arguments, and end with its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click

from fullcount.runtime.cli.ending import NotUnderstoodError, reported
from fullcount.runtime.cli.verbs import VERBS
from fullcount.runtime.exit_codes import Exit


def run(arguments: Sequence[str]) -> int:
    """Run the verb that is the first argument, and return the exit code."""
    with reported(arguments):
        name, *rest = arguments
        if name not in VERBS:
            raise _unknown(name)
        # Not `standalone`: how errors are shown, and as which exit code they end, is decided in `ending`.
        code = command_of(name).main(rest, prog_name=f"fullcount {name}", standalone_mode=False)
    return code if isinstance(code, int) else int(Exit.DONE)


def command_of(name: str) -> click.Command:
    """Import a verb's module and return its command."""
    verb = VERBS[name]
    command: click.Command = getattr(import_module(f"fullcount.runtime.cli.{verb.module}"), verb.command)
    return command


def _unknown(name: str) -> NotUnderstoodError:
    from difflib import get_close_matches

    see = "see `fullcount --help`"
    if name.startswith("-"):
        return NotUnderstoodError("FC699", f"there is no option `{name}` before the verb", help=see)
    near = get_close_matches(name, VERBS, n=1)
    return NotUnderstoodError(
        "FC699", f"there is no verb `{name}`", help=f"did you mean `{near[0]}`? {see}" if near else see
    )
