"""The canary of an act: the first few objects, then a wait, then a look at them before the rest.

A canary that nothing waits for shows nothing, and one that waits longer than the evidence stays fresh, or the approval
lives, would never let the rest be done. What has to hold after the wait is asked of an independent count.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.claims import Fresh
from fullcount.compiler.promises import Promises
from fullcount.compiler.report import error
from fullcount.compiler.resources import find_counted
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics


def check_canary(
    decl: tree.CanaryDecl,
    proposal: program.Proposal | None,
    promises: Promises,
    approval: program.Approval | None,
    catalog: Catalog,
    sink: Diagnostics,
) -> program.Canary | None:
    """Check a `canary` against the evidence and the approval of its proposal; either is None if it did not check."""
    if decl.count <= 0 or decl.wait <= 0:
        error(
            sink,
            "FC541",
            "a canary of no object" if decl.count <= 0 else "a canary that nothing waits for",
            decl.span,
            why="zero means none, so nothing would be learnt before the rest is done",
            help="write `canary 5 then wait 15m`",
        )
        return None
    too_long = _too_long(decl.wait, proposal, promises, approval)
    if too_long is not None:
        error(
            sink,
            "FC542",
            f"this canary waits as long as {too_long}, or longer",
            decl.span,
            why="when the wait is over nothing may be done any more, so the rest of a plan would never be done",
            help="wait less long, or say that it may be older",
        )
        return None
    if decl.then is None:
        return program.Canary(decl.count, decl.wait)
    then = _at_most(decl.then, catalog, sink)
    return None if then is None else program.Canary(decl.count, decl.wait, then)


def _at_most(decl: tree.AtMostDecl, catalog: Catalog, sink: Diagnostics) -> program.AtMost | None:
    why = "a listing can be cut short, and what it leaves out is then not among those that are counted"
    resource = find_counted(decl.resource, catalog, sink, why, "name a resource of another source")
    return None if resource is None else program.AtMost(decl.count, resource.source, resource.name)


def _too_long(
    wait: int, proposal: program.Proposal | None, promises: Promises, approval: program.Approval | None
) -> str | None:
    if approval is not None and wait >= approval.expires:
        return "its approval lives"
    for use in () if proposal is None else proposal.uses:
        promise = promises.by_inventory.get(use.inventory)
        ages = [c.max_age for c in (() if promise is None else promise.claims) if isinstance(c, Fresh)]
        if any(age is not None and wait >= age for age in ages):
            return f"the evidence of `{use.inventory}` stays fresh"
    return None
