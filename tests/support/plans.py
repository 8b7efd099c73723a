"""Small hand-made plans for tests: real enough to be read, small enough to be checked by eye."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from tests.support.acting import DAY, Orphans

from fullcount.compiler import program
from fullcount.compiler.document import workflow_to_document
from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.caps import caps_for
from fullcount.runtime.plan.digest import sealed
from fullcount.runtime.plan.document import (
    CellDoc,
    CertificateDoc,
    KeptGroup,
    PlanDocument,
    PlanRow,
    Sensitivity,
    Sums,
    UndecidedRow,
)

NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)


def cell(value: Any) -> CellDoc:
    """Return the cell of a value; None is a field that the source said is empty."""
    if value is None:
        return CellDoc(state=FieldState.ABSENT)
    return CellDoc(state=FieldState.PRESENT, value=value)


def plan_row(key: str, **changes: Any) -> PlanRow:
    """Return a candidate of the directory with this key."""
    values: dict[str, Any] = {
        "key": (key,),
        "incarnation": f"uuid-{key}",
        "version": "7",
        "fields": {
            "id": cell(key),
            "entry_uuid": cell(f"uuid-{key}"),
            "owner": cell(None),
            "team": cell("payments"),
            "last_login": cell("2026-08-31T04:00:00Z"),
        },
        "shown": {"owner": "(none)", "last login": "2026-08-31", "team": "payments"},
        "arguments": {"id": key, "locked": True},
    }
    return PlanRow(**(values | changes))


def certificate(inventory: str, source: str, resource: str, rows: int, **changes: Any) -> CertificateDoc:
    """Return a certificate for a snapshot of so many rows."""
    values: dict[str, Any] = {
        "inventory": inventory,
        "source": source,
        "resource": resource,
        "snapshot_digest": f"sha256:{rows:064x}",
        "rows": rows,
        "distinct_keys": rows,
        "claims": ("complete", "snapshot pinned", "fresh within 1h"),
        "consistency": "pinned",
        "visibility": "all",
        "end_marker": "last page of the snapshot",
    }
    return CertificateDoc(**(values | changes))


@lru_cache(maxsize=1)
def _program() -> dict[str, Any]:
    """Return a program whose proposals are `disable`, one act, and `retire`, which warns and locks two weeks later."""
    workflow = Orphans().workflow
    (proposal,), (act,) = workflow.proposals, workflow.acts
    assert act.call is not None
    steps = (program.Step("warn", act.call, act.undo, 0), program.Step("lock", act.call, act.undo, 14 * DAY))
    acts = (act, replace(act, proposal="retire", call=None, undo=None, steps=steps))
    proposals = (proposal, replace(proposal, name="retire"))
    made = replace(workflow, name="disable_orphaned_accounts", proposals=proposals, acts=acts)
    return workflow_to_document(made)


def document(
    rows: tuple[PlanRow, ...] | None = None,
    *,
    undecided: tuple[UndecidedRow, ...] | None = None,
    kept: tuple[KeptGroup, ...] | None = None,
    limit: tuple[int | None, Any] = (50, None),
    **changes: Any,
) -> PlanDocument:
    """Return a sealed plan over these rows, with sums and caps that hold unless they are given."""
    rows = (plan_row("svc-billing-etl"), plan_row("svc-report-7")) if rows is None else rows
    undecided = (UndecidedRow(key=("svc-dark",), missing=("owner: forbidden",)),) if undecided is None else undecided
    if kept is None:
        kept = (
            KeptGroup(reason="not matched by the rule", count=94, examples=(("svc-mailer",), ("svc-web",))),
            KeptGroup(reason="exempted by list `exemptions`", count=2, examples=(("svc-vault",),)),
        )
    n_kept = sum(group.count for group in kept)
    population = len(rows) + len(undecided) + n_kept
    values: dict[str, Any] = {
        "plan_id": "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1",
        "run_id": "01JDZ8M3Q5W7X9Y1Z3A5B7C9D0",
        "created_at": NOW,
        "created_by": "uid:1000",
        "now": NOW,
        "workflow": "disable_orphaned_accounts",
        "proposal": "disable",
        "describe": "Disable production service accounts that nobody owns and nobody uses.",
        "owner": "iam-team",
        "rule": "(a.last_login else a.created) < now - idle and a.owner is absent",
        "program_digest": "sha256:" + "ab" * 32,
        "program": _program(),
        "parameters": {"idle": "90d"},
        "engine_version": "0.1.0",
        "connector_versions": {"directory": "1.0"},
        "target": {"directory": {"target": "ldap://corp/production"}},
        "act": {
            "operation": "directory.update",
            "call": "directory.update(id: a.id, locked: true)",
            "undo": "directory.update(id: a.id, locked: false)",
            "reversible": True,
            "rate": "10",
            "concurrency": 4,
            "stop": "after 3 failures",
        },
        "authors": ("uid:1000",),
        "certificates": (
            certificate("accounts", "directory", "accounts", population),
            certificate("people", "hr", "employees", 4212, count_agrees="hr.headcount (4,212)"),
        ),
        "envelopes": (),
        "caps": caps_for(limit[0], limit[1], population, len(rows)),
        "sums": Sums(inventory=population, candidates=len(rows), kept=n_kept, undecided=len(undecided)),
        "rows": rows,
        "undecided": undecided,
        "kept": kept,
        "sensitivity": (Sensitivity(change="idle 81d", candidates=41),),
        "notes": (),
        "merkle_root": "",
        "digest": "",
    }
    return sealed(PlanDocument(**(values | changes)))
