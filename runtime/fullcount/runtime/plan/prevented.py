"""What a refusal prevented, as counts only: what would have been selected had the partial answers been believed.

It takes every snapshot for complete on purpose, and so must never give anything but two numbers: no object, no key, no
plan can come out of here.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullcount.compiler import program
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Prevented
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.build import read_inventories, relations_of
from fullcount.runtime.plan.errors import PlanError
from fullcount.runtime.plan.evaluate import Evaluation


def prevented(
    workflow: program.Workflow,
    proposal: program.Proposal,
    envelopes: Sequence[Envelope],
    snapshots: SnapshotStore,
    bindings: Bindings,
) -> Prevented | None:
    """Return how many objects would have been selected, of how many; None where there is nothing to count over.

    Exemption lists are left out: the number is what the rule itself would have taken.
    """
    held = {envelope.inventory for envelope in envelopes if envelope.snapshot_digest is not None}
    if not held.issuperset(read_inventories(workflow, proposal)):
        return None
    relations = relations_of(workflow, proposal, envelopes, snapshots, believed=True)
    with tables.session(snapshots.root / tables.SPILL) as connection:
        try:
            counts = Evaluation(connection, workflow, proposal, relations, bindings).counts()
        except PlanError:
            # Keys that stand twice are part of why the evidence was refused: there is no honest number then.
            return None
    return Prevented(selected=counts.candidates, population=counts.population)
