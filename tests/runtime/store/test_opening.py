"""Opening a store: tables come from migrations alone, newer ones are refused, and the file is its owner's."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from pydantic import BaseModel
from sqlalchemy import insert, text
from sqlalchemy.exc import DatabaseError
from tests.support.evidence import DIGEST, envelope_of
from tests.support.fake_source import NOW
from tests.support.older import undone_at_once
from tests.support.plans import certificate
from tests.support.stores import ANA, WORKFLOW, Office, lock

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.envelope import Notice
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.journal.payloads import CertificateKept, EnvelopeKept, Payload
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import migrate, plans, tables
from fullcount.runtime.store.engine import make_engine, writer
from fullcount.runtime.store.errors import LedgerRefused, StoreTooNew, StoreUnavailable
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.tables import Base
from fullcount.runtime.store.views import ActKind, OutcomeEntry


def differences(url: str) -> list[object]:
    """What the models have that the migrated database has not, or the other way round."""
    engine = make_engine(url)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), Base.metadata)
    engine.dispose()
    return found


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path):
    """The revision is named, and nothing is changed."""
    file = tmp_path / "state.db"
    Store.open(f"sqlite:///{file}").close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    before = file.read_bytes()
    with pytest.raises(StoreTooNew, match="9999") as found:
        Store.open(f"sqlite:///{file}")
    assert found.value.code == "FC731"
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be looked at" * 40, b"short"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    """Another file under this name is never overwritten."""
    file = tmp_path / "state.db"
    file.write_bytes(content)
    with pytest.raises(StoreUnavailable) as found:
        Store.open(f"sqlite:///{file}")
    assert found.value.code == "FC730"
    assert "from a backup" in found.value.help
    assert file.read_bytes() == content


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    """Tables of another program, or a store that lost its revision, are never migrated over."""
    for table in ("customers", "alembic_version"):
        file = tmp_path / f"{table}.db"
        with sqlite3.connect(file) as connection:
            connection.execute(f"CREATE TABLE {table} (version_num TEXT)")
            connection.execute("CREATE TABLE journal (seq INTEGER)")
        with pytest.raises(StoreUnavailable):
            Store.open(f"sqlite:///{file}")
        with sqlite3.connect(file) as connection:
            assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (2,)


@pytest.mark.parametrize(
    "url",
    ["", "state.db", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true", "mysql://x/y", "://"],
)
def test_an_address_that_can_not_hold_a_record_is_refused(url):
    """No memory, no other database, no half address; each with what to write instead."""
    with pytest.raises(StoreUnavailable) as found:
        Store.open(url)
    assert found.value.code == "FC730"
    assert found.value.help


def test_a_place_that_can_not_be_written_to_is_refused(tmp_path):
    """A folder in the place of the file, or a file in the place of the folder."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for place in ("folder", "file/state.db"):
        with pytest.raises(StoreUnavailable, match="can't be opened"):
            Store.open(f"sqlite:///{tmp_path / place}")


def test_the_file_is_readable_by_its_owner_only(tmp_path):
    """It holds approval keys; whatever the umask says."""
    before = os.umask(0)
    try:
        Store.open(f"sqlite:///{tmp_path / 'deep' / 'state.db'}").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "deep" / "state.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


def test_migrations_and_models_agree(tmp_path):
    """What migrations make is what the program expects: no table, column, index or constraint differs."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    Store.open(url).close()
    assert differences(url) == []


def test_the_known_revisions_are_those_of_the_migrations():
    """The list that opening goes by is the history itself, without branches."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    history = list(ScriptDirectory.from_config(config).walk_revisions())
    assert tuple(script.revision for script in reversed(history)) == migrate.KNOWN
    assert migrate.KNOWN[-1] == migrate.REVISION


