"""When acting may go on: outside of every freeze, inside of some window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fullcount.compiler.program import Window
from fullcount.compiler.schedule import zone_of
from fullcount.compiler.windows import next_opening
from fullcount.runtime.workspace.freezes import Freeze


def frozen(freezes: Sequence[Freeze], at: datetime) -> Freeze | None:
    """Return the freeze that holds at an instant, the one that ends last; None if none does."""
    return max((freeze for freeze in freezes if freeze.holds_at(at)), key=lambda freeze: freeze.end, default=None)


def opening(windows: Sequence[Window], freezes: Sequence[Freeze], at: datetime) -> datetime:
    """Return the first instant from `at` on at which acting may go on."""
    while True:
        freeze = frozen(freezes, at)
        after = next_opening(windows, at if freeze is None else freeze.end)
        if after == at:
            return at
        at = after


def local_moment(windows: Sequence[Window], at: datetime) -> str:
    """Return an instant as a person in the windows' zone reads it: `Mon 2026-12-07 09:00 CET (Europe/Berlin)`."""
    name = windows[0].timezone if len(windows) > 0 else "UTC"
    local = at.astimezone(zone_of(name))
    seconds = f":{local:%S}" if local.second else ""
    zone = "" if name == "UTC" else f" ({name})"
    return f"{local:%a %Y-%m-%d %H:%M}{seconds} {local:%Z}{zone}"
