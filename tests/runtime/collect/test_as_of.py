"""An answer is as old as the state that it shows, not as the moment at which it was fetched."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.fake_source import NOW, FakeSource, FakeTable, fake_resource
from tests.support.reading import Reading

from fullcount.compiler.claims import Fresh
from fullcount.runtime.evidence.judge import Held, Measured, judge

HOUR = 3_600_000_000


def _table(**given):
    return FakeTable(fake_resource(), [{"id": "a", "owner": None}], **given)


@pytest.mark.requirement("R5", "R6")
async def test_answer_of_an_earlier_instant_counts_its_age_from_there(tmp_path):
    """A report of yesterday that was fetched now is a day old, and refuses what must be fresher."""
    envelope = await Reading(tmp_path).read(FakeSource(_table(as_of=NOW - timedelta(hours=24))))
    assert envelope.scope.started_at == NOW - timedelta(hours=24)
    assert not isinstance(judge(Fresh(HOUR), Measured(envelope, at=NOW)), Held)
    assert isinstance(judge(Fresh(25 * HOUR), Measured(envelope, at=NOW)), Held)


async def test_source_that_claims_a_later_instant_than_now_is_not_believed(tmp_path):
    """A clock that is ahead makes no evidence younger than the read."""
    envelope = await Reading(tmp_path).read(FakeSource(_table(as_of=NOW + timedelta(hours=1))))
    assert envelope.scope.started_at == NOW
