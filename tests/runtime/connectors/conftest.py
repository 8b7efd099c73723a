"""Sources on real SQLite files, closed when the test ends."""

from __future__ import annotations

import pytest
from tests.support.sql import ACCOUNTS, CREATE_ACCOUNTS, File, Source, account, sqlite_settings


@pytest.fixture
def file(tmp_path):
    """A file with 25 accounts."""
    made = File(tmp_path / "directory.db", CREATE_ACCOUNTS)
    made.insert(*(account(index) for index in range(25)))
    return made


@pytest.fixture
async def make_source():
    """Make sources that are closed at the end."""
    made = []

    def make(settings, name="accounts"):
        made.append(Source(settings, name))
        return made[-1]

    yield make
    for source in made:
        await source.close()


@pytest.fixture
def source(file, make_source):
    """The accounts of the file as a source."""
    return make_source(sqlite_settings(file.path))


@pytest.fixture
def sqlite_source(tmp_path, make_source):
    """Make a source on a file of one's own: its statements, its rows, and changes to the declared resource."""

    def make(*statements, rows=(), settings=None, **resource):
        made = File(tmp_path / "own.db", *statements)
        if rows:
            made.insert(*rows)
        found = make_source(sqlite_settings(made.path, {**ACCOUNTS, **resource}, **(settings or {})))
        return made, found

    return make
