"""APIs whose reply has a token for the next page in its body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import PAGE, Cut, Fault, Pages, Stub, cut, lacks, put, refuses, says

NO_TOKEN = object()
"""The last page has no token at all."""


def token(
    items: str,
    given: str,
    sent: str | None = None,
    last: Any = NO_TOKEN,
    beside: Callable[[Cut], Mapping[str, Any]] = lambda part: {},
    wrap: Callable[[list[Any]], Any] = lambda things: things,
) -> Pages:
    """Return pages with a token at `given`, sent as the parameter `sent`, or at that place of a body."""
    parameter = given if sent is None else sent

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        back = _at(asked.body, parameter) if asked.method == "POST" else asked.query.get(parameter)
        start = 0 if back is None else int(back.removeprefix("token-"))
        part = cut(things, start)
        body = put(items, wrap(list(part.things)), beside(part))
        if part.more or last is not NO_TOKEN:
            body = put(given, f"token-{part.end}" if part.more else last, body)
        return Answer(200, body)

    return pages


def _at(body: Any, place: str) -> Any:
    for step in place.split("/"):
        body = body.get(step) if isinstance(body, dict) else None
    return body


def named(name: str) -> dict[str, Any]:
    """Return an object that is called by `name`."""
    return {"name": name}


EXPIRED = {
    "error": {"code": 400, "message": "Invalid value", "errors": [{"location": "pageToken", "reason": "invalid"}]}
}
GOOGLE = (Fault("token that ended", refuses(400, EXPIRED), ("CURSOR_EXPIRED",)),)
STATUS = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "metadata": {"continue": "token-3"}}


def zones(things: list[Any]) -> dict[str, Any]:
    """Return what an aggregated list has: a scope with the objects, and one without any on this page."""
    nothing = {"warning": {"code": "NO_RESULTS_ON_PAGE", "data": [{"key": "scope", "value": "zones/b"}]}}
    return {"zones/a": {"instances": things}, "zones/b": nothing}


GCE = {"code": "UNREACHABLE", "data": [{"key": "scope", "value": "zones/b"}]}

TOKENS = [
    Stub(
        "generic_http",
        "/things?limit=3",
        token("items", "next_cursor", "cursor", None, lambda part: {"total": part.total}),
        counted=True,
        faults=[
            Fault("no word of a next page", lacks("next_cursor", "total"), ("COMPLETENESS_UNPROVABLE",)),
            Fault("errors beside the items", says("errors", ["shard 2"]), ("PARTIAL_ERRORS",)),
            Fault("part of a range", lambda answer: Answer(206, answer.body), ("UNEXPECTED_STATUS",)),
        ],
    ),
    Stub(
        "google_aip217",
        "/v1/projects/p/things?pageSize=3",
        token("things", "nextPageToken", "pageToken", ""),
        thing=named,
        at="name",
        faults=[
            *GOOGLE,
            Fault("place that did not answer", says("unreachable", ["locations/b"]), ("SOURCE_UNAVAILABLE",), 3),
        ],
    ),
    Stub(
        "gcp_cloud_asset",
        "/v1/projects/p/assets?pageSize=3&readTime=2026-11-30T00:00:00Z",
        token("assets", "nextPageToken", "pageToken", beside=lambda part: {"readTime": "2026-11-30T00:00:00Z"}),
        thing=named,
        at="name",
        faults=[*GOOGLE, Fault("another instant", says("readTime", "2026-11-30T00:05:00Z"), ("SNAPSHOT_CHANGED",))],
    ),
    Stub(
        "gcp_compute",
        "/compute/v1/projects/p/aggregated/instances?returnPartialSuccess=true&maxResults=3",
        token("items", "nextPageToken", "pageToken", beside=lambda part: {"kind": "compute#list"}, wrap=zones),
        faults=[
            *GOOGLE,
            Fault("scope", says("items/zones~b", {"warning": GCE}), ("SOURCE_UNAVAILABLE",)),
            Fault("scopes", says("unreachables", ["zones/c"]), ("SOURCE_UNAVAILABLE",)),
        ],
    ),
    Stub(
        "gcp_container",
        "/v1/projects/p/locations/-/clusters",
        lambda things, asked: Answer(200, {"clusters": list(things)}),
        thing=named,
        at="name",
        paged=False,
        faults=[Fault("zones", says("missingZones", ["europe-west1-b"]), ("SOURCE_UNAVAILABLE",), 1)],
    ),
    Stub(
        "gcp_logging",
        "/v2/entries:list",
        token("entries", "nextPageToken", "pageToken"),
        thing=lambda name: {"insertId": name},
        at="insertId",
        method="POST",
        body={"resourceNames": ["projects/p"], "pageSize": PAGE},
        faults=[
            Fault("time", refuses(504, {"error": {"status": "DEADLINE_EXCEEDED"}}), ("TIME_BUDGET_EXCEEDED",)),
        ],
    ),
    Stub(
        "gcp_storage",
        "/storage/v1/b/bucket/o?maxResults=3&versions=true",
        token("items", "nextPageToken", "pageToken", beside=lambda part: {"kind": "storage#objects"}),
        thing=lambda name: {"kind": "storage#object", "name": name},
        at="name",
        faults=[*GOOGLE, Fault("folded", says("unreachable", ["b"]), ("SOURCE_UNAVAILABLE",))],
    ),
    Stub(
        "google_admin",
        "/admin/directory/v1/users?customer=my_customer&maxResults=3",
        token(
            "users", "nextPageToken", "pageToken", beside=lambda part: {"kind": "admin#directory#users", "etag": "e"}
        ),
        faults=[
            *GOOGLE,
            Fault("quota", refuses(403, {"error": {"errors": [{"reason": "quotaExceeded"}]}}), ("QUOTA_EXHAUSTED",)),
        ],
    ),
    Stub(
        "google_drive",
        "/drive/v3/files?corpora=allDrives&includeItemsFromAllDrives=true&supportsAllDrives=true&pageSize=3",
        token("files", "nextPageToken", "pageToken", beside=lambda part: {"incompleteSearch": False}),
        faults=[*GOOGLE, Fault("drives", says("incompleteSearch", True), ("SOURCE_UNAVAILABLE",))],
    ),
    # the default corpus is the caller's own
    Stub(
        "google_drive",
        "/drive/v3/files?pageSize=3",
        token("files", "nextPageToken", "pageToken", beside=lambda part: {"incompleteSearch": False}),
        best=frozenset({"SCOPE_NOT_COVERED"}),
        name="own",
    ),
    Stub(
        "slack",
        "/api/conversations.list?types=public_channel,private_channel&limit=3",
        token("channels", "response_metadata/next_cursor", "cursor", "", lambda part: {"ok": True}),
        faults=[
            Fault("scope", refuses(200, {"ok": False, "error": "missing_scope"}), ("VISIBILITY_RESTRICTED",)),
            Fault("cursor", refuses(200, {"ok": False, "error": "invalid_cursor"}), ("CURSOR_EXPIRED",)),
            Fault("no word of success", lacks("ok", "response_metadata"), ("MALFORMED_RESPONSE",)),
        ],
    ),
    Stub(
        "jira_cloud",
        "/rest/api/3/search/jql?jql=project=P&fields=summary&maxResults=3",
        token("issues", "nextPageToken", beside=lambda part: {"isLast": not part.more}),
        faults=[
            Fault("token that ended", refuses(400, {"errorMessages": ["token"]}), ("CURSOR_EXPIRED",)),
            Fault("no word of a next page", lacks("isLast", "nextPageToken"), ("COMPLETENESS_UNPROVABLE",)),
            Fault("token that was lost", lacks("nextPageToken"), ("MORE_PAGES_AVAILABLE",)),
        ],
    ),
    Stub(
        "kubernetes",
        "/api/v1/pods?limit=3",
        token(
            "items",
            "metadata/continue",
            "continue",
            "",
            lambda part: {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "42"}},
        ),
        thing=lambda name: {"metadata": {"uid": name, "name": name}},
        at="metadata/uid",
        faults=[
            Fault("compaction, with a token to go on", refuses(410, STATUS), ("CURSOR_EXPIRED",)),
            Fault("another version", says("metadata/resourceVersion", "43"), ("SNAPSHOT_CHANGED",)),
            Fault("no word of a version", lacks("metadata"), ("SNAPSHOT_CHANGED", "COMPLETENESS_UNPROVABLE")),
            Fault("too large", refuses(504, {"kind": "Status", "code": 504}), ("TIME_BUDGET_EXCEEDED",)),
        ],
    ),
    Stub(
        "azure_resource_graph",
        "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01",
        token(
            "data",
            "$skipToken",
            "options/$skipToken",
            beside=lambda part: {
                "totalRecords": part.total,
                "count": len(part.things),
                "resultTruncated": "true" if part.more else "false",
                "facets": [],
            },
        ),
        method="POST",
        body={"query": "Resources | project id", "options": {"$top": PAGE}},
        counted=True,
        faults=[
            Fault("no way to page", lacks("$skipToken"), ("RESULT_LIMIT_REACHED",)),
            Fault("limit", refuses(429, {"error": {"code": "RateLimiting"}}), ("RATE_LIMITED",)),
            Fault("fewer than said", says("count", 4), ("COUNT_MISMATCH",)),
        ],
    ),
]
