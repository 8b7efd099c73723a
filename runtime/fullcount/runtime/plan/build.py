"""From evidence to a plan: one proposal over certified snapshots becomes an immutable document.

Guarantees: every object that was read is exactly one of candidate, kept, undecided, or no plan is built (FC910); the
rows are those that one statement selected; the digest is over what stands in the document. It must never read a source,
and never take a part that was not handed to it as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.document import program_digest, workflow_to_document
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import NOWHERE, compile_value
from fullcount.compiler.lower.sql_frame import Relation
from fullcount.compiler.lower.world import Bindings, World
from fullcount.compiler.types import Type
from fullcount.compiler.values import Cell, Row, Value
from fullcount.dsl.source import Source
from fullcount.runtime import format as fmt
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.act_words import act_words
from fullcount.runtime.plan.assumed import count_assumed, findings
from fullcount.runtime.plan.caps import caps_for
from fullcount.runtime.plan.cells import cell_to_doc, instant, to_json
from fullcount.runtime.plan.digest import check_sums, sealed
from fullcount.runtime.plan.document import (
    CertificateDoc,
    ExpectationDoc,
    FloorDoc,
    KeptGroup,
    ListUse,
    Measurement,
    PatternDoc,
    PickDoc,
    PlanDocument,
    PlanRow,
    ProtectionDoc,
    Sums,
    UndecidedRow,
)
from fullcount.runtime.plan.errors import PlanError, SumsError, UnborneError
from fullcount.runtime.plan.evaluate import Counts, Evaluation, perhaps_protected_by, protected_by
from fullcount.runtime.plan.exempt import exemptions_of, unused_notes
from fullcount.runtime.plan.graduated import Clocks, Graduated, graduate, mark
from fullcount.runtime.plan.lists import exemption_uses, file_uses
from fullcount.runtime.plan.patterns import count_patterns
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.plan.risk import Assessor
from fullcount.runtime.plan.sensitivity import sensitivity
from fullcount.runtime.plan.since import since
from fullcount.runtime.plan.spelling import one_key_twice
from fullcount.runtime.plan.strike import struck_reasons
from fullcount.runtime.plan.withheld import check_withheld
from fullcount.runtime.workspace.exemptions import Exemption


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """Everything a plan is made of. `previous` is the plan before of the same proposal, for what came and went."""

    workflow: program.Workflow
    proposal: program.Proposal
    approval: program.Approval | None
    act: program.Act | None
    certificates: Sequence[CertificateDoc]
    envelopes: Sequence[Envelope]
    snapshots: SnapshotStore
    bindings: Bindings
    target: Mapping[str, Mapping[str, str]]
    engine_version: str
    connector_versions: Mapping[str, str]
    exemptions: Mapping[str, Sequence[Exemption]]
    authors: Sequence[str]
    plan_id: str
    run_id: str
    created_by: str
    created_at: datetime
    previous: PlanDocument | None = None
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    exemption_places: Mapping[str, str] = field(default_factory=dict)
    """Where the exemption lists stand, for people."""
    clocks: Clocks | None = None
    """Where the objects of a graduated act stand; None only for an act with one operation."""
    notes: Sequence[str] = ()
    """What reviewers must know besides: said first among the notes."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    recorded: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By inventory: the fields whose values may be written down; one that is not there has no others."""
    sample: bool = False
    """Whether the rows are a sample that somebody made up, of which nothing that is true of a population is asked."""


