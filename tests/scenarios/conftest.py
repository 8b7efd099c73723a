"""One workspace and one stage for all scenarios: every test of a workflow begins with an empty store."""

from __future__ import annotations

import pytest
from tests.support.nights import opened
from tests.support.workspaces import Bench


@pytest.fixture(scope="session")
def night(tmp_path_factory):
    """A workspace of declared sources."""
    with opened(tmp_path_factory.mktemp("scenarios") / "night") as made:
        yield made


@pytest.fixture
def bench(tmp_path):
    """A small real workspace over SQLite."""
    return Bench(tmp_path / "bench")
