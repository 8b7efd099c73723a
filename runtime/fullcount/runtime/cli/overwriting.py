"""Which files a verb may write over: its own, empty ones, and what it was told to.

The place of a file is typed by hand, and a slip of it must not cost a workflow, a list or a letter.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_LOOKED_AT = 65_536
"""Bytes of a file that are looked at: what a verb writes can be told by its beginning."""


def check_overwriting(path: Path, ours: Callable[[str], bool], *, force: bool) -> None:
    """Raise `UsageError` FC685 if the file is there and is none of `ours`; FC690 if that can't be seen."""
    from fullcount.runtime.workflow_files import UsageError

    if force or not path.is_file():  # a device or a pipe holds nothing; a folder is refused when it is written to
        return
    try:
        with path.open("rb") as file:
            beginning = file.read(_LOOKED_AT)
    except OSError as error:
        raise UsageError(
            "FC690", f"can't see what `{path}` holds: {error.strerror}", help="name another file"
        ) from error
    if beginning == b"" or ours(beginning.decode("utf-8", "replace")):
        return
    raise UsageError(
        "FC685",
        f"`{path}` holds something that this command did not write; nothing was written",
        help="name another file, or replace this one with `--force`",
    )
