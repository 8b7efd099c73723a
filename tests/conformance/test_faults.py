"""What comes in place of a list: whatever it is, and whichever API was asked, it never passes for a complete one."""

import json
from pathlib import Path

import pytest

from fullcount.runtime.conformance.case import Case, load
from fullcount.runtime.conformance.replay import replay
from fullcount.runtime.evidence.codes import Reason, Way

HERE = Path(__file__).parent
JSON = {"content-type": "application/json"}
HTML = {"content-type": "text/html"}

NO_LISTS = {
    "a message": {"message": "internal server error"},
    "an error of a gateway": {"status": "error", "code": 502, "message": "upstream timed out"},
    "an error": {"error": {"code": "x", "message": "y"}},
    "an error in one word": {"error": "unavailable"},
    "errors": {"errors": [{"code": "x", "message": "y"}]},
    "a fault": {"fault": {"faultstring": "x"}},
    "something else": {"meta": {"page": 1}},
    "a number": 42,
}
"""Bodies that come with status 200."""

REPLIES = {
    "a page for people": (
        200,
        HTML,
        "<!DOCTYPE html><html><body>Sign in</body></html>",
        Reason.MALFORMED_RESPONSE,
        None,
    ),
    "words": (200, {"content-type": "text/plain"}, "upstream connect error", Reason.MALFORMED_RESPONSE, None),
    "half a body": (200, JSON, '{"a":[{"id":1},{"id"', Reason.MALFORMED_RESPONSE, Way.RESTART),
    "no authority": (401, JSON, {"message": "x"}, Reason.AUTH_FAILED, Way.RESTART),
    "too many": (429, {**JSON, "retry-after": "3"}, {"message": "x"}, Reason.RATE_LIMITED, Way.RETRY_AFTER),
    "a gateway's page": (502, HTML, "<html>Bad Gateway</html>", Reason.SOURCE_UNAVAILABLE, Way.RETRY_WITH_DEADLINE),
    "a way to a log-in": (302, {"location": "https://sso.example/login"}, None, Reason.AUTH_FAILED, Way.RESTART),
    "not modified": (304, {}, None, Reason.UNEXPECTED_STATUS, Way.RESTART),
}
"""Replies that mean the same of every API: status, headers, body, and what they mean."""

_OWN_WORDS = {"kafka", "ldap", "active_directory", "postgresql", "filesystem", "redis", "sourcegraph_like_sync"}


def complete_reads():
    """Return one read of a single reply that is complete, of each API and each of its operations."""
    found = {}
    for file in ("cases.jsonl", "own.jsonl", "blind.jsonl"):
        for case in load(HERE / file):
            request = case.exchange[0].request
            single = case.phase == "read" and len(case.exchange) == 1 and case.expect.complete
            if single and case.api not in _OWN_WORDS and request.get("method") != "HEAD":
                found.setdefault((case.api, request.get("operation")), case)
    return list(found.values())


READS = complete_reads()


def answered(case: Case, status, headers, body):
    """Return the verdict on a case whose reply was another one."""
    step = case.exchange[0]
    answer = step.response.model_copy(update={"status": status, "headers": headers, "body": body})
    changed = case.model_copy(update={"exchange": [step.model_copy(update={"response": answer})]})
    (replayed,) = replay([changed])
    return replayed.verdict


@pytest.mark.requirement("R2", "R3")
@pytest.mark.parametrize("body", NO_LISTS.values(), ids=NO_LISTS)
def test_body_without_a_list_is_no_empty_list_of_any_api(body):
    """A good status proves the exchange only: what is no list of the API is never complete, and never empty."""
    passed = [case.id for case in READS if answered(case, 200, JSON, json.dumps(body)).complete]
    assert passed == []


@pytest.mark.requirement("R2", "R4")
@pytest.mark.parametrize(("status", "headers", "body", "reason", "way"), REPLIES.values(), ids=REPLIES)
def test_reply_that_http_gives_a_meaning_means_the_same_of_every_api(status, headers, body, reason, way):
    """No dialect forgets what HTTP itself says."""
    verdicts = {case.id: answered(case, status, headers, body) for case in READS}
    others = {name: (seen.reasons, seen.continuation) for name, seen in verdicts.items() if seen.reasons != {reason}}
    assert others == {}
    assert {seen.continuation for seen in verdicts.values()} == {way}
