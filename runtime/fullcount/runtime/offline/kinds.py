"""What each kind of journal entry says, field by field; a test holds it equal to what writes the journal.

`text int bool any`; `?x`: null as well; `[x]`: a list; `{x}`: a map. A field with `=` may be missing: entries of older
versions lack it. Formats are added to, never changed.
"""

from __future__ import annotations

from typing import Any, Final

_WHO: Final[dict[str, Any]] = {"uid": "int", "name": "text"}
_KEY: Final = "[any]"

KINDS: Final[dict[str, dict[str, Any]]] = {
    "run_began": {
        "run_id": "text", "workflow": "text", "kind": "text", "by": _WHO, "plan_id": "?text", "slot_id": "?text",
    },
    "run_finished": {"state": "text", "exit": "int", "summary": "{any}"},
    "envelope": {
        "envelope_id": "text", "workflow": "text", "inventory": "text", "complete": "bool", "rows": "int",
        "snapshot_digest": "?text", "sha256": "text", "warnings=": "?[text]", "resource=": "text", "owner=": "text",
    },
    "certificate": {
        "certificate_id": "text", "workflow": "text", "inventory": "text", "rows": "int", "snapshot_digest": "text",
        "observed_at": "int", "sha256": "text", "series=": "?text",
    },
    "planned": {
        "plan_id": "text", "workflow": "text", "proposal": "text", "digest": "text", "sha256": "text",
        "candidates": "int", "over_cap": "bool", "authors": "[text]", "supersedes": "[text]", "voids": "[text]",
        "undoes=": "?text",
    },
    "struck": {
        "plan_id": "text", "of": "text", "digest": "text", "keys": [_KEY], "by": _WHO, "because": "?text",
    },
    "approval_opened": {
        "round_id": "text", "plan_id": "text", "digest": "text",
        "rule": [{"role": "text", "count": "int", "not_by_author": "bool"}], "signed=": "bool",
    },
    "approved": {
        "round_id": "text", "plan_id": "text", "digest": "text", "by": _WHO, "expires_at": "int", "signed_at=": "?int",
        "signature=": "?text",
    },
    "approval_complete": {
        "round_id": "text", "plan_id": "text", "digest": "text", "seats": [{"quorum": "int", "uid": "int"}],
        "key_sha256": "text", "expires_at": "int",
    },
    "approved_automatically": {
        "round_id": "text", "plan_id": "text", "digest": "text",
        "rule": {"count": "int", "percent": "?text", "reversible": "bool"}, "allowed": "int", "candidates": "int",
        "population": "int", "key_sha256": "text", "expires_at": "int",
    },
    "approval_revoked": {"round_id": "text", "plan_id": "text", "digest": "text", "by": _WHO, "because": "text"},
    "apply_began": {"plan_id": "text", "round_id": "text", "digest": "text", "fence": "int"},
    "intents": {
        "plan_id": "text", "kind": "text", "fence": "int",
        "acts": [{
            "act_id": "text", "key": _KEY, "operation": "text", "parameters": "{any}", "idempotency_key": "text",
            "round_id": "text", "step=": "?text", "sealed=": "?text",
        }],
    },
    "meant_again": {
        "plan_id": "text", "kind": "text", "fence": "int",
        "acts": [{"act_id": "text", "key": _KEY, "round_id": "text"}],
    },
    "outcomes": {
        "plan_id": "text", "kind": "text",
        "outcomes": [{
            "act_id": "text", "key": _KEY, "outcome": "text", "reason": "?text", "detail": "text",
            "before_sha256": "text",
        }],
    },
    "apply_ended": {"plan_id": "text", "counts": "{int}", "applied": "bool"},
    "canary_waits": {"plan_id": "text", "keys": [_KEY], "until": "int"},
    "canary_passed": {"plan_id": "text", "counted=": "?int"},
    "steps_seen": {
        "plan_id": "text", "workflow": "text", "proposal": "text", "at": "int",
        "began": [{"key": _KEY, "incarnation": "text"}], "lapsed": [_KEY],
        "ended": [{"key": _KEY, "because": "text"}],
    },
    "steps_moved": {
        "plan_id": "text", "kind": "text",
        "moved": [{"key": _KEY, "incarnation": "text", "step": "?text", "ended": "?text"}],
    },
    "notice_queued": {
        "notice_id": "text", "workflow": "text", "event": "text", "target": "text", "title": "text", "sha256": "text",
    },
    "notice_moved": {"notice_id": "text", "state": "text", "attempts": "int", "next_at": "?int", "detail": "text"},
    "lease_claimed": {"name": "text", "holder": "text", "token": "int", "expires_at": "int"},
    "lease_released": {"name": "text", "holder": "text", "token": "int"},
    "slot_taken": {
        "slot_id": "text", "workflow": "text", "planned_at": "int", "local_day": "?text", "state": "text",
        "holder": "text", "detail": "text",
    },
    "slot_finished": {"slot_id": "text", "detail": "text"},
    "halted": {"reason": "text", "by": _WHO},
    "resumed": {"by": _WHO},
    "paused": {"workflow": "text", "reason": "text", "by": _WHO},
    "pause_lifted": {"workflow": "text", "by": _WHO},
}  # fmt: skip


def shape_wrong(value: Any, shape: Any, place: str = "") -> str | None:
    """Return the first place where a value is not of a shape, with what was expected there; None if it is."""
    match shape:
        case dict():
            return _fields_wrong(value, shape, place)
        case [inner]:
            if not isinstance(value, list):
                return f"{place or 'it'}: expected a list"
            return next((w for n, each in enumerate(value) if (w := shape_wrong(each, inner, f"{place}.{n}"))), None)
        case str() if shape.startswith("?"):
            return None if value is None else shape_wrong(value, shape[1:], place)
        case str() if shape.startswith("["):
            return shape_wrong(value, [shape[1:-1]], place)
        case str() if shape.startswith("{"):
            if not isinstance(value, dict):
                return f"{place}: expected a map"
            return next((w for n, each in value.items() if (w := shape_wrong(each, shape[1:-1], f"{place}.{n}"))), None)
    right = {"text": type(value) is str, "int": type(value) is int, "bool": type(value) is bool, "any": True}[shape]
    return None if right else f"{place}: expected {shape}"


def _fields_wrong(value: Any, shape: dict[str, Any], place: str) -> str | None:
    if not isinstance(value, dict):
        return f"{place or 'it'}: expected fields"
    needed = {name for name in shape if not name.endswith("=")}
    known = {name.removesuffix("="): of for name, of in shape.items()}
    for name in sorted(needed - set(value)):
        return f"{place}.{name}".lstrip(".") + ": it is missing"
    for name, of in known.items():
        if name in value and (what := shape_wrong(value[name], of, f"{place}.{name}".lstrip("."))) is not None:
            return what
    for name in sorted(set(value) - set(known)):
        return f"{place}.{name}".lstrip(".") + ": it is not known"
    return None
