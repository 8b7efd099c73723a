"""Which dialect a source speaks, and which rules read one of its resources."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fullcount.compiler.claims import Consistency
from fullcount.runtime.connectors.http.catalogue import UnknownDialectError, dialect_named, load_dialect
from fullcount.runtime.connectors.http.exchange import OPERATION_HEADER, Request
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.workspace.errors import SettingError

if TYPE_CHECKING:
    from fullcount.runtime.connectors.http.config import HttpConfig, HttpResource


def spoken(config: HttpConfig) -> Dialect:
    """Return the source's dialect. Raises `SettingError`."""
    if config.dialect_file is not None:
        return _of_file(config.dialect_file)
    try:
        return dialect_named(config.dialect or "")
    except UnknownDialectError as error:
        raise SettingError(str(error)) from None


@lru_cache(maxsize=32)
def _of_file(path: Path) -> Dialect:
    return load_dialect(path)


def fingerprint(dialect: Dialect) -> str:
    """Return a dialect's name with a digest of its rules: plans rest on what the rules say."""
    return f"{dialect.name}:{sha256(dialect.model_dump_json().encode()).hexdigest()[:16]}"


def requests_of(resource: HttpResource) -> tuple[Request, ...]:
    """Return the first request of each part of a resource's list."""
    paths = [resource.list_path] if isinstance(resource.list_path, str) else resource.list_path
    headers = {} if resource.operation is None else {OPERATION_HEADER: resource.operation}
    return tuple(replace(Request.to(path, resource.method, headers), body=resource.body) for path in paths)


def declared_consistency(dialect: Dialect, resource: HttpResource) -> Consistency:
    """Return what a workflow may count on before anything is read: pages that may shift are read until they agree."""
    from fullcount.runtime.connectors.http.scan import operation_for

    if resource.consistency is not None:
        return resource.consistency
    starts = requests_of(resource)
    operation = operation_for(dialect, starts[0])
    more = operation.detail is not None or resource.detail is not None  # read object by object, each at its own instant
    pinned = (
        not more
        and len(operation.cursor) > 0
        and all(cursor.keeps is Consistency.PINNED for cursor in operation.cursor)
    )
    return Consistency.PINNED if pinned and len(starts) == 1 else Consistency.INTERVAL
