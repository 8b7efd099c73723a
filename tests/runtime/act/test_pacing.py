"""Pace and the stop rule: never faster than said, never more failures than said."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.fake_source import FakeClock

from fullcount.runtime.act.pacing import GROUP_LIMIT, Batch, Pacer
from fullcount.runtime.act.stop import StopRule, stop_threshold
from fullcount.runtime.connectors.base import Outcome


@given(
    rate=st.decimals("0.1", "60", places=1),
    wanted=st.lists(st.integers(1, 50), min_size=1, max_size=30),
    pauses=st.lists(st.floats(0, 3), min_size=30, max_size=30),
)
@settings(max_examples=60, deadline=None)
async def test_in_no_second_do_more_acts_start_than_the_rate(rate, wanted, pauses):
    """Whatever is asked for and however long the acts take, a window of one second holds at most the rate (or one)."""
    clock = FakeClock()
    pacer = Pacer(rate, clock.monotonic, clock.sleep)
    starts = []
    for number, pause in zip(wanted, pauses, strict=False):
        granted = await pacer.take(number)
        assert 1 <= granted <= number
        starts += [clock.seconds] * granted
        clock.advance(pause)
    assert all(sum(1 for at in starts if first <= at < first + 1) <= max(1, int(rate)) for first in starts)
    if rate < 1:
        assert all(later - at >= float(1 / rate) - 1e-6 for at, later in pairwise(starts))


async def test_without_a_rate_everything_may_start():
    """None means unlimited, and is not zero."""
    clock = FakeClock()
    assert await Pacer(None, clock.monotonic, clock.sleep).take(50) == 50
    assert clock.slept == []


async def test_grants_that_were_not_used_can_be_given_back():
    """Objects that were left alone do not slow the others down."""
    clock = FakeClock()
    pacer = Pacer(Decimal(10), clock.monotonic, clock.sleep)
    assert await pacer.take(50) == 10
    pacer.give_back(4)
    assert await pacer.take(50) == 4
    assert clock.slept == []
    await pacer.take(1)
    assert clock.seconds == pytest.approx(1)


@given(st.integers(1, 200), st.lists(st.tuples(st.integers(1, 50), st.floats(0, 100)), max_size=20))
def test_a_group_is_never_empty_and_never_above_the_limit_of_a_transaction(concurrency, seen):
    """Whatever speeds were seen, a group fits into one transaction."""
    batch = Batch(concurrency)
    for objects, seconds in seen:
        assert 1 <= batch.size <= GROUP_LIMIT
        batch.took(objects, seconds)
    assert 1 <= batch.size <= GROUP_LIMIT


def test_slow_acts_shrink_the_group_to_the_concurrency_and_fast_ones_grow_it():
    """An object is acted on soon after its recheck."""
    batch = Batch(4)
    batch.took(4, 0.01)
    batch.took(16, 0.01)
    assert batch.size == GROUP_LIMIT
    batch.took(50, 60.0)
    assert batch.size == 4


@pytest.mark.parametrize(
    ("failures", "percent", "planned", "threshold"),
    [
        (3, None, 200, 3),
        (None, Decimal(1), 200, 2),
        (None, Decimal(1), 50, 1),
        (None, Decimal(1), 199, 1),
        (3, Decimal(1), 100, 1),
        (3, Decimal(50), 100, 3),
        (0, None, 100, 1),
        (None, None, 100, None),
    ],
)
def test_the_stricter_half_of_the_stop_rule_binds_and_at_least_one_failure_is_needed(
    failures, percent, planned, threshold
):
    """A share is rounded down, but a rule never stops a run in which nothing failed."""
    assert stop_threshold(failures, percent, planned) == threshold


def test_an_unknown_outcome_counts_as_a_failure_and_an_object_left_alone_does_not():
    """It may be one; what was left alone is none."""
    rule = StopRule(2)
    for outcome in (Outcome.DONE, Outcome.CHANGED, Outcome.ALREADY_GONE, Outcome.REFUSED, Outcome.UNKNOWN):
        rule.saw(outcome)
    assert not rule.reached
    assert rule.left(50) == 1
    rule.saw(Outcome.FAILED)
    assert rule.reached
