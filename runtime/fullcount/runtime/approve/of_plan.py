"""Who must approve a plan: what its workflow declares, and for an undo of it the same people, or those of the policy.

Guarantees: an undo is approved by people, never by a rule; and unless the workspace says otherwise, by as many of the
same roles, with the same ones left out, as the act.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullcount.compiler.program import Approval, Quorum, Workflow
from fullcount.runtime.plan.document import PlanDocument


def approval_of_plan(
    workflow: Workflow, document: PlanDocument, undo_quorums: Sequence[Quorum] | None
) -> Approval | None:
    """Return who must approve a plan; None where its workflow declares no act.

    `undo_quorums`: who approves an undo in this workspace; None: as the workflow declares for the act.
    """
    declared = next((each for each in workflow.approvals if each.proposal == document.proposal), None)
    if declared is None or document.undo is None:
        return declared
    quorums = declared.quorums if undo_quorums is None else tuple(undo_quorums)
    return replace(declared, quorums=quorums, automatic=None)
