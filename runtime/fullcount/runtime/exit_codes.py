"""How a command ends, for scripts: one list, used by every verb."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line (design section 8)."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    REFUSED_BY_EVIDENCE = 3
    REFUSED_BY_POLICY = 4
    WAITING_FOR_APPROVAL = 5
    STALE = 6
    INVALID_SUMS = 7
