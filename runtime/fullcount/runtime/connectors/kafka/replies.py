"""What Kafka's admin replies say. Pure.

Facts: a reply that succeeded carries an error code for each group, topic and partition; a broker that did not answer
has groups of its own; the groups and topics that an access rule hides are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fullcount.runtime.connectors.judged import Judged
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

_READ: Mapping[int, Reason] = {
    -1: Reason.SOURCE_UNAVAILABLE,
    3: Reason.EXISTENCE_UNKNOWN,  # UNKNOWN_TOPIC_OR_PARTITION
    5: Reason.SOURCE_UNAVAILABLE,  # LEADER_NOT_AVAILABLE
    6: Reason.SOURCE_UNAVAILABLE,  # NOT_LEADER_OR_FOLLOWER
    7: Reason.TIME_BUDGET_EXCEEDED,  # REQUEST_TIMED_OUT
    8: Reason.SOURCE_UNAVAILABLE,  # BROKER_NOT_AVAILABLE
    13: Reason.SOURCE_UNAVAILABLE,  # NETWORK_EXCEPTION
    14: Reason.SOURCE_UNAVAILABLE,  # COORDINATOR_LOAD_IN_PROGRESS
    15: Reason.SOURCE_UNAVAILABLE,  # COORDINATOR_NOT_AVAILABLE
    16: Reason.SOURCE_UNAVAILABLE,  # NOT_COORDINATOR
    29: Reason.VISIBILITY_RESTRICTED,  # TOPIC_AUTHORIZATION_FAILED
    30: Reason.VISIBILITY_RESTRICTED,  # GROUP_AUTHORIZATION_FAILED
    31: Reason.VISIBILITY_RESTRICTED,  # CLUSTER_AUTHORIZATION_FAILED
    41: Reason.SOURCE_UNAVAILABLE,  # NOT_CONTROLLER
    58: Reason.AUTH_FAILED,  # SASL_AUTHENTICATION_FAILED
    69: Reason.EXISTENCE_UNKNOWN,  # GROUP_ID_NOT_FOUND
    89: Reason.RATE_LIMITED,  # THROTTLING_QUOTA_EXCEEDED
}
_WRITE: Mapping[int, ActReason | Reason] = {
    68: ActReason.PRECONDITION_FAILED,  # NON_EMPTY_GROUP
    82: ActReason.PRECONDITION_FAILED,  # FENCED_INSTANCE_ID
    7: ActReason.OUTCOME_UNKNOWN,
    13: ActReason.OUTCOME_UNKNOWN,
    73: Reason.UNEXPECTED_STATUS,  # TOPIC_DELETION_DISABLED
}
_GONE = frozenset({3, 69})
_NAMED: Mapping[str, int] = {
    "NONE": 0,
    "UNKNOWN_SERVER_ERROR": -1,
    "UNKNOWN_TOPIC_OR_PARTITION": 3,
    "LEADER_NOT_AVAILABLE": 5,
    "NOT_LEADER_OR_FOLLOWER": 6,
    "REQUEST_TIMED_OUT": 7,
    "BROKER_NOT_AVAILABLE": 8,
    "NETWORK_EXCEPTION": 13,
    "COORDINATOR_LOAD_IN_PROGRESS": 14,
    "COORDINATOR_NOT_AVAILABLE": 15,
    "NOT_COORDINATOR": 16,
    "TOPIC_AUTHORIZATION_FAILED": 29,
    "GROUP_AUTHORIZATION_FAILED": 30,
    "CLUSTER_AUTHORIZATION_FAILED": 31,
    "NOT_CONTROLLER": 41,
    "SASL_AUTHENTICATION_FAILED": 58,
    "NON_EMPTY_GROUP": 68,
    "GROUP_ID_NOT_FOUND": 69,
    "THROTTLING_QUOTA_EXCEEDED": 89,
}
"""Some clients give errors by their names. A name that is not here is an error all the same."""
_UNNAMED = -2


def judge_listing(replies: Sequence[Any], brokers: Sequence[Any] = (), answered: Sequence[Any] = ()) -> Judged:
    """Return what a listing amounts to: the bodies of all replies, None for a broker that did not answer."""
    judged = Judged()
    judged.warn(WarningCode.NO_SNAPSHOT, WarningCode.TOTAL_ABSENT)
    for reply in replies:
        if reply is None:
            judged.because(Reason.SOURCE_UNAVAILABLE, detail="a broker did not answer")
        elif not _lists(reply):
            judged.because(Reason.MALFORMED_RESPONSE, detail="a reply that lists nothing at all, not even nothing")
        if isinstance(reply, Mapping) and reply.get("errors") and len(list(_codes(reply))) == 0:
            judged.because(Reason.PARTIAL_ERRORS, detail="errors stand beside the list")
        for code in _codes(reply):
            judged.because(_READ.get(code, Reason.UNEXPECTED_STATUS), detail=f"error code {code}")
    silent = set(map(str, brokers)) - set(map(str, answered))
    if len(brokers) > 0 and len(answered) > 0 and len(silent) > 0:
        judged.because(Reason.SOURCE_UNAVAILABLE, detail=f"no answer from {', '.join(sorted(silent))}")
    return judged


def judge_write(reply: Any) -> Judged:
    """Return what the reply to a write amounts to; None: no answer."""
    judged = Judged()
    if reply is None:
        judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, "no answer")
        return judged
    every = list(_all_codes(reply))
    failed = [code for code in every if code != 0 and code not in _GONE]
    if 0 < len(failed) < len(every) and len(_parts(reply)) > 1:
        judged.because(ActReason.PARTIAL_WRITE, Way.RETRY_ITEMS, f"error codes {failed}")
        return judged
    for code in failed:
        reason = _WRITE.get(code) or _READ.get(code, Reason.UNEXPECTED_STATUS)
        way = Way.RETRY_AFTER if reason is ActReason.OUTCOME_UNKNOWN else None
        judged.because(reason, way, f"error code {code}")
    return judged


def _code(value: Any) -> int | None:
    """Return an error's number; None if there is none to be told."""
    if isinstance(value, str) and value != "":
        return _NAMED.get(value.upper(), _UNNAMED)
    if value is True or isinstance(value, (float, list)):
        return _UNNAMED if value not in ([], 0.0) else None  # something is said to be wrong, and not what
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _lists(body: Any) -> bool:
    """Whether there is a list, or an error that says why there is none."""
    whole = isinstance(body, Mapping) and any(isinstance(value, list) for value in body.values())
    return whole or any(_codes(body))


def _parts(reply: Any) -> Sequence[Any]:
    lists = [value for value in reply.values() if isinstance(value, list)] if isinstance(reply, Mapping) else []
    return max(lists, key=len, default=[])


def _codes(body: Any) -> Iterator[int]:
    return (code for code in _all_codes(body) if code != 0)


def _all_codes(body: Any) -> Iterator[int]:
    if isinstance(body, Mapping):
        for name, value in body.items():
            code = _code(value) if name.lower().endswith(("error_code", "errorcode")) or name == "error" else None
            if code is not None:
                yield code
            else:
                yield from _all_codes(value)
    elif isinstance(body, list):
        for value in body:
            yield from _all_codes(value)
