"""Why a stored plan decided about one object as it did.

Guarantees: the decision is made again over the plan's own snapshots, with its rule, parameters and instant, and must
come to the verdict that the plan holds; if it does not, there is an error (FC914) and no explanation. Lists of
exemptions are not part of a plan, so they are read as they are now: whether one held then is taken from the plan, and
said so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.document import workflow_from_document
from fullcount.compiler.values import Row, Value
from fullcount.runtime import format as fmt
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.plan.document import KeptGroup, PlanDocument
from fullcount.runtime.plan.exempt import Holding, exemptions_of
from fullcount.runtime.plan.spelling import spelled_key
from fullcount.runtime.understand.decision import Because, Decision, Verdict, decide, rule_of, verdict_of
from fullcount.runtime.understand.errors import ContradictionError
from fullcount.runtime.understand.flip import Flip, flips
from fullcount.runtime.understand.held import held_of_plan, surroundings
from fullcount.runtime.understand.objects import as_written, find_object
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.exemptions import Exemption

Lists = Callable[[str], Sequence[Exemption]]
"""Reads an exemption list by its name, as it is now. Raises `WorkspaceError`."""

_BY_LIST = "exempted by list"
_OWN_REASONS = ("not matched by the rule", "protected by", "excepted:", "stays by", "kept because", _BY_LIST)
"""How the reasons begin that a decision gives by itself (`plan/evaluate.py`)."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision of a plan with everything behind it. `key` is in JSON, `reasons` are the plan's own words."""

    document: PlanDocument
    inventory: program.Inventory
    key: tuple[Any, ...]
    row: Row
    decision: Decision
    reasons: tuple[str, ...]
    flips: tuple[Flip, ...]
    notes: tuple[str, ...]


def explain(document: PlanDocument, snapshots: SnapshotStore, text: str, lists: Lists) -> Explanation:
    """Explain what the plan decided about the object whose key is written as `text`.

    Raises `NoAnswerError` (FC680, FC681), `ContradictionError`, and `SnapshotMissing` or `SnapshotCorrupt` (FC749).
    """
    workflow = workflow_from_document(document.program)
    proposal = {each.name: each for each in workflow.proposals}[document.proposal]
    inventory = workflow.inventories[proposal.inventory]
    held = held_of_plan(document, snapshots)
    key, row = find_object(held, inventory, text, _on_screens(document))
    written = as_written(key, inventory)
    rule = rule_of(workflow, proposal, _due_step(document, written))
    around = surroundings(held, workflow, rule.expressions)
    entries, notes = _entries(workflow, proposal, document, key, lists)
    ranks = len(proposal.picks) > 0
    decision, reasons = agreed(document, written, decide(rule, row, around), entries, ranks=ranks)
    return Explanation(
        document=document,
        inventory=inventory,
        key=written,
        row=row,
        decision=decision,
        reasons=reasons,
        # what a pick would take of other objects is not worked out, so nothing is said of what would select this one
        flips=() if ranks else flips(rule, row, decision, around),
        notes=(*_step_notes(document, written), *notes, *_changed_lists(decision, entries)),
    )


def _on_screens(document: PlanDocument) -> list[tuple[Any, ...]]:
    """Return the keys that screens of a plan show."""
    kept = [key for group in document.kept for key in group.examples]
    return [*(row.key for row in document.rows), *(row.key for row in document.undecided), *kept]


def agreed(
    document: PlanDocument,
    key: tuple[Any, ...],
    decision: Decision,
    entries: Sequence[Holding] = (),
    *,
    ranks: bool = False,
) -> tuple[Decision, tuple[str, ...]]:
    """Return the decision as the plan holds it, with the plan's own words. Raises `ContradictionError`.

    `decision` was made without lists: where the plan keeps an object that nothing else keeps, a list did. With `ranks`
    it was made without the picks of the proposal as well, which only the plan knows.
    """
    planned, words = planned_verdict(document, key)
    if document.steps is not None and decision.verdict is Verdict.CANDIDATE and planned is not Verdict.CANDIDATE:
        by_clock = _by_clock(document, key, decision, planned, words)
        if by_clock is not None:
            return by_clock
    listed_verdict, listed_because = verdict_of(replace(decision.parts, listed=True))
    if planned is decision.verdict:
        if listed_because is Because.LISTED and planned is Verdict.KEPT and len(entries) > 0:
            # kept by a condition as well: the plan counts it under the list
            return _listed(decision), tuple(held.reason for held in entries)
        return decision, words
    if ranks and planned is Verdict.UNDECIDED and decision.verdict is Verdict.CANDIDATE:
        return replace(decision, verdict=Verdict.UNDECIDED, because=Because.OTHERWISE), words
    if planned is not Verdict.KEPT or decision.verdict is Verdict.OUTSIDE:
        raise ContradictionError(planned, decision.verdict)
    possible = _possible_reasons(document.kept, key)
    others = tuple(reason for reason in possible if not reason.startswith(_OWN_REASONS))
    by_list = tuple(reason for reason in possible if reason.startswith(_BY_LIST))
    if len(others) > 0:
        return replace(decision, verdict=Verdict.KEPT, because=Because.OTHERWISE), (*others, *by_list)
    if listed_verdict is Verdict.KEPT and len(by_list) > 0:
        return _listed(decision), by_list
    raise ContradictionError(planned, decision.verdict)


