"""How many examples a property test runs under the profile in force (see `tests/conftest.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

T = TypeVar("T")

SHARE = {"nightly": 1.0, "ci": 0.125, "dev": 0.1}
"""The share of its full number of examples that a property test runs under each profile."""


def examples(full: int) -> settings:
    """Run this profile's share of `full` examples. Big examples are what these tests are about."""
    number = max(round(full * SHARE[settings.get_current_profile_name()]), 1)
    return settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def some(things: Sequence[T], every: int) -> Sequence[T]:
    """Return all of them each night, and one of `every` so many for a change: where each takes seconds."""
    return things if nightly() else things[::every]


def nightly() -> bool:
    """Whether everything is to be run."""
    return settings.get_current_profile_name() == "nightly"
