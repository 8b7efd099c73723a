"""The certificate: the record that the claims of a `verify` held for one snapshot, with what they were measured on.

Guarantees: it exists only if every claim held and no warning blocks; otherwise there is a refusal that names all that
is missing, not only the first. It carries the numbers that it was issued on, so that each use can work them out again.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import AwareDatetime

from fullcount.compiler import program
from fullcount.compiler.claims import Agrees, Claim, Fresh
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.codes import Severity, WarningCode, severity_of
from fullcount.runtime.evidence.envelope import Envelope, Wire
from fullcount.runtime.evidence.judge import CountFailed, Held, Measured, blocking, in_words, judge
from fullcount.runtime.evidence.recurrence import recurring
from fullcount.runtime.evidence.refusal import Finding, Ground, Refusal
from fullcount.runtime.evidence.series import collapse
from fullcount.runtime.evidence.warned import Recurrence
from fullcount.runtime.evidence.wording import incompleteness, title, verify_way
from fullcount.runtime.plan.document import CertificateDoc


class Certificate(Wire):
    """That these claims held for this reading. `max_age` in seconds, from `observed_at`; None: no age was promised."""

    inventory: str
    envelope: Envelope
    held: tuple[Held, ...]
    doc: CertificateDoc
    observed_at: AwareDatetime
    """When the read began: the oldest state that it can show, and what freshness counts from."""
    max_age: float | None
    previous_rows: int | None = None
    """Rows of the certified reading before; None: there was none."""
    agreed_count: int | None = None
    """The independent count; None: none was asked for."""
    series: tuple[int, ...] | None = None
    """Rows of the certified readings before, the latest first; None: it was not held against them."""
    used_fields: tuple[str, ...] = ()
    accepted: tuple[WarningCode, ...] = ()
    recurrence: Recurrence
    """How often its warnings came in a row."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The claims with their measurements, a line for each."""
        return tuple(f"{held.claim}: {held.measured}" for held in self.held)


def certify(
    inventory: program.Inventory,
    claims: tuple[Claim, ...],
    envelope: Envelope,
    *,
    previous_rows: int | None,
    series: tuple[int, ...] | None,
    agreed_count: int | SourceError | None,
    used_fields: frozenset[str],
    accepted: frozenset[WarningCode],
    recurrence: Recurrence,
    at: datetime,
) -> Certificate | Refusal:
    """Certify a reading at an instant, or refuse with everything that is missing.

    `previous_rows`: rows of the last certified snapshot of the same inventory, None if there was none. `series`: rows
    of the certified readings of the same question, the latest first; None where no use rests on absence.
    `agreed_count`: the count that `count agrees with` asks for, or the error that came instead.
    `used_fields`: the fields that rules read. `accepted`: warnings of the resource
    that the workspace accepts although they block. `recurrence`: how often in a row they were seen.
    """
    counted = CountFailed(agreed_count.reason) if isinstance(agreed_count, SourceError) else agreed_count
    on = Measured(envelope, at, previous_rows, counted)
    held: list[Held] = []
    findings: list[Finding] = list(_foreign(inventory, envelope))
    for claim in claims:
        result = judge(claim, on)
        if isinstance(result, Held):
            held.append(result)
        else:
            findings += result
    if len(claims) == 0:
        findings.append(_nothing_verified(envelope))
    if series is not None:
        findings += collapse(envelope, claims, series)
    findings += blocking(envelope, used_fields, accepted)
    findings += recurring(envelope, recurrence, accepted)
    digest, end_marker = envelope.snapshot_digest, envelope.work.end_marker
    if len(findings) > 0 or digest is None:
        distinct = tuple(dict.fromkeys(findings))
        return Refusal(stage=f"verify:{inventory.name}", ground=Ground.EVIDENCE, findings=distinct)
    ages = [claim.max_age for claim in claims if isinstance(claim, Fresh) and claim.max_age is not None]
    agrees = [claim for claim in claims if isinstance(claim, Agrees)]
    return Certificate(
        inventory=inventory.name,
        envelope=envelope,
        held=tuple(held),
        doc=CertificateDoc(
            inventory=inventory.name,
            source=inventory.source,
            resource=inventory.resource,
            snapshot_digest=digest,
            rows=envelope.work.rows,
            distinct_keys=envelope.work.distinct_keys,
            claims=tuple(in_words(claim) for claim in claims),
            consistency=envelope.scope.consistency,
            visibility=envelope.scope.visibility,
            end_marker="none seen" if end_marker is None else end_marker,
            incomplete=tuple(dict.fromkeys(incompleteness(reason) for reason in envelope.completeness.reasons)),
            parts=tuple(part.name for part in envelope.scope.parts),
            count_agrees=", ".join(f"{claim.source}.{claim.resource}" for claim in agrees) or None,
            accepted_warnings=tuple(sorted({n.code for n in envelope.warnings if _matters(n.code)} & accepted)),
        ),
        observed_at=envelope.scope.started_at,
        max_age=min(ages) / 1_000_000 if len(ages) > 0 else None,
        previous_rows=previous_rows,
        agreed_count=counted if isinstance(counted, int) else None,
        series=series,
        used_fields=tuple(sorted(used_fields)),
        accepted=tuple(sorted(accepted)),
        recurrence=recurrence,
    )


def restore(doc: CertificateDoc, envelope: Envelope, *, max_age: float | None) -> Certificate:
    """Return the certificate that a stored plan carries, with the reading that it names.

    What a later use can work out again, it does (`satisfy.unmet`). Count, change, series and recurrence were compared
    with numbers of that time; the plan's digest vouches that the comparison held.
    """
    return Certificate(
        inventory=doc.inventory,
        envelope=envelope,
        held=tuple(Held(claim=claim, measured="when the plan was made") for claim in doc.claims),
        doc=doc,
        observed_at=envelope.scope.started_at,
        max_age=max_age,
        agreed_count=None if doc.count_agrees is None else doc.distinct_keys,
        series=(),
        accepted=tuple(WarningCode(code) for code in doc.accepted_warnings),
        recurrence=Recurrence(seen=(), limit=1),
    )


def _matters(code: WarningCode) -> bool:
    """Whether it makes a difference that a warning is accepted."""
    return severity_of(code) is not Severity.NOTES


def _foreign(inventory: program.Inventory, envelope: Envelope) -> tuple[Finding, ...]:
    """Refuse a reading of something else."""
    asked = (inventory.name, inventory.source, inventory.resource)
    if (envelope.inventory, envelope.scope.source, envelope.scope.resource) == asked:
        return ()
    message = f"the reading at hand is of {title(envelope)}, not of `{asked[0]}` ({asked[1]}.{asked[2]})"
    return (Finding(code="FC747", message=message, inventory=inventory.name),)


def _nothing_verified(envelope: Envelope) -> Finding:
    message = f"nothing verifies {title(envelope)}"
    way = verify_way("say what must hold:  complete, fresh within 24h", envelope.inventory)
    return Finding(code="FC747", message=message, inventory=envelope.inventory, ways_on=(way,))
