"""Requests for each object of a list: what they can't give is a state of a field, within limits that are said."""

import threading

import pytest
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, read_all, things

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.connectors.base import Existence
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way

pytestmark = pytest.mark.requirement("R7")

OWNER = {"id": "text", "owner": {"type": "text?", "at": "$detail/body/owner"}}


def resource(**limits):
    """Return a list whose owners only a request for each object tells."""
    return {"fields": OWNER, "detail": {"path": "/cursor/{id}", **limits}}


def answering(answers):
    """Return a fault that answers for single objects."""
    return lambda asked: answers.get(asked.path.rpartition("/")[2])


def codes(envelope):
    """Return the reasons of an envelope."""
    return [reason.code for reason in envelope.completeness.reasons]


def partial(envelope):
    """Return the warnings that fields are not all there."""
    return [notice for notice in envelope.warnings if notice.code is WarningCode.PARTIAL_FIELD_SET]


async def test_detail_that_fails_is_a_state_of_the_field_and_never_an_absence(tmp_path):
    """What can't be had is unknown: a status, an error with a good status, a page for people, no body."""
    answers = {
        "t0002": Answer(403),
        "t0003": Answer(500),
        "t0004": Answer(200, {"error": {"code": "backend_down"}}),
        "t0005": Answer(200, "<html>Sign in</html>", {"content-type": "text/html"}),
        "t0006": Answer(200),
        "t0007": Answer(200, {"owner": "x"}, cut=3),
    }
    with Api(things(8)) as api:
        api.faults.append(answering(answers))
        envelope = await read_all(config(api, "cursor", resource()), tmp_path)
    assert envelope.fields["owner"].states == {"present": 1, "absent": 1, "forbidden": 1, "source_failed": 5}
    assert envelope.complete
    assert all(notice.data["fields"] == ["owner"] for notice in partial(envelope))


async def test_object_that_has_gone_when_its_detail_is_asked_for_changed_and_lacks_nothing(tmp_path):
    """Not found, though the list named it: nothing is known of its fields, and a warning says why."""
    with Api(things(4)) as api:
        api.faults.append(answering({"t0002": Answer(404)}))
        envelope = await read_all(config(api, "cursor", resource()), tmp_path)
    assert envelope.fields["owner"].states == {"present": 2, "absent": 1, "source_failed": 1}
    assert ["changed during the scan" in notice.detail for notice in partial(envelope)] == [True]


@pytest.mark.requirement("R12")
async def test_details_beyond_our_own_limit_are_not_asked_for_and_the_read_says_so(tmp_path):
    """The list itself is read to its end; what was not asked for is neither absent nor failed."""
    with Api(things(7)) as api:
        envelope = await read_all(config(api, "cursor", resource(calls=4)), tmp_path)
        assert sum(asked.path.startswith("/cursor/") for asked in api.requests) == 4
    assert envelope.fields["owner"].states == {"present": 3, "absent": 1, "not_requested": 3}
    assert (codes(envelope), envelope.work.rows) == ([Reason.CLIENT_LIMIT_REACHED], 7)
    assert envelope.completeness.reasons[0].data == {"limit": "detail.calls", "value": 4}


@pytest.mark.requirement("R16")
async def test_details_that_take_longer_than_their_deadline_are_cut_off(tmp_path):
    """The one that was on its way failed, the others were not asked for, and the time is named."""
    released = threading.Event()
    with Api(things(4), page=4) as api:  # one page: while the server is held up it answers nothing else
        api.faults.append(lambda asked: released.wait(20) and None if asked.path.endswith("t0001") else None)
        envelope = await read_all(config(api, "cursor", resource(deadline=0.3, at_once=1)), tmp_path, Budget(retries=0))
        released.set()
    states = envelope.fields["owner"].states
    assert (states["source_failed"], states.get("present")) == (1, None)
    assert states["not_requested"] >= 2
    assert codes(envelope) == [Reason.TIME_BUDGET_EXCEEDED]
    assert envelope.completeness.continuation.way is Way.RETRY_WITH_DEADLINE


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("status", [429, 503])
async def test_source_that_throttles_details_is_waited_for_as_long_as_it_says(tmp_path, status):
    """All requests wait together, and ask again; nothing is missing then."""
    left = [Answer(status, None, {"Retry-After": "0.05"}) for _ in range(3)]
    with Api(things(6)) as api:
        api.faults.append(lambda asked: left.pop() if left and asked.path.startswith("/cursor/") else None)
        envelope = await read_all(config(api, "cursor", resource()), tmp_path)
    assert envelope.complete
    assert envelope.fields["owner"].states == {"present": 4, "absent": 2}


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("wait", ["3600", "0"])
async def test_source_that_goes_on_throttling_is_left_alone(tmp_path, wait):
    """When it says to wait for too long, or too often, no further detail is asked for, and the read says why."""
    with Api(things(40), page=40) as api:

        def throttle(asked):
            return Answer(429, None, {"Retry-After": wait}) if asked.path.startswith("/cursor/") else None

        api.faults.append(throttle)
        envelope = await read_all(config(api, "cursor", resource(at_once=2, retries=2)), tmp_path)
        assert sum(asked.path.startswith("/cursor/") for asked in api.requests) <= 8
    assert codes(envelope) == [Reason.RATE_LIMITED]
    assert {"present", "absent"}.isdisjoint(envelope.fields["owner"].states)
    assert envelope.fields["owner"].states["not_requested"] >= 34


