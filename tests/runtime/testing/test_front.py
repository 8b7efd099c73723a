"""The fault front between the real connectors and real servers: what each fault looks like to the product."""

import pytest
from tests.support.http_api import Api
from tests.support.reading_http import config, read_all, things

from fullcount.runtime.collect.loop import Budget
from fullcount.runtime.connectors.base import ActCall, Outcome
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.testing import faults
from fullcount.runtime.testing.front import HttpFront, only, since, to

ONCE = Budget(retries=0)
LIST = to("/cursor")


@pytest.fixture(scope="module")
def api():
    """A server with seven things, three a page."""
    with Api(things(7)) as made:
        yield made


@pytest.fixture(scope="module")
def front(api):
    """The front before it. A fault ends with its block, so that one front serves all tests."""
    with HttpFront(api.url) as made:
        yield made


def drop_shard(body):
    """A shard did not answer, and the reply says so."""
    return {**body, "items": body["items"][1:], "unreachable": ["shard-2"]}


def end_early(body):
    """The cursor is gone, and nothing says that this was the end."""
    return {name: value for name, value in body.items() if name != "next_cursor"}


def lose_row(body):
    """A row is missing without a word: only the total tells."""
    return {**body, "items": body["items"][1:]}


FAULTS = {
    "reset": (faults.reset(), Reason.SOURCE_UNAVAILABLE),
    "lost reply": (faults.lose_reply(), Reason.SOURCE_UNAVAILABLE),
    "503": (faults.unavailable(), Reason.SOURCE_UNAVAILABLE),
    "throttled": (faults.throttle(60), Reason.RATE_LIMITED),
    "permission withdrawn": (faults.forbid(), Reason.VISIBILITY_RESTRICTED),
    "logged out": (faults.log_out(), Reason.AUTH_FAILED),
    "page for people": (faults.html(), Reason.MALFORMED_RESPONSE),
    "body cut": (faults.truncate(), Reason.MALFORMED_RESPONSE),
    "cursor expired": (faults.answer(410, {"error": "cursor expired"}), Reason.CURSOR_EXPIRED),
    "shard dropped": (faults.edit(drop_shard), Reason.SOURCE_UNAVAILABLE),
    "no end": (faults.edit(end_early), Reason.COMPLETENESS_UNPROVABLE),
    "row lost": (faults.edit(lose_row), Reason.COUNT_MISMATCH),
}


@pytest.mark.requirement("R2", "R36", "R37")
@pytest.mark.parametrize(("action", "reason"), FAULTS.values(), ids=FAULTS)
async def test_a_page_that_goes_wrong_is_named_by_its_cause_and_never_licenses_cleanup(front, tmp_path, action, reason):
    """Whatever happens to a page in the middle, the read is not complete, and the reason is that of the fault."""
    with front.fault(action, when=LIST, at=only(2)):
        envelope = await read_all(config(front, "cursor"), tmp_path, ONCE)
    assert not envelope.complete
    assert [each.code for each in envelope.completeness.reasons] == [reason]
    assert envelope.work.rows < 7


@pytest.mark.requirement("R37")
async def test_a_cursor_that_comes_again_and_again_ends_the_read_with_its_reason(front, tmp_path):
    """The same page for ever is told from progress."""
    with front.fault(faults.replay(), when=LIST, at=since(2)):
        envelope = await read_all(config(front, "cursor"), tmp_path, ONCE)
    assert envelope.completeness.reasons[0].code is Reason.CURSOR_LOOP
    assert envelope.work.rows == 6


@pytest.mark.requirement("R14", "R37")
async def test_a_world_that_moves_between_two_pages_is_not_one_answer(api, front, tmp_path):
    """The pages before and after belong to two states of the source, which says so."""

    def grow():
        api.snapshot = "s2"

    with front.fault(faults.before(grow), when=LIST, at=only(2)):
        envelope = await read_all(config(front, "cursor"), tmp_path, ONCE)
    assert Reason.SNAPSHOT_CHANGED in {each.code for each in envelope.completeness.reasons}


@pytest.mark.requirement("R16")
async def test_a_source_that_never_answers_is_left_at_the_deadline(front, tmp_path):
    """Nothing that hangs holds a read beyond its deadline, and what was read stays."""
    with front.fault(faults.hang(), when=LIST, at=only(3)):
        envelope = await read_all(config(front, "cursor"), tmp_path, Budget(deadline=0.3))
    assert [each.code for each in envelope.completeness.reasons] == [Reason.TIME_BUDGET_EXCEEDED]
    assert envelope.work.rows == 6


@pytest.mark.requirement("R17")
async def test_what_passes_within_the_budget_leaves_the_answer_whole(api, front, tmp_path):
    """A reset, a refusal and a late page are retried and waited for; nothing else is changed by the front."""
    front_before, api_before = len(front.seen), len(api.requests)
    with (
        front.fault(faults.reset(), when=LIST, at=only(1)),
        front.fault(faults.throttle(1), when=LIST, at=only(3)),
        front.fault(faults.delay(0.02), when=LIST, at=only(2)),
    ):
        envelope = await read_all(config(front, "cursor"), tmp_path)
    assert (envelope.complete, envelope.work.rows, envelope.work.retries) == (True, 7, 2)
    assert len(front.seen) - front_before == len(api.requests) - api_before + 2


@pytest.mark.requirement("R32")
async def test_a_write_whose_reply_is_lost_is_unknown_and_told_by_reading(api, front):
    """The write happened, its answer did not arrive: that is no failure, and no second write."""
    operation = {"method": "DELETE", "path": "/cursor/{id}", "effect": "delete"}
    resource = {"read": "/cursor/{id}", "not_found_is_gone": True, "operations": {"remove": operation}}
    settings = config(front, "cursor", resource)
    declared = CONNECTOR.resources("api", settings)["things"]
    actor, reader = await CONNECTOR.open_actor("api", settings), await CONNECTOR.open_reader("api", settings)
    seen = (await reader.read(declared, ("t0001",), ("id", "owner", "n"))).cells
    call = ActCall(declared, "remove", ("t0001",), {"id": "t0001"}, seen, "key")
    with front.fault(faults.lose_reply(), when=to("/cursor/t0001", "DELETE")):
        result = await actor.perform(call)
    assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
    assert await actor.took_effect(call) is True
    assert api.effects == [("DELETE", "t0001")]
    await actor.close()
    await reader.close()
