"""Each test gets a workspace of its own."""

from __future__ import annotations

import pytest
from tests.support.workspaces import Bench


@pytest.fixture
def bench(tmp_path):
    """A small real workspace."""
    return Bench(tmp_path / "bench")
