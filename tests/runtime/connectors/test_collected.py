"""What the envelope of a real source says: each way of not being complete first."""

from __future__ import annotations

import pytest
from tests.support.collecting import collect_all
from tests.support.repository import Repository
from tests.support.sql import CREATE_ACCOUNTS, account, sqlite_settings

from fullcount.compiler import ir
from fullcount.compiler.types import TEXT
from fullcount.runtime.evidence.codes import Decision, Reason, WarningCode
from fullcount.runtime.evidence.envelope import Status


def codes(envelope):
    return [reason.code for reason in envelope.completeness.reasons]


@pytest.mark.requirement("R1", "R12", "R36")
@pytest.mark.parametrize("cap", [0, 20])
async def test_a_capped_source_is_partial_also_when_nothing_came_and_never_licenses_an_act(
    file, make_source, tmp_path, cap
):
    """The reason of the page is the reason of the envelope, and the total that was not reached is told."""
    envelope = await collect_all(make_source(sqlite_settings(file.path, max_rows=cap)), tmp_path / "snapshots")
    assert (envelope.status, envelope.work.rows, envelope.work.total) == (Status.PARTIAL, cap, 25)
    assert Reason.CLIENT_LIMIT_REACHED in codes(envelope)
    assert envelope.decision() is not Decision.ACT


@pytest.mark.requirement("R2", "R36")
async def test_an_unstable_order_is_never_complete(sqlite_source, tmp_path):
    """A table whose key nothing keeps unique can't be proven whole."""
    _, source = sqlite_source(CREATE_ACCOUNTS.replace("PRIMARY KEY ", ""), rows=[account(1), account(2)])
    envelope = await collect_all(source, tmp_path / "snapshots")
    assert (envelope.status, Reason.UNSTABLE_ORDER in codes(envelope)) == (Status.PARTIAL, True)


@pytest.mark.requirement("R1", "R2")
async def test_a_table_read_to_its_end_is_complete_and_its_count_agrees(source, tmp_path):
    """Every row is stored, and the exact total of the same state agrees."""
    envelope = await collect_all(source, tmp_path / "snapshots")
    assert (envelope.complete, envelope.work.rows, envelope.work.total, envelope.warnings) == (True, 25, 25, ())
    assert envelope.decision() is Decision.ACT


@pytest.mark.requirement("R1")
async def test_an_empty_table_is_complete_and_empty(sqlite_source, tmp_path):
    """Here nothing means nothing."""
    _, source = sqlite_source(CREATE_ACCOUNTS)
    envelope = await collect_all(source, tmp_path / "snapshots")
    assert (envelope.complete, envelope.empty) == (True, True)


async def test_a_scope_that_was_pushed_down_leaves_the_count_in_agreement(file, source, tmp_path):
    """The total counts what the pushed-down scope lets through, so rows without a value in it do no harm."""
    file.write("UPDATE accounts SET environment = x'01' WHERE id = 'a0002'")
    production = ir.Compare(
        "==", ir.Field(ir.SELF, "accounts", "environment", TEXT, False), ir.Const("production", TEXT)
    )
    envelope = await collect_all(source, tmp_path / "snapshots", production)
    assert (envelope.complete, envelope.scope.filter_pushed_down) == (True, True)
    assert envelope.work.rows == 13
    assert WarningCode.TOTAL_CHANGED not in {notice.code for notice in envelope.warnings}


@pytest.mark.requirement("R1", "R13")
async def test_a_repository_is_complete_at_the_consistency_of_an_interval(tmp_path):
    """Every branch, with what is not text in it still counted as not known."""
    repository = Repository.make(tmp_path / "work")
    repository.branch("topic", {"a": "1\n"})
    envelope = await collect_all(repository.source, tmp_path / "snapshots")
    assert (envelope.complete, envelope.work.rows, envelope.scope.consistency) == (True, 2, "interval")
    (repository.path / ".git/refs/heads/broken").write_text("nothing\n")
    broken = await collect_all(repository.source, tmp_path / "snapshots")
    assert (broken.status, codes(broken)) == (Status.FAILED, [Reason.MALFORMED_RESPONSE])
