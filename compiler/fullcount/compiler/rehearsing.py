"""`rehearse restore`: one object of the canary is brought back, compared, and acted on again before the rest.

Guarantees of an act that checked: there is a canary to take the object from, with room for one of each step that is
rehearsed; something brings the object back whole, with all that it is judged by; and doing the act to it a second time
does no more than the first time did.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.deeds import Deed, deeds
from fullcount.compiler.lower import facts
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostics, Label


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What is rehearsed upon: the proposal whose rule the restored object is judged by again, and its inventory."""

    proposal: program.Proposal | None
    inventory: program.Inventory | None

    @property
    def relied_on(self) -> dict[str, str]:
        """The fields that a restored object must have back, and why."""
        if self.proposal is None or self.inventory is None:
            return {}
        none: frozenset[str] = frozenset()
        read = none.union(*(facts.fields_read(e).get(self.inventory.name, none) for e in self.proposal.deciding))
        relied = dict.fromkeys(sorted(read), "by the rule it would be judged by what it did not have")
        if self.inventory.incarnation is not None:
            relied[self.inventory.incarnation] = "by it the object is told from every other, so that it is another one"
        return relied


def check_rehearsal(
    decl: tree.ActDecl, calls: program.Calls, upon: Rehearsed, catalog: Catalog, sink: Diagnostics
) -> bool:
    """Whether an act can be rehearsed as it says; if not, that is reported."""
    found = deeds(decl, calls)
    said = [deed.decl.rehearse for deed in found if deed.decl.rehearse is not None]
    if len(said) == 0:
        return True
    rehearsed = sum(step.rehearse for step in calls.steps)
    holds = [_has_canary(decl, said[0], rehearsed, sink)]
    holds += [
        _can_be_rehearsed(deed, deed.decl.rehearse, upon, catalog, sink)
        for deed in found
        if deed.decl.rehearse is not None
    ]
    return all(holds)


def _has_canary(decl: tree.ActDecl, said: tree.RehearseDecl, steps: int, sink: Diagnostics) -> bool:
    if decl.canary is None:
        error(
            sink,
            "FC579",
            "a restore is rehearsed with an object of the canary, and there is no canary",
            said.span,
            why="without one, all of a plan is acted on before anybody knows whether it can be restored",
            help="add `canary 5 then wait 15m`",
        )
        return False
    if 0 < decl.canary.count < steps:
        error(
            sink,
            "FC582",
            f"the restore of {steps} steps is rehearsed, and the canary has room for {decl.canary.count}",
            decl.canary.span,
            labels=(Label(said.span, "the first of them"),),
            why="each is rehearsed with an object of its own, so that the rest of a plan would never be done",
            help=f"write `canary {steps}` or more; of a step that is repeated, each time counts",
        )
        return False
    return True


def _can_be_rehearsed(
    deed: Deed, said: tree.RehearseDecl, upon: Rehearsed, catalog: Catalog, sink: Diagnostics
) -> bool:
    call = deed.call
    holds = _comes_back(deed, said, upon, catalog, sink)
    if deed.undo is None or not call.reversible:
        holds = False
        error(
            sink,
            "FC580",
            f"nothing brings back what `{call.operation}` does, so there is nothing to rehearse",
            said.span,
            labels=(Label(deed.at, "this is what would be taken back"),),
            help="add `backup kept for 30d` or an `undo`, or remove `rehearse restore`",
        )
    if catalog.resources(call.source)[call.resource].operations[call.operation].escalates:
        holds = False
        error(
            sink,
            "FC581",
            f"`{call.operation}` must not be done to an object twice, and a rehearsal does it again",
            said.span,
            labels=(Label(deed.at, "does more the second time"),),
            why="its source declares that a second time does more than the first: what was only put away is destroyed",
            help="remove `rehearse restore`, or act by an operation that may be repeated",
        )
    return holds


def _comes_back(deed: Deed, said: tree.RehearseDecl, upon: Rehearsed, catalog: Catalog, sink: Diagnostics) -> bool:
    """Whether the object comes back with all that it is judged by; if it surely does not, that is reported."""
    undo, relied = deed.undo, upon.relied_on
    if undo is None:
        return True  # that nothing brings it back is reported by itself
    anew = catalog.resources(undo.source)[undo.resource].operations[undo.operation].sets_anew
    lost = next((name for name in relied if name in anew), None)
    if lost is None:
        return True
    error(
        sink,
        "FC583",
        f"what `{undo.operation}` brings back has another `{lost}` than before, so it is not acted on again",
        said.span,
        labels=(Label(deed.at, "this is what would be taken back"),),
        why=f"its source sets `{lost}` of itself when it restores, and {relied[lost]}",
        help="remove `rehearse restore`: the backup and `fullcount undo` are not touched by this",
    )
    return False
