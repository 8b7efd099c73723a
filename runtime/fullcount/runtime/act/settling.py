"""Finding out what came of the open acts of another plan, before one of its objects is acted on by a newer one.

The same as the beginning of `fullcount apply` of that plan: under its own lease, in a run of its own, in the system
that it is of, by reading alone. So a run that is still at work on it is not disturbed, and what is found is recorded as
that plan's outcome. What can't be told stays open, and nothing is ever acted on here.

An act that shows no effect is over only when its call can no longer arrive and its plan can no longer be gone on with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullcount.compiler.document import DocumentError, workflow_from_document
from fullcount.runtime.act.actors import NotOpenError, facts_of, opened, sources_of_rows
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.ending import Ended
from fullcount.runtime.act.group import Item
from fullcount.runtime.act.guard import other_system
from fullcount.runtime.act.pacing import GROUP_LIMIT
from fullcount.runtime.act.repeating import ARRIVES
from fullcount.runtime.act.resolve import resolve
from fullcount.runtime.act.session import begin_run, bindings_of, calls_of, items_of, leased, the_proposal
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.plan.cells import NotOfTypeError
from fullcount.runtime.store.views import ActKind, LedgerEntry, OutcomeEntry, PlanState, RunKind

NO_EFFECT = "it took no effect, can no longer arrive, and its plan was replaced by a newer one"


async def settle(context: ApplyContext, plan_id: str) -> str | None:
    """Record what reading tells of the open acts of a plan; return why it tells nothing of some, None if of all.

    `context`: of the plan in whose way they are. Raises what a connector raises beyond its contract.
    """
    try:
        other = _context_of(context, plan_id)
        intents = context.store.open_intents(plan_id)
        if len(context.store.open_intents(plan_id, kind=ActKind.UNDO)) > 0:
            return "an undo of it was cut off, and is gone on with by people alone"
        return None if len(intents) == 0 else await _settle(other, intents)
    except NotOpenError as error:
        return f"the source `{error.source}` can't be opened"
    except (FullcountError, DocumentError, NotOfTypeError) as error:
        return str(error)
    except KeyError as error:
        return f"{error} is not configured here"


def _context_of(context: ApplyContext, plan_id: str) -> ApplyContext:
    plan = context.store.load_plan(plan_id)
    workflow = workflow_from_document(plan.document.program)
    return replace(context, plan=plan, workflow=workflow, progress=None, slot_id=None)


async def _settle(context: ApplyContext, intents: tuple[LedgerEntry, ...]) -> str | None:
    plan_id = context.plan.document.plan_id
    run_id = begin_run(context, RunKind.APPLY)
    found: tuple[OutcomeEntry, ...] = ()
    try:
        async with leased(context, run_id, Ended().by) as fence:
            found = await _found(context, intents)
            for at in range(0, len(found), GROUP_LIMIT):
                context.store.record_outcomes(plan_id, run_id, fence, found[at : at + GROUP_LIMIT])
    finally:
        context.store.finish_settling(run_id, plan_id, len(found))
    known = {entry.object_key for entry in found if entry.outcome is not Outcome.UNKNOWN}
    open_ = sum(1 for entry in intents if entry.object_key not in known)
    return None if open_ == 0 else "its effect is not to be seen, or may still come"


async def _found(context: ApplyContext, intents: tuple[LedgerEntry, ...]) -> tuple[OutcomeEntry, ...]:
    proposal, act = the_proposal(context)
    document, bindings = context.plan.document, bindings_of(context)
    if act is None:
        return ()
    items = items_of(context, context.workflow.inventories[proposal.inventory])
    calls = calls_of(context, act.calls, proposal, bindings)
    target = {source: document.target.get(source, {}) for source in sources_of_rows(act.calls, document.rows)}
    async with opened(context, act.calls, document.rows) as actors:
        elsewhere = other_system(facts_of(target), await actors.identity())
        if elsewhere is not None:
            raise FullcountError(elsewhere.code, elsewhere.message)
        resolved = await resolve(intents, items, calls, actors, context)
    return (*resolved.outcomes, *_over(resolved.again, context))


def _over(again: Sequence[Item], context: ApplyContext) -> list[OutcomeEntry]:
    """Return the outcomes of acts that show no effect and are over: nothing of them can come any more."""
    newer = context.plan.superseded_by
    if context.plan.state is not PlanState.SUPERSEDED or newer is None:
        return []
    now = context.store.now()
    replaced_at = context.store.plan_brief(newer).saved_at  # until then a run could call again on an old intent
    return [
        OutcomeEntry(item.row.key, Outcome.FAILED, None, NO_EFFECT)
        for item in again
        if item.intent is not None
        and item.intent.last_meant_at is not None
        and now - max(item.intent.last_meant_at, replaced_at) >= ARRIVES
    ]