def build_plan(inputs: PlanInputs) -> PlanDocument:
    """Return the plan.

    Raises `PlanError`; `UnborneError` when the data does not bear out what the rule takes for granted; `SumsError`
    (FC910) when an object was lost or counted twice.
    """
    workflow, proposal, bindings = inputs.workflow, inputs.proposal, inputs.bindings
    now = instant(bindings.now)
    if now is None:
        raise PlanError("FC913", "the instant of the plan is not a date")
    exempt = exemptions_of(workflow, proposal, inputs.exemptions, now.date())
    relations = relations_of(workflow, proposal, inputs.envelopes, inputs.snapshots)
    _fits(inputs)
    check_withheld(workflow, proposal, inputs.act, inputs.recorded)
    with tables.session(inputs.snapshots.root / tables.SPILL) as connection:
        evaluation = Evaluation(connection, workflow, proposal, relations, bindings, exempt.holding)
        assumed = count_assumed(connection, workflow, proposal, relations, bindings)
        doubled = one_key_twice(connection, workflow, relations)
        taken = () if inputs.sample else findings(assumed, f"propose:{proposal.name}", inputs.sources)
        unborne = (*doubled, *taken)
        if len(unborne) > 0:
            raise UnborneError(unborne)
        graduated = _graduated(inputs, evaluation)
        counts = evaluation.counts()
        rows, without_call = _rows(inputs, evaluation, graduated)
        undecided = [_undecided_row(inputs, item.key, item.missing) for item in evaluation.undecided()]
        kept = tuple(
            KeptGroup(
                reason=group.reason,
                count=group.count,
                examples=tuple(_key_json(inputs, key) for key in group.examples),
            )
            for group in evaluation.kept()
        )
        floors, picks = evaluation.floors(), evaluation.picks()
        selected = counts.candidates if graduated is None else graduated.selected
        near = () if inputs.sample else sensitivity(evaluation, proposal, bindings, selected)
        patterns = count_patterns(connection, workflow, proposal, relations, bindings)
        unused = evaluation.unused()
        notes = (*inputs.notes, *_recreation(inputs), *exempt.notes, *unused_notes(unused))
    lists = exemption_uses(
        workflow,
        proposal,
        inputs.exemptions,
        inputs.exemption_places,
        today=now.date(),
        holding=exempt.holding,
        unused=unused,
    )
    lists += file_uses(workflow, proposal)
    expected = assumed.expectations()
    open_ = (*undecided, *without_call)
    return _document(
        inputs, now, counts, rows, open_, kept, floors, picks, lists, expected, patterns, near, notes, graduated
    )


def _graduated(inputs: PlanInputs, evaluation: Evaluation) -> Graduated | None:
    """Return what is due of a graduated act. Raises `PlanError` when nobody says where its objects stand."""
    act = inputs.act
    if act is None or len(act.steps) == 0:
        return None
    if inputs.clocks is None:
        raise PlanError("FC913", f"nothing says where the objects of `{inputs.proposal.name}` stand in its steps")
    return graduate(evaluation, inputs.workflow.inventories[inputs.proposal.inventory], act, inputs.clocks)


def relations_of(
    workflow: program.Workflow,
    proposal: program.Proposal,
    envelopes: Sequence[Envelope],
    snapshots: SnapshotStore,
    *,
    believed: bool = False,
) -> dict[str, Relation]:
    """Return the snapshot of each inventory that the proposal reads, complete only if its envelope says so.

    `believed` takes every snapshot for complete: for counting what a refusal prevented, and for nothing else.
    """
    by_name = {envelope.inventory: envelope for envelope in envelopes}
    relations: dict[str, Relation] = {}
    for name in read_inventories(workflow, proposal):
        envelope = by_name.get(name)
        if envelope is None or envelope.snapshot_digest is None:
            raise PlanError("FC913", f"there is no snapshot of `{name}`, which the proposal `{proposal.name}` reads")
        path = snapshots.path(envelope.snapshot_digest)
        relations[name] = tables.parquet(path, complete=believed or envelope.complete)
    return relations


def read_inventories(workflow: program.Workflow, proposal: program.Proposal) -> list[str]:
    """Return the inventories that the proposal reads, its own first."""
    inventory = workflow.inventories[proposal.inventory]
    expressions = [*proposal.deciding, *(shown.value for shown in proposal.show)]
    if inventory.scope is not None:
        expressions.append(inventory.scope)
    named = {name for expr in expressions for name in facts.fields_read(expr)}
    return [inventory.name, *sorted(named - {inventory.name})]


def _fits(inputs: PlanInputs) -> None:
    """Refuse certificates that are of other snapshots than the ones the rule runs over, or that are not there."""
    held = {certificate.inventory: certificate for certificate in inputs.certificates}
    envelopes = {envelope.inventory: envelope for envelope in inputs.envelopes}
    for name in read_inventories(inputs.workflow, inputs.proposal):
        if name not in held:
            raise PlanError("FC913", f"there is no certificate for `{name}`")
        if held[name].snapshot_digest != envelopes[name].snapshot_digest:
            raise PlanError("FC913", f"the certificate for `{name}` is of another snapshot than the one that was read")


# -- rows -------------------------------------------------------------------------------------------------------------


