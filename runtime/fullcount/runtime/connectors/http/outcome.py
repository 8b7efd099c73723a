"""What the reply to a write means. Pure.

Guarantees: a write of which nobody knows whether it happened is `unknown`, never failed and never done; a good status
is done only where no rule of the dialect says that it is less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.connectors.http.conditions import Seen, fits, server_time
from fullcount.runtime.connectors.http.exchange import Exchange, Fault
from fullcount.runtime.connectors.http.forms import Operation
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way


@dataclass(frozen=True, slots=True)
class Written:
    """How a write ended. `after` seconds, where the reply says how long to wait."""

    outcome: Outcome
    reason: ActReason | Reason | None = None
    way: Way | None = None
    warning: WarningCode | None = None
    detail: str = ""
    after: float | None = None


_SAME_FOR_WRITES: Mapping[Reason, Way] = {
    Reason.AUTH_FAILED: Way.RESTART,
    Reason.RATE_LIMITED: Way.RETRY_AFTER,
    Reason.QUOTA_EXHAUSTED: Way.RETRY_AFTER,
}
"""What an API refuses a write for in the very words in which it refuses a read."""


def _refined(written: Written, operation: Operation, exchange: Exchange) -> Written:
    """Return a refusal with the cause that the dialect's rules for reads know it by, where those say more."""
    if written.reason not in (Reason.VISIBILITY_RESTRICTED, Reason.UNEXPECTED_STATUS) or exchange.reply.status >= 500:
        return written
    known = next((rule for rule in operation.error if fits(rule.when, exchange, Seen(wait=operation.wait))), None)
    cause = None if known is None or isinstance(known.reason, list) else known.reason
    if cause is None or cause not in _SAME_FOR_WRITES:
        return written
    return replace(written, outcome=Outcome.FAILED, reason=cause, way=_SAME_FOR_WRITES[cause])


def judge_write(operation: Operation, exchange: Exchange) -> Written:
    """Return how a write ended: by the first rule of the dialect that fits."""
    reply = exchange.reply
    said = f"no answer: {reply.failed}" if reply.failed is not None else f"status {reply.status}"
    if reply.fault in (Fault.BROKEN, Fault.AMBIGUOUS) and 200 <= reply.status < 300:
        detail = f"{exchange.request.summary}: {said}, and the body can't be read: what it would have told is not known"
        return Written(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, None, detail)
    for rule in operation.act:
        if fits(rule.when, exchange, Seen(wait=operation.wait)):
            detail = f"{exchange.request.summary}: {said}" + (f": {rule.detail}" if rule.detail != "" else "")
            after = reply.wait(operation.wait, server_time(reply.headers) or datetime.now(UTC))
            return _refined(
                Written(rule.outcome, rule.reason, rule.way, rule.warning, detail, after), operation, exchange
            )
    return Written(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, None, said)
