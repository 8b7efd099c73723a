"""How many examples a property test runs under the profile in force (see `tests/conftest.py`)."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SHARE = {"nightly": 1.0, "ci": 0.4, "dev": 0.1}
"""The share of its full number of examples that a property test runs under each profile."""


def examples(full: int) -> settings:
    """Run this profile's share of `full` examples. Big examples are what these tests are about."""
    number = max(round(full * SHARE[settings.get_current_profile_name()]), 1)
    return settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
