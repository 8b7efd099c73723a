"""Envelopes and certificates for tests, without a read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.support.fake_source import NOW, fake_inventory, fake_resource

from fullcount.compiler.claims import Claim, Complete, Consistency, Fresh, Snapshot, Visible
from fullcount.runtime.evidence.certificate import Certificate, certify
from fullcount.runtime.evidence.envelope import Completeness, Envelope, Incompleteness, Notice, Scope, Status, Work
from fullcount.runtime.evidence.refusal import Refusal
from fullcount.runtime.evidence.warned import Recurrence

DIGEST = "sha256:" + "ab" * 32
INVENTORY = fake_inventory(fake_resource("people", "id: text, active: bool?", source="hr"))
ONCE = Recurrence(seen=(), limit=5)
HOUR = 3_600_000_000
USUAL: tuple[Claim, ...] = (Complete(), Snapshot(), Visible(), Fresh(HOUR))


def envelope_of(
    *reasons: Incompleteness,
    rows: int = 10,
    warnings: tuple[Notice, ...] = (),
    status: Status | None = None,
    scope: dict[str, Any] | None = None,
    work: dict[str, Any] | None = None,
    **rest: Any,
) -> Envelope:
    """Return an envelope of `people`: complete without reasons; `scope` and `work` replace attributes."""
    complete = len(reasons) == 0
    attributes: dict[str, Any] = {
        "inventory": "people",
        "status": status or (Status.COMPLETE if complete else Status.PARTIAL),
        "completeness": Completeness(complete=complete, reasons=reasons),
        "warnings": warnings,
        "scope": Scope(
            **{
                "source": "hr",
                "resource": "people",
                "visibility": "all",
                "consistency": Consistency.PINNED,
                "started_at": NOW,
                "finished_at": NOW + timedelta(seconds=5),
            }
            | (scope or {})
        ),
        "work": Work(
            **{"pages": 1, "rows": rows, "rows_read": rows, "distinct_keys": rows}
            | {"end_marker": "last page" if complete else None}
            | (work or {})
        ),
        "snapshot_digest": DIGEST,
    }
    return Envelope(**(attributes | rest))


def certified(
    envelope: Envelope, *claims: Claim, at: datetime = NOW + timedelta(minutes=1), **rest: Any
) -> Certificate | Refusal:
    """Return what certifying `people` comes to; no claims: the usual ones."""
    given: dict[str, Any] = {
        "previous_rows": None,
        "series": (),
        "agreed_count": None,
        "used_fields": frozenset({"id"}),
        "accepted": frozenset(),
        "recurrence": ONCE,
    }
    return certify(INVENTORY, claims or USUAL, envelope, at=at, **(given | rest))
