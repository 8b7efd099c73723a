"""AWS: tokens in bodies that have the names of the SDKs, an explicit word of more in some services, XML for S3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.http_api import Answer, Asked
from tests.support.stubs.base import Bend, Fault, Stub, cut, lacks, refuses, says
from tests.support.stubs.tokens import token


def service(dialect: str, operation: str, pages: Any, **more: Any) -> Stub:
    """Return a stub of an API that names its operation in a header."""
    stub = {"body": {}, **more}
    return Stub(dialect, "/", pages, method="POST", operation=f"Service_2020.{operation}", **stub)


def error(kind: str, status: int = 400) -> Bend:
    """Return the refusal that a JSON service gives."""
    return refuses(status, {"__type": kind, "message": "…"})


def called(field: str) -> Mapping[str, Any]:
    """Return how an object looks whose name stands in one field."""
    return {"thing": lambda name: {field: name}, "at": field}


def scanned(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a scan of DynamoDB: only a missing `LastEvaluatedKey` is the end."""
    last = asked.body.get("ExclusiveStartKey")
    start = 0 if last is None else list(things).index(last) + 1
    part = cut(things, start)
    body: dict[str, Any] = {"Items": part.things, "Count": len(part.things), "ScannedCount": len(part.things)}
    return Answer(200, {**body, "LastEvaluatedKey": part.things[-1]} if part.more else body)


def objects(things: Sequence[Any], asked: Asked) -> Answer:
    """Answer a list of S3, in XML."""
    part = cut(things, int(asked.query.get("continuation-token", "token-0").removeprefix("token-")))
    contents = "".join(f"<Contents><Key>{thing}</Key><Size>1</Size></Contents>" for thing in part.things)
    following = f"<NextContinuationToken>token-{part.end}</NextContinuationToken>" if part.more else ""
    counted = f"<KeyCount>{len(part.things)}</KeyCount><MaxKeys>3</MaxKeys>"
    more = f"<IsTruncated>{str(part.more).lower()}</IsTruncated>"
    return xml(f"<Name>bucket</Name><Prefix/>{counted}{more}{contents}{following}")


def xml(inside: str, status: int = 200, root: str = "ListBucketResult") -> Answer:
    """Return an answer of S3."""
    text = f'<?xml version="1.0"?><{root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{inside}</{root}>'
    return Answer(status, text, {"content-type": "application/xml"})


def versioning(asked: Asked) -> Answer | None:
    """Answer whether the bucket keeps versions: it never did."""
    return xml("", root="VersioningConfiguration") if "versioning" in asked.query else None


def without(element: str) -> Bend:
    """Return a fault that takes one element out of a page of S3."""
    import re

    return lambda answer: Answer(200, re.sub(f"<{element}>.*?</{element}>", "", answer.body), answer.headers)


THROTTLED = Fault("throttling", error("ThrottlingException"), ("RATE_LIMITED",))
DENIED = Fault("denied", error("AccessDeniedException"), ("VISIBILITY_RESTRICTED",))
TOKEN = Fault("token", error("InvalidNextTokenException"), ("CURSOR_EXPIRED",))

AWS = [
    service("aws", "ListThings", token("Things", "NextToken"), **called("Arn"), faults=[THROTTLED, DENIED, TOKEN]),
    service(
        "aws_cloudwatch",
        "FilterLogEvents",
        token("events", "nextToken", beside=lambda part: {"searchedLogStreams": []}),
        **called("eventId"),
        faults=[THROTTLED],
    ),
    service(
        "aws_cloudwatch",
        "GetMetricData",
        token("MetricDataResults", "NextToken", beside=lambda part: {"Messages": []}),
        thing=lambda name: {"Id": name, "StatusCode": "Complete", "Timestamps": [1], "Values": [1]},
        at="Id",
        name="metrics",
        faults=[
            Fault("error", says("MetricDataResults/0/StatusCode", "InternalError"), ("SOURCE_UNAVAILABLE",)),
            Fault("part", says("MetricDataResults/0/StatusCode", "PartialData"), ("PARTIAL_ERRORS",), 3),
        ],
    ),
    service("aws_config", "ListDiscoveredResources", token("resourceIdentifiers", "nextToken"), **called("resourceId")),
    service(
        "aws_dynamodb",
        "Scan",
        scanned,
        thing=lambda name: {"id": {"S": name}},
        at="id/S",
        body={"TableName": "t", "ConsistentRead": True, "Limit": 3},
        faults=[
            Fault("fewer than said", says("Count", 4), ("COUNT_MISMATCH",)),
            Fault("throughput", error("x#ProvisionedThroughputExceededException"), ("RATE_LIMITED",)),
        ],
    ),
    service(
        "aws_ec2",
        "DescribeInstances",
        token(
            "Reservations", "NextToken", last=None, wrap=lambda things: [{"ReservationId": "r", "Instances": things}]
        ),
        **called("InstanceId"),
        faults=[Fault("limit", refuses(503, {"Error": {"Code": "RequestLimitExceeded"}}), ("RATE_LIMITED",))],
    ),
    service(
        "aws_ecr",
        "DescribeImages",
        token("imageDetails", "nextToken"),
        **called("imageDigest"),
        faults=[Fault("failures", says("failures", [{"failureCode": "ImageNotFound"}]), ("UNPROCESSED_ITEMS",))],
    ),
    service(
        "aws_iam",
        "ListUsers",
        token("Users", "Marker", beside=lambda part: {"IsTruncated": part.more}),
        **called("UserId"),
        faults=[
            Fault("no word of more", lacks("IsTruncated", "Marker"), ("MALFORMED_RESPONSE",)),
            Fault("marker that was lost", lacks("Marker"), ("MORE_PAGES_AVAILABLE",)),
            Fault("token", refuses(403, {"Error": {"Code": "ExpiredToken"}}), ("AUTH_FAILED",)),
        ],
    ),
    service(
        "aws_resource_explorer",
        "Search",
        token(
            "Resources", "NextToken", beside=lambda part: {"Count": {"Complete": True, "TotalResources": part.total}}
        ),
        **called("Arn"),
        counted=True,
        faults=[Fault("the first thousand", says("Count/Complete", False), ("RESULT_LIMIT_REACHED",), 3)],
    ),
    Stub(
        "aws_s3",
        "/bucket?list-type=2&max-keys=3",
        objects,
        thing=lambda name: name,
        at="Key",
        beside=versioning,
        faults=[
            Fault("slow down", lambda answer: xml("<Code>SlowDown</Code>", 503, "Error"), ("RATE_LIMITED",)),
            Fault("no word of more", without("IsTruncated"), ("MALFORMED_RESPONSE",)),
            Fault("fewer than said", without("Contents"), ("COUNT_MISMATCH",)),
            Fault(
                "error with a good status",
                lambda answer: xml("<Code>InternalError</Code>", 200, "Error"),
                ("SOURCE_UNAVAILABLE", "MALFORMED_RESPONSE"),
            ),
        ],
    ),
    service(
        "aws_tagging",
        "GetResources",
        token("ResourceTagMappingList", "PaginationToken", last=""),
        **called("ResourceARN"),
        body={"TagFilters": [{"Key": "team"}], "ResourcesPerPage": 3},
        faults=[
            Fault("token", error("PaginationTokenExpiredException"), ("CURSOR_EXPIRED",)),
        ],
    ),
    # what never had a tag is not in it
    service(
        "aws_tagging",
        "GetResources",
        token("ResourceTagMappingList", "PaginationToken", last=""),
        **called("ResourceARN"),
        name="untagged",
        best=frozenset({"SCOPE_NOT_COVERED"}),
    ),
]