Arguments = dict[str, tuple[Type, Callable[[Mapping[str, Row], World], Cell]]]


def _rows(
    inputs: PlanInputs, evaluation: Evaluation, graduated: Graduated | None
) -> tuple[tuple[PlanRow, ...], list[UndecidedRow]]:
    """Return the rows, riskiest first, and the objects for which the act has no call: these are undecided."""
    proposal = inputs.proposal
    inventory = inputs.workflow.inventories[proposal.inventory]
    shown = [(shown.label, shown.value.type, compile_value(shown.value, inputs.bindings)) for shown in proposal.show]
    calls: Mapping[str | None, program.OperationCall] = {} if inputs.act is None else inputs.act.calls
    arguments: dict[str | None, Arguments] = {
        step: {n: (e.type, compile_value(e, inputs.bindings)) for n, e in call.arguments.items()}
        for step, call in calls.items()
    }
    assessors = {step: _assessor(inputs, reversible=call.reversible or not call.own) for step, call in calls.items()}
    written = inputs.recorded.get(proposal.inventory)
    rows: list[PlanRow] = []
    without_call: list[UndecidedRow] = []
    for item in (*evaluation.candidates(), *evaluation.released()):
        env = {proposal.row: item.cells}
        key = _key_json(inputs, item.key)
        if graduated is not None and item.key in graduated.unknown:
            without_call.append(UndecidedRow(key=key, missing=(graduated.unknown[item.key],)))
            continue
        due = None if graduated is None else graduated.due[item.key]
        step = None if due is None else due.label
        given: dict[str, Any] = {}
        lacking: list[str] = []
        for name, (of, cell_of) in arguments.get(step, {}).items():
            cell = cell_of(env, NOWHERE)
            if cell.value is None:
                lacking.append(f"argument {name}: {cell.state.value.replace('_', ' ')}")
            else:
                given[name] = to_json(cell.value, of)
        if len(lacking) > 0:
            without_call.append(UndecidedRow(key=key, missing=tuple(sorted(lacking)), step=step))
            continue
        assessment = assessors.get(step, _assessor(inputs, reversible=True)).assess(item, _hashable(key))
        rows.append(
            PlanRow(
                key=key,
                incarnation=mark(inventory.incarnation, evaluation.fields, item.cells),
                version=mark(inventory.version, evaluation.fields, item.cells),
                fields={
                    name: cell_to_doc(item.cells[name], field.type)
                    for name, field in evaluation.fields.items()
                    if written is None or name in written
                },
                shown={label: fmt.cell(cell_of(env, NOWHERE), of) for label, of, cell_of in shown},
                arguments=given,
                step=due,
                risk=assessment.risk,
                notes=assessment.notes,
            )
        )
    # The candidates come in the order of their keys, and the sort is stable.
    return tuple(sorted(rows, key=lambda row: -row.risk)), without_call


def _assessor(inputs: PlanInputs, *, reversible: bool) -> Assessor:
    previous = inputs.previous
    return Assessor(
        inputs.workflow.inventories[inputs.proposal.inventory],
        inputs.proposal,
        inputs.bindings,
        reversible=reversible,
        seen=None if previous is None else frozenset(_hashable(row.key) for row in previous.rows),
        struck={} if previous is None else {_hashable(key): why for key, why in struck_reasons(previous).items()},
    )


def _key_json(inputs: PlanInputs, key: Sequence[Value]) -> tuple[Any, ...]:
    inventory = inputs.workflow.inventories[inputs.proposal.inventory]
    return tuple(to_json(part, inventory.fields[name].type) for name, part in zip(inventory.key, key, strict=True))


def _hashable(key: Sequence[Any]) -> tuple[object, ...]:
    return tuple(_hashable(part) if isinstance(part, list | tuple) else part for part in key)


def _undecided_row(inputs: PlanInputs, key: Sequence[Value], missing: tuple[str, ...]) -> UndecidedRow:
    return UndecidedRow(key=_key_json(inputs, key), missing=missing)


def _recreation(inputs: PlanInputs) -> tuple[str, ...]:
    """Say what nobody can find out at the act: whether an object is still the one that was approved."""
    inventory = inputs.workflow.inventories[inputs.proposal.inventory]
    if inputs.act is None or inventory.incarnation is not None:
        return ()
    note = (
        f"recreated objects can't be told apart: `{inventory.name}` has no `incarnation`, so one made anew under the "
        "same key is acted on if the rule holds for it"
    )
    return (note,)


