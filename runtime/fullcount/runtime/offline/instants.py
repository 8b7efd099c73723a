"""Instants as documents write them (RFC 3339), in the microseconds since 1970 that the journal counts in."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def micros_of(text: str) -> int:
    """Return an instant in microseconds. Raises `ValueError` for any other text, and for a time without an offset."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        msg = f"`{text}` is another instant on each machine"
        raise ValueError(msg)
    return (found - _EPOCH) // timedelta(microseconds=1)
