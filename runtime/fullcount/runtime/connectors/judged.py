"""What the replies of a protocol amount to, before there are rows: reasons with their ways, warnings, states of fields.

The decision functions of protocols that are not HTTP return this. It holds no rule of any protocol.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.ways import hardest, usual_way
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness


@dataclass(slots=True)
class Judged:
    """Reasons are noted once each, in the order in which they were found."""

    reasons: dict[Reason | ActReason, Continuation | None] = field(default_factory=dict)
    warnings: set[WarningCode] = field(default_factory=set)
    states: dict[str, FieldState] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)

    def because(
        self, code: Reason | ActReason, way: Way | None = None, detail: str = "", *, dead_end: bool = False
    ) -> None:
        """Note a reason with its way on: the given one, else the usual one of the code; `dead_end`: none."""
        if code in self.reasons:
            return
        self.details.append(f"{code}: {detail}" if detail != "" else str(code))
        if way is not None:
            self.reasons[code] = Continuation(way=way, preserves_snapshot=False)
        elif dead_end or isinstance(code, ActReason):
            self.reasons[code] = None
        else:
            self.reasons[code] = usual_way(Incompleteness(code=code))

    def warn(self, *codes: WarningCode) -> None:
        """Note warnings."""
        self.warnings.update(codes)

    def state(self, name: str, state: FieldState) -> None:
        """Note a field's state; what is not known is not covered by what another object shows."""
        before = self.states.get(name)
        if before is None or (before in _KNOWN and (state not in _KNOWN or state is FieldState.PRESENT)):
            self.states[name] = state

    @property
    def way(self) -> Way | None:
        """The way on that deals with every reason."""
        found = hardest(self.reasons.values())
        return None if found is None else found.way


def runs_late(failed: str) -> bool:
    """Whether a client's error says that time ran out at a source that was reached; another one is not there."""
    name = failed.lower()
    return "timeout" in name and "connect" not in name


_KNOWN = frozenset({FieldState.PRESENT, FieldState.ABSENT})
