"""APIs that name the next page in the `Link` header, or give the whole list without a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import Cut, Fault, Pages, Stub, cut, heads, lacks, refuses

Headers = Callable[[int, Cut], Mapping[str, str]]


def numbered(headers: Headers = lambda page, part: {}, host: str = "https://api.example.com") -> Pages:
    """Return pages by number, of which only the header says whether there is another one."""

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        page = int(asked.query.get("page", "1"))
        part = cut(things, (page - 1) * 3)
        following = urlencode({**asked.query, "page": str(page + 1)})
        link = {"Link": f'<{host}{asked.path}?{following}>; rel="next"'} if part.more else {}
        return Answer(200, part.things, {**link, **headers(page, part)})

    return pages


def opaque(parameter: str, items: str | None = None, host: str = "") -> Pages:
    """Return pages behind an opaque parameter that only the header tells."""

    def pages(things: Sequence[Any], asked: Asked) -> Answer:
        part = cut(things, int(asked.query.get(parameter, "x0")[1:]))
        following = urlencode({**asked.query, parameter: f"x{part.end}"})
        link = {"Link": f'<{host}{asked.path}?{following}>; rel="next"'} if part.more else {}
        return Answer(200, part.things if items is None else {"name": "app", items: part.things}, link)

    return pages


def manifest(asked: Asked) -> Answer | None:
    """Answer for the manifest of one tag: its digest stands in a header."""
    if "/manifests/" not in asked.path:
        return None
    digest = f"sha256:{asked.path.rpartition('/')[2]}"
    return Answer(
        200, None, {"Docker-Content-Digest": digest, "content-type": "application/vnd.oci.image.index.v1+json"}
    )


LINKS = [
    Stub(
        "github_rest",
        "/orgs/acme/repos?type=all&per_page=3",
        numbered(lambda page, part: {"X-OAuth-Scopes": "repo, read:org", "X-RateLimit-Remaining": "4990"}),
        faults=[
            Fault(
                "primary limit", refuses(403, {}, x_ratelimit_remaining="0", x_ratelimit_reset="1"), ("RATE_LIMITED",)
            ),
            Fault("secondary limit", refuses(403, {}, retry_after="60"), ("RATE_LIMITED",)),
            Fault("scope that was lost", heads(X_OAuth_Scopes="read:org"), ("VISIBILITY_RESTRICTED",)),
            Fault("no right", refuses(403, {"message": "Resource not accessible"}), ("VISIBILITY_RESTRICTED",)),
        ],
    ),
    Stub(
        "gitlab",
        "/api/v4/projects?membership=true&per_page=3",
        numbered(lambda page, part: {"X-Next-Page": str(page + 1) if part.more else "", "X-Total": str(part.total)}),
        counted=True,
        faults=[
            Fault("offset that is too far", refuses(405, "Offset pagination has a maximum"), ("RESULT_LIMIT_REACHED",)),
            Fault(
                "no word of a next page",
                lacks("header:Link", "header:X-Next-Page"),
                ("COUNT_MISMATCH", "COMPLETENESS_UNPROVABLE"),
            ),
        ],
    ),
    Stub(
        "gitlab",
        "/api/v4/projects?pagination=keyset&order_by=id&per_page=3",
        opaque("id_after", host="https://gitlab.example.com"),
        name="keyset",
    ),
    Stub(
        "okta",
        '/api/v1/users?filter=status+eq+"ACTIVE"&limit=3',
        opaque("after", host="https://acme.okta.example"),
        faults=[
            Fault("limit", refuses(429, {"errorCode": "E0000047"}, x_rate_limit_reset="9"), ("RATE_LIMITED",)),
            Fault("session", refuses(401, {"errorCode": "E0000011"}), ("AUTH_FAILED",)),
        ],
    ),
    Stub(
        "harbor",
        "/api/v2.0/projects/p/repositories?page_size=3",
        numbered(lambda page, part: {"X-Total-Count": str(part.total)}, host=""),
        counted=True,
        faults=[Fault("link that was lost", lacks("header:Link"), ("COUNT_MISMATCH",))],
    ),
    Stub(
        "docker_registry",
        "/v2/app/tags/list?n=3",
        opaque("last", "tags"),
        thing=lambda name: name,
        at="$value",
        beside=manifest,
        faults=[
            Fault("number", refuses(400, {"errors": [{"code": "PAGINATION_NUMBER_INVALID"}]}), ("UNEXPECTED_STATUS",)),
            Fault("denied", refuses(403, {"errors": [{"code": "DENIED"}]}), ("VISIBILITY_RESTRICTED",)),
        ],
    ),
    # what is not in the catalog may be there all the same
    Stub(
        "docker_registry",
        "/v2/_catalog?n=3",
        opaque("last", "repositories"),
        thing=lambda name: name,
        at="$value",
        best=frozenset({"COMPLETENESS_UNPROVABLE"}),
        name="catalog",
    ),
    # HTTP itself has no sign for the end of a list
    Stub(
        "http",
        "/things",
        lambda things, asked: Answer(200, list(things)),
        paged=False,
        best=frozenset({"COMPLETENESS_UNPROVABLE"}),
    ),
]
