"""Approval without a person: allowed only where the workspace says so, and where a mistake can be taken back.

A workflow may say that a small plan is approved by its own rule. That is a decision like any other: over a digest,
with a key, in the journal. It is never open to an act that can't be undone, nor to a conclusion that rests on what was
not found, nor to an inventory that was not read to its end.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.claims import Direction
from fullcount.compiler.names import Names
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label


def read_automatic(decl: tree.AutomaticDecl, catalog: Catalog, sink: Diagnostics) -> program.Automatic | None:
    """Check the conditions of `automatically when …`, and that the workspace allows so many; None with a finding."""
    count, percent, allowed = decl.count, decl.percent, catalog.automatic_approval()
    if count is None or count <= 0 or (percent is not None and not 0 < percent <= 100):
        error(
            sink,
            "FC414",
            "an automatic approval that does not say of how many objects at most"
            if count is None
            else "these conditions never hold, or always",
            decl.span,
            why="what nobody looks at must be small, and zero means none",
            help="write `automatically when count <= 5 and reversible`",
        )
        return None
    if allowed == 0 or count > allowed:
        error(
            sink,
            "FC411",
            "this workspace approves nothing automatically"
            if allowed == 0
            else f"this workspace approves at most {allowed} objects automatically, not {count}",
            decl.span,
            why="whether anything is done without a person is decided for the whole workspace, not by a workflow",
            help="leave the decision to people: remove `automatically when …, otherwise`;"
            " who owns the workspace may allow it: `[policy] automatic_approval = 5` in fullcount.toml"
            if allowed == 0
            else f"write `count <= {allowed}` or less; the policy stands in `[policy] automatic_approval`",
        )
        return None
    return program.Automatic(count, percent, decl.reversible)


def check_automatic(act: program.Act, proposal: program.Proposal | None, names: Names, sink: Diagnostics) -> None:
    """Report an automatic approval of what only a person may decide."""
    decl = next((each for each in names.workflow.approvals if each.proposal.text == act.proposal), None)
    automatic = None if decl is None else decl.automatic
    if automatic is None:
        return
    for call in act.irrevocable[:1]:
        error(
            sink,
            "FC412",
            f"`{call.operation}` can't be taken back here, so it is never approved automatically",
            automatic.span,
            note="no `undo`" if len(act.left_by_undo) == 0 else "an `undo` that leaves a part as it was set",
            why="nothing irreversible is done without a person",
            help="add an `undo` of everything if the operation has one, or leave the decision to people",
        )
    if proposal is None:
        return
    for word, declared in (("bounded", proposal.bounded), ("pick", len(proposal.picks) > 0)):
        if declared:
            error(
                sink,
                "FC413",
                f"a proposal with `{word}` is never approved automatically",
                automatic.span,
                why="its objects depend on what was not read, and a person has to see what that was",
                help=f"leave the decision to people, or remove `{word}`",
            )
    for use in proposal.uses:
        if use.direction is Direction.ABSENCE:
            error(
                sink,
                "FC413",
                f"the rule rests on what `{use.inventory}` does not have, so it is never approved automatically",
                automatic.span,
                labels=(Label(use.head, "concludes from absence"),),
                why="where absence decides, a person has to look at the evidence",
                help="leave the decision to people, or say the rule by what is found",
            )
            break
