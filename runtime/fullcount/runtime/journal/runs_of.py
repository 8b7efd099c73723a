"""Finding the run that a person means: by its id, or by the plan that it made or acted on."""

from __future__ import annotations

from sqlalchemy import select

from fullcount.runtime.store import tables
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunRow


def run_of(store: Store, given: str) -> RunRow:
    """Return a run by its id, or the latest of a plan. Raises `PlanNotFound` when it is neither."""
    found = store.find_run(given)
    if found is not None:
        return found
    plan = store.plan_brief(given)
    with store.reading() as session:
        query = select(tables.Run.run_id).where(tables.Run.plan_id == plan.plan_id)
        latest = session.scalar(query.order_by(tables.Run.started_at.desc(), tables.Run.run_id.desc()).limit(1))
        made_by = session.scalar(select(tables.Plan.run_id).where(tables.Plan.plan_id == plan.plan_id))
    run = store.find_run(str(latest or made_by))
    if run is None:
        msg = "a plan is only kept with its run"
        raise LookupError(msg)
    return run
