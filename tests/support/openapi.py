"""Small documents of OpenAPI: one list, with what its reply says of itself and what a caller may send."""

from __future__ import annotations

from typing import Any

from fullcount.runtime.audit.auditing import audit
from fullcount.runtime.audit.findings import Audit, Judged

PETS = {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}
CURSOR = {"name": "cursor", "in": "query", "schema": {"type": "string"}}
PAGE = {"name": "page", "in": "query", "schema": {"type": "integer"}}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
EXACT = {"type": "integer", "description": "The exact number of pets that match."}


def reply(required: str = "", items: Any = PETS, **properties: Any) -> dict[str, Any]:
    """Return the schema of a reply with a list `items` and what stands beside it."""
    names = ["items", *required.split()]
    return {"type": "object", "required": names, "properties": {"items": items, **properties}}


def document(
    schema: Any,
    *parameters: dict[str, Any],
    path: str = "/pets",
    method: str = "get",
    version: str = "3.0.3",
    media: str = "application/json",
    headers: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a document with one operation that answers with this schema."""
    ok: dict[str, Any] = {"description": "ok", "content": {media: {"schema": schema}}}
    if headers is not None:
        ok["headers"] = headers
    operation = {"parameters": list(parameters), "responses": {"200": ok}, **more}
    return {"openapi": version, "info": {"title": "Pets", "version": "1"}, "paths": {path: {method: operation}}}


def audited(tree: Any) -> Audit:
    """Return the audit of a document."""
    return audit(tree, "pets.json")


def judged(schema: Any, *parameters: dict[str, Any], **more: Any) -> Judged:
    """Return the verdict on the one list of a document."""
    (one,) = audited(document(schema, *parameters, **more)).judged
    return one


def codes(one: Judged, *, deciding: bool = False) -> set[str]:
    """Return the codes of what was found."""
    return {str(each.code) for each in (one.deciding if deciding else one.findings)}
