"""How many examples a property test runs under the profile in force (see `tests/conftest.py`)."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def examples(full: int) -> settings:
    """Run `full` examples under `ci`, and a tenth of them otherwise. Big examples are what these tests are about."""
    number = full if settings.get_current_profile_name() == "ci" else max(full // 10, 1)
    return settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