def _due_step(document: PlanDocument, key: tuple[Any, ...]) -> str | None:
    """Return the step whose call a plan lists for an object, or would have listed had there been one."""
    steps = (row.step for row in document.rows if row.key == key and row.step is not None)
    due = next((step.label for step in steps if step.label != program.RELEASE), None)
    return due or next((row.step for row in document.undecided if row.key == key), None)


def _by_clock(
    document: PlanDocument, key: tuple[Any, ...], decision: Decision, planned: Verdict, words: tuple[str, ...]
) -> tuple[Decision, tuple[str, ...]] | None:
    """Return the decision over a selected object that a graduated act does not act on tonight; None: it is another."""
    if planned is Verdict.UNDECIDED:
        return replace(decision, verdict=Verdict.UNDECIDED, because=Because.NO_CALL), words
    kept = replace(decision, verdict=Verdict.KEPT, because=Because.OTHERWISE)
    if any(row.key == key for row in document.rows):
        return kept, _step_notes(document, key)  # what keeps it is why it is let go: a list, for one
    if document.steps is not None and any(row.key == key for row in document.steps.waiting):
        return kept, tuple(r for r in _possible_reasons(document.kept, key) if not r.startswith(_OWN_REASONS))
    return None


def planned_verdict(document: PlanDocument, key: tuple[Any, ...]) -> tuple[Verdict, tuple[str, ...]]:
    """Return what the plan holds of an object of its inventory, and its words where it has any."""
    for listed in document.rows:
        if listed.key == key:
            released = listed.step is not None and listed.step.label == program.RELEASE
            return (Verdict.KEPT if released else Verdict.CANDIDATE), ()
    for row in document.undecided:
        if row.key == key:
            return Verdict.UNDECIDED, row.missing
    return Verdict.KEPT, ()


def _step_notes(document: PlanDocument, key: tuple[Any, ...]) -> tuple[str, ...]:
    """Return what a graduated act does to the object, or when it will."""
    for row in document.rows:
        if row.key == key and row.step is not None:
            last = "" if row.step.before is None else f", after step `{row.step.before}`"
            if row.step.label == program.RELEASE:
                return (f"it no longer qualifies, and is released{last}",)
            return (f"step `{row.step.label}` is due{last}",)
    for waits in () if document.steps is None else document.steps.waiting:
        if waits.key == key:
            until = "" if waits.step.due is None else f" until {fmt.moment(waits.step.due)}"
            return (f"it waits for step `{waits.step.label}`{until}",)
    return ()


def _listed(decision: Decision) -> Decision:
    return replace(decision, verdict=Verdict.KEPT, because=Because.LISTED, listed=True)


def _possible_reasons(groups: Sequence[KeptGroup], key: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the reasons for which a plan may keep an object: the one that names it, else all that do not name all."""
    naming = tuple(group.reason for group in groups if key in group.examples)
    return naming or tuple(group.reason for group in groups if group.count > len(group.examples))


def _entries(
    workflow: program.Workflow,
    proposal: program.Proposal,
    document: PlanDocument,
    key: tuple[Value, ...],
    lists: Lists,
) -> tuple[tuple[Holding, ...], tuple[str, ...]]:
    """Return the entries of today's lists that name the object and held on the plan's day."""
    read: dict[str, Sequence[Exemption]] = {}
    notes: list[str] = []
    for name in dict.fromkeys(e.list_name for e in proposal.excepts if e.list_name is not None):
        try:
            read[name] = lists(name)
        except WorkspaceError as error:
            read[name] = ()
            notes.append(f"the list `{name}` can't be read now: {error.message}")
    holding = exemptions_of(workflow, proposal, read, document.now.date()).holding
    inventory = workflow.inventories[proposal.inventory]
    wanted = spelled_key(inventory, key)
    return tuple(held for held in holding if spelled_key(inventory, held.key) == wanted), tuple(notes)


def _changed_lists(decision: Decision, entries: Sequence[Holding]) -> tuple[str, ...]:
    if decision.because is Because.LISTED and len(entries) == 0:
        return ("a list named it when the plan was made, and none does now",)
    if decision.verdict in {Verdict.CANDIDATE, Verdict.UNDECIDED}:
        return tuple(
            f"the list `{held.list_name}` names it by now ({held.entry.owner}: {held.entry.reason}), and did not when"
            " the plan was made"
            for held in entries
        )
    return ()
