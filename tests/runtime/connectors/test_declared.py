"""Sources that are only declared: everything that needs no source works, and nothing is ever read or acted on."""

from __future__ import annotations

import pytest
from tests.support.trials import CONFIGURATION, GIVEN, workspace
from tests.support.workspaces import Bench

from fullcount.compiler.catalog import Effect, Idempotency, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.runtime.workspace import Workspace, WorkspaceError


def loaded(folder, *changes):
    text = CONFIGURATION
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "fullcount.toml").write_text(text, "utf-8")
    return Workspace.load(folder)


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("side", ["open_reader", "open_actor"])
async def test_reading_and_acting_are_refused_before_anything_is_contacted(tmp_path, side):
    """There is nothing behind a declaration, and no way to pretend that there is."""
    connector, config = loaded(tmp_path).connector("hr")
    with pytest.raises(WorkspaceError) as refused:
        await getattr(connector, side)("hr", config)
    assert refused.value.code == "FC640"


def test_plan_over_declared_sources_ends_with_one_message_and_no_plan(tmp_path):
    """It says what is missing, and what works without it."""
    workspace(tmp_path, f'test "it" {{ {GIVEN} expect plan ["orphan"] }}')
    bench = Bench.at(tmp_path)
    ended = bench.run("plan", "workflows/orphans.fcw")
    assert ended.exit == 1
    assert "error[FC640]: source `directory` is only declared" in ended.words
    for verb in ("check", "evidence", "graph"):
        assert bench.run(verb, "workflows/orphans.fcw").exit == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('consistency = "interval"\n', "", "`sources.directory.resources.accounts.consistency` is missing"),
        ('visibility = "vouched"\n', "", "`sources.directory.resources.accounts.visibility` is missing"),
        ('key = ["id"]', 'key = ["uid"]', "`key` names `uid`"),
        ('key = ["id"]', 'key = ["owner"]', "must be one value that is always there"),
        ('effect = "update"\n', "", "effect` is missing"),
        ('idempotency = "precondition"\n', "", "idempotency` is missing"),
        ('undoes = ["update"]', 'undoes = ["unlock"]', "said to undo `unlock`"),
        ('id = { type = "text", key = "id" }, ', "", "it names no object"),
        ('key = "id" }, locked', 'key = "owner" }, locked', "said to be the key field `owner`"),
        ('locked = "bool" }\n\n', 'locked = "boolean" }\n\n', "there is no type `boolean`"),
        ("counted = true", "count = true", "`sources.hr.resources.employees.count`"),
    ],
)
def test_declaration_that_does_not_hold_together_is_refused(tmp_path, old, new, words):
    """What would widen trust has no default, and every name must lead somewhere."""
    with pytest.raises(WorkspaceError) as refused:
        loaded(tmp_path, (old, new))
    assert words in refused.value.message


def test_declaration_is_the_resource_that_the_compiler_sees(tmp_path):
    """There is one model of what a source has, whoever declares it."""
    accounts = loaded(tmp_path).catalog().resources("directory")["accounts"]
    assert (accounts.key, accounts.incarnation, accounts.version) == (("id",), "entry_uuid", "row_version")
    assert (accounts.consistency, accounts.visibility) == (Consistency.INTERVAL, Visibility.VOUCHED)
    update = accounts.operations["update"]
    assert (update.effect, update.idempotency, update.reversible) == (Effect.UPDATE, Idempotency.PRECONDITION, True)
    assert update.parameters["id"].key == "id"
    assert update.parameters["locked"].key is None
