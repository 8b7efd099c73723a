"""Judging ahead: in order, each once, never more than said, and nothing goes on after the end."""

from __future__ import annotations

import asyncio

import pytest

from fullcount.runtime.act.ahead import Ahead


class Judge:
    """Notes what it is asked, and answers when it is let."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.ended: list[int] = []
        self.gate = asyncio.Event()

    async def __call__(self, thing: int) -> int:
        """Answer ten times the thing."""
        self.asked.append(thing)
        try:
            await self.gate.wait()
        finally:
            self.ended.append(thing)
        if thing == 13:
            msg = "unlucky"
            raise ValueError(msg)
        return 10 * thing


async def test_no_more_is_begun_than_was_said_and_nothing_before_that():
    """Until it is told to go on nothing begins, and then as many as follow the group that was given."""
    judge = Judge()
    ahead = Ahead(judge, range(10), lambda: 3, lambda: 0.0)
    await asyncio.sleep(0)
    assert judge.asked == []
    first = [asyncio.ensure_future(one) for one in ahead.take(2)]
    ahead.go_on()
    ahead.go_on()
    await asyncio.sleep(0)
    assert judge.asked == [0, 1, 2, 3, 4]
    judge.gate.set()
    assert await asyncio.gather(*first) == [0, 10]
    await ahead.close()


async def test_each_is_judged_once_and_given_in_order_whatever_the_groups():
    """A group may be smaller or larger than what was judged ahead."""
    judge = Judge()
    judge.gate.set()
    ahead = Ahead(judge, range(9), lambda: 4, lambda: 0.0)
    found: list[int] = []
    for number in (1, 2, 5, 1):
        taken = ahead.take(number)
        ahead.go_on()
        found += await asyncio.gather(*taken)
    await ahead.close()
    assert found == [10 * thing for thing in range(9)]
    assert sorted(judge.asked) == list(range(9))


async def test_what_was_begun_for_nothing_has_ended_after_the_close():
    """A run that stops leaves no reading behind; one that failed unseen is not told either."""
    judge = Judge()
    ahead = Ahead(judge, [13, 14, 15], lambda: 3, lambda: 0.0)
    ahead.go_on()
    await asyncio.sleep(0)
    assert judge.ended == []
    await ahead.close()
    assert sorted(judge.ended) == [13, 14, 15]


async def test_an_error_is_raised_where_the_answer_is_taken():
    """Not before, so that what is under way is recorded first."""
    judge = Judge()
    judge.gate.set()
    ahead = Ahead(judge, [12, 13], lambda: 2, lambda: 0.0)
    ahead.go_on()
    await asyncio.sleep(0.01)
    first, second = ahead.take(2)
    assert await first == 120
    with pytest.raises(ValueError, match="unlucky"):
        await second
    await ahead.close()


async def test_the_time_that_counts_is_when_the_oldest_answer_began():
    """A group that was judged ahead took longer than its calls alone."""
    now = 5.0
    judge = Judge()
    judge.gate.set()
    ahead = Ahead(judge, range(4), lambda: 2, lambda: now)
    assert ahead.since == 5.0
    ahead.go_on()
    now = 8.0
    assert ahead.since == 5.0
    await asyncio.gather(*ahead.take(2))
    assert ahead.since == 8.0
    await ahead.close()
