"""in-toto statements of plans and certificates, and the DSSE envelope around a signed one.

The statement is canonical JSON. Its signature is one of SSH (`sshsig.py`) over DSSE's pre-authentication encoding, so
that keys of `allowed_signers` sign these as well; in the envelope it stands as base64, with the key's fingerprint.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from fullcount.runtime.offline.canonical import canonical
from fullcount.runtime.offline.sshsig import SignatureWrong, SshSignature, check_signature, read_signature, write_armour

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PLAN_PREDICATE: Final = "urn:fullcount:plan:1"
CERTIFICATE_PREDICATE: Final = "urn:fullcount:certificate:1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

_OF_A_PLAN: Final = (
    "plan_id", "run_id", "created_at", "created_by", "authors", "workflow", "proposal", "rule", "program_digest",
    "parameters", "engine_version", "connector_versions", "target", "certificates", "caps", "sums", "merkle_root",
    "digest",
)  # fmt: skip


def plan_statement(plan: dict[str, Any], sha256_of_document: str) -> bytes:
    """Return the statement about a plan; its subject is the plan's document as it is exported."""
    subject = (f"plans/{plan['plan_id']}.json", sha256_of_document)
    return _statement(subject, PLAN_PREDICATE, {name: plan[name] for name in _OF_A_PLAN})


def certificate_statement(certificate_id: str, certificate: dict[str, Any]) -> bytes:
    """Return the statement about a certificate; its subject is the snapshot of rows that it was given for."""
    subject = (f"{certificate['source']}.{certificate['resource']}", certificate["snapshot_digest"])
    return _statement(subject, CERTIFICATE_PREDICATE, certificate | {"certificate_id": certificate_id})


def to_be_signed(statement: bytes) -> bytes:
    """Return what a signature of a statement is over: DSSE's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(statement), statement)


def envelope_of(statement: bytes, armoured: str) -> bytes:
    """Return the DSSE envelope of a statement and its signature. Raises `SignatureWrong`."""
    found = read_signature(armoured)
    body = "".join(armoured.splitlines()[1:-1])
    signature = {"keyid": found.fingerprint, "sig": body}
    said = {
        "payloadType": PAYLOAD_TYPE, "payload": base64.b64encode(statement).decode(), "signatures": [signature]
    }  # fmt: skip
    return f"{canonical(said)}\n".encode()


def open_envelope(data: bytes) -> tuple[bytes, SshSignature]:
    """Return the statement in a DSSE envelope, and its signature, which fits it. Raises `SignatureWrong`."""
    try:
        said = json.loads(data)
        statement = base64.b64decode(said["payload"], validate=True)
        armoured = write_armour(base64.b64decode(said["signatures"][0]["sig"], validate=True))
        again = envelope_of(statement, armoured)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise SignatureWrong("is in an envelope that can't be read") from error
    if again != data:
        raise SignatureWrong("is in an envelope that says something else as well")
    found = read_signature(armoured)
    check_signature(found, to_be_signed(statement))
    return statement, found


def _statement(subject: tuple[str, str], predicate_type: str, predicate: dict[str, Any]) -> bytes:
    name, digest = subject
    said = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}}],
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    return f"{canonical(said)}\n".encode()
