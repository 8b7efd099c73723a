"""What had changed of an object by the time it was acted on: the plan's fields against those that the act rested on.

An object that changed while the rule still holds for it is acted on, as it was approved to be. Who answers for the act
is told which ones these were. Values are told of fields that the proposal shows to its reviewers; of every other field
only that it changed, because nobody asked for it to be on a screen. Nothing here reads a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullcount.compiler import ir
from fullcount.compiler.program import Proposal
from fullcount.compiler.types import FieldType
from fullcount.compiler.values import Cell, FieldState, present
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import cell_from_doc, from_json
from fullcount.runtime.plan.document import PlanRow


@dataclass(frozen=True, slots=True)
class Moved:
    """One field that changed between the plan and the act. `was` and `now` are for people; None: not to be shown."""

    field: str
    was: str | None = None
    now: str | None = None

    def text(self) -> str:
        """Return it as a phrase: `owner p6 -> p9`."""
        return f"{self.field} changed" if self.was is None else f"{self.field} {self.was} -> {self.now}"


def shown_fields(proposal: Proposal) -> frozenset[str]:
    """Return the fields that the proposal shows as they are; one that only goes into an expression is not shown."""
    return frozenset(
        shown.value.name
        for shown in proposal.show
        if isinstance(shown.value, ir.Field) and shown.value.row == proposal.row
    )


def moved(
    row: PlanRow, parameters: Mapping[str, Any], fields: Mapping[str, FieldType], shown: frozenset[str]
) -> tuple[Moved, ...]:
    """Return the fields of a row that differ from what its act rested on, by name.

    Only what was known both times can be said to have changed: a version that a list does not give, and a single read
    does, did not.

    `parameters` are those of the ledger (`Calls.parameters`); `fields` the declared ones of the resource. Raises
    `NotOfTypeError`.
    """
    found = []
    for name, kept in sorted(parameters["expected"].items()):
        if name not in row.fields:
            continue
        of = fields[name].type
        was = cell_from_doc(row.fields[name], of)
        now = Cell(FieldState(kept), None) if isinstance(kept, str) else present(from_json(kept[0], of))
        if was == now or not (_said(was) and _said(now)):
            continue
        found.append(Moved(name, fmt.cell(was, of), fmt.cell(now, of)) if name in shown else Moved(name))
    return tuple(found)


def _said(cell: Cell) -> bool:
    """Whether the source said what is there: a value, or that there is none."""
    return cell.state in (FieldState.PRESENT, FieldState.ABSENT)
