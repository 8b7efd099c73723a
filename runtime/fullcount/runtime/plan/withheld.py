"""Fields that may not be written down: a rule may compare them, and nothing else of a plan may be made of them.

What is kept of a plan's rows leaves their values out. Whatever else would carry a value, or how far it is from a
border, into a plan or into the journal is refused before anything is collected into one: fields that are shown, that go
into a call, that order or group objects, that a pattern is tried on, and instants that the rule measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fullcount.compiler import ir, program
from fullcount.compiler.lower.facts import fields_read
from fullcount.compiler.types import Kind, Scalar
from fullcount.runtime.plan.errors import PlanError
from fullcount.runtime.plan.patterns import patterns_of

Recorded = Mapping[str, frozenset[str]]
"""By inventory: the fields that may be written down; an inventory that is not there has no others."""


def check_withheld(
    workflow: program.Workflow, proposal: program.Proposal, act: program.Act | None, recorded: Recorded
) -> None:
    """Raise `PlanError` FC619 when a value that may not be written down would be."""
    for words, expr in _written(workflow, proposal, act):
        for inventory, names in fields_read(expr).items():
            _refuse(words, inventory, names - recorded.get(inventory, names))
    for expr in (proposal.where, *proposal.exemptions, *(each.condition for each in proposal.protections)):
        for inventory, names in fields_read(expr).items():
            types = workflow.inventories[inventory].fields if inventory in workflow.inventories else {}
            measured = {name for name in names if name in types and _is_instant(types[name].type)}
            _refuse("says how long ago it was", inventory, measured - recorded.get(inventory, frozenset(measured)))


def check_explained(workflow: program.Workflow, proposal: program.Proposal, recorded: Recorded) -> None:
    """Raise `PlanError` FC619 when an explanation of what a rule decides would show a value that may not be shown."""
    scopes = (each.scope for each in workflow.inventories.values() if each.scope is not None)
    ranking: tuple[program.Keep | program.Pick, ...] = (*proposal.keeps, *proposal.picks)
    ranks = (each for rank in ranking for each in (rank.per, rank.by) if each is not None)
    conditions = (proposal.where, *proposal.exemptions, *(each.condition for each in proposal.protections))
    for expr in (*conditions, *scopes, *ranks):
        for inventory, names in fields_read(expr).items():
            withheld = names - recorded.get(inventory, names)
            for name in sorted(withheld):
                raise PlanError(
                    "FC619",
                    f"the rule reads `{inventory}.{name}`, which may not be written down in this workspace, and an "
                    "explanation would show its values",
                    help="what was decided stands in the plan: `fullcount show PLAN --all`",
                )


def _written(
    workflow: program.Workflow, proposal: program.Proposal, act: program.Act | None
) -> Iterator[tuple[str, ir.Expr]]:
    for shown in proposal.show:
        yield "is shown", shown.value
    for keep in proposal.keeps:
        yield from (("orders or groups objects", each) for each in (keep.per, keep.by) if each is not None)
    for pick in proposal.picks:
        yield from (("orders or groups objects", each) for each in (pick.per, pick.by) if each is not None)
    for pattern in patterns_of(workflow, proposal):
        yield "is tried against a pattern", pattern.call
        if pattern.listed is not None:
            yield "is tried against a pattern", pattern.listed
    for call in () if act is None else (*act.calls.values(), *act.undos.values()):
        yield from (("goes into a call", each) for each in call.arguments.values())


def _is_instant(of: object) -> bool:
    return isinstance(of, Scalar) and of.kind in {Kind.TIMESTAMP, Kind.DATE}


def _refuse(words: str, inventory: str, names: frozenset[str] | set[str]) -> None:
    for name in sorted(names):
        raise PlanError(
            "FC619",
            f"`{inventory}.{name}` may not be written down in this workspace, and in a plan it {words}",
            help="leave it out there, or add it to `[record.fields]` in fullcount.toml",
        )
