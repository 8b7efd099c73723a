"""Objects that lie with their source for as long as their backup is kept: files in a quarantine folder.

Guarantees: only what the record names, and whose time is over by it, is let go of; a source that can't be reached, or
where something can't be removed, keeps what it has until the next time, and stands in nobody's way; why is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fullcount.runtime.connectors.base import KeepsObjects, SourceError
from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Removed:
    """How many stored backups were removed, and why what lies with some sources could not be."""

    count: int
    troubles: tuple[str, ...] = ()


def let_go(workspace: Workspace, over: Callable[[], frozenset[str]]) -> tuple[str, ...]:
    """Let every source remove what it keeps of acts whose time is over, and return why some could not."""
    troubles: list[str] = []
    for source in workspace.source_names:
        connector, config = workspace.connector(source)
        if not isinstance(connector, KeepsObjects):
            continue
        try:
            connector.let_go(source, config, over)
        except SourceError as error:  # nothing is kept for too short a time by that
            troubles.append(f"`{source}`: {error.reason.detail or error.reason.code}")
        except OSError as error:
            place = "its quarantine" if error.filename is None else f"`{error.filename}`"
            troubles.append(f"`{source}`: {place}: {error.strerror}")
    return tuple(troubles)
