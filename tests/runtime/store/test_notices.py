"""Notices in the store: kept with the end of their run, sent by one alone, and never again once that is final."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError
from tests.support.stores import ANA, WORKFLOW, Office

from fullcount.runtime.events import Notice
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.notices import BACK_OFF, SENDER_DIES
from fullcount.runtime.store.views import NoticeState


def notice(target="chat", event="refused"):
    return Notice(event, target, f"REFUSED to {target}", {"text": "nothing was proposed"})


def ended(office, *notices):
    run_id = office.store.begin_run(WORKFLOW, "plan", ANA)
    office.store.finish_run(run_id, "refused", Exit.REFUSED_BY_EVIDENCE, {}, notices)
    return run_id


@pytest.fixture
def office(tmp_path):
    with Office(tmp_path) as found:
        yield found
        assert verify(found.store).ok


def test_an_event_is_told_to_a_target_once(office):
    """Twice of one run is a mistake, and neither the end nor the notices are kept."""
    run_id = office.store.begin_run(WORKFLOW, "plan", ANA)
    with pytest.raises(IntegrityError):
        office.store.finish_run(run_id, "refused", Exit.ERROR, {}, [notice(), notice()])
    assert office.store.notices(run_id) == ()
    assert office.store.find_run(run_id).finished_at is None
    office.store.finish_run(run_id, "refused", Exit.ERROR, {}, [notice()])


def test_what_is_being_sent_is_nobody_elses_and_an_end_is_final(office):
    """The second one to look finds nothing; a delivered notice is never taken again."""
    ended(office, notice())
    taken = office.store.take_notice()
    assert (taken.state, taken.attempts) == (NoticeState.SENDING, 1)
    assert office.store.take_notice() is None
    office.store.end_notice(taken.notice_id, NoticeState.DELIVERED)
    office.clock.forward(days=1)
    assert office.store.take_notice() is None
    with pytest.raises(StoreError, match="is not being sent"):
        office.store.end_notice(taken.notice_id, NoticeState.FAILED)


def test_a_sender_that_died_leaves_it_unknown_and_it_is_not_sent_again(office):
    """It may have been taken: two of one event are worse than one to be looked up."""
    run_id = ended(office, notice())
    office.store.take_notice()
    office.clock.forward(seconds=SENDER_DIES.total_seconds() - 1)
    assert office.store.take_notice() is None
    office.clock.forward(seconds=1)
    assert office.store.take_notice() is None
    (found,) = office.store.notices(run_id)
    assert found.state is NoticeState.UNKNOWN


def test_what_surely_was_not_taken_is_tried_again_and_then_given_up(office):
    """Each time later than the time before; the record says why."""
    run_id = ended(office, notice())
    for wait in BACK_OFF:
        taken = office.store.take_notice()
        again = office.store.end_notice(taken.notice_id, NoticeState.FAILED, "no answer")
        assert (again.state, again.next_at - office.clock()) == (NoticeState.PENDING, wait)
        assert office.store.take_notice() is None
        office.clock.now += wait
    taken = office.store.take_notice()
    assert office.store.end_notice(taken.notice_id, NoticeState.FAILED, "no answer").state is NoticeState.FAILED
    office.clock.forward(days=30)
    assert office.store.take_notice() is None
    (found,) = office.store.notices(run_id)
    assert (found.attempts, found.detail) == (len(BACK_OFF) + 1, "no answer")


def test_notices_are_sent_in_the_order_of_their_runs(office):
    """One that waits for its next try does not hold up the others."""
    first, second = ended(office, notice(), notice("ops-mail")), ended(office, notice())
    taken = office.store.take_notice()
    office.store.end_notice(taken.notice_id, NoticeState.FAILED)
    order = [office.store.take_notice() for _ in range(2)]
    assert [(each.run_id, each.target) for each in order] == [(first, "ops-mail"), (second, "chat")]
    office.clock.now += timedelta(minutes=1)
    assert office.store.take_notice().notice_id == taken.notice_id
