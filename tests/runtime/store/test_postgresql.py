"""The same store on PostgreSQL: tables, guards, the whole history, and its verification."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.exc import DatabaseError
from tests.runtime.store.test_opening import differences
from tests.support.records import full_history
from tests.support.stores import ANA, Office

from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.reports.gather import report_of
from fullcount.runtime.reports.lines import csv_of, json_of
from fullcount.runtime.reports.page import page_of
from fullcount.runtime.store.engine import make_engine
from fullcount.runtime.store.errors import StoreTooNew, StoreUnavailable
from fullcount.runtime.store.store import Store

pytestmark = pytest.mark.service("postgres")


@pytest.fixture
def team(postgresql_url: str) -> Iterator[Office]:
    with Office(postgresql_url) as made:
        yield made


def test_a_server_that_does_not_answer_is_a_clear_error():
    """No traceback of a driver."""
    with pytest.raises(StoreUnavailable) as found:
        Store.open("postgresql://nobody@127.0.0.1:1/nothing")
    assert found.value.code == "FC730"


def test_a_store_of_a_newer_version_is_refused(team, postgresql_url):
    """As on SQLite."""
    with team.store.writing() as tx:
        tx.session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreTooNew):
        Store.open(postgresql_url)


REWRITES = (
    "UPDATE journal SET at = 1",
    "DELETE FROM journal WHERE seq = 3",
    "TRUNCATE journal",
    "INSERT INTO journal SELECT seq + 1000, at, kind, run_id, payload, prev, hash FROM journal WHERE seq = 3",
    "UPDATE journal_head SET seq = 3",
    "UPDATE plans SET document = '{}'",
    "DELETE FROM plan_objects",
    "UPDATE acts SET outcome = 'failed'",
    "UPDATE acts SET parameters = '{}'",
    "DELETE FROM approval_votes",
    "UPDATE approval_rounds SET key = 'x' WHERE key IS NOT NULL",
)


@pytest.mark.requirement("R34")
def test_the_database_itself_refuses_to_rewrite_the_record(team):
    """Triggers hold what the program promises."""
    full_history(team)
    for statement in REWRITES:
        with pytest.raises(DatabaseError, match="is a record"), team.store.writing() as tx:
            tx.session.connection().exec_driver_sql(statement)
    assert verify(team.store).ok


def test_migrations_and_models_agree(team, postgresql_url):
    """No table, column, index or constraint differs."""
    assert differences(postgresql_url) == []


@pytest.mark.requirement("R34")
def test_everything_that_happened_verifies_and_a_change_does_not(team, postgresql_url):
    """The whole history; then one outcome changed by whoever owns the database."""
    full_history(team)
    assert verify(team.store).problems == ()
    engine = make_engine(postgresql_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE acts DISABLE TRIGGER ALL")
        connection.exec_driver_sql("UPDATE acts SET outcome = 'failed' WHERE kind = 'undo'")
    engine.dispose()
    assert not verify(team.store).ok


def test_what_happened_is_exported_and_reported(team, tmp_path):
    """With the same check, and the same sums."""
    run = run_of(team.store, full_history(team))
    export_run(team.store, run, tmp_path / "b", signers=None, person=ANA, sign=None)
    for render in (csv_of, json_of, page_of):
        with report_of(team.store, run, "acme") as made:
            assert made.invalid is None
            assert made.plan is not None
            assert (made.plan.sums or {})["inventory"] == 102
            assert "last_login is newer" in "".join(render(made)) or made.undo


def test_time_is_that_of_the_database(postgresql_url):
    """Without a clock of a test, the server's time decides, to the microsecond."""
    with Store.open(postgresql_url) as store:
        first, second = store.now(), store.now()
    assert first < second
