"""What the reply to a write means. Pure.

Guarantees: a write of which nobody knows whether it happened is `unknown`, never failed and never done; a good status
is done only where no rule of the dialect says that it is less.
"""

from __future__ import annotations

from dataclasses import dataclass
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
            return Written(rule.outcome, rule.reason, rule.way, rule.warning, detail, after)
    return Written(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, None, said)
