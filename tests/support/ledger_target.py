"""The target of the ledger's model: it counts what takes effect, and is no more careful than its kind says.

`condition`: it acts only while the object is as the call says, and knows no keys. `key`: it acts on whatever it is
told, but not twice under a key that it still remembers. `once`: it does what it is told as often as it is told, and
says so (`Idempotency.NONE`).

Calls may be under way for long, and what took effect may be hidden from readers; both for less than `ARRIVES`, which is
what the engine is promised. The target's own clock runs fast: it forgets keys earlier than ours would, but none of
which a call is still under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tests.support.acting import Orphans

from fullcount.compiler.catalog import LEAST_KEY_LIFE, Idempotency, Operation
from fullcount.runtime.act.repeating import ARRIVES
from fullcount.runtime.connectors.base import ActCall, ActResult, ErrorClass, Outcome

KINDS = ("condition", "key", "once")
REMEMBERED = timedelta(microseconds=LEAST_KEY_LIFE) - timedelta(minutes=30)
"""How long a key is known again, by the clock on our wall."""

REFUSES = ActResult(Outcome.FAILED, None, "no", trouble=ErrorClass.PERMANENT)
"""The answer of a target that did nothing, and never will."""


def declared(operation: Operation, kind: str) -> Operation:
    """Return the operation as a target of this kind declares it."""
    if kind == "key":
        return replace(operation, idempotency=Idempotency.KEY, key_life=LEAST_KEY_LIFE)
    return replace(operation, idempotency=Idempotency.NONE) if kind == "once" else operation


@dataclass(frozen=True)
class _Sent:
    call: ActCall
    at: datetime


class Target:
    """What the calls of all processes arrive at."""

    def __init__(self, world: Orphans, kind: str) -> None:
        self._source, self._kind = world.source, kind
        self._clock: Callable[[], datetime] = world.clock
        self.effects: Counter[str] = Counter()
        """How often a call with this key took effect."""
        self._under_way: list[_Sent] = []
        self._known: dict[str, datetime] = {}
        self._hidden: dict[str, _Sent] = {}

    def deliver(self, call: ActCall, *, unseen: bool = False) -> ActResult:
        """Do what a call says, as far as a target of this kind does. `unseen`: nobody can read it for a while.

        A target that looks at an object before it acts on it shows at once what it did.
        """
        key, table = call.idempotency_key, self._source.tables["accounts"]
        before = dict(table.objects.get(call.key, {}))
        result = self._told(call) if self._kind == "condition" else self._just_done(call)
        if result.outcome is Outcome.DONE and not self._remembers(key):
            self.effects[key] += 1
            self._known[key] = self._clock()
            if unseen and self._kind == "key":
                self._hidden[key] = _Sent(call, self._clock())
                table.put(before)
        return result

    def _told(self, call: ActCall) -> ActResult:
        known = self._source.performed.pop(call.idempotency_key, None)
        result: ActResult = self._source._perform(call)
        if result.outcome is not Outcome.DONE and known is not None:
            self._source.performed[call.idempotency_key] = known
        return result

    def _just_done(self, call: ActCall) -> ActResult:
        if self._remembers(call.idempotency_key):
            return self._source.performed[call.idempotency_key][1]
        return self._told(replace(call, expected={}))

    def _remembers(self, key: str) -> bool:
        since = self._known.get(key)
        return self._kind == "key" and since is not None and self._clock() - since < REMEMBERED

    def took_effect(self, call: ActCall) -> bool:
        """Tell what can be seen of a call."""
        return call.idempotency_key in self._source.performed and call.idempotency_key not in self._hidden

    # -- what is slow -------------------------------------------------------------------------------------------------

    def delay(self, call: ActCall) -> None:
        """Let a call be under way."""
        self._under_way.append(_Sent(call, self._clock()))

    def may_arrive(self, key: str | None) -> bool:
        """Whether a call with this key is still under way."""
        return any(sent.call.idempotency_key == key for sent in self._under_way)

    @property
    def waits(self) -> bool:
        """Whether anything is under way, or hidden."""
        return len(self._under_way) + len(self._hidden) > 0

    def arrive(self) -> None:
        """Let everything that is under way arrive, and be seen."""
        while len(self._under_way) > 0:
            self.deliver(self._under_way.pop(0).call)
        for unseen in self._hidden.values():
            self._source.tables["accounts"].change(*unseen.call.key, locked=unseen.call.arguments["locked"])
        self._hidden.clear()

    def before(self, moment: datetime) -> None:
        """Let arrive and be seen what has to be by a moment."""
        late = any(moment - sent.at >= REMEMBERED for sent in self._under_way)
        if late or any(moment - unseen.at >= ARRIVES for unseen in self._hidden.values()):
            self.arrive()
