"""Whether an object is protected by now: by the protections of its plan, and by those that the workspace has since.

An object is free only if every protection is proven false on what was just read of it; what is not known protects.
A protection that was taken out of the workspace after the plan was approved still holds for this plan: what people
agreed to was a plan that leaves these objects alone.
"""

from __future__ import annotations

from collections.abc import Callable

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import NOWHERE, TruthOf, compile_truth
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Proposal, Protection
from fullcount.compiler.values import Cell, FieldState, Row

_NOT_READ = Cell(FieldState.NOT_REQUESTED, None)


class Protecting:
    """The protections of one proposal. `current` reads those of the workspace anew, and raises when it can't."""

    def __init__(self, proposal: Proposal, current: Callable[[], tuple[Protection, ...]], bindings: Bindings) -> None:
        self._row = proposal.row
        self._planned = proposal.protections
        self._current = current
        self._bindings = bindings
        self._held: tuple[Protection, ...] = ()
        self._truths: tuple[TruthOf, ...] = ()
        self.fields: frozenset[str] = frozenset()
        """The fields of the object that the protections look at."""
        self._hold(self._planned)

    def look(self) -> None:
        """Read the protections of the workspace anew. Raises what `current` raises."""
        held = tuple(dict.fromkeys((*self._planned, *self._current())))
        if held != self._held:
            self._hold(held)

    def why(self, seen: Row) -> str | None:
        """Return why an object of which this was seen is protected; None if it is proven that it is not."""
        if len(self._held) == 0:
            return None
        row = {name: seen.get(name, _NOT_READ) for name in self.fields}
        unsure: Protection | None = None
        for protection, truth in zip(self._held, self._truths, strict=True):
            answer = truth({self._row: row}, NOWHERE)
            if answer is True:
                return f"protected by `{protection.name}`: {protection.because}"
            if answer is None and unsure is None:
                unsure = protection
        return None if unsure is None else f"protection `{unsure.name}` could not be ruled out: {unsure.because}"

    def _hold(self, held: tuple[Protection, ...]) -> None:
        self._held = held
        self._truths = tuple(compile_truth(each.condition, self._bindings) for each in held)
        read = (node for each in held for node in facts.walk(each.condition))
        self.fields = frozenset(node.name for node in read if isinstance(node, ir.Field) and node.row == self._row)
