"""What the envelope of a real PostgreSQL says where rows are hidden."""

from __future__ import annotations

import pytest
from tests.integration.test_postgres_read import CREATE, FOUR, POLICY
from tests.support.collecting import collect_all
from tests.support.sql import ACCOUNTS

from fullcount.runtime.evidence.codes import Decision, Reason
from fullcount.runtime.evidence.envelope import Status

pytestmark = pytest.mark.service("postgres")


@pytest.mark.requirement("R3", "R36")
@pytest.mark.parametrize(("policy", "visible"), [(POLICY, 1), (POLICY[:1], 0)])
async def test_a_policy_that_hides_three_of_four_rows_or_all_never_licenses_an_act(
    database, make_source, tmp_path, policy, visible
):
    """Partial with one row, and partial and empty, both with the reason."""
    database(CREATE, FOUR, *policy)
    envelope = await collect_all(make_source(ACCOUNTS), tmp_path / "snapshots")
    assert (envelope.status, envelope.work.rows, envelope.scope.visibility) == (Status.PARTIAL, visible, "restricted")
    assert Reason.VISIBILITY_RESTRICTED in [reason.code for reason in envelope.completeness.reasons]
    assert envelope.decision() is not Decision.ACT


@pytest.mark.requirement("R1", "R2")
async def test_without_a_policy_the_same_table_is_complete(database, make_source, tmp_path):
    """Four rows, the end marker, and the count of the same snapshot."""
    database(CREATE, FOUR)
    envelope = await collect_all(make_source(ACCOUNTS), tmp_path / "snapshots")
    assert (envelope.complete, envelope.work.rows, envelope.work.total) == (True, 4, 4)
    assert envelope.scope.snapshot_token
