"""One journal entry and its hash, as values: what a third party needs to check the chain, and nothing else.

The hash of an entry is SHA-256 over the canonical JSON (RFC 8785) of `{seq, at, kind, run_id, payload, prev}`, where
`prev` is the hash of the entry before it and `GENESIS` for the first. `at` is in microseconds since the epoch, UTC.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fullcount.runtime.plan.digest import canonical_bytes, sha256_text
from fullcount.runtime.store.instants import from_micros

GENESIS: Final = "sha256:" + "0" * 64
"""What stands before the first entry."""

_TAG: Final = "$int"


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry: how many there are, and the hash that stands for all of them."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `payload` is canonical JSON text."""

    seq: int
    at: int
    kind: str
    run_id: str | None
    payload: str
    prev: str
    hash: str

    @property
    def instant(self) -> datetime:
        """When it was written, by the store's clock."""
        return from_micros(self.at)

    def data(self) -> dict[str, Any]:
        """Return the payload. Raises `ValueError` when it is not canonical JSON of an object."""
        value = read_canonical(self.payload)
        if not isinstance(value, dict):
            msg = "the payload is not an object"
            raise ValueError(msg)
        return value


def entry_hash(*, seq: int, at: int, kind: str, run_id: str | None, payload: str, prev: str) -> str:
    """Return the hash of an entry; `payload` is canonical JSON, which stands in the whole as it is."""
    before, after = (
        canonical_text({"at": at, "kind": kind}),
        canonical_text({"prev": prev, "run_id": run_id, "seq": seq}),
    )
    # names in canonical JSON stand in alphabetical order: `payload` comes after `kind` and before `prev`
    return sha256_text(f'{before[:-1]},"payload":{payload},{after[1:]}'.encode())


def canonical_text(value: Any) -> str:
    """Return canonical JSON as text. Raises `CanonicalError`."""
    return canonical_bytes(value).decode()


def read_canonical(text: str) -> Any:
    """Return the value of canonical JSON, large integers restored. Raises `ValueError` when it is anything else."""
    value = parse_canonical(text)
    if canonical_text(value) != text:
        msg = "the text is JSON, but not in canonical form"
        raise ValueError(msg)
    return value


def parse_canonical(text: str) -> Any:
    """Return the value of canonical JSON without checking its form: for text whose hash was, or will be, compared."""
    value = json.loads(text)
    return _restored(value) if _TAG in text or "\\u" in text else value  # without a tag there is nothing to restore


def _restored(value: Any) -> Any:
    match value:
        case {"$int": str() as digits} if len(value) == 1:
            return int(digits)
        case dict():
            return {_unescaped(key): _restored(item) for key, item in value.items()}
        case list():
            return [_restored(item) for item in value]
    return value


def _unescaped(key: str) -> str:
    if key != _TAG and key.endswith(_TAG) and set(key[: -len(_TAG)]) == {"$"}:
        return key[1:]
    return key
