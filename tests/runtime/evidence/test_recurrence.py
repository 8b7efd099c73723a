"""Warnings that come again: which become failures, from when on, and what an acceptance changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.support.evidence import certified, envelope_of

from fullcount.runtime.evidence.certificate import Certificate
from fullcount.runtime.evidence.codes import _SEVERITIES, Severity, WarningCode, severity_of
from fullcount.runtime.evidence.envelope import Notice
from fullcount.runtime.evidence.recurrence import codes_held, notes_on, with_ended
from fullcount.runtime.evidence.warned import Accepted, Recurrence, WarningSeen

SINCE = datetime(2026, 11, 1, tzinfo=UTC)
DAY = date(2026, 12, 1)
RECURRING = sorted(code for code in WarningCode if severity_of(code) is Severity.RECURS)


def entry(code=WarningCode.DUPLICATE_ITEMS, expires=DAY):
    return Accepted(code=code, resource="hr.people", owner="ana", reason="known", expires=expires)


def after(code, runs, *, limit=5, accepted=frozenset()):
    """Return what certifying comes to when a warning came for so many readings in a row."""
    seen = WarningSeen(code=code, runs=runs, since=SINCE, owner="iam-team")
    read = envelope_of(warnings=(Notice(code=code, detail="twice p1"),))
    return certified(read, recurrence=Recurrence(seen=(seen,), limit=limit), accepted=accepted)


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("code", RECURRING)
def test_a_warning_that_came_too_often_refuses_until_it_is_accepted(code):
    """At the limit, not before; the finding names count, beginning and owner, and the way to accept it."""
    (finding,) = after(code, 5).findings
    assert finding.code == "FC737"
    assert f"the warning `{code}` 5 times in a row, since 2026-11-01" in finding.message
    assert (finding.detail, "iam-team" in finding.ways_on[0]) == ("twice p1", True)
    assert isinstance(after(code, 4), Certificate)
    assert not isinstance(after(code, 1, limit=1), Certificate)
    accepted = after(code, 50, accepted=frozenset({code}))
    assert isinstance(accepted, Certificate)
    assert accepted.doc.accepted_warnings == (code,)


@pytest.mark.requirement("R23")
def test_every_warning_has_its_severity_and_what_only_describes_never_blocks():
    """The table is whole. What blocks at once needs no count."""
    assert set(_SEVERITIES) == set(WarningCode)
    for code in WarningCode:
        if severity_of(code) is Severity.NOTES:
            assert isinstance(after(code, 1000), Certificate)
            assert after(code, 1000, accepted=frozenset({code})).doc.accepted_warnings == ()
    (finding,) = after(WarningCode.STALE_READ, 1000).findings
    assert finding.code == WarningCode.STALE_READ


@pytest.mark.requirement("R23")
def test_an_acceptance_ends_after_its_last_day_and_is_of_one_resource():
    """An ended one says so where it is missed; one that is of no use is reported."""
    held = entry()
    assert codes_held([held], "hr.people", DAY) == {held.code}
    assert codes_held([held], "hr.others", DAY) == frozenset()
    tomorrow = DAY + timedelta(days=1)
    assert codes_held([held], "hr.people", tomorrow) == frozenset()

    findings = (*after(held.code, 5).findings, *after(WarningCode.STALE_READ, 1).findings)
    said = with_ended(findings, [held, entry(WarningCode.STALE_READ)], "hr.people", tomorrow)
    assert all("ana accepted it until 2026-12-01, which is over" in each.ways_on[0] for each in said)
    assert with_ended(findings, [held], "hr.people", DAY) == findings

    assert notes_on([held], {"hr.people": frozenset({held.code})}, DAY) == ()
    assert "is unused" in notes_on([held], {"hr.people": frozenset()}, DAY)[0]
    assert "ended on 2026-12-01" in notes_on([held], {"hr.people": frozenset({held.code})}, tomorrow)[0]
    assert notes_on([held], {"hr.others": frozenset()}, DAY) == ()
