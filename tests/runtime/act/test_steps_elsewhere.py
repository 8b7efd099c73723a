"""Steps that make something new elsewhere, and clocks of objects that have a version and no incarnation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.acting import DAY, Orphans
from tests.support.applying import Stage, figures, left_alone, row
from tests.support.fake_source import FakeSource
from tests.support.graduating import RELEASE, Nights, by_version, deleting, due, setting, telling, with_mail

from fullcount.compiler import program
from fullcount.runtime.act.apply import STEP_MOVED_ON
from fullcount.runtime.connectors.base import ActResult, Outcome, SourceError
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness

ALL = ("a1", "a2", "a3")
TOLD = [("send", (f"a{n}", f"gone-{n}")) for n in (1, 2, 3)]


class Told(Nights):
    """Accounts of which the owner is told first; they are locked or deleted fourteen days later."""

    def __init__(self, folder, world=None, *, last=None, canary=None) -> None:
        world = Orphans(canary=canary) if world is None else world
        self.mail = with_mail(world)
        last = setting(world, locked=True) if last is None else last
        undo = setting(world, locked=False) if last.reversible else None
        steps = (program.Step("warn", telling(world), None, 0), program.Step("end", last, undo, 14 * DAY))
        super().__init__(folder, world, steps=steps, release=False)

    def told(self):
        """What was sent since the last look, in order of the account."""
        sent = sorted(self.mail.effects)
        self.mail.effects.clear()
        return sent


@pytest.fixture
def nights(tmp_path):
    found = Told(tmp_path)
    yield found
    found.store.close()


@pytest.mark.requirement("R31", "R34")
@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (ActResult(Outcome.FAILED, None, "nobody here"), "failed"),
        (ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer"), "unknown"),
    ],
)
async def test_a_notice_that_bounced_starts_no_grace(nights, result, outcome):
    """J12: nobody was told, so nothing follows; the next plan tells them."""
    nights.mail.on("perform", do=lambda: result if nights.mail.calls[-1][1][0] == "send" else None, at=2)
    report = await nights.pass_()
    assert figures(report) == {"done": 2, outcome: 1}
    (bounced,) = [each.key[0] for each in report.rows if each.outcome is not Outcome.DONE]
    assert set(nights.stands) == set(ALL) - {bounced}
    nights.later(days=14)
    assert due(await nights.plan()) == {**dict.fromkeys(nights.stands, "end"), bounced: "warn"}
    nights.verified()


@pytest.mark.requirement("R29", "R37")
async def test_telling_somebody_is_not_taken_for_a_change_of_the_object(nights):
    """The object is compared as it was: at the recheck before, and at the next step."""
    plan = nights.approve(await nights.plan())
    nights.world.account_table.change("a2", owner="p1")
    assert figures(await nights.apply(plan)) == {"done": 2, "changed": 1}
    assert nights.told() == [TOLD[0], TOLD[2]]
    assert nights.source.effects == []
    assert nights.stands == {"a1": "warn", "a3": "warn"}
    nights.later(days=14)
    nights.world.account_table.change("a1", owner="p1")
    assert figures(await nights.pass_()) == {"done": 1}
    assert (nights.effects(), nights.told()) == ([("update", "a3")], [])
    nights.verified()


async def test_each_message_counts_as_an_act(tmp_path):
    """The cap holds for what is told as for what is changed."""
    nights = Told(tmp_path, Orphans(limit=program.Limit(2, None)))
    assert (await nights.plan()).state == "over_cap"
    assert nights.told() == []


async def test_a_night_acts_on_every_source_that_its_rows_need_and_opens_no_other(nights):
    """Tonight some are told and others locked; if one of the sources can't be opened, nothing is done at all."""
    await nights.pass_()
    assert nights.told() == TOLD
    nights.later(days=14)
    nights.world.account_table.put(nights.world.account(4))
    plan = nights.approve(await nights.plan())
    assert due(plan) == {**dict.fromkeys(ALL, "end"), "a4": "warn"}

    async def closed(source):
        if source == "mail":
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="no"))
        return nights.source

    report = await nights.apply(plan, open_actor=closed)
    assert figures(report) == {"not_started": 4}
    assert "`mail` can't be opened" in report.stopped_by.message
    assert figures(await nights.apply(plan)) == {"done": 4}
    assert nights.told() == [("send", ("a4", "gone-4"))]
    assert sorted(nights.effects()) == [("update", key) for key in ALL]
    nights.later(days=14)
    later = nights.approve(await nights.plan())
    assert due(later) == {"a4": "end"}
    assert figures(await nights.apply(later, open_actor=closed)) == {"done": 1}
    nights.verified()