def test_a_store_of_before_series_and_warnings_is_brought_up_and_still_verifies(tmp_path, monkeypatch):
    """What was certified and read then is in no series and counts no warning; what is read now does."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    monkeypatch.setattr(migrate, "REVISION", "0004")
    with Store.open(url) as store:
        run_id = store.begin_run(WORKFLOW, "plan", ANA)
        with store.writing() as tx:
            text = canonical_text(certificate("people", "hr", "people", 10))
            of = {"workflow": WORKFLOW, "inventory": "people", "rows": 10, "snapshot_digest": DIGEST}
            certified = {**of, "certificate_id": "1" * 26, "observed_at": 1, "sha256": sha256_text(text.encode())}
            stored = {"run_id": run_id, "document": text, "recorded_at": tx.now}
            tx.session.execute(insert(tables.Certificate).values(**certified, **stored))
            tx.record(_as_before(CertificateKept, certified), run_id=run_id)
            text = canonical_text(envelope_of())
            read = {**of, "envelope_id": "2" * 26, "complete": True, "sha256": sha256_text(text.encode())}
            tx.session.execute(insert(tables.Evidence).values(**read, **{**stored, "document": text}))
            tx.record(_as_before(EnvelopeKept, read), run_id=run_id)
        store.finish_run(run_id, "nothing", 0, {})
    monkeypatch.undo()
    with Store.open(url) as store:
        assert verify(store).problems == ()
        assert (store.previous_rows(WORKFLOW, "people"), store.warnings()) == (10, ())
        assert store.series(WORKFLOW, "people", DIGEST) == ()
        run_id = store.begin_run(WORKFLOW, "plan", ANA)
        store.record_envelope(run_id, WORKFLOW, envelope_of(warnings=(Notice(code=WarningCode.CACHED_RESPONSE),)))
        store.record_certificate(run_id, WORKFLOW, certificate("people", "hr", "people", 11), NOW, DIGEST)
        assert store.series(WORKFLOW, "people", DIGEST) == (11,)
        assert [row.runs for row in store.warnings()] == [1]
        assert verify(store).problems == ()
    assert differences(url) == []


def test_a_ledger_of_before_rehearsals_is_brought_up_with_every_row_and_guard(tmp_path, monkeypatch):
    """What was meant and done then verifies and stays a record; the kinds of a rehearsal are let in, and no others."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    monkeypatch.setattr(migrate, "REVISION", "0007")
    with Office(url) as office, by_todays_program(office.store):
        plan, run_id, fence = office.applying("a", "b")
        plan_id = plan.document.plan_id
        office.store.record_intents(plan_id, run_id, fence, [lock("a")])
        office.store.record_outcomes(plan_id, run_id, fence, [OutcomeEntry(("a",), Outcome.DONE)])
        before = office.store.ledger(plan_id)
    monkeypatch.undo()
    with Store.open(url) as store:
        assert store.ledger(plan_id) == before
        assert verify(store).problems == ()
        add = f"INSERT INTO acts (act_id, plan_id, object_key, kind) VALUES ('1', '{plan_id}', '[\"a\"]', "
        for refused in (
            "UPDATE acts SET outcome = 'failed'",
            "UPDATE acts SET intent_at = 7",
            "UPDATE acts SET step = 'x'",
            "DELETE FROM acts",
            f"{add} 'gift')",
        ):
            with pytest.raises(DatabaseError), store.writing() as tx:
                tx.session.execute(text(refused))
        with store.writing() as tx:
            tx.session.execute(text(f"{add} 'rehearse_undo')"))
    assert differences(url) == []


@contextmanager
def by_todays_program(store):
    """Let a store of an older version be written by today's program, which knows of columns that came later."""
    later = (("plans", "undoes", "VARCHAR(26)"), ("acts", "again_at", "BIGINT"))
    with store.writing() as tx:
        for table, column, kind in later:
            tx.session.execute(text(f"ALTER TABLE {table} ADD COLUMN {column} {kind}"))
    yield
    with store.writing() as tx:
        for table, column, _ in later:
            tx.session.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))


