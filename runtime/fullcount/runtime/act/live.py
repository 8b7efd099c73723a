"""A rule decided on live answers: what it asks of other inventories is put to the sources, for one object at a time.

The rule is evaluated over a world that knows nothing at first. Each question it asks is noted, answered and remembered,
and the rule is evaluated again, until it is decided or asks nothing new. A question without an answer counts as "rows
may be missing", so that a truth which is decided early is decided for every possible answer; undecided stays unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from fullcount.compiler.lower.closure import TruthOf
from fullcount.compiler.lower.lookups import Lookup
from fullcount.compiler.lower.world import Env, Equal, Related
from fullcount.compiler.values import Truth

ROUNDS = 16
"""How deep questions may rest on the answers of others; deeper than any rule nests."""

NOTHING_KNOWN = Related((), complete=False)

Ask = Callable[[Lookup], Awaitable[Related]]


@dataclass(slots=True)
class LiveWorld:
    """The answers so far, and the questions that had none."""

    answers: dict[Lookup, Related] = field(default_factory=dict)
    open: dict[Lookup, None] = field(default_factory=dict)

    def rows(self, inventory: str, equal: Equal) -> Related:
        """See `World.rows`."""
        question = Lookup(inventory, equal)
        found = self.answers.get(question)
        if found is None:
            self.open[question] = None
            return NOTHING_KNOWN
        return found


async def decide(truth: TruthOf, env: Env, world: LiveWorld, ask: Ask) -> Truth:
    """Return the truth of a rule for one object, asking only what it takes to decide it."""
    for _ in range(ROUNDS):
        world.open.clear()
        answer = truth(env, world)
        if answer is not None or not world.open:
            return answer
        for question in tuple(world.open):
            world.answers[question] = await ask(question)
    return None
