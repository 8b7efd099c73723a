"""What an undo of a plan would find now: each object that it is about is read, and judged as the undo will judge it.

Guarantees: nothing is written anywhere, and nothing opens a way to act. An object of whose act nobody knows whether it
took effect, or of which an earlier undo may have taken it back, is never one that can be taken back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.compiler.program import Act
from fullcount.runtime.act.actors import facts_of
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.group import Due, Item, Left
from fullcount.runtime.act.guard import other_system
from fullcount.runtime.act.session import bindings_of, calls_of, items_of, the_proposal
from fullcount.runtime.act.taking_back import CHANGED_SINCE, TakingBack
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.store.undone import TakenBack
from fullcount.runtime.store.views import LedgerEntry

NO_UNDO, UNKNOWN = "FC768", "FC770"


@dataclass(frozen=True, slots=True)
class Found:
    """What an undo would find of one object. `due`: it can be taken back; else `why` not, under a code.

    `code`: `FC769` it is no longer as the act left it · `FC770` nobody knows, so that it may be tried again · another
    one: nothing takes it back · None: an undo took it back before.
    """

    entry: LedgerEntry
    due: Due | None = None
    code: str | None = None
    why: str = ""
    told_by: str | None = None
    """The undo whose apply finds out whether it took it back."""
    by_hand: bool = False
    """No apply finds out what came of an undo before: only somebody who looks does."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """All that was found, in the order in which it would be taken back: last first. `judge` made it."""

    found: tuple[Found, ...]
    judge: TakingBack


async def foresee(
    context: ApplyContext, act: Act, taken: Sequence[TakenBack], only: frozenset[tuple[Any, ...]] | None
) -> Foreseen | Finding:
    """Read what the plan of the context did, and return what can be taken back of it, or why nothing is to be read.

    `taken`: what undos took back, or may have; `only`: of these objects. Raises `SourceError`.
    """
    proposal, _ = the_proposal(context)
    document, bindings = context.plan.document, bindings_of(context)
    base = context.workflow.inventories[proposal.inventory]
    reader = context.reader(base.source)
    entries = {
        entry.object_key: entry
        for entry in context.store.last_acts(document.plan_id)
        if entry.intent_at is not None
        and (entry.outcome is Outcome.DONE or entry.open)
        and (only is None or entry.object_key in only)
    }
    calls = calls_of(context, act.undos, proposal, bindings)
    judge = TakingBack(context, act, calls, calls_of(context, act.calls, proposal, bindings), base, reader, entries)
    if any(entry.outcome is Outcome.DONE for entry in entries.values()):
        planned = facts_of({base.source: document.target.get(base.source, {})})
        if other_system(planned, facts_of({base.source: await reader.identity()})) is not None:
            message = f"what `{base.source}` reads is not the system that was acted on"
            return Finding(code="FC758", message=message, ways_on=("check the source in fullcount.toml",))
    return Foreseen(await _found(context, act, judge, items_of(context, base), taken), judge)


async def _found(
    context: ApplyContext,
    act: Act,
    judge: TakingBack,
    items: Mapping[tuple[Any, ...], Item],
    taken: Sequence[TakenBack],
) -> tuple[Found, ...]:
    before = {each.object_key: each for each in taken}
    slots = asyncio.Semaphore(max(1, act.concurrency))

    async def one(entry: LedgerEntry) -> Found:
        if entry.open:
            return Found(entry, code=UNKNOWN, why="nobody knows yet whether its act took effect")
        earlier = before.get(entry.object_key)
        if earlier is not None and earlier.done:
            return Found(
                entry, why="taken back before" if earlier.by is None else f"taken back before, by `{earlier.by}`"
            )
        if earlier is not None:
            why = earlier.why_open(entry.plan_id)
            return Found(entry, code=UNKNOWN, why=why, told_by=earlier.by, by_hand=earlier.by is None)
        async with slots:
            found = await judge.judge(items[entry.object_key])
        return _judged(entry, found)

    return tuple(await asyncio.gather(*map(one, reversed(tuple(judge.entries.values())))))


def _judged(entry: LedgerEntry, found: Due | Left) -> Found:
    if isinstance(found, Due):
        return Found(entry, due=found)
    seen = found.entry
    if not found.recorded:
        return Found(entry, code=UNKNOWN, why=seen.detail)
    if seen.outcome in {Outcome.CHANGED, Outcome.ALREADY_GONE}:
        return Found(entry, code=CHANGED_SINCE, why=seen.detail)
    return Found(entry, code=seen.reason or NO_UNDO, why=seen.detail)