def test_what_was_undone_before_undos_were_plans_is_brought_up_and_still_verifies(tmp_path, monkeypatch):
    """It was taken back, and is not again; the rest takes a plan, and by now nothing is undone without one."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    monkeypatch.setattr(migrate, "REVISION", "0008")
    columns = set(plans.Planned.model_fields) - {"undoes"}
    monkeypatch.setattr(plans.Planned, "model_dump", lambda self, **how: _dumped(self, columns, how))
    with Office(url) as office, by_todays_program(office.store):
        plan, run_id, fence = office.applying("a", "b")
        plan_id = plan.document.plan_id
        office.store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b")])
        done = [OutcomeEntry((key,), Outcome.DONE) for key in "ab"]
        office.store.record_outcomes(plan_id, run_id, fence, done)
        office.store.finish_apply(plan_id, run_id, fence)
        office.store.release(fence)
        run_id, fence = office.begin(plan, "undo")
        undone_at_once(office.store, plan_id, run_id, fence, "a")
    monkeypatch.undo()
    with Office(url) as office:
        assert verify(office.store).problems == ()
        assert [(each.done, each.by) for each in office.store.taken_back(plan_id)] == [(True, None)]
        office.store.release(fence)
        undo, undo_run, fence = office.undoing(plan, "a", "b")
        with pytest.raises(LedgerRefused, match="taken back before"):
            office.store.record_intents(undo.document.plan_id, undo_run, fence, [lock("a")], kind=ActKind.UNDO)
        office.store.record_intents(undo.document.plan_id, undo_run, fence, [lock("b")], kind=ActKind.UNDO)
        assert verify(office.store).problems == ()
        office.store.release(fence)
        run_id, fence = office.begin(plan, "undo")
        undone_at_once(office.store, plan_id, run_id, fence, "b")
        assert "without a plan of its own" in verify(office.store).problems[0].what
    assert differences(url) == []


def _dumped(payload, columns, how):
    left_out = {*(how.pop("exclude", None) or ()), *(set(type(payload).model_fields) - columns)}
    return BaseModel.model_dump(payload, exclude=left_out, **how)


def _as_before(kind, columns):
    """Return an entry as a version wrote it that knew of these columns only."""
    payload = kind(**columns)
    before = type(kind.__name__, (Payload,), {"KIND": kind.KIND, "__annotations__": dict.fromkeys(columns, Any)})
    return before(**payload.model_dump(include=set(columns)))


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """It is one transaction: the next opening begins anew."""
    engine = make_engine(f"sqlite:///{tmp_path / 'state.db'}")
    monkeypatch.setattr(migrate, "_upgrade", interrupted)
    with pytest.raises(KeyboardInterrupt):
        migrate.migrate(writer(engine))
    monkeypatch.undo()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0
    engine.dispose()
    Store.open(f"sqlite:///{tmp_path / 'state.db'}").close()


def interrupted(connection):
    connection.exec_driver_sql("CREATE TABLE half (x INTEGER)")
    raise KeyboardInterrupt


@pytest.mark.slow
def test_several_processes_may_open_a_new_store_at_once(tmp_path):
    """One of them migrates, the others wait for it."""
    url = f"sqlite:///{tmp_path / 'state.db'}"
    program = "import sys; from fullcount.runtime.store.store import Store; Store.open(sys.argv[1]).close()"
    started = [subprocess.Popen([sys.executable, "-c", program, url]) for _ in range(3)]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    assert differences(url) == []


def test_every_connection_is_durable_and_keeps_foreign_keys(office):
    """WAL, a flush at each commit, foreign keys, and triggers that see replacements."""
    with office.store.reading() as session:
        found = {
            name: session.connection().exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "recursive_triggers": 1}


def test_what_is_written_in_a_reading_is_not_kept(office):
    """Only writing transactions, which hold the journal's head, change anything."""
    with office.store.reading() as session:
        session.connection().exec_driver_sql("INSERT INTO controls VALUES ('halt', 'x', 1, 'x', 1)")
    assert office.store.halted() is None
