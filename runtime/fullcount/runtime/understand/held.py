"""The evidence of an earlier plan or run, as it is stored: what was asked, what came, and the instant of the rules.

Guarantees: it reads snapshots and nothing else, each checked against its digest; an inventory counts as complete only
if its envelope says so; what was not read raises, and is never taken as empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fullcount.compiler import ir, program
from fullcount.compiler.document import workflow_from_document
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings, Equal, Related
from fullcount.compiler.values import Value
from fullcount.runtime.act.snapshot_rows import SnapshotRows
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.plan.cells import from_json, microseconds
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.errors import PlanNotFound
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunRow
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.trace import Surroundings

NO_SUCH_PLAN = "FC713"


@dataclass(frozen=True, slots=True)
class Held:
    """What one plan or run has read. `asked` are its inventories as they were put; None where that is not recorded.

    `bindings` hold the parameters of then and the instant that its rules saw as `now`.
    """

    origin: str
    """What it is called: `plan 01JD…`, `run 01JD…`."""
    workflow: str
    asked: Mapping[str, program.Inventory] | None
    envelopes: Mapping[str, Envelope]
    params: tuple[program.Param, ...]
    """The parameters as they were declared; none where that is not recorded."""
    bindings: Bindings
    snapshots: SnapshotStore
    document: PlanDocument | None = None

    def envelope(self, inventory: str) -> Envelope:
        """Return the envelope of an inventory that was read. Raises `NoAnswerError`."""
        found = self.envelopes.get(inventory)
        if found is None or found.snapshot_digest is None:
            read = ", ".join(f"`{name}`" for name, e in sorted(self.envelopes.items()) if e.snapshot_digest is not None)
            raise NoAnswerError(
                "FC682",
                f"`{inventory}` was not read by {self.origin}; an inventory that was not read is never taken as empty",
                help=f"it has the rows of {read or 'no inventory'}; plan this workflow, and ask that plan",
            )
        return found

    def path(self, inventory: str) -> Path:
        """Return the checked file of an inventory's rows. Raises `NoAnswerError` and `SnapshotStore.path`'s errors."""
        return self.snapshots.path(str(self.envelope(inventory).snapshot_digest))


def held_of_plan(document: PlanDocument, snapshots: SnapshotStore) -> Held:
    """Return the evidence of a plan.

    Raises `NoAnswerError` for an undo, `DocumentError` and `NotOfTypeError` for a document that is none.
    """
    if document.undo is not None:
        raise NoAnswerError(
            "FC682",
            f"the plan `{document.plan_id}` is an undo: it read no inventory, and no rule decided it",
            help=f"ask the plan that it takes back: `{document.undo.plan_id}`",
        )
    workflow = workflow_from_document(document.program)
    types = {param.name: param.type for param in workflow.params}
    params: dict[str, Value] = {name: from_json(value, types[name]) for name, value in document.parameters.items()}
    return Held(
        origin=f"plan {document.plan_id}",
        workflow=document.workflow,
        asked=workflow.inventories,
        envelopes={envelope.inventory: envelope for envelope in document.envelopes},
        params=workflow.params,
        bindings=Bindings(params, microseconds(document.now)),
        snapshots=snapshots,
        document=document,
    )


def held_of_run(run: RunRow, envelopes: Iterable[Envelope], snapshots: SnapshotStore) -> Held:
    """Return the evidence of a run that made no plan. Its instant is that of its beginning; parameters are not kept."""
    return Held(
        origin=f"run {run.run_id}",
        workflow=run.workflow,
        asked=None,
        envelopes={envelope.inventory: envelope for envelope in envelopes},
        params=(),
        bindings=Bindings({}, to_micros(run.started_at)),
        snapshots=snapshots,
    )


def held_on(store: Store, name: str, snapshots: SnapshotStore) -> Held:
    """Return the evidence of the plan or run with this id, or with an unmistakable beginning of it.

    A run that made or used a plan has that plan's evidence. Raises `PlanNotFound`, `PlanCorrupt`, `NoAnswerError`.
    """
    try:
        return held_of_plan(store.load_plan(name).document, snapshots)
    except PlanNotFound as error:
        if error.code != NO_SUCH_PLAN:
            raise
    run = store.find_run(name)
    if run is None:
        raise NoAnswerError(
            "FC683", f"there is neither a plan nor a run `{name}` in this store", help="list them with `fullcount runs`"
        )
    plan_id = run.plan_id or (run.summary or {}).get("plan_id")
    if plan_id is not None:
        return held_of_plan(store.load_plan(plan_id).document, snapshots)
    envelopes = [envelope for envelope in store.envelopes(run.run_id) if envelope.snapshot_digest is not None]
    if len(envelopes) == 0:
        raise NoAnswerError(
            "FC683",
            f"the run `{run.run_id}` ended as `{run.state}` before it had read an inventory",
            help="name a run or plan that has read something: `fullcount runs`",
        )
    return held_of_run(run, envelopes, snapshots)


class SnapshotWorld:
    """The stored rows of several inventories, with the fields that some expressions read; see `World`."""

    def __init__(self, held: Held, inventories: Mapping[str, program.Inventory], read: Iterable[ir.Expr]) -> None:
        fields: dict[str, set[str]] = {}
        for expr in read:
            for name, names in facts.fields_read(expr).items():
                fields.setdefault(name, set()).update(names)
        self._rows = {
            name: rows_of(held, inventories[name], names | set(inventories[name].key)) for name, names in fields.items()
        }

    def rows(self, inventory: str, equal: Equal) -> Related:
        """See `World.rows`. Raises what `SnapshotStore.path` raises."""
        return self._rows[inventory].related(equal)


def rows_of(held: Held, inventory: program.Inventory, names: Iterable[str]) -> SnapshotRows:
    """Return the stored rows of an inventory with some of its fields."""
    wanted = set(names)
    types = {name: field.type for name, field in inventory.fields.items() if name in wanted}
    complete = held.envelope(inventory.name).complete
    return SnapshotRows(lambda: held.path(inventory.name), types, complete=complete)


def surroundings(
    held: Held, workflow: program.Workflow, read: Iterable[ir.Expr], bindings: Bindings | None = None
) -> Surroundings:
    """Return what a trace of these expressions may look at."""
    return Surroundings(
        world=SnapshotWorld(held, workflow.inventories, read),
        bindings=held.bindings if bindings is None else bindings,
        inventories=workflow.inventories,
        sizes={name: envelope.work.rows for name, envelope in held.envelopes.items()},
    )
