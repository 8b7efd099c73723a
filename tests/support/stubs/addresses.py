"""APIs whose reply has the address of the next page in its body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import Cut, Fault, Pages, Stub, cut, lacks, put, refuses, says

NO_ADDRESS = object()
"""The last page has no address at all."""


def address(
    items: str,
    given: str,
    parameter: str,
    host: str = "https://api.example.com",
    last: Any = NO_ADDRESS,
    beside: Callable[[Cut], Mapping[str, Any]] = lambda part: {},
) -> Pages:
    """Return pages with the address of the next one at `given`."""

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        part = cut(things, int(asked.query.get(parameter, "p0")[1:]))
        body = put(items, list(part.things), beside(part))
        if part.more:
            body = put(given, f"{host}{asked.path}?{urlencode({**asked.query, parameter: f'p{part.end}'})}", body)
        elif last is not NO_ADDRESS:
            body = put(given, last, body)
        return Answer(200, body)

    return pages


def query(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a query of Salesforce: the rest of it is at an address of its own."""
    start = int(asked.path.rpartition("-")[2]) if "/query/" in asked.path else 0
    part = cut(things, start)
    body = {"totalSize": part.total, "done": not part.more, "records": part.things}
    following = {"nextRecordsUrl": f"/services/data/v60.0/query/01gxx-{part.end}"} if part.more else {}
    return Answer(200, {**body, **following})


def delta(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a delta query of Graph: the last page has the address for the next round."""
    answer = address("value", "@odata.nextLink", "$skiptoken")(things, asked)
    if "@odata.nextLink" not in answer.body:
        answer.body["@odata.deltaLink"] = f"https://graph.microsoft.com{asked.path}?$deltatoken=d"
    return answer


ADDRESSES = [
    Stub(
        "azure_arm",
        "/subscriptions/s/resources?api-version=2021-04-01",
        address("value", "nextLink", "$skiptoken", "https://management.azure.com"),
        faults=[Fault("limit", refuses(429, {}, x_ms_ratelimit_remaining="0"), ("RATE_LIMITED",))],
    ),
    Stub(
        "microsoft_graph",
        "/v1.0/users?$select=id&$top=3",
        address("value", "@odata.nextLink", "$skiptoken", beside=lambda part: {"@odata.context": "…"}),
        faults=[
            Fault("limit", refuses(429, {"error": {"code": "TooManyRequests"}}, retry_after="9"), ("RATE_LIMITED",)),
            Fault(
                "no right", refuses(403, {"error": {"code": "Authorization_RequestDenied"}}), ("VISIBILITY_RESTRICTED",)
            ),
        ],
    ),
    Stub(
        "microsoft_graph",
        "/v1.0/users/delta?$select=id",
        delta,
        name="delta",
        faults=[
            Fault("state", refuses(400, {"error": {"code": "syncStateNotFound"}}), ("CURSOR_EXPIRED",)),
            Fault("resync", refuses(410, {"error": {"code": "resyncRequired"}}), ("CURSOR_EXPIRED",)),
            Fault("no word of an end", lacks("@odata.deltaLink"), ("COMPLETENESS_UNPROVABLE",), 3),
        ],
    ),
    Stub(
        "odata",
        "/odata/Things?$count=true",
        address("value", "@odata.nextLink", "$skiptoken", beside=lambda part: {"@odata.count": part.total}),
        thing=lambda name: {"Id": name},
        at="Id",
        counted=True,
        faults=[Fault("link that was lost", lacks("@odata.nextLink"), ("COUNT_MISMATCH",))],
    ),
    # `$top` at or below the size of a page: no link, though there is more
    Stub(
        "odata",
        "/odata/Things?$top=3",
        lambda things, asked: Answer(200, {"value": list(things)[:3]}),
        paged=False,
        best=frozenset({"CLIENT_LIMIT_REACHED"}),
        name="top",
    ),
    Stub(
        "json_api",
        "/articles?page[size]=3",
        address("data", "links/next", "page[after]", last=None, beside=lambda part: {"meta": {"total": part.total}}),
        thing=lambda name: {"type": "articles", "id": name, "attributes": {"title": name}},
        counted=True,
        faults=[
            Fault("links that were lost", lacks("links"), ("COUNT_MISMATCH", "COMPLETENESS_UNPROVABLE")),
            Fault("links and total that were lost", lacks("links", "meta"), ("COMPLETENESS_UNPROVABLE",)),
            Fault("errors", refuses(200, {"errors": [{"status": "500"}]}), ("MALFORMED_RESPONSE",)),
        ],
    ),
    Stub(
        "hal",
        "/orders?size=3",
        address(
            "_embedded/orders",
            "_links/next/href",
            "page",
            beside=lambda part: {"total": part.total, "_links": {"self": {"href": "/orders"}}},
        ),
        counted=True,
        faults=[
            Fault("link that was lost", lacks("_links/next"), ("COUNT_MISMATCH",)),
            Fault("link and total that were lost", lacks("_links/next", "total"), ("COMPLETENESS_UNPROVABLE",)),
        ],
    ),
    Stub(
        "salesforce",
        "/services/data/v60.0/query?q=SELECT+Id+FROM+Account",
        query,
        thing=lambda name: {"attributes": {"type": "Account"}, "Id": name},
        at="Id",
        counted=True,
        faults=[
            Fault("locator", refuses(400, [{"errorCode": "INVALID_QUERY_LOCATOR"}]), ("CURSOR_EXPIRED",)),
            Fault("quota", refuses(403, [{"errorCode": "REQUEST_LIMIT_EXCEEDED"}]), ("QUOTA_EXHAUSTED",)),
            Fault("address that was lost", lacks("nextRecordsUrl"), ("MORE_PAGES_AVAILABLE",)),
            Fault("no word of an end", lacks("nextRecordsUrl", "done"), ("MALFORMED_RESPONSE",)),
            Fault("said to be done", says("done", True), ("COUNT_MISMATCH",)),
        ],
    ),
]
