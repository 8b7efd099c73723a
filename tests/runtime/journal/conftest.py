from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.records import full_history
from tests.support.stores import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Office(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store in which everything has happened."""
    folder = tmp_path_factory.mktemp("history")
    with Office(folder) as office:
        full_history(office)
    return folder / "state.db"


@pytest.fixture
def file(tmp_path: Path, history: Path) -> Path:
    """A copy of that file, to be tampered with."""
    path = tmp_path / "history.db"
    path.write_bytes(history.read_bytes())
    return path
