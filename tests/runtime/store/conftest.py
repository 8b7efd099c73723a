from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.stores import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Office(tmp_path) as made:
        yield made
