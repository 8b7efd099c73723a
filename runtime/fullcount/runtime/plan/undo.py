"""The plan that is an undo: made from the plan whose acts it takes back, and what was found of their objects.

Guarantees: it carries what its apply needs, the program included, and nothing of it is decided again; every object
that the undo is about is a row, is kept with the reason, or is undecided. It rests on no evidence but the record and
what was read of each object, so it has no certificates, and no caps but its own list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fullcount.runtime.plan.digest import sealed
from fullcount.runtime.plan.document import (
    Caps,
    KeptGroup,
    PlanDocument,
    PlanRow,
    Sums,
    TakenBackDoc,
    UndecidedRow,
    UndoDoc,
)

Key = tuple[Any, ...]
_DOUBTFUL: Final = "gone when our call was under way: somebody else may have meant it to be gone"
_RISK: Final = 3
"""Of such an object: bringing it back may undo what somebody else wanted."""


@dataclass(frozen=True, slots=True)
class UndoInputs:
    """What an undo is made of. `acted`: the plan that it takes back; `taken`: what of it, last first.

    `doubtful`: those of which nobody can tell whether the act or somebody else did it. `left`: objects that stay, with
    the reason; `unknown`: those of which it can't be told, with what is missing.
    """

    acted: PlanDocument
    undo: UndoDoc
    taken: Sequence[tuple[Key, TakenBackDoc, Mapping[str, Any]]]
    left: Sequence[tuple[Key, str]]
    unknown: Sequence[tuple[Key, str]]
    plan_id: str
    run_id: str
    created_at: datetime
    created_by: str
    engine_version: str
    connector_versions: Mapping[str, str]
    doubtful: Collection[Key] = ()


def undo_document(given: UndoInputs) -> PlanDocument:
    """Return the plan, with its digest."""
    acted, rows = given.acted, {row.key: row for row in given.acted.rows}
    groups: dict[str, list[Key]] = {}
    for key, reason in given.left:
        groups.setdefault(reason, []).append(key)
    inventory = len(given.taken) + len(given.left) + len(given.unknown)
    return sealed(
        PlanDocument(
            plan_id=given.plan_id,
            run_id=given.run_id,
            created_at=given.created_at,
            created_by=given.created_by,
            now=acted.now,
            workflow=acted.workflow,
            proposal=acted.proposal,
            describe=acted.describe,
            owner=acted.owner,
            rule=f"what the plan {acted.plan_id} did, where it still is as that left it",
            program_digest=acted.program_digest,
            program=acted.program,
            parameters=acted.parameters,
            engine_version=given.engine_version,
            connector_versions=dict(given.connector_versions),
            target=acted.target,
            act=_words(acted.act or {}, given.taken),
            authors=tuple(sorted({*acted.authors, acted.created_by})),
            certificates=(),
            envelopes=(),
            caps=Caps(count=None, percent=None, effective=inventory, exceeded=False),
            sums=Sums(
                inventory=inventory,
                candidates=len(given.taken),
                kept=len(given.left),
                undecided=len(given.unknown),
            ),
            columns=acted.columns,
            rows=tuple(
                _row(rows[key], taken, arguments, key in given.doubtful) for key, taken, arguments in given.taken
            ),
            undecided=tuple(UndecidedRow(key=key, missing=(why,)) for key, why in given.unknown),
            kept=tuple(KeptGroup(reason=why, count=len(keys), examples=tuple(keys)) for why, keys in groups.items()),
            undo=given.undo,
            merkle_root="",
            digest="",
        )
    )


def _row(acted: PlanRow, taken: TakenBackDoc, arguments: Mapping[str, Any], doubtful: bool) -> PlanRow:
    notes = (*((_DOUBTFUL,) if doubtful else ()), *(() if taken.backup is None else ("restored from its backup",)))
    risk = _RISK if doubtful else 0
    return acted.model_copy(
        update={"arguments": dict(arguments), "undo": taken, "closure": None, "risk": risk, "notes": notes}
    )


def _words(acted: Mapping[str, Any], taken: Sequence[tuple[Key, TakenBackDoc, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the act in words, for people: what takes back, at the pace of what did it."""
    pace = {name: acted.get(name) for name in ("rate", "concurrency", "stop")}
    operations = list(dict.fromkeys(each.operation for _, each, _ in taken))
    said = {"operation": ", ".join(operations), "call": acted.get("undo"), "undo": None, "reversible": True}
    if acted.get("steps") is not None:
        said["steps"] = [
            {"step": step["step"], "after": None, "call": step["undo"], "undo": None, "reversible": True}
            for step in acted["steps"]
            if step["undo"] is not None
        ]
    return said | pace
