"""What a write sets off besides its row: which writes a trigger runs at, and what a plan is told beforehand."""

from __future__ import annotations

import pytest
from tests.support.sql import ACCOUNTS, sqlite_settings

from fullcount.compiler.catalog import Effect
from fullcount.runtime.connectors.base import Collateral, ForeseesCollateral
from fullcount.runtime.connectors.sql.reach_sqlite import runs_at

ALL = frozenset(Effect)
HEADS = {
    "t DELETE ON": {Effect.DELETE},
    "t AFTER UPDATE OF locked, owner ON": {Effect.UPDATE},
    "t BEFORE insert ON": {Effect.CREATE},
    "delete AFTER UPDATE ON": {Effect.UPDATE},
    "before DELETE ON": {Effect.DELETE},
    '"a ""b"" delete" INSTEAD OF UPDATE ON': {Effect.UPDATE},
    "[a b] DELETE ON": {Effect.DELETE},
    "`a` /* UPDATE */ AFTER -- INSERT\n DELETE ON": {Effect.DELETE},
    "main . t AFTER\n\tDELETE ON": {Effect.DELETE},
    "tr/* DELETE */AFTER UPDATE ON": {Effect.UPDATE},
    '"t"AFTER UPDATE ON': ALL,
    "t WHENEVER DELETE ON": ALL,
    "": ALL,
}
"""The start of a trigger's definition, and which writes it runs at: every one where that is not plain."""


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("head", HEADS)
def test_a_trigger_whose_write_can_not_be_told_counts_for_every_write(head):
    """A name or a comment that looks like a keyword never stands for one."""
    assert runs_at(f"CREATE TRIGGER {head} accounts BEGIN SELECT 1; END") == HEADS[head]


@pytest.mark.parametrize("head", [head for head, at in HEADS.items() if at == ALL and head])
def test_sqlite_itself_reads_no_plain_head_in_another_way(head, file):
    """Heads that are valid SQL and not plain run at one kind of write: counting all of them is on the safe side."""
    if "WHENEVER" not in head:
        file.write(f"CREATE TRIGGER {head} accounts BEGIN SELECT 1; END")
        ((text,),) = file.rows("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
        assert Effect.UPDATE in runs_at(text)


async def test_a_plan_is_told_which_triggers_run_and_which_are_known(file, make_source):
    """Known and unknown ones are told apart, with what to write to make one known."""
    source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "known_triggers": ["noted"]}))
    file.write(
        "CREATE TRIGGER noted AFTER UPDATE ON accounts BEGIN SELECT 1; END",
        "CREATE TRIGGER swept AFTER DELETE ON accounts BEGIN SELECT 1; END",
    )
    reader = await source.reader()
    assert isinstance(reader, ForeseesCollateral)
    updated = await reader.collateral(source.resource, "update")
    assert (updated.unknown, updated.known) == ((), ("the trigger `noted` on main.accounts runs at each update",))
    deleted = await reader.collateral(source.resource, "delete")
    assert (deleted.unknown, deleted.known) == (("the trigger `swept` on main.accounts runs at each delete",), ())
    assert 'known_triggers = ["noted", "swept"]' in deleted.way_on


async def test_a_table_without_triggers_sets_nothing_off(source):
    """The usual case says nothing."""
    found = await (await source.reader()).collateral(source.resource, "delete")
    assert (found.unknown, found.known) == (Collateral().unknown, Collateral().known)
