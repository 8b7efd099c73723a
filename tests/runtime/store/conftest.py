from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.postgres import Cluster, running_cluster
from tests.support.stores import Office

SQLITE_AND_POSTGRESQL = ["sqlite", pytest.param("postgresql", marks=pytest.mark.service("postgres"))]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Office(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@pytest.fixture
def postgresql_url(cluster: Cluster) -> Iterator[str]:
    """The address of an empty database."""
    with cluster.database("store") as name:
        yield cluster.full_url(database=name)


@pytest.fixture(params=SQLITE_AND_POSTGRESQL)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'state.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url
