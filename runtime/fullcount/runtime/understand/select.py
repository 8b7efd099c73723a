"""A workflow over the snapshots of an earlier plan or run: what it would select, without reading or storing anything.

Guarantees: the statement is that of a plan (`plan/evaluate.py`), over snapshots that answer this workflow's questions
(`fit`), with the instant of then; the conservation sum holds or there is an error. It is no plan: it can't be approved,
its evidence is not asked for claims, and exemption lists are read as they are now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.lower.closure import NOWHERE, compile_value
from fullcount.compiler.lower.sql_frame import Relation
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import Value
from fullcount.runtime import format as fmt
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.assumed import count_assumed, findings
from fullcount.runtime.plan.build import read_inventories
from fullcount.runtime.plan.caps import caps_for
from fullcount.runtime.plan.cells import instant, to_json
from fullcount.runtime.plan.document import Caps, KeptGroup, PatternDoc, Sums, UndecidedRow
from fullcount.runtime.plan.errors import PlanError, SumsError
from fullcount.runtime.plan.evaluate import Candidate, Evaluation
from fullcount.runtime.plan.exempt import exemptions_of, unused_notes
from fullcount.runtime.plan.patterns import count_patterns
from fullcount.runtime.understand.explain import Lists
from fullcount.runtime.understand.fit import fitted
from fullcount.runtime.understand.held import Held
from fullcount.runtime.workspace.exemptions import Exemption

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SelectedRow:
    """An object that would be selected. `key` in JSON, `shown` what reviewers would see."""

    key: Key
    shown: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a proposal selects over stored snapshots."""

    held: Held
    workflow: program.Workflow
    proposal: program.Proposal
    params: Mapping[str, Value]
    sums: Sums
    caps: Caps
    rows: tuple[SelectedRow, ...]
    undecided: tuple[UndecidedRow, ...]
    kept: tuple[KeptGroup, ...]
    incomplete: tuple[str, ...]
    """The inventories that were not read to their end: over these nothing is concluded from absence."""
    notes: tuple[str, ...]
    patterns: tuple[PatternDoc, ...] = ()

    @property
    def inventory(self) -> program.Inventory:
        """The inventory that is selected from."""
        return self.workflow.inventories[self.proposal.inventory]


def select(
    held: Held, workflow: program.Workflow, proposal: program.Proposal, params: Mapping[str, Value], lists: Lists
) -> Selection:
    """Return what a proposal selects over stored snapshots.

    Raises `NoAnswerError` (FC682), `SnapshotMissing`, `SnapshotCorrupt` (FC749), `PlanError`, `WorkspaceError`.
    """
    fit = fitted(held, workflow, proposal, params)
    bindings = Bindings(params, held.bindings.now)
    relations = _relations(held, fit, proposal)
    read = _lists_of(proposal, lists)
    now = instant(bindings.now)
    if now is None:
        raise PlanError("FC913", "the instant of the rules is not a date")
    exempt = exemptions_of(fit, proposal, read, now.date())
    inventory = fit.inventories[proposal.inventory]
    with tables.session(tables.spill_of_reader(held.snapshots.root)) as connection:
        evaluation = Evaluation(connection, fit, proposal, relations, bindings, exempt.holding)
        counts = evaluation.counts()
        rows, without_call = _rows(fit, proposal, bindings, evaluation.candidates())
        undecided = [UndecidedRow(key=_key(inventory, u.key), missing=u.missing) for u in evaluation.undecided()]
        kept = tuple(
            KeptGroup(
                reason=group.reason, count=group.count, examples=tuple(_key(inventory, key) for key in group.examples)
            )
            for group in evaluation.kept()
        )
        assumed = count_assumed(connection, fit, proposal, relations, bindings)
        patterns = count_patterns(connection, fit, proposal, relations, bindings)
        refused = tuple(f"a plan would be refused: {each.message}" for each in findings(assumed, "", {}))
        notes = (*refused, *exempt.notes, *unused_notes(evaluation.unused()), *_other_values(held, workflow, params))
    sums = Sums(
        inventory=counts.population,
        candidates=len(rows),
        kept=sum(group.count for group in kept),
        undecided=len(undecided) + len(without_call),
    )
    if not sums.hold:
        raise SumsError(f"{sums.inventory} objects would be {sums.candidates} + {sums.kept} + {sums.undecided}")
    limit = proposal.limit
    return Selection(
        held=held,
        workflow=workflow,
        proposal=proposal,
        params=params,
        sums=sums,
        caps=caps_for(
            None if limit is None else limit.count,
            None if limit is None else limit.percent,
            sums.inventory,
            sums.candidates,
        ),
        rows=tuple(rows),
        undecided=tuple(sorted([*undecided, *without_call], key=lambda row: tuple(map(str, row.key)))),
        kept=kept,
        incomplete=tuple(name for name, relation in relations.items() if not relation.complete),
        notes=notes,
        patterns=patterns,
    )


def _relations(held: Held, workflow: program.Workflow, proposal: program.Proposal) -> dict[str, Relation]:
    return {
        name: tables.parquet(held.path(name), complete=held.envelope(name).complete)
        for name in read_inventories(workflow, proposal)
    }


def _lists_of(proposal: program.Proposal, lists: Lists) -> dict[str, Sequence[Exemption]]:
    names = dict.fromkeys(e.list_name for e in proposal.excepts if e.list_name is not None)
    return {name: lists(name) for name in names}


def _rows(
    workflow: program.Workflow, proposal: program.Proposal, bindings: Bindings, candidates: Sequence[Candidate]
) -> tuple[list[SelectedRow], list[UndecidedRow]]:
    """Return the objects that would be selected, and those for which the act would have no call."""
    inventory = workflow.inventories[proposal.inventory]
    shown = [(each.label, each.value.type, compile_value(each.value, bindings)) for each in proposal.show]
    act = next((act for act in workflow.acts if act.proposal == proposal.name), None)
    call = None if act is None else act.call  # which step of a graduated act is due is not a matter of the rule
    arguments = {} if call is None else {n: compile_value(e, bindings) for n, e in call.arguments.items()}
    rows: list[SelectedRow] = []
    without_call: list[UndecidedRow] = []
    for item in candidates:
        env = {proposal.row: item.cells}
        key = _key(inventory, item.key)
        cells = {name: value(env, NOWHERE) for name, value in arguments.items()}
        lacking = [f"argument {n}: {c.state.value.replace('_', ' ')}" for n, c in cells.items() if c.value is None]
        if len(lacking) > 0:
            without_call.append(UndecidedRow(key=key, missing=tuple(sorted(lacking))))
        else:
            rows.append(SelectedRow(key, {label: fmt.cell(value(env, NOWHERE), of) for label, of, value in shown}))
    return rows, without_call


def _key(inventory: program.Inventory, key: Sequence[Value]) -> Key:
    return tuple(to_json(part, inventory.fields[name].type) for name, part in zip(inventory.key, key, strict=True))


def _other_values(held: Held, workflow: program.Workflow, params: Mapping[str, Value]) -> tuple[str, ...]:
    """Return notes on parameters that have another value here than they had then."""
    types = {param.name: param.type for param in workflow.params}
    before = {param.name: param.type for param in held.params}
    return tuple(
        f"{held.origin} had `{name}` = {to_json(then, before[name])}, here it is {to_json(params[name], types[name])}"
        for name, then in sorted(held.bindings.params.items())
        if name in params and params[name] != then
    )
