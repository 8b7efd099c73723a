"""The command line: `fullcount VERB`, one file per verb.

It answers at once because it imports only what was asked for: `--version` and `--help` are answered from the table of
verbs, and a verb imports its own module and no other. The verbs in turn import nothing heavy at their top.
"""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

from fullcount.runtime.cli.verbs import VERBS

HELP_NAMES = ("-h", "--help")
COMPLETION = "_FULLCOUNT_COMPLETE"
"""The variable by which a shell asks what could come next; see `completion.py`."""


def main() -> NoReturn:
    """Run the command line; the exit code is one of `Exit`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character must not cost the report of what was done.
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    if COMPLETION in os.environ:
        from fullcount.runtime.cli.completion import complete

        sys.exit(complete())
    if len(arguments) == 0:
        print(help_text())  # noqa: T201 - the one place that has not loaded what the verbs print with
        sys.exit(2)
    if arguments[0] in HELP_NAMES:
        print(help_text())  # noqa: T201
        sys.exit(0)
    if arguments[0] == "--version":
        print(version_text())  # noqa: T201
        sys.exit(0)
    from fullcount.runtime.cli.running import run

    sys.exit(run(arguments))


def version_text() -> str:
    """Return the versions of the program and of the language, which has versions of its own."""
    from fullcount.dsl.editions import CURRENT
    from fullcount.runtime import __version__

    return f"fullcount {__version__} (language {CURRENT})"


def help_text() -> str:
    """Return what the verbs are for."""
    width = max(map(len, VERBS))
    return "\n".join(
        [
            "Usage: fullcount VERB [OPTIONS] [ARGS]...",
            "",
            "  Bulk clean-ups that only run when the count is full.",
            "",
            "Options:",
            "  --version   Show the versions of the program and of the language.",
            "  -h, --help  Show this message; behind a verb, what that verb takes.",
            "",
            "Verbs:",
            *(f"  {name:<{width}}  {verb.purpose}" for name, verb in VERBS.items()),
        ]
    )


if __name__ == "__main__":
    main()
