"""Leases, slots, runs and evidence: one at a time, once each, and nothing forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.plans import certificate
from tests.support.stores import ANA, AUTHOR, WORKFLOW

from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.errors import FenceLost, LeaseHeld, StoreError
from fullcount.runtime.store.instants import from_micros, to_micros

MINUTE = timedelta(minutes=1)
NIGHT = datetime(2026, 12, 1, 2, 0, tzinfo=UTC)


def test_a_lease_that_is_held_is_not_given_to_another(office):
    """The holder and the end are named."""
    office.store.claim("w", "one", MINUTE)
    with pytest.raises(LeaseHeld, match="`one` is at work") as found:
        office.store.claim("w", "two", MINUTE)
    assert (found.value.code, found.value.exit) == ("FC720", Exit.REFUSED_BY_POLICY)


def test_tokens_of_a_name_only_ever_grow(office):
    """Through expiry, release and claims by the same holder."""
    tokens = [office.store.claim("w", "one", MINUTE).token]
    office.clock.forward(minutes=1)
    fence = office.store.claim("w", "two", MINUTE)
    tokens.append(fence.token)
    office.store.release(fence)
    tokens.append(office.store.claim("w", "three", MINUTE).token)
    tokens.append(office.store.claim("w", "three", MINUTE).token)
    assert tokens == sorted(set(tokens))
    assert office.store.claim("other", "one", MINUTE).token == 1


def test_a_lease_can_be_renewed_only_while_it_is_held(office):
    """Renewing moves the end; after the end it is too late."""
    fence = office.store.claim("w", "one", MINUTE)
    office.clock.forward(seconds=50)
    fence = office.store.renew(fence, MINUTE)
    office.clock.forward(seconds=59)
    office.store.check_fence(fence)
    office.clock.forward(seconds=1)
    for late in (lambda: office.store.check_fence(fence), lambda: office.store.renew(fence, MINUTE)):
        with pytest.raises(FenceLost):
            late()


def test_releasing_an_old_lease_leaves_the_newer_alone(office):
    """A run that wakes up late can't free what another holds."""
    old = office.store.claim("w", "one", MINUTE)
    office.clock.forward(minutes=1)
    new = office.store.claim("w", "two", MINUTE)
    office.store.release(old)
    office.store.check_fence(new)
    with pytest.raises(FenceLost):
        office.store.check_fence(old)


@pytest.mark.parametrize("ttl", [timedelta(0), timedelta(seconds=-1)])
def test_a_lease_must_live_for_some_time(office, ttl):
    """Zero is not for ever."""
    with pytest.raises(ValueError, match="some time"):
        office.store.claim("w", "one", ttl)


def test_a_slot_is_claimed_once(office):
    """The second claim of the same instant gets nothing; a skipped one is taken as well."""
    first = office.store.claim_slot(WORKFLOW, NIGHT, "a")
    assert first is not None
    assert office.store.claim_slot(WORKFLOW, NIGHT, "b") is None
    assert office.store.skip_slot(WORKFLOW, NIGHT, "b", "missed") is None
    assert office.store.claim_slot("another", NIGHT, "b") is not None
    missed = office.store.skip_slot(WORKFLOW, NIGHT + timedelta(days=1), "a", "the service was down")
    assert missed is not None
    rows = office.store.slots(workflow=WORKFLOW)
    assert [(row.state, row.detail) for row in rows] == [("skipped", "the service was down"), ("claimed", "")]


def test_a_local_day_has_one_slot(office):
    """Two instants of one local day, as when clocks go back, are one slot."""
    assert office.store.claim_slot(WORKFLOW, NIGHT, "a", local_day="2026-12-01") is not None
    assert office.store.claim_slot(WORKFLOW, NIGHT + timedelta(hours=1), "a", local_day="2026-12-01") is None
    assert office.store.claim_slot(WORKFLOW, NIGHT + timedelta(days=1), "a", local_day="2026-12-02") is not None


def test_a_slot_is_finished_once(office):
    """Finishing one that is not being run is refused."""
    slot = office.store.claim_slot(WORKFLOW, NIGHT, "a")
    office.store.finish_slot(slot, "waiting for approval")
    for wrong in (slot, "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"):
        with pytest.raises(StoreError) as found:
            office.store.finish_slot(wrong, "again")
        assert found.value.code == "FC734"


def test_a_run_ends_once_and_keeps_how(office):
    """State, exit code and summary come back as they were given; a second end is refused."""
    run_id = office.store.begin_run(WORKFLOW, "plan", ANA, slot_id=None)
    assert office.store.runs()[0].state == "running"
    office.store.finish_run(
        run_id, "refused", Exit.REFUSED_BY_EVIDENCE, {"findings": ["RESULT_LIMIT_REACHED"], "n": 2**60}
    )
    for _ in range(2):
        with pytest.raises(StoreError) as found:
            office.store.finish_run(run_id, "done", Exit.DONE, {})
        assert found.value.code == "FC733"
    row = office.store.runs()[0]
    assert (row.state, row.exit, row.by, row.workflow) == ("refused", 3, ANA, WORKFLOW)
    assert row.summary == {"findings": ["RESULT_LIMIT_REACHED"], "n": 2**60}
    assert office.store.runs(workflow="another") == ()


def test_an_unknown_kind_of_run_is_refused(office):
    """A closed list."""
    with pytest.raises(ValueError, match="destroy"):
        office.store.begin_run(WORKFLOW, "destroy", ANA)


def test_the_rows_of_the_last_certified_snapshot_are_remembered(office):
    """None before the first; a refused read in between changes nothing."""
    run_id = office.store.begin_run(WORKFLOW, "plan", AUTHOR)
    assert office.store.previous_rows(WORKFLOW, "people") is None
    observed = office.clock()
    office.store.record_certificate(run_id, WORKFLOW, certificate("people", "hr", "employees", 4212), observed)
    office.clock.forward(days=1)
    office.store.record_envelope(run_id, WORKFLOW, office.cut_short("people"))
    assert office.store.previous_rows(WORKFLOW, "people") == 4212
    assert office.store.previous_rows("another", "people") is None
    office.store.record_certificate(run_id, WORKFLOW, certificate("people", "hr", "employees", 0), observed)
    assert office.store.previous_rows(WORKFLOW, "people") == 0
    kept = office.store.certificates(run_id)
    assert [(item.document.rows, item.observed_at) for item in kept] == [(4212, observed), (0, observed)]


def test_a_time_without_an_offset_is_refused():
    """Naive times are never guessed at."""
    with pytest.raises(ValueError, match="offset"):
        to_micros(datetime(2026, 12, 1))  # noqa: DTZ001
    assert from_micros(to_micros(NIGHT)) == NIGHT
    assert from_micros(to_micros(datetime.max.replace(tzinfo=UTC))) == datetime.max.replace(tzinfo=UTC)
