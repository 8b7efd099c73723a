"""Classes E and G: between plan and act. What was seen is what is acted on, and what is shown is what is done."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from tests.support.acting import Orphans
from tests.support.applying import Stage, figures, row
from tests.support.http_api import Api
from tests.support.reading_http import config
from tests.support.workspaces import ORPHANS

from fullcount.compiler.program import Canary
from fullcount.runtime.connectors.http import CONNECTOR as HTTP
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.readers import Readers
from fullcount.runtime.workspace import Workspace

FILE = "workflows/disable_orphans.fcw"


def deleting(tmp_path, **changes):
    """Return a stage on which accounts are deleted."""
    return Stage(tmp_path, Orphans(operation="delete", **changes))


def remake(stage, key="a1"):
    """Let an owner make an object anew under the name of one that is there, or was."""
    number = int(key[1:])
    stage.world.account_table.put(stage.world.account(number, uuid="made anew"))


def uuids(stage):
    """Return what stands at the target: its keys, and which incarnation each is."""
    return {key: account["uuid"] for (key,), account in stage.world.account_table.objects.items()}


# -- class E ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("E01")
async def test_e01_a_retry_never_reaches_a_new_object_under_the_old_name(tmp_path):
    """A delete failed and was queued, the owner made the name anew, and the retry deleted the new one."""
    stage = deleting(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    first = await stage.apply(plan)
    assert figures(first) == {"done": 2, "unknown": 1}
    remake(stage)
    assert figures(await stage.apply(plan)) == {"done": 2, "changed": 1}
    assert uuids(stage) == {"a1": "made anew"}


@pytest.mark.requirement("E01")
async def test_e01_an_object_that_is_made_anew_between_look_and_call_is_not_the_one_that_is_meant(tmp_path):
    """The recheck had just seen the old one: the call carries which one that was, and the source compares."""
    stage = deleting(tmp_path, concurrency=1)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: remake(stage))
    report = await stage.apply(plan)
    assert (figures(report), row(report, "a1").outcome) == ({"done": 2, "changed": 1}, "changed")
    assert uuids(stage) == {"a1": "made anew"}


@pytest.mark.requirement("E02")
async def test_e02_whether_it_is_gone_is_asked_of_the_object_and_not_of_its_name(tmp_path):
    """Waits by name hung, or hit the successor: an act whose object was made anew since ends, and touches nothing."""
    stage = deleting(tmp_path, canary=Canary(1, 900_000_000), concurrency=1)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=True)
    assert figures(await stage.apply(plan)) == {"unknown": 1, "not_started": 2}
    remake(stage)
    again = await stage.apply(plan)
    assert (row(again, "a1").outcome, figures(again)) == ("done", {"done": 1, "not_started": 2})
    stage.world.clock.advance(900)
    held = await stage.apply(plan)
    assert (held.exit, "stands under its key again" in held.stopped_by.message) == (Exit.ERROR, True)
    assert uuids(stage) == {"a1": "made anew", "a2": "uuid-2", "a3": "uuid-3"}


@pytest.mark.requirement("E07")
def test_e07_what_was_opened_again_before_its_turn_is_left_alone(night):
    """It was closed when it was listed and open when it was deleted: the state is part of what is rechecked."""
    night.says(
        "volumes",
        'where v.state == "closed"',
        """given volumes [
          { id: "reopened", state: "closed" }, { id: "and closed again", state: "closed" }, { id: "open" },
        ]
        before act change volumes "reopened" { state: "open" }
        before act change volumes "and closed again" { revision: 3 }
        expect plan ["and closed again", "reopened"]
        expect outcome "reopened" = changed expect outcome "and closed again" = done""",
    )


# -- class G ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("G01")
async def test_g01_who_only_looks_is_handed_nothing_that_can_act(bench):
    """A dry run printed `would delete`, and deleted: a reader has no such method, whatever its connector."""
    workspace = Workspace.load(bench.root)
    async with Readers(workspace) as readers:
        for source in ("directory", "hr"):
            connector, configuration = workspace.connector(source)
            opened = await connector.open_reader(source, configuration)
            assert not any(hasattr(each, "perform") for each in (opened, readers.reader(source), readers))
            await opened.close()
    with Api([]) as api:
        opened = await HTTP.open_reader("api", config(api, "cursor"))
        assert not hasattr(opened, "perform")
        await opened.close()


@pytest.mark.requirement("G01")
def test_g01_no_verb_that_looks_changes_the_target(bench):
    """Not a byte, also over a plan that is approved."""
    planned = bench.approved()
    before = (bench.root / "directory.db").read_bytes()
    for words in (
        ("plan", FILE), ("show", planned["plan_id"], "--all"), ("why", planned["plan_id"], "a01"),
        ("eval", FILE, "--on", planned["plan_id"]),
    ):  # fmt: skip
        assert bench.run(*words).exit != Exit.USAGE, words
    assert (bench.root / "directory.db").read_bytes() == before
    assert "intents" not in bench.journal()


@pytest.mark.requirement("G04")
@pytest.mark.parametrize("seed", range(3))
async def test_g04_what_is_acted_on_is_what_the_plan_lists_and_nothing_else(tmp_path, seed):
    """The preview said one thing and the act did another, both ways: in a world that stands still they are one."""
    chance, world = Random(seed), Orphans(accounts=12, people=4)
    for number in range(2, 13):  # `a1` is due in any case
        world.account_table.put(
            world.account(
                number,
                owner=chance.choice((None, "p1", "p4", "gone")),
                last_login=world.clock.start - timedelta(days=chance.choice((1, 89, 91, 400))),
                environment=chance.choice(("production", "production", "test")),
                locked=chance.random() < 0.3,
            )
        )
    stage = Stage(tmp_path, world)
    before = {key: dict(each) for key, each in world.account_table.objects.items()}
    plan = await stage.approved()
    report = await stage.apply(plan)
    listed = {key for (key,) in (each.key for each in plan.document.rows)}
    assert "a1" in listed
    assert (figures(report), {key for _, (key,) in stage.source.effects}) == ({"done": len(listed)}, listed)
    changed = {key for (key,), each in world.account_table.objects.items() if each != before[key,]}
    assert changed == listed


@pytest.mark.requirement("G06")
def test_g06_an_act_that_did_less_than_was_planned_says_so(bench):
    """The preview listed many, the task deleted none, and was done: the report holds one against the other."""
    planned = bench.approved()
    bench.sql("directory", "UPDATE accounts SET owner = 'p1', row_version = 2")
    ended = bench.run("apply", planned["plan_id"])
    assert ended.out.startswith("NOTHING DONE  0 done · 3 changed since the plan")
    assert all(f"{key}: changed, the rule no longer holds" in ended.words for key in ORPHANS)
    assert "3 planned = 3" in ended.words
    assert bench.locked() == set()
