"""What lies in the quarantine folder for a time, and its removal when that is over.

Guarantees: what was put there until it is taken back stays; of the rest only what is named goes, whole, its entry last,
so that what was cut off in the middle is gone on with.
"""

from __future__ import annotations

from fullcount.runtime.connectors.files.config import FilesConfig
from fullcount.runtime.connectors.files.quarantine import entered, remove
from fullcount.runtime.connectors.files.root import opened


def kept_for_a_time(config: FilesConfig) -> frozenset[str]:
    """Return the keys of the acts whose objects lie there for a time. Raises `OSError`, `SourceError`."""
    with opened(config) as root, entered(config, root) as quarantine:
        if quarantine is None:
            return frozenset()
        return frozenset(each.about.key for each in quarantine.entries_kept() if each.about.kept is not None)


def let_go(config: FilesConfig, keys: frozenset[str]) -> int:
    """Remove what these acts left there, and return how many objects. Raises `OSError`, `SourceError`."""
    gone = 0
    with opened(config) as root, entered(config, root) as quarantine:
        if quarantine is None:
            return 0
        for entry in quarantine.entries_kept():
            if entry.about.kept is not None and entry.about.key in keys:
                remove(entry)
                entry.drop()
                gone += 1
    return gone
