"""Approving a plan by its workflow's own rule: the decision, made on the plan itself and nothing else.

Guarantees: every condition is worked out again from the plan's document; a plan whose act can't be undone, whose rule
concludes from absence, ranks objects, or rests on an incomplete reading is never approved by a rule, whatever the
workflow says; and the workspace's policy bounds it. The store mints the key and writes the decision into the journal.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.claims import Direction
from fullcount.compiler.document import workflow_from_document
from fullcount.runtime.journal.payloads import AutomaticRule
from fullcount.runtime.plan.document import PlanDocument


def automatic_rule(workflow: program.Workflow, proposal: str) -> AutomaticRule | None:
    """Return a proposal's rule as the journal keeps it; None if it has none."""
    rule = next((each.automatic for each in workflow.approvals if each.proposal == proposal), None)
    if rule is None:
        return None
    percent = None if rule.percent is None else f"{rule.percent.normalize():f}"
    return AutomaticRule(count=rule.count, percent=percent, reversible=rule.reversible)


def never_automatic(workflow: program.Workflow, document: PlanDocument) -> str | None:
    """Return why no rule may approve this plan, however small it is; None if one may."""
    if document.undo is not None:
        return "it takes something back, about which people are always asked"
    proposal = next(each for each in workflow.proposals if each.name == document.proposal)
    act = next((each for each in workflow.acts if each.proposal == document.proposal), None)
    if act is None or len(act.irrevocable) > 0:
        return "its act can't be taken back"
    if proposal.bounded:
        return "its inventory may not have been read to its end"
    if len(proposal.picks) > 0:
        return "which of its objects come first rests on all of them"
    if any(use.direction is Direction.ABSENCE for use in proposal.uses):
        return "its rule concludes from absence"
    return None


def why_asked(document: PlanDocument, rule: program.Automatic, allowed: int) -> str | None:
    """Return why people must be asked about a plan with this rule; None if the rule approves it.

    `allowed`: how many objects the workspace allows now.
    """
    candidates, population = document.sums.candidates, document.sums.inventory
    if candidates == 0 or document.caps.exceeded:
        return "there is nothing to approve" if candidates == 0 else "it is over its cap"
    never = never_automatic(workflow_from_document(document.program), document)
    if never is not None:
        return never
    if allowed == 0:
        return "the workspace approves nothing automatically"
    for most, who in ((rule.count, "the rule allows"), (allowed, "the workspace allows")):
        if candidates > most:
            return f"{candidates:,} objects, and {who} {most:,}"
    if rule.percent is not None and candidates * 100 > rule.percent * population:
        return f"{candidates:,} of {population:,} is more than {rule.percent.normalize():f} %"
    return None
