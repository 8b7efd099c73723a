"""What every verb that touches the store needs: the workspace, the store, the engine, and who is calling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullcount.runtime.approve.identity import Person
    from fullcount.runtime.engine import Engine
    from fullcount.runtime.store.store import Store
    from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Session:
    """One command's hold on the workspace. `person` is who the operating system says is calling."""

    workspace: Workspace
    store: Store
    engine: Engine
    person: Person


@contextmanager
def session(start: Path | None = None) -> Iterator[Session]:
    """Open the workspace around `start` (by default the current folder) and its store, and close the store again."""
    from fullcount.runtime.store.store import Store

    with _session(start, Store.open) as opened:
        yield opened


@contextmanager
def reading_session(start: Path | None = None) -> Iterator[Session]:
    """The same for a verb that only looks: it needs no right to write, and makes, changes and migrates nothing."""
    from fullcount.runtime.store.store import Store

    with _session(start, Store.open_to_read) as opened:
        yield opened


@contextmanager
def _session(start: Path | None, open_store: Callable[[str], Store]) -> Iterator[Session]:
    from fullcount.runtime.approve.identity import current_person
    from fullcount.runtime.collect.snapshots import SnapshotStore
    from fullcount.runtime.engine import Engine
    from fullcount.runtime.workspace import Workspace

    workspace = Workspace.load(start or Path.cwd())
    with open_store(workspace.store_url) as store:
        engine = Engine(workspace, store, SnapshotStore(workspace.snapshot_dir))
        yield Session(workspace, store, engine, current_person())
