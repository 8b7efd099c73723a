"""Lists over HTTP, from a real server: whole, or with the reason why not."""

import pytest
from tests.support.http_api import Answer, Api
from tests.support.reading_http import FAMILIES, config, read_all, things

from fullcount.compiler.claims import Consistency
from fullcount.runtime.collect.loop import Budget
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way


@pytest.fixture(params=sorted(FAMILIES))
def family(request):
    """Return each family of APIs."""
    return request.param


def codes(envelope):
    """Return the reasons of an envelope."""
    return [reason.code for reason in envelope.completeness.reasons]


def once(*answers, when=lambda asked: True):
    """Return a fault that gives each answer once, to requests that fit."""
    left = list(answers)
    return lambda asked: left.pop(0) if left and when(asked) else None


@pytest.mark.requirement("R2", "R36")
async def test_list_that_does_not_say_where_it_ends_is_never_complete(tmp_path):
    """Without a sign of the end nothing is concluded, whatever was returned."""
    with Api(things(2)) as api:
        envelope = await read_all(config(api, "nolast"), tmp_path)
    assert codes(envelope) == [Reason.COMPLETENESS_UNPROVABLE]
    assert envelope.work.rows == 2


@pytest.mark.requirement("R1", "R11", "R38")
@pytest.mark.parametrize("count", [0, 1, 3, 4, 11])
async def test_every_page_of_every_family_is_read_to_its_end(family, count, tmp_path):
    """However many pages there are, each object is there once, and the end was seen."""
    with Api(things(count)) as api:
        envelope = await read_all(config(api, family), tmp_path)
    assert envelope.complete, envelope.completeness
    assert envelope.work.rows == count
    assert envelope.work.end_marker is not None
    assert envelope.scope.consistency.at_least(Consistency.INTERVAL)


@pytest.mark.requirement("R13", "R15")
async def test_pages_that_may_shift_are_read_until_two_passes_agree(tmp_path):
    """Paging by number is confirmed by a second pass; keyset and pinned pages need none."""
    with Api(things(7)) as api:
        await read_all(config(api, "link"), tmp_path)
        await read_all(config(api, "keyset"), tmp_path)
        await read_all(config(api, "k8s"), tmp_path)
    assert [len(api.lists(name)) for name in ("link", "keyset", "k8s")] == [6, 3, 3]


@pytest.mark.requirement("R13", "R37")
async def test_list_that_changes_with_every_pass_is_not_complete(tmp_path):
    """Where no two passes agree, the pages belong to no state, and the read says so."""
    with Api(things(7)) as api:

        def grow(asked):
            if asked.path == "/link" and "page" not in asked.query:
                key = f"x{len(api.objects)}"
                api.objects[key], api.versions[key] = {"id": key, "owner": None, "n": 0}, 1

        api.faults.append(grow)
        envelope = await read_all(config(api, "link"), tmp_path)
    assert codes(envelope) == [Reason.SNAPSHOT_CHANGED]
    assert envelope.completeness.continuation.way is Way.RESTART


@pytest.mark.requirement("R37", "R36")
async def test_object_that_slides_between_pages_by_number_is_never_lost(tmp_path):
    """A row inserted behind the reader's back is on no page of that pass; the passes go on until it is there."""
    with Api(things(7)) as api:

        def insert(asked):
            if asked.path == "/link" and asked.query.get("page") == "2" and "a" not in api.objects:
                api.objects["a"], api.versions["a"] = {"id": "a", "owner": None, "n": 0}, 1

        api.faults.append(insert)
        envelope = await read_all(config(api, "link"), tmp_path)
        assert (envelope.complete, envelope.work.rows) == (True, 8)


@pytest.mark.requirement("R13", "R37", "R36")
async def test_row_that_comes_twice_on_pages_by_number_tells_of_one_that_was_missed(tmp_path):
    """Where each pass shows the same row twice, the read is not complete, though the passes agree."""
    with Api(things(6)) as api:

        def twice(asked):
            answer = api._link(asked)
            if asked.query.get("page") == "2":
                answer.body = [api.objects["t0002"], *answer.body[:-1]]
            return answer

        api.faults.append(twice)
        envelope = await read_all(config(api, "link"), tmp_path)
    assert codes(envelope) == [Reason.SNAPSHOT_CHANGED]
    assert WarningCode.DUPLICATE_ITEMS in {notice.code for notice in envelope.warnings}


@pytest.mark.requirement("R14", "R37")
@pytest.mark.parametrize("family", ["k8s", "cursor"])
async def test_snapshot_that_is_gone_in_the_middle_is_never_merged(family, tmp_path):
    """Pages of two states are not one answer."""
    with Api(things(7)) as api:

        def move_on(asked):
            if len(api.lists(family)) == 2:
                api.snapshot = "s2"

        api.faults.append(move_on)
        envelope = await read_all(config(api, family), tmp_path)
    assert not envelope.complete
    assert codes(envelope)[0] in {Reason.CURSOR_EXPIRED, Reason.SNAPSHOT_CHANGED}
    assert envelope.completeness.continuation.way is Way.RESTART