@pytest.mark.parametrize("facts", [{"target.system": "fake://elsewhere"}, {"user": "somebody"}])
async def test_another_system_behind_any_of_the_sources_is_refused(nights, facts):
    """Also where it is only told something, and where it does not say which system it is."""
    plan = nights.approve(await nights.plan())
    nights.mail.facts = facts
    report = await nights.apply(plan)
    assert (figures(report), report.stopped_by.code) == ({"not_started": 3}, "FC758")


async def test_a_mixed_plan_does_not_act_where_one_source_does_not_say_who_it_is(nights):
    """One that is known does not stand in for one that is not."""
    await nights.pass_()
    nights.later(days=14)
    nights.world.account_table.put(nights.world.account(4))
    nights.mail.facts = {"user": "somebody"}
    plan = nights.approve(await nights.plan())
    report = await nights.apply(plan)
    assert (figures(report), report.stopped_by.code) == ({"not_started": 4}, "FC758")


async def test_a_message_can_not_be_undone(nights):
    """It is said, and the locks of the same plan are taken back."""
    await nights.pass_()
    nights.later(days=14)
    nights.world.account_table.put(nights.world.account(4))
    plan = nights.approve(await nights.plan())
    await nights.apply(plan)
    undo = await nights.to_undo(plan)
    assert left_alone(undo) == {"a4": "what its step did can't be taken back"}
    assert figures(await nights.apply(undo)) == {"done": 3}
    nights.verified()


async def test_a_canary_of_messages_looks_at_the_objects(tmp_path):
    """Somebody who changes one meanwhile stops it: its version has moved, and telling does not move it."""
    nights = Told(tmp_path, canary=program.Canary(2, 600_000_000))
    plan = nights.approve(await nights.plan())
    await nights.apply(plan)
    assert len(nights.told()) == 2
    nights.later(minutes=11)
    first = next(each.object_key for each in nights.store.ledger(plan.document.plan_id))
    nights.world.account_table.objects[first]["version"] = 2
    report = await nights.apply(plan)
    assert report.stopped_by.code == "FC777"
    nights.world.account_table.objects[first]["version"] = 1
    assert figures(await nights.apply(plan)) == {"done": 3}
    assert len(nights.told()) == 1


async def test_an_act_of_one_operation_may_tell_somebody_too(tmp_path):
    """Once a plan: it changes nothing of the objects, so the next plan lists them again."""
    world = Orphans()
    mail: FakeSource = with_mail(world)
    (act,) = world.workflow.acts
    world.workflow = replace(world.workflow, acts=(replace(act, call=telling(world), undo=None),))
    stage = Stage(tmp_path, world)
    assert figures(await stage.apply(await stage.approved())) == {"done": 3}
    assert sorted(mail.effects) == TOLD
    assert len((await stage.plan()).document.rows) == 3


# -- clocks that are bound to a version -------------------------------------------------------------------------------


@pytest.fixture
def versions(tmp_path):
    world = Orphans()
    by_version(world)
    found = Told(tmp_path, world, last=deleting(world))
    yield found
    found.store.close()


@pytest.mark.requirement("R32")
async def test_a_change_of_the_object_begins_its_clock_anew(versions):
    """What was announced was the end of another version."""
    await versions.pass_()
    versions.later(days=14)
    versions.world.account_table.change("a2", version=2)
    plan = await versions.plan()
    assert due(plan) == {"a1": "end", "a2": "warn", "a3": "end"}
    assert [each.because for each in plan.document.clocks.ended] == ["it was changed since, and starts again"]
    approved = versions.approve(plan)
    versions.world.account_table.change("a3", version=2)
    report = await versions.apply(approved)
    assert figures(report) == {"done": 2, "changed": 1}
    assert row(report, "a3").reason == STEP_MOVED_ON
    assert versions.effects() == [("delete", "a1")]
    versions.later(days=14)
    assert due(await versions.plan()) == {"a2": "end", "a3": "warn"}
    versions.verified()


async def test_a_changed_object_that_no_longer_qualifies_is_released(versions):
    """The change is why: whoever was warned is told, though the version is another one."""
    (act,) = versions.world.workflow.acts
    versions.graduate(act.steps, release=False)
    graduated = replace(versions.world.workflow.acts[0], release=telling(versions.world))
    versions.world.workflow = replace(versions.world.workflow, acts=(graduated,))
    await versions.pass_()
    versions.told()
    versions.world.account_table.change("a2", owner="p1", version=2)
    plan = await versions.plan()
    assert due(plan) == {"a2": RELEASE}
    assert figures(await versions.apply(versions.approve(plan))) == {"done": 1}
    assert versions.told() == [("send", ("a2", "p1"))]
    assert set(versions.stands) == {"a1", "a3"}
    versions.verified()
