"""The writing sides of the sources that one run acts on, opened and closed together.

Guarantees: nothing is called unless every source that a row of the plan needs could be opened, and each of them said
which system it is. A source that no row needs is not even opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from fullcount.compiler.program import OperationCall
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.connectors.base import TARGET_FACTS, SourceActor, SourceError
from fullcount.runtime.plan.document import PlanRow


class NotOpenError(Exception):
    """A source can't be opened for acting, or does not say who and where it is."""

    def __init__(self, source: str, error: SourceError) -> None:
        super().__init__(f"{source}: {error}")
        self.source = source
        self.reason = error.reason


class Actors:
    """The open actors, by the step that a row of the plan lists."""

    def __init__(self, calls: Mapping[str | None, OperationCall], by_source: Mapping[str, SourceActor]) -> None:
        self._calls = calls
        self._by_source = by_source

    def of(self, row: PlanRow) -> SourceActor:
        """Return who does what a row lists. Raises KeyError for a step that the act does not have."""
        return self._by_source[self._calls[row.step_label].source]

    async def identity(self) -> dict[str, str]:
        """Return where everything is done, as `facts_of` gives it. Raises `NotOpenError`."""
        found: dict[str, Mapping[str, str]] = {}
        for source, actor in self._by_source.items():
            try:
                found[source] = await actor.identity()
            except SourceError as error:
                raise NotOpenError(source, error) from error
        return facts_of(found)


def sources_of_rows(calls: Mapping[str | None, OperationCall], rows: Sequence[PlanRow]) -> tuple[str, ...]:
    """Return the sources that the rows of a plan need for acting, each once; without rows, those of every call."""
    needed = dict.fromkeys(calls[step].source for row in rows if (step := row.step_label) in calls)
    return tuple(needed) or tuple(dict.fromkeys(call.source for call in calls.values()))


def facts_of(by_source: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return what is known of several systems as one; nothing as soon as one of them is not known at all."""
    if len(by_source) == 1:
        (only,) = by_source.values()
        return dict(only)
    if any(not any(name.startswith(TARGET_FACTS) for name in facts) for facts in by_source.values()):
        return {}
    return {f"{name} of {source}": fact for source, facts in by_source.items() for name, fact in facts.items()}


@asynccontextmanager
async def opened(
    context: ApplyContext, calls: Mapping[str | None, OperationCall], rows: Sequence[PlanRow]
) -> AsyncIterator[Actors]:
    """Open what the rows need. Raises `NotOpenError` on entry."""
    async with AsyncExitStack() as stack:
        by_source: dict[str, SourceActor] = {}
        for source in sources_of_rows(calls, rows):
            try:
                by_source[source] = await context.open_actor(source)
            except SourceError as error:
                raise NotOpenError(source, error) from error
            stack.push_async_callback(by_source[source].close)
        yield Actors(calls, by_source)
