"""Whether what would be brought back from the quarantine folder lies there, and is what was put there. Writes nothing.

An object is known again as a restore knows it: by device and inode, size and last change, and a folder by everything in
it. What a file holds is never read, here as when it was moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fullcount.runtime.connectors.base import ActCall, SourceError
from fullcount.runtime.connectors.files.config import FilesConfig
from fullcount.runtime.connectors.files.objects import Mark
from fullcount.runtime.connectors.files.quarantine import kept_entry, kept_folder
from fullcount.runtime.connectors.files.replies import in_words
from fullcount.runtime.connectors.files.root import Root, named, opened
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

GONE = "it does not lie in the quarantine folder any more"
CHANGED = "what lies in the quarantine folder was changed there"

OF_THE_QUARANTINE = frozenset({"put_back", "restore"})
"""The operations that bring back what lies there."""

Wanted = tuple[str, Callable[[Mark], bool]]
"""The path that an object had, and whether a mark is the one of it."""


class ClosedError(SourceError):
    """The folder is closed to this user; whoever acts may be another one."""


def why_not_kept(config: FilesConfig, wanted: Iterable[Wanted]) -> list[str | None]:
    """Return of each object why it can't be brought back; None: it lies there as it was put there.

    Raises `SourceError` where the folder can't be looked into, which says nothing of what lies in it; `ClosedError`
    where another user may.
    """
    with _looking_into(config) as (root, kept):
        return [_why(root, kept, path, is_meant) for path, is_meant in wanted]


@contextmanager
def _looking_into(config: FilesConfig) -> Iterator[tuple[Root, int | None]]:
    try:
        with opened(config) as root, kept_folder(config) as kept:
            yield root, kept
    except OSError as error:
        detail = f"the quarantine folder `{config.quarantine}` can't be looked into: {in_words(named(error))}"
        kind = ClosedError if isinstance(error, PermissionError) else SourceError
        raise kind(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail)) from None


def meant_by(call: ActCall) -> Callable[[Mark], bool] | None:
    """Return how the object that is to be brought back is known; None if nothing tells.

    A backup comes with the digest of what was stored, so what it says is what this connector wrote.
    """
    if call.operation == "restore":
        if call.backup is None or call.backup.content is None:
            return None
        wanted = Mark.read(call.backup.content.get("mark"))
        return lambda found: found == wanted
    version = call.arguments.get("version")
    return (lambda found: found.is_of(version)) if isinstance(version, str) else None


def wanted_by(content: Mapping[str, Any]) -> Wanted:
    """Return what a backup names: what it says is what this connector wrote. Raises ValueError."""
    path, mark = content.get("path"), Mark.read(content.get("mark"))
    if not isinstance(path, str):
        msg = "it is not the backup of a file"
        raise ValueError(msg)
    return path, lambda found: found == mark


def no_answer(config: FilesConfig) -> SourceError:
    """Return what is raised where a mount does not answer."""
    detail = f"the quarantine folder `{config.quarantine}` does not answer"
    return SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))


def _why(root: Root, kept: int | None, path: str, is_meant: Callable[[Mark], bool]) -> str | None:
    if kept is None:
        return GONE
    with kept_entry(kept, os.path.realpath(root.path), path, is_meant) as entry:
        found = None if entry is None else entry.found(root)
    if found is None:
        return GONE
    return None if is_meant(found.mark) else CHANGED