# -- the document -----------------------------------------------------------------------------------------------------


def _document(
    inputs: PlanInputs,
    now: datetime,
    counts: Counts,
    rows: tuple[PlanRow, ...],
    undecided: tuple[UndecidedRow, ...],
    kept: tuple[KeptGroup, ...],
    floors: tuple[FloorDoc, ...],
    picks: tuple[PickDoc, ...],
    lists: tuple[ListUse, ...],
    expected: tuple[ExpectationDoc, ...],
    patterns: tuple[PatternDoc, ...],
    near: tuple[Any, ...],
    notes: tuple[str, ...],
    graduated: Graduated | None,
) -> PlanDocument:
    workflow, proposal, limit = inputs.workflow, inputs.proposal, inputs.proposal.limit
    sums = Sums(
        inventory=counts.population,
        candidates=len(rows),
        kept=sum(group.count for group in kept),
        undecided=len(undecided),
    )
    if not sums.hold:
        raise SumsError(
            f"{sums.inventory} objects of `{proposal.inventory}` were read, the plan would list {sums.candidates}"
            f" candidates + {sums.kept} kept + {sums.undecided} undecided"
        )
    certificates = sorted(inputs.certificates, key=lambda held: (held.inventory != proposal.inventory, held.inventory))
    if certificates[0].rows != counts.read:
        raise SumsError(
            f"the certificate of `{proposal.inventory}` is over {certificates[0].rows} rows,"
            f" its snapshot has {counts.read}"
        )
    parameters = {param.name: _parameter(inputs.bindings.params, param.name, param.type) for param in workflow.params}
    document = workflow_to_document(workflow)
    doc = sealed(
        PlanDocument(
            plan_id=inputs.plan_id,
            run_id=inputs.run_id,
            created_at=inputs.created_at.astimezone(UTC),
            created_by=inputs.created_by,
            now=now,
            workflow=workflow.name,
            proposal=proposal.name,
            describe=workflow.describe,
            owner=workflow.owner,
            rule=proposal.where_text,
            bounded=proposal.bounded,
            program_digest=program_digest(workflow),
            program=document,
            parameters=parameters,
            engine_version=inputs.engine_version,
            connector_versions=dict(inputs.connector_versions),
            target={source: dict(facts_) for source, facts_ in inputs.target.items()},
            act=None if inputs.act is None else act_words(inputs.act, inputs.approval),
            authors=tuple(sorted(inputs.authors)),
            certificates=tuple(certificates),
            envelopes=tuple(inputs.envelopes),
            measurements=dict(inputs.measurements),
            caps=caps_for(
                None if limit is None else limit.count,
                None if limit is None else limit.percent,
                sums.inventory,
                sums.candidates,
            ),
            sums=sums,
            columns=tuple(shown.label for shown in proposal.show),
            rows=rows,
            undecided=tuple(sorted(undecided, key=lambda row: tuple(map(str, row.key)))),
            kept=kept,
            protections=_protections(proposal, kept),
            floors=floors,
            picks=picks,
            lists=lists,
            expectations=expected,
            steps=None if graduated is None else graduated.steps_doc(),
            clocks=None if graduated is None else graduated.clocks_doc(),
            patterns=patterns,
            sensitivity=near,
            since=since(inputs.previous, rows, parameters, proposal.where_text, document),
            notes=notes,
            merkle_root="",
            digest="",
        )
    )
    wrong = check_sums(doc)
    if len(wrong) > 0:
        raise SumsError("; ".join(wrong))
    return doc


def _protections(proposal: program.Proposal, kept: Sequence[KeptGroup]) -> tuple[ProtectionDoc, ...]:
    counts = {group.reason: group.count for group in kept}
    return tuple(
        ProtectionDoc(
            name=protection.name,
            because=protection.because,
            condition=phrase(protection.condition),
            kept=counts.get(protected_by(protection), 0),
            not_ruled_out=counts.get(perhaps_protected_by(protection), 0),
        )
        for protection in proposal.protections
    )


def _parameter(params: Mapping[str, Value], name: str, of: Type) -> Any:
    if name not in params:
        raise PlanError("FC913", f"the parameter `{name}` has no value")
    return to_json(params[name], of)
