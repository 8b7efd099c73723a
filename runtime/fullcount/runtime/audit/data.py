"""An audit for programs: the same findings as the report, all of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fullcount.runtime.audit.findings import Audit, Finding, Judged, Verdict


def to_data(audit: Audit, name: str) -> dict[str, Any]:
    """Return the audit as plain values for JSON."""
    counted = Counter(each.verdict for each in audit.judged)
    return {
        "file": name,
        "title": audit.title,
        "version": audit.version,
        "operations": audit.operations,
        "proven": audit.proven,
        "verdicts": {str(verdict): counted[verdict] for verdict in Verdict},
        "judged": [judged_data(each) for each in audit.judged],
        "not_judged": [{"method": each.method, "path": each.path, "why": each.why} for each in audit.unjudged],
        "not_followed": list(audit.remote),
    }


def judged_data(judged: Judged) -> dict[str, Any]:
    """Return one verdict as plain values."""
    return {
        "method": judged.method,
        "path": judged.path,
        "operation_id": judged.name,
        "kind": str(judged.kind),
        "verdict": str(judged.verdict),
        "items": None if judged.way is None else judged.way.items,
        "proofs": list(judged.proofs),
        "findings": [_finding(each) for each in judged.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": str(finding.code),
        "message": finding.says,
        "decides": finding.decides,
        "declare": finding.declare,
        "add": finding.add,
    }
