"""APIs that go on from a position, from the last object, or from the cursor of a connection."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import PAGE, Fault, Pages, Stub, cut, lacks, refuses, says


def scim(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer by position, counted from 1."""
    start = int(asked.query.get("startIndex", "1"))
    part = cut(things, start - 1)
    body = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"], "totalResults": part.total}
    return Answer(200, {**body, "startIndex": start, "itemsPerPage": len(part.things), "Resources": part.things})


def after_last(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer with what comes behind an object."""
    names = [thing["id"] for thing in things]
    after = asked.query.get("starting_after")
    part = cut(things, 0 if after is None else names.index(after) + 1)
    return Answer(200, {"object": "list", "url": asked.path, "has_more": part.more, "data": part.things})


def searched(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a search over a point in time, behind the sort values of the last hit."""
    after = asked.body.get("search_after")
    hits = [{"_index": "i", "_id": name, "_source": {}, "sort": [number]} for number, name in enumerate(things)]
    part = cut(hits, 0 if after is None else after[0] + 1)
    shards = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
    counted = {"total": {"value": part.total, "relation": "eq"}, "max_score": None, "hits": part.things}
    return Answer(200, {"pit_id": "pit-1", "took": 1, "timed_out": False, "_shards": shards, "hits": counted})


def ranged(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a range of etcd from a key on: what is zero or false is left out, and numbers come as text."""
    if asked.body.get("revision", "8") != "8":
        return Answer(400, {"code": 11, "message": "required revision is a future revision"})
    begin = b64decode(asked.body["key"])
    left = [thing for thing in things if b64decode(thing["key"]) >= begin]
    part = cut(left, 0)
    more = {"more": True} if part.more else {}
    found = {"kvs": part.things, "count": str(len(left))} if len(left) > 0 else {}
    return Answer(200, {"header": {"revision": "8"}, **found, **more})


def relay(place: Callable[[list[Any], dict[str, Any]], Any]) -> Pages:
    """Return pages of a connection; `place` puts it into the reply."""

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        after = asked.body["variables"].get("after")
        part = cut(things, 0 if after is None else int(after.removeprefix("c")))
        info = {"hasNextPage": part.more, "endCursor": f"c{part.end}"}
        return Answer(200, {"data": {"viewer": place(list(part.things), {"pageInfo": info, "totalCount": part.total})}})

    return pages


def nodes(things: list[Any], besides: dict[str, Any]) -> Any:
    """Return a connection by nodes."""
    return {"things": {"nodes": things, **besides}}


def edges(things: list[Any], besides: dict[str, Any]) -> Any:
    """Return a connection by edges."""
    return {"repositories": {"edges": [{"cursor": thing["id"], "node": thing} for thing in things], **besides}}


def erring(kind: str, path: list[Any]) -> list[dict[str, Any]]:
    """Return the errors beside data."""
    return [{"type": kind, "path": path, "message": "…"}]


ASKED = {"query": "query($after: String) { … }", "variables": {"first": PAGE}}
SHARDS = {"total": 5, "successful": 4, "skipped": 0, "failed": 1, "failures": [{"shard": 2}]}
NO_CONTEXT = {"error": {"root_cause": [{"type": "search_context_missing_exception"}]}, "status": 404}

POSITIONS = [
    Stub(
        "scim",
        "/Users?startIndex=1&count=3",
        scim,
        counted=True,
        faults=[
            Fault("too many", refuses(400, {"scimType": "tooMany", "status": "400"}), ("RESULT_LIMIT_REACHED",)),
            Fault("no word of a total", lacks("totalResults"), ("COMPLETENESS_UNPROVABLE",)),
        ],
    ),
    Stub(
        "stripe",
        "/v1/customers?limit=3",
        after_last,
        faults=[
            Fault("no word of more", lacks("has_more"), ("MALFORMED_RESPONSE",)),
            Fault("gone", refuses(400, {"error": {"code": "resource_missing"}}), ("CURSOR_EXPIRED",)),
            Fault("lock", refuses(429, {"error": {"code": "lock_timeout"}}), ("RATE_LIMITED",)),
        ],
    ),
    Stub(
        "elasticsearch",
        "/_search",
        searched,
        thing=lambda name: name,
        at="_id",
        method="POST",
        body={
            "size": PAGE,
            "pit": {"id": "pit-1", "keep_alive": "1m"},
            "sort": ["_shard_doc"],
            "track_total_hits": True,
        },
        faults=[
            Fault("shard", says("_shards", SHARDS), ("SOURCE_UNAVAILABLE",)),
            Fault("cluster", says("_clusters", {"total": 2, "skipped": 1}), ("SOURCE_UNAVAILABLE",)),
            Fault("time", says("timed_out", True), ("TIME_BUDGET_EXCEEDED",)),
            Fault("early", says("terminated_early", True), ("CLIENT_LIMIT_REACHED",)),
            Fault("point in time that ended", refuses(404, NO_CONTEXT), ("CURSOR_EXPIRED",)),
            Fault("no index", says("_shards", {"total": 0, "successful": 0, "failed": 0}), ("SCOPE_NOT_COVERED",)),
        ],
    ),
    Stub(
        "etcd",
        "/v3/kv/range",
        ranged,
        thing=lambda name: {"key": b64encode(name.encode()).decode(), "mod_revision": "5"},
        at="key",
        method="POST",
        body={"key": b64encode(b"n").decode(), "range_end": b64encode(b"o").decode(), "limit": PAGE},
        counted=True,
        faults=[
            Fault("compaction", refuses(400, {"code": 11, "message": "compacted"}), ("CURSOR_EXPIRED",)),
            Fault("no leader", refuses(503, {"code": 14}), ("SOURCE_UNAVAILABLE",)),
            Fault("no word of more", lacks("more"), ("COUNT_MISMATCH",)),
            Fault("no word of a revision", lacks("header", "more"), ("MALFORMED_RESPONSE",)),
        ],
    ),
    Stub(
        "relay",
        "/graphql",
        relay(nodes),
        method="POST",
        body=ASKED,
        counted=True,
        faults=[
            Fault(
                "error beside data", says("errors", erring("SERVICE_UNAVAILABLE", ["viewer"])), ("SOURCE_UNAVAILABLE",)
            ),
            Fault("hidden", says("data/viewer/things/nodes/0", None), ("VISIBILITY_RESTRICTED",)),
            Fault(
                "no word of a next page",
                lacks("data/viewer/things/pageInfo"),
                ("COMPLETENESS_UNPROVABLE", "COUNT_MISMATCH"),
            ),
            Fault("branch that is null", says("data/viewer/things", None), ("MALFORMED_RESPONSE",)),
        ],
    ),
    Stub(
        "github_graphql",
        "/graphql",
        relay(edges),
        method="POST",
        body=ASKED,
        counted=True,
        faults=[
            Fault("limits", says("errors", erring("RESOURCE_LIMITS_EXCEEDED", ["viewer"])), ("RESULT_LIMIT_REACHED",)),
            Fault("limit", says("errors", erring("RATE_LIMITED", ["viewer"])), ("RATE_LIMITED",)),
            Fault(
                "secondary limit",
                refuses(403, {"message": "You have exceeded a secondary rate limit"}),
                ("RATE_LIMITED",),
            ),
        ],
    ),
]
