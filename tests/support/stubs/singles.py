"""APIs that answer with everything in one reply, and say beside it what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import COUNT, Fault, Pages, Stub, heads, lacks, refuses, says


def single(make: Callable[[list[Any]], Any], **headers: str) -> Pages:
    """Return the one reply that has everything."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        return Answer(200, make(list(things)), named)

    return pages


def vector(things: list[Any]) -> Any:
    """Return the reply to an instant query."""
    return {"status": "success", "data": {"resultType": "vector", "result": things}}


def streams(things: list[Any]) -> Any:
    """Return the reply to a query of log lines."""
    found = [{"stream": {"app": "a"}, "values": things[:4]}, {"stream": {"app": "b"}, "values": things[4:]}]
    return {"status": "success", "data": {"resultType": "streams", "result": found}}


def sample(name: str) -> dict[str, Any]:
    """Return one series of a vector."""
    return {"metric": {"__name__": "up", "instance": name}, "value": [1, "1"]}


def range_of(things: list[Any]) -> Any:
    """Return the reply of an AQL search: its total is of what was returned."""
    return {"results": things, "range": {"start_pos": 0, "end_pos": len(things), "total": len(things)}}


TRIMMED = "AQL query reached the search hard limit, results are trimmed."
TOO_MANY = {"status": "error", "errorType": "timeout", "error": "query timed out"}

SINGLES = [
    Stub(
        "prometheus",
        "/api/v1/query?query=up",
        single(vector),
        thing=sample,
        at="metric/instance",
        paged=False,
        faults=[
            Fault("limit", says("warnings", ["results truncated due to limit"]), ("CLIENT_LIMIT_REACHED",), 1),
            Fault("part", says("warnings", ["remote read: store is down"]), ("PARTIAL_ERRORS",), 1),
            Fault("time", refuses(503, TOO_MANY), ("TIME_BUDGET_EXCEEDED",), 1),
            Fault("no word of success", lacks("status"), ("COMPLETENESS_UNPROVABLE",), 1),
        ],
    ),
    Stub(
        "thanos",
        "/api/v1/query?query=up&partial_response=true",
        single(vector),
        thing=sample,
        at="metric/instance",
        paged=False,
        faults=[
            Fault("store", says("warnings", ["no store matched"]), ("SOURCE_UNAVAILABLE",), 1),
            Fault("time", refuses(503, TOO_MANY), ("TIME_BUDGET_EXCEEDED",), 1),
        ],
    ),
    Stub(
        "loki",
        '/loki/api/v1/query_range?query={app=~".+"}&limit=100',
        single(streams),
        thing=lambda name: [name, "line"],
        at="$value/0",
        paged=False,
        faults=[
            Fault(
                "series",
                refuses(400, "maximum of series (500) reached for a single query"),
                ("RESULT_LIMIT_REACHED",),
                1,
            ),
        ],
    ),
    # as many lines as the limit allows: nothing else would tell that there are more
    Stub(
        "loki",
        f'/loki/api/v1/query_range?query={{app=~".+"}}&limit={COUNT}',
        single(streams),
        thing=lambda name: [name, "line"],
        at="$value/0",
        paged=False,
        best=frozenset({"CLIENT_LIMIT_REACHED"}),
        name="full",
    ),
    Stub(
        "consul",
        "/v1/catalog/nodes",
        single(lambda things: things, X_Consul_KnownLeader="true", X_Consul_LastContact="0"),
        thing=lambda name: {"Node": name},
        at="Node",
        paged=False,
        faults=[
            Fault("ACL", heads(X_Consul_Results_Filtered_By_ACLs="true"), ("VISIBILITY_RESTRICTED",), 1),
            Fault("leader", refuses(500, "No cluster leader"), ("SOURCE_UNAVAILABLE",), 1),
        ],
    ),
    Stub(
        "artifactory",
        "/artifactory/api/search/aql",
        single(range_of),
        thing=lambda name: {"repo": "r", "path": name, "name": "artifact"},
        at="path",
        method="POST",
        body="items.find({})",
        paged=False,
        faults=[
            Fault("hard limit", says("range/notification", TRIMMED), ("RESULT_LIMIT_REACHED",), 1),
            Fault("no word of a range", lacks("range"), ("COMPLETENESS_UNPROVABLE",), 1),
            Fault("queue", refuses(408, {}), ("TIME_BUDGET_EXCEEDED",), 1),
        ],
    ),
]
