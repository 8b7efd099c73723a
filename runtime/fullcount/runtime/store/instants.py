"""Instants as the store keeps them: microseconds since the Unix epoch, UTC. A naive time is never accepted."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(instant: datetime) -> int:
    """Return microseconds since the epoch. Raises `ValueError` for a time without an offset."""
    if instant.utcoffset() is None:
        msg = f"the time {instant.isoformat()} has no offset from UTC"
        raise ValueError(msg)
    return (instant - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the instant, in UTC."""
    return _EPOCH + micros * _MICROSECOND


def to_span(span: timedelta) -> int:
    """Return how many whole microseconds a span of time has."""
    return span // _MICROSECOND


def system_micros() -> int:
    """Return the host's present instant, exact to the microsecond."""
    return time.time_ns() // 1_000


def said(micros: int) -> str:
    """Return an instant for messages: `2026-11-30 02:00:00 UTC`."""
    return from_micros(micros).strftime("%Y-%m-%d %H:%M:%S UTC")
