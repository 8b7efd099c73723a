"""The processes of the ledger's model: each acts on the real store, and may die at any moment.

Once it has died, it can neither read nor write any more, and nothing of an open transaction is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from fullcount.runtime.connectors.base import ActCall, ActResult
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.store.reading import Steady
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import StoredPlan

if TYPE_CHECKING:
    from tests.support.ledger_model import Model


class CrashError(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Trouble:
    """What goes wrong in one run. `nth`: at which call, or for a crash at which moment. `first`: before its effect.

    `crash`: the process dies; `lost`: the answer gets lost, and with `first` the call, too; `twice`: the call arrives
    twice; `late`: the call arrives after its answer was given up; `hidden`: the answer is lost, and what it did can't
    be seen yet; `fails`: the target refuses; `meanwhile`: others do `what`.
    """

    kind: str = "none"
    nth: int = 1
    first: bool = False
    what: str = ""


NONE = Trouble()


class Engine:
    """One process that acts: it counts its moments, and dies at the chosen one."""

    def __init__(self, model: Model, trouble: Trouble, verb: Callable[..., Any], plan: StoredPlan) -> None:
        self.model, self.trouble = model, trouble
        self.verb, self.plan = verb, plan
        self.dead = False
        self.moments = self.calls = 0
        self.refused = False
        self.store = EngineStore(*model.database, model.world.clock, Steady())
        self.store.engine = self

    def moment(self) -> None:
        """Pass a moment at which the process may die."""
        if self.dead:
            raise CrashError
        self.moments += 1
        if self.trouble.kind == "crash" and self.moments == self.trouble.nth:
            self.dead = True
            raise CrashError

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        self.moment()
        self.calls += 1
        return await self.model.sent(self, call, self.trouble if self.trouble.nth == self.calls else NONE)

    async def took_effect(self, call: ActCall) -> bool:
        """See `SourceActor.took_effect`."""
        return self.model.target.took_effect(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model.world.source, name)


class EngineStore(Store):
    """The store as one process has it."""

    engine: Engine
    commits = 0

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """See `Store.writing`: a process may die before it, right before the commit, and right after it."""
        self.engine.moment()
        with super().writing() as tx:
            yield tx
            tx.session.flush()
            self.engine.moment()
        self.commits += 1
        self.engine.moment()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """See `Store.reading`."""
        if self.engine.dead:
            raise CrashError
        with super().reading() as session:
            yield session

    def claim_plan(self, plan_id: str, holder: str, ttl: timedelta) -> Any:
        """See `Store.claim_plan`."""
        fence = super().claim_plan(plan_id, holder, ttl)
        self.engine.model.claimed(plan_id, self.engine, ttl)
        return fence

    def release(self, fence: Any) -> None:
        """See `Store.release`."""
        before = self.commits
        try:
            super().release(fence)
        finally:
            if self.commits > before:  # also if it died right after that
                self.engine.model.released(fence.name.removeprefix("plan/"), self.engine)


@dataclass(frozen=True)
class Holder:
    """Who may act on a plan, and until when."""

    engine: Engine
    until: datetime


def shown(call: ActCall) -> dict[str, Any]:
    """Return a call as the ledger keeps it."""
    fields = call.resource.fields
    expected = {
        name: cell.state.value if cell.value is None else [to_json(cell.value, fields[name].type)]
        for name, cell in call.expected.items()
    }
    parameters = call.resource.operations[call.operation].parameters
    arguments = {name: to_json(value, parameters[name].type.type) for name, value in call.arguments.items()}
    return {"arguments": arguments, "expected": expected}
