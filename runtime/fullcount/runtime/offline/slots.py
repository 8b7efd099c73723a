"""Whether each planned instant of a schedule was run once: judged for the store and for an export alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

_SLOT_STATES: Final = ("claimed", "skipped")


@dataclass(slots=True)
class Slots:
    """Every slot by its id. Each method returns what is wrong, or None."""

    taken_by: dict[str, dict[str, Any]] = field(default_factory=dict)
    _instants: set[tuple[str, int]] = field(default_factory=set)
    _days: set[tuple[str, str]] = field(default_factory=set)

    def taken(self, said: dict[str, Any]) -> str | None:
        """An instant is run, or left out."""
        instant = (said["workflow"], said["planned_at"])
        day = None if said["local_day"] is None else (said["workflow"], said["local_day"])
        again = instant in self._instants
        twice = day is not None and day in self._days
        self._instants.add(instant)
        if day is not None:
            self._days.add(day)
        self.taken_by.setdefault(said["slot_id"], dict(said))
        if said["state"] not in _SLOT_STATES:
            return f"the slot `{said['slot_id']}` can't be `{said['state']}`"
        if again:
            return f"one planned instant of `{said['workflow']}` was taken twice"
        return f"`{said['workflow']}` was run twice for {said['local_day']}" if twice else None

    def finished(self, said: dict[str, Any]) -> str | None:
        """The run of an instant has ended."""
        slot = self.taken_by.get(said["slot_id"])
        if slot is None or slot["state"] != "claimed":
            return f"the slot `{said['slot_id']}` ends, but it was not being run"
        slot["state"] = "finished"
        return None

    def run_began(self, said: dict[str, Any]) -> str | None:
        """A run begins, perhaps one of a slot."""
        if said["slot_id"] is None:
            return None
        slot = self.taken_by.get(said["slot_id"])
        if slot is None or slot["workflow"] != said["workflow"]:
            return f"it is of the slot `{said['slot_id']}`, which `{said['workflow']}` never had"
        return None if slot["state"] == "claimed" else f"it is of the slot `{said['slot_id']}`, which was not being run"
