"""Two sources set against each other: what is in the second and not in the first is what a sync would remove.

Guarantees: both sides must be complete; where one is not and the two differ, the difference is named as such beside the
cause. A first side that is empty while the second is not needs a canary, and is no ground for anything without one.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullcount.runtime.conformance.case import Case, Step
from fullcount.runtime.conformance.http_replay import read_steps
from fullcount.runtime.conformance.recorded import recorded
from fullcount.runtime.conformance.recording import request_of
from fullcount.runtime.conformance.verdict import Verdict, way_of
from fullcount.runtime.connectors.http.catalogue import dialect_named
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.connectors.http.scan import operation_for
from fullcount.runtime.evidence.codes import Reason

_KNOWN_BY_PATH = ("github_rest", "docker_registry", "elasticsearch")
"""Dialects that a comparison may mix; others are plain lists."""


async def compare_case(case: Case) -> Verdict:
    """Return what a recorded comparison licenses."""
    sides = _sides(case.exchange)
    envelopes = []
    names = []
    for steps in sides:
        dialect = _dialect(steps)
        envelopes.append(await read_steps(steps, dialect, case.fields, case.limits))
        names.append((await recorded(steps, dialect)).names)
    reasons = {reason.code for envelope in envelopes for reason in envelope.completeness.reasons}
    way = way_of(envelope.completeness.continuation for envelope in envelopes if not envelope.complete)
    missing = len(names) > 1 and len(names[1] - names[0]) > 0
    if missing and (len(reasons) > 0 or len(names[0]) == 0):
        reasons.add(Reason.COUNT_MISMATCH)
    warnings = {notice.code for envelope in envelopes for notice in envelope.warnings}
    details = tuple(reason.detail for envelope in envelopes for reason in envelope.completeness.reasons)
    return Verdict(frozenset(reasons), way, frozenset(warnings), {}, details)


def _sides(steps: Sequence[Step]) -> list[list[Step]]:
    """Part the steps by the path that they ask: each side is one list."""
    sides: dict[str, list[Step]] = {}
    for step in steps:
        sides.setdefault(request_of(step).path, []).append(step)
    return list(sides.values())


def _dialect(steps: Sequence[Step]) -> Dialect:
    for name in _KNOWN_BY_PATH:
        dialect = dialect_named(name)
        if operation_for(dialect, request_of(steps[0])).name != "any":
            return dialect
    return dialect_named("generic_http")