async def test_as_many_details_are_asked_for_at_once_as_was_said(tmp_path):
    """`at_once` are on their way together, and no more."""
    together, lock, running, most = threading.Barrier(3), threading.Lock(), [0], [0]
    with Api(things(9), page=9) as api:
        answer = api.answer

        def counted(asked):
            if asked.path == "/cursor":
                return answer(asked)
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            together.wait(20)
            with lock:
                running[0] -= 1
            return answer(asked)

        api.answer = counted
        assert (await read_all(config(api, "cursor", resource(at_once=3)), tmp_path)).complete
    assert most == [3]


async def test_object_that_does_not_say_which_it_is_is_not_asked_for(tmp_path):
    """A place without a value would make a request for the whole list."""
    fields = {**OWNER, "n": "int?", "name": {"type": "text?", "missing": "absent"}}
    listing = {"fields": fields, "detail": {"path": "/cursor/{name}"}}
    with Api([*things(2), {"id": "x", "owner": None, "n": 5, "name": ".."}]) as api:
        envelope = await read_all(config(api, "cursor", listing), tmp_path)
    assert envelope.fields["owner"].states == {"not_requested": 3}


async def test_list_with_details_is_never_of_one_instant(tmp_path):
    """Each detail is read at an instant of its own, however well the pages are pinned."""
    at = {"id": {"type": "text", "at": "metadata/uid"}, "owner": {"type": "text?", "at": "$detail/body/owner"}}
    with Api(things(4)) as api:
        settings = config(api, "k8s", {"fields": at, "detail": "/cursor/{id}"})
        envelope = await read_all(settings, tmp_path)
    assert CONNECTOR.resources("api", settings)["things"].consistency is Consistency.INTERVAL
    assert (envelope.scope.consistency, envelope.scope.snapshot_token) == (Consistency.INTERVAL, None)
    assert envelope.complete


@pytest.mark.parametrize("fault", [None, Answer(500), Answer(403), Answer(404)])
async def test_single_object_is_asked_for_its_detail_as_the_list_was(fault):
    """The recheck reads the field where the list had it from, never from a body that lacks it."""
    listing = {"fields": {"id": "text", "owner": {"type": "text?", "at": "$detail/body/who"}}}
    listing |= {"detail": {"path": "/cursor/{id}/owner", "calls": 0}, "read": "/cursor/{id}"}
    with Api(things(2)) as api:
        settings = config(api, "cursor", listing)
        answer = fault or Answer(200, {"who": "somebody"})
        api.faults.append(lambda asked: answer if asked.path.endswith("/t0001/owner") else None)
        reader = await CONNECTOR.open_reader("api", settings)
        reading = await reader.read(CONNECTOR.resources("api", settings)["things"], ("t0001",), ("id", "owner"))
        await reader.close()
    assert reading.existence is Existence.FOUND
    states = {None: FieldState.PRESENT, 403: FieldState.FORBIDDEN}
    assert reading.cells["owner"].state is states.get(fault and fault.status, FieldState.SOURCE_FAILED)


async def test_field_of_a_detail_that_nobody_asks_for_was_not_requested(tmp_path):
    """A list without such a request says nothing about the field, whatever the API's missing keys mean."""
    with Api(things(2)) as api:
        envelope = await read_all(config(api, "keyset", {"fields": OWNER}), tmp_path)
    assert envelope.fields["owner"].states == {"not_requested": 2}


@pytest.mark.requirement("R17")
async def test_details_stop_together_before_they_take_what_is_left_to_others(tmp_path):
    """The allowance that replies speak of holds for all requests that are made at the same time."""
    with Api(things(30), page=30) as api:

        def count_down(asked):
            answer = api._one(asked, asked.path.rpartition("/")[2]) if asked.path != "/cursor" else api._cursor(asked)
            answer.headers["X-RateLimit-Remaining"] = str(20 - len(api.requests))
            return answer

        api.faults.append(count_down)
        envelope = await read_all(config(api, "cursor", resource(at_once=2), reserve=10), tmp_path)
        assert len(api.requests) <= 11
    assert codes(envelope) == [Reason.RATE_LIMITED]
    assert set(envelope.fields["owner"].states) == {"present", "absent", "not_requested"}
