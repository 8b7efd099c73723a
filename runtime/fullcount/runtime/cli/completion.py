"""Completion in the shell: `eval "$(_FULLCOUNT_COMPLETE=bash_source fullcount)"`, or `zsh_source`, `fish_source`."""

from __future__ import annotations

import click

from fullcount.runtime.cli.running import command_of
from fullcount.runtime.cli.verbs import VERBS


class _Verbs(click.Group):
    """The verbs of the table as Click knows them; each is imported when it is looked into."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command; None for a word that is no verb."""
        return command_of(cmd_name) if cmd_name in VERBS else None


def complete() -> int:
    """Answer the shell's question, which stands in the environment, and return the exit code."""
    import os

    from click.shell_completion import shell_complete

    from fullcount.runtime.cli.main import COMPLETION

    return shell_complete(_Verbs("fullcount"), {}, "fullcount", COMPLETION, os.environ[COMPLETION])
