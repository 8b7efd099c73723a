"""The whole story: bytes to a document, its operations one by one, each to its verdict. Connects to nothing."""

from __future__ import annotations

from fullcount.runtime.audit.documents import Json, not_openapi, read_document, version_of
from fullcount.runtime.audit.findings import Audit, Judged, Unjudged
from fullcount.runtime.audit.judge import judge
from fullcount.runtime.audit.operations import frames, operation
from fullcount.runtime.audit.schemas import Reader, mapping, text


def audit_bytes(data: bytes, name: str) -> Audit:
    """Return the audit of a document, whatever its bytes are. Raises `AuditError`."""
    return audit(read_document(data, name), name)


def audit(tree: Json, name: str) -> Audit:
    """Return the audit of a document that was read. Raises `AuditError` if it is none of OpenAPI."""
    version = version_of(tree, name)
    document = mapping(tree)
    reader = Reader(document, version)
    judged: list[Judged] = []
    unjudged: list[Unjudged] = []
    operations = 0
    for method, path, own, shared in frames(document, reader):
        operations += 1
        reader.refill()
        found = judge(operation(method, path, own, shared, reader, document), reader, version)
        if isinstance(found, Judged):
            judged.append(found)
        elif found is not None:
            unjudged.append(found)
    if operations == 0:
        raise not_openapi(f"`{name}` describes no operation, and an audit of nothing proves nothing")
    judged.sort(key=lambda each: (each.verdict.rank, each.path, each.method))
    return Audit(
        title=text(mapping(document.get("info")).get("title")),
        version=version,
        operations=operations,
        judged=tuple(judged),
        unjudged=tuple(unjudged),
        remote=tuple(reader.remote),
    )