@pytest.mark.requirement("R17")
async def test_throttled_source_is_asked_again_after_the_time_it_says(tmp_path):
    """`Retry-After` is kept; within the budget the read goes on, and is whole."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    with Api(things(7)) as api:
        api.faults.append(once(Answer(429, None, {"Retry-After": "7"}), when=lambda asked: "cursor" in asked.query))
        envelope = await read_all(config(api, "cursor"), tmp_path, Budget(sleep=sleep))
    assert envelope.complete
    assert (slept, envelope.work.retries) == ([7.0], 1)


@pytest.mark.requirement("R17")
async def test_source_that_stays_throttled_keeps_what_was_read_and_says_when_to_come_back(tmp_path):
    """Beyond the budget the answer is partial, with the rows so far and the stated time."""
    with Api(things(7)) as api:
        api.faults.append(lambda asked: Answer(429, None, {"Retry-After": "60"}) if "cursor" in asked.query else None)
        envelope = await read_all(config(api, "cursor"), tmp_path)
    assert codes(envelope) == [Reason.RATE_LIMITED]
    assert (envelope.work.rows, envelope.completeness.continuation.after_seconds) == (3, 60.0)


@pytest.mark.requirement("R17")
async def test_allowance_is_left_to_others_as_configured(tmp_path):
    """A read stops before it takes the last requests that the source allows."""
    with Api(things(30)) as api:

        def count_down(asked):
            answer = api._cursor(asked)
            answer.headers["X-RateLimit-Remaining"] = str(13 - len(api.requests))
            return answer

        api.faults.append(count_down)
        envelope = await read_all(config(api, "cursor", reserve=10), tmp_path, Budget(retries=0))
    assert codes(envelope) == [Reason.RATE_LIMITED]
    assert len(api.requests) == 3


@pytest.mark.requirement("R3")
async def test_body_that_breaks_off_is_not_a_short_list(tmp_path):
    """A connection closed early is told from the end, however well the status looked."""
    with Api(things(2)) as api:
        api.faults.append(lambda asked: Answer(200, {"items": [], "next_cursor": None}, cut=9))
        envelope = await read_all(config(api, "cursor"), tmp_path)
    assert codes(envelope) == [Reason.MALFORMED_RESPONSE]
    assert envelope.completeness.continuation.way is Way.RESTART


@pytest.mark.requirement("R28")
async def test_no_credential_goes_to_the_host_of_a_link_or_of_a_redirect(tmp_path, monkeypatch):
    """Addresses that a source gives are followed on the configured host; a redirect is not followed at all."""
    monkeypatch.setenv("TOKEN", "t0")
    with Api(things(7), token="t0") as api, Api([]) as elsewhere:
        auth = {"bearer": {"env": "TOKEN"}}
        assert (await read_all(config(api, "link", auth=auth), tmp_path)).complete
        api.faults.append(lambda asked: Answer(302, None, {"Location": f"{elsewhere.url}/login"}))
        envelope = await read_all(config(api, "link", auth=auth), tmp_path)
    assert codes(envelope) == [Reason.AUTH_FAILED]
    assert elsewhere.requests == []


async def test_token_is_fetched_used_and_fetched_anew_when_it_was_revoked(tmp_path, monkeypatch):
    """Client credentials: one token for many pages, and a new one where the old is refused."""
    monkeypatch.setenv("SECRET", "s3cret")
    with Api(things(7), token="none yet") as api:
        oauth = {"token_url": f"{api.url}/token", "client_id": "c", "client_secret": {"env": "SECRET"}}

        def revoke(asked):
            if asked.query.get("cursor") == "6" and api.tokens_given == 1:
                api.token = "another"

        api.faults.append(revoke)
        envelope = await read_all(config(api, "cursor", auth={"oauth2": oauth}), tmp_path)
    assert envelope.complete
    assert api.tokens_given == 2


@pytest.mark.requirement("R18")
async def test_part_that_does_not_answer_is_named_and_the_others_are_read(tmp_path):
    """Several lists that make one: one that fails makes the whole incomplete, by its name."""
    with Api(things(2)) as api:
        api.faults.append(lambda asked: Answer(503) if asked.path == "/broken" else None)
        resource = {"list": ["/broken", "/cursor"]}
        envelope = await read_all(config(api, "cursor", resource), tmp_path, Budget(retries=0))
    assert codes(envelope) == [Reason.SOURCE_UNAVAILABLE]
    assert envelope.completeness.reasons[0].part == "/broken"
    assert envelope.work.rows == 2


@pytest.mark.requirement("R12")
async def test_our_own_limit_of_pages_is_said_together_with_the_page_that_was_left(tmp_path):
    """A limit of ours never looks like the end of the source."""
    with Api(things(7)) as api:
        envelope = await read_all(config(api, "cursor"), tmp_path, Budget(max_pages=1))
    assert codes(envelope) == [Reason.CLIENT_LIMIT_REACHED, Reason.MORE_PAGES_AVAILABLE]


@pytest.mark.requirement("R16")
async def test_source_that_answers_too_late_is_cut_off_at_the_deadline(tmp_path):
    """The deadline holds while a reply is awaited."""
    import time

    with Api(things(7)) as api:
        api.faults.append(lambda asked: time.sleep(0.4))
        envelope = await read_all(config(api, "cursor"), tmp_path, Budget(deadline=0.2))
    assert codes(envelope) == [Reason.TIME_BUDGET_EXCEEDED]
