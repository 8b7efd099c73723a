"""Which evidence a workflow rests on: each use of an inventory, what it requires, what promises that, what is unseen.

Pure over a compiled program and its texts: it connects to nothing. The uses, directions and requirements are those that
the compiler checked and the graph demands; a program that compiles has every requirement promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fullcount.compiler import ir, program
from fullcount.compiler.claims import (
    Agrees,
    Change,
    Claim,
    Complete,
    Consistency,
    Direction,
    Fresh,
    Rows,
    Snapshot,
    Visible,
)
from fullcount.compiler.edges import claim_model, duration_text
from fullcount.compiler.lower import facts
from fullcount.compiler.promises import covered
from fullcount.compiler.reasons import reasons
from fullcount.dsl import tree
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source, Span

ANY_AGE = "fresh within a stated age"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    text: str
    """What stands there, on one line."""


@dataclass(frozen=True, slots=True)
class UseOf:
    """One use, its direction, and why it is that."""

    place: Place | None
    direction: Direction
    why: str


@dataclass(frozen=True, slots=True)
class Required:
    """A claim that some use needs, and the claim of `verify` that promises it."""

    claim: str
    promised: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class EvidenceOf:
    """Everything that one proposal needs of one inventory."""

    inventory: str
    resource: str
    declared: Place | None
    uses: tuple[UseOf, ...]
    requires: tuple[Required, ...]
    besides: tuple[Required, ...]
    """What `verify` promises though no use asks for it."""
    remains: tuple[str, ...]
    """What only a reading can show."""


@dataclass(frozen=True, slots=True)
class ProposalEvidence:
    """The evidence of one proposal, its own inventory first."""

    workflow: str
    proposal: str
    inventories: tuple[EvidenceOf, ...]


def evidence_of(workflow: program.Workflow, sources: Mapping[str, Source]) -> tuple[ProposalEvidence, ...]:
    """Return the evidence of each proposal of a checked workflow."""
    clauses = _verify_clauses(workflow.name, sources)
    return tuple(
        ProposalEvidence(workflow.name, proposal.name, tuple(_inventories(workflow, proposal, clauses, sources)))
        for proposal in workflow.proposals
    )


def _inventories(
    workflow: program.Workflow,
    proposal: program.Proposal,
    clauses: Mapping[str, tree.VerifyDecl],
    sources: Mapping[str, Source],
) -> Iterator[EvidenceOf]:
    said = reasons(proposal)
    for name in dict.fromkeys(use.inventory for use, _ in said):
        inventory, promised = workflow.inventories[name], workflow.verifies.get(name, ())
        uses = [(use, why) for use, why in said if use.inventory == name]
        required = tuple(dict.fromkeys(claim for use, _ in uses for claim in use.claims))
        clause = clauses.get(name)
        needed = tuple(_required(claim, promised, clause, sources) for claim in required)
        covering = {each for claim in required for each in promised if covered(claim, (each,))}
        yield EvidenceOf(
            inventory=name,
            resource=f"{inventory.source}.{inventory.resource}",
            declared=_place(inventory.span, sources),
            uses=tuple(UseOf(_place(use.span, sources), use.direction, why) for use, why in uses),
            requires=needed,
            besides=tuple(_required(c, promised, clause, sources) for c in promised if c not in covering),
            remains=tuple(_remains(workflow, proposal, inventory, promised)),
        )


# -- what promises it -------------------------------------------------------------------------------------------------


def _required(
    claim: Claim, promised: tuple[Claim, ...], clause: tree.VerifyDecl | None, sources: Mapping[str, Source]
) -> Required:
    by = next((each for each in promised if covered(claim, (each,))), None)
    words = ANY_AGE if claim == Fresh(None) else _words(claim)
    where = None if clause is None or by is None else _claim_place(by, clause, sources)
    return Required(words, "" if by is None else _words(by), where)


def _words(claim: Claim) -> str:
    return claim_model(claim).text()


_KINDS: dict[type[Claim], tuple[str, ...]] = {
    Complete: ("complete",),
    Snapshot: ("snapshot", "complete"),
    Visible: ("visibility", "complete"),
    Fresh: ("fresh",),
    Rows: ("rows",),
    Change: ("change",),
    Agrees: ("count",),
}
"""Which claims of `verify` promise a claim, the more exact first."""


def _claim_place(claim: Claim, clause: tree.VerifyDecl, sources: Mapping[str, Source]) -> Place | None:
    for kind in _KINDS[type(claim)]:
        for written in clause.claims:
            if written.kind == kind:
                return _place(written.span, sources)
    return None


def _verify_clauses(workflow: str, sources: Mapping[str, Source]) -> dict[str, tree.VerifyDecl]:
    """Return the `verify` clause of each inventory, as it is written."""
    found: dict[str, tree.VerifyDecl] = {}
    for source in sources.values():
        file, _ = parse(source)
        for declared in () if file is None else file.workflows:
            if declared.name.text == workflow:
                found.update({clause.inventory.text: clause for clause in declared.verifies})
    return found


def _place(span: Span, sources: Mapping[str, Source]) -> Place | None:
    source = sources.get(span.source)
    if source is None:
        return None
    line, column = source.position(span.start)
    return Place(source.name, line, column, " ".join(source.slice(span).split()))


# -- what remains to be seen ------------------------------------------------------------------------------------------

_TOGETHER = {
    Consistency.PINNED: "that all pages come from one state of the collection",
    Consistency.INTERVAL: "that every object which was there all through the reading was returned",
    Consistency.UNSTABLE: "nothing: its pages shift while they are read",
}


def _remains(
    workflow: program.Workflow,
    proposal: program.Proposal,
    inventory: program.Inventory,
    promised: tuple[Claim, ...],
) -> Iterator[str]:
    acted = any(act.proposal == proposal.name for act in workflow.acts)
    again = ", and again at the moment of each act" if acted else ""
    for claim in promised:
        match claim:
            case Complete():
                yield "that the source was read to an end that it affirmed, and returned the whole scope"
            case Snapshot():
                yield f"{_TOGETHER[inventory.consistency]} (the connector declares `{inventory.consistency}`)"
            case Visible():
                yield "that the reading account sees every object of the scope"
            case Fresh(max_age=int(age)):
                yield f"that the reading is at most {duration_text(age)} old when the plan is made{again}"
            case Fresh():
                yield f"that the reading is fresh when the plan is made{again}"
            case Rows(minimum=minimum):
                yield f"that at least {minimum:,} rows were returned"
            case Change(percent=percent):
                yield f"that the number of rows moved by at most {percent} % since the last certified reading"
            case Agrees(source=source, resource=resource):
                yield f"that the count of different keys equals the count that `{source}.{resource}` gives"
    if len(inventory.expects) > 0:
        number = len(inventory.expects)
        yield f"that {'the canary was' if number == 1 else f'each of the {number} canaries was'} among the rows"
    if acted:
        yield _at_the_act(proposal, inventory)


def _at_the_act(proposal: program.Proposal, inventory: program.Inventory) -> str:
    if inventory.name == proposal.inventory:
        return "that each object, read again right before its act, is the same object and the rule still true for it"
    conditions = [e.condition for e in proposal.excepts if e.condition is not None]
    uses = [
        node
        for expr in (proposal.where, *conditions)
        for node in facts.walk(expr)
        if isinstance(node, ir.Some | ir.Aggregate) and node.inventory == inventory.name
    ]
    asked = [
        next((e.field.name for e in facts.equalities(u.where, u.row) if e.field.name in inventory.lookup_fields), None)
        for u in uses
    ]
    fields = sorted({name for name in asked if name is not None})
    if len(fields) > 0 and None not in asked:
        return f"what a look-up by {' and '.join(f'`{name}`' for name in fields)} says right before each act"
    return "nothing more at the act: it can't be asked for one object, so the snapshot stands in while it is fresh"
