"""One workspace and one stage for all scenarios: every test of a workflow begins with an empty store."""

from __future__ import annotations

import pytest
from tests.support.nights import opened
from tests.support.stores import empty_store
from tests.support.workspaces import Bench


@pytest.fixture(scope="session")
def night(tmp_path_factory):
    """A workspace of declared sources."""
    with opened(tmp_path_factory.mktemp("scenarios") / "night") as made:
        yield made


@pytest.fixture
def bench(tmp_path):
    """A small real workspace over SQLite, with an empty store: making one takes longer than a test."""
    made = Bench(tmp_path / "bench")
    made.state.parent.mkdir(mode=0o700)
    made.state.write_bytes(empty_store())
    made.state.chmod(0o600)
    return made
