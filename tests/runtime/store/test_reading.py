"""Opening a store to read: nothing is made, migrated or written, and what is read is one state."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import URL
from tests.support.records import full_history
from tests.support.stores import ANA, Office

from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store import migrate
from fullcount.runtime.store.errors import StoreMissing, StoreTooNew, StoreTooOld, StoreUnavailable
from fullcount.runtime.store.store import Store


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    """Neither a missing file nor an empty one is an empty record."""
    file = tmp_path / "folder" / "state.db"
    with pytest.raises(StoreMissing) as found:
        Store.open_to_read(f"sqlite:///{file}")
    assert (found.value.code, file.parent.exists()) == ("FC732", False)
    file.parent.mkdir()
    file.touch()
    with pytest.raises(StoreMissing):
        Store.open_to_read(f"sqlite:///{file}")
    assert file.read_bytes() == b""


def test_an_older_store_is_not_migrated(tmp_path, monkeypatch):
    """It says which revision it is at and what brings it up to date; and stays as it is."""
    file = tmp_path / "state.db"
    Store.open(f"sqlite:///{file}").close()
    before = file.read_bytes()
    older = migrate.REVISION
    monkeypatch.setattr(migrate, "REVISION", "9998")
    monkeypatch.setattr(migrate, "KNOWN", (*migrate.KNOWN, "9998"))
    with pytest.raises(StoreTooOld, match=older) as found:
        Store.open_to_read(f"sqlite:///{file}")
    assert found.value.code == "FC735"
    assert "fullcount plan" in found.value.help
    assert file.read_bytes() == before


def test_a_newer_store_is_refused(tmp_path):
    """As when it is opened to write."""
    file = tmp_path / "state.db"
    Store.open(f"sqlite:///{file}").close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreTooNew):
        Store.open_to_read(f"sqlite:///{file}")


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be looked at" * 40, b"short"])
def test_a_file_that_is_no_database_is_refused(tmp_path, content):
    """With the same clear error as to a writer."""
    file = tmp_path / "state.db"
    file.write_bytes(content)
    with pytest.raises(StoreUnavailable) as found:
        Store.open_to_read(f"sqlite:///{file}")
    assert found.value.code == "FC730"


def test_it_does_not_write(office):
    """Whoever opened it to read has no way to change anything."""
    with Store.open_to_read(office.url) as store:
        with pytest.raises(StoreUnavailable, match="to read"):
            store.halt("x", ANA)
        with store.reading() as session, pytest.raises(StoreUnavailable), store.reading():
            session.connection().exec_driver_sql("DELETE FROM controls")
    assert office.store.halted() is None


def test_a_state_that_moved_while_it_was_read_is_not_believed(tmp_path):
    """A file that no writer had open is read as it lies; if one came meanwhile, what was read may be of two states."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    Store.open(url).close()
    with Store.open_to_read(url) as store:
        assert store.halted() is None
        with pytest.raises(StoreUnavailable, match="while it was read"), store.reading(), Store.open(url) as writer:
            writer.halt("pager", ANA)
    with Store.open_to_read(url) as store:
        assert store.halted() == "pager (ana)"


@pytest.mark.parametrize("name", ["a b.db", "50%.db", "what?.db", "a#b.db", "ä&x=1.db"])
def test_any_name_of_a_file_is_that_file(tmp_path, name):
    """Signs that mean something in an address mean nothing in a name."""
    url = URL.create("sqlite", database=str(tmp_path / name)).render_as_string(hide_password=False)
    with Store.open(url) as store:
        store.halt("here", ANA)
    with Store.open_to_read(url) as store:
        assert store.halted() == "here (ana)"


@pytest.mark.service("postgres")
@pytest.mark.requirement("R34")
def test_a_role_that_may_only_select_can_verify(cluster, postgresql_url):
    """On PostgreSQL: no right but SELECT; a table that it may not read is named."""
    with Office(postgresql_url) as team:
        full_history(team)
    database = postgresql_url.rsplit("/", 1)[1]
    cluster.execute("DROP ROLE IF EXISTS auditor", "CREATE ROLE auditor LOGIN PASSWORD 'secret'")
    url = cluster.full_url("auditor", database)
    with pytest.raises(StoreUnavailable, match="permission denied") as found, Store.open_to_read(url) as store:
        verify(store)
    assert "SELECT" in found.value.help
    cluster.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor", database=database)
    with Store.open_to_read(url) as store:
        assert verify(store).ok
        with pytest.raises(StoreUnavailable):
            store.halt("x", ANA)
    with Store.open(url) as store, pytest.raises(StoreUnavailable, match="permission denied"):
        store.halt("x", ANA)
    cluster.execute("DROP OWNED BY auditor", "DROP ROLE auditor", database=database)


@pytest.mark.service("postgres")
def test_an_empty_database_is_no_record(postgresql_url):
    """And it stays empty."""
    for _ in range(2):
        with pytest.raises(StoreMissing):
            Store.open_to_read(postgresql_url)
