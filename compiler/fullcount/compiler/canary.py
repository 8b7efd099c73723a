"""The canary of an act: the first few objects, then a wait, then a look at them before the rest.

A canary that nothing waits for shows nothing, and one that waits longer than the evidence stays fresh, or the approval
lives, would never let the rest be done.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.claims import Fresh
from fullcount.compiler.promises import Promises
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics


def check_canary(
    decl: tree.CanaryDecl,
    proposal: program.Proposal | None,
    promises: Promises,
    approval: program.Approval | None,
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
    return program.Canary(decl.count, decl.wait)


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
