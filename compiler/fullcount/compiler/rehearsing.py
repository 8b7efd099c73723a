"""`rehearse restore`: one object of the canary is brought back, compared, and acted on again before the rest.

Guarantees of an act that checked: there is a canary to take the object from, something brings the object back whole,
and doing the act to it a second time does no more than the first time did.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label


def check_rehearsal(decl: tree.ActDecl, calls: program.Calls, catalog: Catalog, sink: Diagnostics) -> bool:
    """Whether an act can be rehearsed as it says; if not, that is reported."""
    said = decl.rehearse
    call = calls.call
    if said is None or call is None or decl.operation is None:
        return True  # the grammar offers no rehearsal beside steps; a step that strayed in is reported
    labels = (Label(decl.operation.span, "this is what would be taken back"),)
    holds = True
    if decl.canary is None:
        holds = False
        error(
            sink,
            "FC579",
            "a restore is rehearsed with an object of the canary, and there is no canary",
            said.span,
            why="without one, all of a plan is acted on before anybody knows whether it can be restored",
            help="add `canary 5 then wait 15m`",
        )
    if calls.undo is None or not call.reversible:
        holds = False
        error(
            sink,
            "FC580",
            f"nothing brings back what `{call.operation}` does, so there is nothing to rehearse",
            said.span,
            labels=labels,
            help="add `backup kept for 30d` or an `undo`, or remove `rehearse restore`",
        )
    if catalog.resources(call.source)[call.resource].operations[call.operation].escalates:
        holds = False
        error(
            sink,
            "FC581",
            f"`{call.operation}` must not be done to an object twice, and a rehearsal does it again",
            said.span,
            labels=(Label(decl.operation.span, "does more the second time"),),
            why="its source declares that a second time does more than the first: what was only put away is destroyed",
            help="remove `rehearse restore`, or act by an operation that may be repeated",
        )
    return holds
