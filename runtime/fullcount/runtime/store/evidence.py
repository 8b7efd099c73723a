"""Evidence as it was received: every envelope, complete or not, and every certificate that was issued."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.series import LENGTH
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import CertificateKept, EnvelopeKept
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.plan.document import CertificateDoc
from fullcount.runtime.store import runs, tables, warnings
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import from_micros, to_micros
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import StoredCertificate


def record_envelope(tx: Transaction, run_id: str, workflow: str, envelope: Envelope, owner: str) -> str:
    """Keep an envelope and return its id. Its warnings are counted; `owner` of the workflow has to see to them."""
    runs.running(tx.session, run_id)
    envelope_id, document = new_id(), canonical_text(envelope)
    kept = EnvelopeKept(
        envelope_id=envelope_id,
        workflow=workflow,
        inventory=envelope.inventory,
        complete=envelope.complete,
        rows=envelope.work.rows,
        snapshot_digest=envelope.snapshot_digest,
        sha256=sha256_text(document.encode()),
        warnings=tuple(sorted({notice.code for notice in envelope.warnings})),
        resource=f"{envelope.scope.source}.{envelope.scope.resource}",
        owner=owner,
    )
    tx.session.execute(
        insert(tables.Evidence).values(**kept.columns(), run_id=run_id, document=document, recorded_at=tx.now)
    )
    warnings.take(tx, kept)
    tx.record(kept, run_id=run_id)
    return envelope_id


def envelopes(session: Session, run_id: str) -> tuple[Envelope, ...]:
    """Return the envelopes that a run received, in order. Raises `StoreError` for one that does not fit its hash."""
    query = (
        select(tables.Evidence)
        .where(tables.Evidence.run_id == run_id)
        .order_by(tables.Evidence.recorded_at, tables.Evidence.envelope_id)
    )
    found = []
    for row in session.scalars(query):
        if sha256_text(row.document.encode()) != row.sha256:
            raise StoreError(
                "FC717",
                f"the envelope of `{row.inventory}` in run `{run_id}` does not fit its hash",
                help="see what else was changed with `fullcount verify`",
            )
        found.append(Envelope.model_validate(parse_canonical(row.document)))
    return tuple(found)


def record_certificate(
    tx: Transaction,
    run_id: str,
    workflow: str,
    certificate: CertificateDoc,
    observed_at: datetime,
    series: str | None,
) -> str:
    """Keep a certificate and return its id. `series`: see `tables.Certificate`.

    Raises `ValueError` for a time without an offset.
    """
    runs.running(tx.session, run_id)
    certificate_id, document = new_id(), canonical_text(certificate)
    kept = CertificateKept(
        certificate_id=certificate_id,
        workflow=workflow,
        inventory=certificate.inventory,
        rows=certificate.rows,
        snapshot_digest=certificate.snapshot_digest,
        observed_at=to_micros(observed_at),
        series=series,
        sha256=sha256_text(document.encode()),
    )
    tx.session.execute(
        insert(tables.Certificate).values(**kept.model_dump(), run_id=run_id, document=document, recorded_at=tx.now)
    )
    tx.record(kept, run_id=run_id)
    return certificate_id


def previous_rows(session: Session, workflow: str, inventory: str) -> int | None:
    """Return the rows of the last complete certified snapshot; None when there has been none.

    What a `bounded` proposal read of an inventory says nothing of its size.
    """
    # in canonical JSON the quotes of a text are escaped, so that no text can pass for the field
    partial = tables.Certificate.document.contains('"incomplete":["', autoescape=True)
    return session.scalar(
        select(tables.Certificate.rows)
        .where(tables.Certificate.workflow == workflow, tables.Certificate.inventory == inventory, ~partial)
        .order_by(tables.Certificate.recorded_at.desc(), tables.Certificate.certificate_id.desc())
        .limit(1)
    )


def series(session: Session, workflow: str, inventory: str, question: str) -> tuple[int, ...]:
    """Return the rows of the last certified readings that are counted in the series of a question, latest first."""
    found = session.scalars(
        select(tables.Certificate.rows)
        .where(
            tables.Certificate.workflow == workflow,
            tables.Certificate.inventory == inventory,
            tables.Certificate.series == question,
        )
        .order_by(tables.Certificate.recorded_at.desc(), tables.Certificate.certificate_id.desc())
        .limit(LENGTH)
    )
    return tuple(found)


def certificates(session: Session, run_id: str) -> tuple[StoredCertificate, ...]:
    """Return the certificates that a run issued, in order."""
    query = (
        select(tables.Certificate)
        .where(tables.Certificate.run_id == run_id)
        .order_by(tables.Certificate.recorded_at, tables.Certificate.certificate_id)
    )
    return tuple(
        StoredCertificate(
            document=CertificateDoc.model_validate(parse_canonical(row.document)),
            observed_at=from_micros(row.observed_at),
        )
        for row in session.scalars(query)
    )
