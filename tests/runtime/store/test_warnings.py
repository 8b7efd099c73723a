"""Warnings in the store: since when, how many readings in a row, and told by the journal alone."""

from __future__ import annotations

import sqlite3

import pytest
from tests.support.evidence import envelope_of
from tests.support.stores import AUTHOR, WORKFLOW, Office

from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Incompleteness, Notice
from fullcount.runtime.journal.verify import verify

DOUBLE, LATE = WarningCode.DUPLICATE_ITEMS, WarningCode.STALE_READ
CUT = Incompleteness(code=Reason.RESULT_LIMIT_REACHED)


@pytest.fixture
def office(tmp_path):
    """A store, which verifies at the end of each test."""
    with Office(tmp_path) as found:
        yield found
        assert verify(found.store).ok


def night(office, *codes, reasons=(), owner="iam-team"):
    """Record a reading of the next day, and return what is known of warnings then."""
    office.clock.forward(days=1)
    run_id = office.store.begin_run(WORKFLOW, "plan", AUTHOR)
    read = envelope_of(*reasons, warnings=tuple(Notice(code=code) for code in codes))
    office.store.record_envelope(run_id, WORKFLOW, read, owner)
    return {row.code: row for row in office.store.warnings(WORKFLOW, "people")}


@pytest.mark.requirement("R23")
def test_readings_in_a_row_are_counted_and_only_a_complete_one_ends_the_row(office):
    """Twice in one reading is once; what was cut short and lacks the warning proves nothing."""
    first = night(office, DOUBLE, DOUBLE)[DOUBLE]
    assert (first.runs, first.resource, first.owner) == (1, "hr.people", "iam-team")
    night(office, DOUBLE, LATE)
    assert night(office, reasons=(CUT,))[DOUBLE].runs == 2
    again = night(office, DOUBLE, reasons=(CUT,), owner="ops")
    assert (again[DOUBLE].runs, again[DOUBLE].owner, again[DOUBLE].since) == (3, "ops", first.since)
    assert again[LATE].runs == 1
    assert night(office) == {}
    anew = night(office, DOUBLE)[DOUBLE]
    assert (anew.runs, anew.first_seen) == (1, first.first_seen)
    assert anew.since == anew.last_seen > first.since
    assert office.store.warnings("another") == ()
    assert [row.code for row in office.store.warnings()] == [DOUBLE]


@pytest.mark.requirement("R23")
def test_a_warning_that_was_made_younger_does_not_verify(tmp_path):
    """The count is told by the journal; a row can't be taken away at all."""
    with Office(tmp_path) as office:
        night(office, DOUBLE)
        night(office, DOUBLE)
        with sqlite3.connect(tmp_path / "state.db") as db:
            for refused in ("DELETE FROM seen_warnings", "UPDATE seen_warnings SET first_seen_at = 1"):
                with pytest.raises(sqlite3.IntegrityError, match="is a record"):
                    db.execute(refused)
            db.execute("UPDATE seen_warnings SET runs = 1")
        report = verify(office.store)
        assert not report.ok
        assert "runs of the warning" in str(report.problems)
