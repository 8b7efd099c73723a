"""`rehearse restore`: one object of the canary is brought back, compared, and acted on again before the rest.

Guarantees of an act that checked: there is a canary to take the object from, with room for one of each step that is
rehearsed; something brings the object back whole; and doing the act to it a second time does no more than the first
time did.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.deeds import Deed, deeds
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label


def check_rehearsal(decl: tree.ActDecl, calls: program.Calls, catalog: Catalog, sink: Diagnostics) -> bool:
    """Whether an act can be rehearsed as it says; if not, that is reported."""
    found = deeds(decl, calls)
    said = [deed.decl.rehearse for deed in found if deed.decl.rehearse is not None]
    if len(said) == 0:
        return True
    rehearsed = sum(step.rehearse for step in calls.steps)
    holds = [_has_canary(decl, said[0], rehearsed, sink)]
    holds += [
        _can_be_rehearsed(deed, deed.decl.rehearse, catalog, sink) for deed in found if deed.decl.rehearse is not None
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


def _can_be_rehearsed(deed: Deed, said: tree.RehearseDecl, catalog: Catalog, sink: Diagnostics) -> bool:
    call = deed.call
    holds = True
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
