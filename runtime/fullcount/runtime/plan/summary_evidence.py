"""The evidence of a plan, a line for each inventory: what was seen, claim by claim, and what was said beside it."""

from __future__ import annotations

from datetime import datetime

from fullcount.runtime import format as fmt
from fullcount.runtime.evidence.codes import WARNING_TEXT, Severity, severity_of
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.series import in_words
from fullcount.runtime.evidence.warned import WarningSeen
from fullcount.runtime.evidence.wording import incompleteness, unusable_fields
from fullcount.runtime.plan.document import (
    CertificateDoc,
    PlanDocument,
)
from fullcount.runtime.plan.summary_parts import EvidenceLine
from fullcount.runtime.text import plain


def evidence_lines(doc: PlanDocument) -> list[EvidenceLine]:
    """Return a line for each certificate, with the age that its read had when the plan was made."""
    envelopes = {envelope.inventory: envelope for envelope in doc.envelopes}
    return [
        EvidenceLine(
            inventory=plain(held.inventory),
            resource=plain(f"{held.source}.{held.resource}"),
            facts=(*_facts(held, envelopes.get(held.inventory), doc.created_at), *_series(doc, held)),
            end=plain(held.end_marker),
            warnings=tuple(plain(warning) for warning in held.accepted_warnings),
            refused=tuple(_refused(envelopes.get(held.inventory))),
            notices=tuple(_notices(envelopes.get(held.inventory))),
            missing=tuple(_missing(held, envelopes.get(held.inventory))),
        )
        for held in doc.certificates
    ]


def _facts(held: CertificateDoc, envelope: Envelope | None, at: datetime) -> list[str]:
    """Return what was seen, claim by claim, with what it was measured on."""
    age = None if envelope is None else fmt.length(at - envelope.scope.started_at)
    facts = [fmt.counted(held.rows, "row")]
    if len(held.incomplete) > 0:
        facts.append("NOT COMPLETE: there may be more")
    if len(held.parts) > 0:
        facts.append(f"{fmt.counted(len(held.parts), 'part')}: {'; '.join(plain(part) for part in held.parts)}")
    for claim in held.claims:
        if claim.startswith("snapshot "):
            facts.append(f"{plain(held.consistency)} snapshot")
        elif claim.startswith("fresh ") and age is not None:
            facts.append(f"{age} old ({plain(claim)})")
        elif claim.startswith("count agrees"):
            facts.append(f"{plain(claim)} ({fmt.count(held.distinct_keys)})")
        else:
            facts.append(plain(claim))
    return facts


def _series(doc: PlanDocument, held: CertificateDoc) -> list[str]:
    """Return how the reading stands to those before it: its size, and the warnings that came again."""
    measured = doc.measurements.get(held.inventory)
    if measured is None:
        return []
    series = [] if measured.series is None else [in_words(held.rows, measured.series)]
    return series + [
        plain(f"{seen.code} {_times(seen)} since {seen.since:%Y-%m-%d} ({seen.owner}{_until(seen)})")
        for seen in measured.warnings
        if severity_of(seen.code) is not Severity.NOTES
    ]


def _times(seen: WarningSeen) -> str:
    return "once" if seen.runs == 1 else f"{seen.runs:,} times in a row"


def _until(seen: WarningSeen) -> str:
    return "" if seen.accepted_until is None else f", accepted until {seen.accepted_until}"


def _refused(envelope: Envelope | None) -> list[str]:
    return [] if envelope is None else [plain(text) for text in unusable_fields(envelope)]


def _notices(envelope: Envelope | None) -> list[str]:
    if envelope is None:
        return []
    return [plain(f"{notice.code}: {notice.detail or WARNING_TEXT[notice.code]}") for notice in envelope.warnings]


def _missing(held: CertificateDoc, envelope: Envelope | None) -> list[str]:
    """Return the reasons as the plan holds them, with what the source said of each where that is at hand."""
    said = {} if envelope is None else {incompleteness(r): r.detail for r in envelope.completeness.reasons}
    return [plain(f"{code}: {said[code]}" if said.get(code) else code) for code in held.incomplete]
