"""Objects that lie with their source for as long as their backup is kept: files in a quarantine folder.

Guarantees: only what the record names, and whose time is over by it, is let go of; a source that can't be reached keeps
what it has until the next time, and stands in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable

from fullcount.runtime.connectors.base import KeepsObjects, SourceError
from fullcount.runtime.workspace import Workspace


def let_go(workspace: Workspace, over: Callable[[], frozenset[str]]) -> int:
    """Let every source remove what it keeps of acts whose time is over, and return how many. Raises `OSError`."""
    gone = 0
    for source in workspace.source_names:
        connector, config = workspace.connector(source)
        if not isinstance(connector, KeepsObjects):
            continue
        try:
            gone += connector.let_go(source, config, over)
        except SourceError:
            continue  # what is not there now is looked at the next time; nothing is kept for too short a time by that
    return gone
