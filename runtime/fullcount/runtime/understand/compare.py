"""Two proposals over the same snapshots: which objects enter a selection and which leave it when one becomes the other.

The objects are counted, not estimated: both sides are decided by the plan's own statement over the same stored rows.
What the edit can do over other readings is said by `edit` alone, by a proof that looks at no data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fullcount.compiler import program
from fullcount.compiler.values import Value
from fullcount.runtime.understand.edit import Edit, Side, judge_edit
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.explain import Lists
from fullcount.runtime.understand.held import Held
from fullcount.runtime.understand.select import Key, SelectedRow, Selection, select


@dataclass(frozen=True, slots=True)
class Version:
    """One of the two proposals with the values of its parameters."""

    workflow: program.Workflow
    proposal: program.Proposal
    params: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Moved:
    """An object that enters or leaves, and what it is on the side where it is not selected: `undecided` or `kept`."""

    row: SelectedRow
    otherwise: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both selections, what moved between them, and what the edit can do in general."""

    before: Selection
    after: Selection
    enter: tuple[Moved, ...]
    leave: tuple[Moved, ...]
    edit: Edit


def compare(held: Held, before: Version, after: Version, lists: Lists) -> Comparison:
    """Compare two proposals over stored snapshots. Raises `NoAnswerError` (FC682, FC684) and what `select` raises."""
    sides = Side(before.workflow, before.proposal), Side(after.workflow, after.proposal)
    _same_collection(*sides)
    one = select(held, before.workflow, before.proposal, before.params, lists)
    other = select(held, after.workflow, after.proposal, after.params, lists)
    return Comparison(one, other, _moved(one, other), _moved(other, one), judge_edit(*sides))


def _moved(without: Selection, having: Selection) -> tuple[Moved, ...]:
    """Return what the second selection has and the first has not."""
    selected: set[Key] = {row.key for row in without.rows}
    undecided: set[Key] = {row.key for row in without.undecided}
    return tuple(
        Moved(row, "undecided" if row.key in undecided else "kept") for row in having.rows if row.key not in selected
    )


def _same_collection(before: Side, after: Side) -> None:
    one, other = before.inventory, after.inventory
    if (one.source, one.resource, one.key) != (other.source, other.resource, other.key):
        raise NoAnswerError(
            "FC684",
            f"`{before.proposal.name}` selects from `{one.source}.{one.resource}` by {_key(one)}, and"
            f" `{after.proposal.name}` from `{other.source}.{other.resource}` by {_key(other)}",
            help="compare two proposals over the same collection",
        )


def _key(inventory: program.Inventory) -> str:
    return ", ".join(f"`{name}`" for name in inventory.key)
