"""Whether a call that was made, or may have been made, can be made again: the one rule of repeating (R29-R32).

Guarantees: an operation without idempotency, and one that does more the second time, is never repeated; one that rests
on a key is repeated only while the target surely knows the key again; and at once, in the same run, a call is made
again only when the target said that it did nothing, a few times, each after the wait that it asked for.
"""

from __future__ import annotations

from datetime import timedelta

from fullcount.compiler.catalog import LEAST_KEY_LIFE, Idempotency, Operation
from fullcount.runtime.connectors.base import ActResult, ErrorClass, Outcome

KEY_MARGIN = timedelta(hours=1)
"""So much earlier than the target forgets a key it is no longer relied on: clocks differ, and calls take time."""

ARRIVES = timedelta(microseconds=LEAST_KEY_LIFE)
"""How long a call that got lost may still arrive. After that, one without any effect never had one."""

TRIES = 3
"""How often one act is tried again at once."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the first try again, which double; and the longest that a run waits for one object."""

AGAIN = frozenset({ErrorClass.THROTTLE, ErrorClass.TRANSIENT})
"""The kinds of trouble that pass."""


def may_repeat(operation: Operation, since: timedelta) -> bool:
    """Whether a call of `since` ago, which shows no effect, may be made again."""
    if operation.escalates or operation.idempotency is Idempotency.NONE:
        return False
    if operation.idempotency is not Idempotency.KEY:
        return True
    if operation.key_life is None or since < timedelta(0):
        return False
    return since < retry_window(operation.key_life)


def retry_window(key_life: int) -> timedelta:
    """Return how long after its first call an act may be repeated on its key; shorter than the key lives."""
    return timedelta(microseconds=key_life) - KEY_MARGIN


def trouble_of(result: ActResult) -> ErrorClass | None:
    """Return the kind of trouble that an act met; None: none. What the connector does not know to pass, does not."""
    match result.outcome:
        case Outcome.UNKNOWN | Outcome.NOT_STARTED:
            return ErrorClass.UNKNOWN
        case Outcome.CHANGED:
            return ErrorClass.CONFLICT
        case Outcome.FAILED:
            return ErrorClass.PERMANENT if result.trouble is None else result.trouble
        case _:
            return None


def wait_before_again(operation: Operation, result: ActResult, tries: int) -> float | None:
    """Return the seconds to wait before the act is tried once more; None: it is not. `tries`: those again so far."""
    if result.outcome is not Outcome.FAILED or trouble_of(result) not in AGAIN or tries >= TRIES:
        return None
    if not may_repeat(operation, timedelta(0)):
        return None
    wait = FIRST_WAIT * 2**tries
    if result.after is not None:
        wait = max(wait, result.after)
    return wait if wait <= LONGEST_WAIT else None
