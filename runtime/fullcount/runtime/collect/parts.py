"""Which parts an inventory is read in: every combination of the values that it names.

Guarantees: values that another inventory names are taken from its certified rows, all of them; a row without a value,
or no row at all, is not a smaller set of parts but an error, because the part that it would have named is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import product

import pyarrow.parquet as pq

from fullcount.compiler import program
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, FieldState
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.certificate import Certificate
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Completeness, Envelope, Incompleteness, Scope, Status, Work
from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.format import counted

_PRESENT = STATE_ORDER.index(FieldState.PRESENT)


class UnnamedPartError(Exception):
    """The rows that name the parts do not name all of them. The text says why."""


def parts_of(
    inventory: program.Inventory, listed: Mapping[str, Certificate], snapshots: SnapshotStore
) -> list[dict[str, str]]:
    """Return the parts, in order; `listed`: the certified inventories that name values. Raises `UnnamedPartError`."""
    names = [across.name for across in inventory.across]
    values = [
        across.values if across.values is not None else _named_by(across, listed, snapshots)
        for across in inventory.across
    ]
    return [dict(zip(names, each, strict=True)) for each in product(*values)]


def written_parts(across: tuple[program.Across, ...]) -> Iterator[frozenset[tuple[str, str]]]:
    """Yield the parts whose values are written out, each as its names with their values."""
    names = [each.name for each in across]
    for values in product(*(each.values or () for each in across)):
        yield frozenset(zip(names, values, strict=True))


def _named_by(across: program.Across, listed: Mapping[str, Certificate], snapshots: SnapshotStore) -> tuple[str, ...]:
    inventory, field = across.inventory, across.listed
    if inventory is None or field is None:
        msg = "a partition has values or an inventory that names them"
        raise TypeError(msg)
    digest = listed[inventory].doc.snapshot_digest
    table = pq.read_table(snapshots.path(digest), columns=[field, field + STATE_SUFFIX])
    unknown = sum(state != _PRESENT for state in table.column(field + STATE_SUFFIX).to_pylist())
    if unknown > 0:
        msg = f"{counted(unknown, 'row')} of `{inventory}` without a known `{field}`: which `{across.name}` is not told"
        raise UnnamedPartError(msg)
    if table.num_rows == 0:
        msg = f"`{inventory}` has no row, so no `{across.name}` is named"
        raise UnnamedPartError(msg)
    return tuple(sorted({str(value) for value in table.column(field).to_pylist()}))


def not_covered(inventory: program.Inventory, error: UnnamedPartError, at: datetime) -> Envelope:
    """Return the envelope of an inventory whose parts are not all named: nothing was read."""
    reason = Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=str(error))
    return Envelope(
        inventory=inventory.name,
        status=Status.FAILED,
        completeness=Completeness(complete=False, reasons=(reason,)),
        scope=Scope(
            source=inventory.source,
            resource=inventory.resource,
            filter=None if inventory.scope is None else expression_text(inventory.scope),
            started_at=at,
            finished_at=at,
        ),
        work=Work(canaries_expected=len(inventory.expects)),
    )
