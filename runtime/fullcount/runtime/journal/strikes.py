"""Verifying strikes: each plan with struck rows is exactly an older plan without them, as the journal tells it."""

from __future__ import annotations

from collections.abc import Callable

from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.payloads import Struck
from fullcount.runtime.journal.report import About
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.strike import NotListed, struck_groups, without


def struck(state: State, entry: Entry, said: Struck) -> None:
    """A plan was made by striking rows from another, which stood until then."""
    new, old = state.plans.get((said.plan_id,)), state.plans.get((said.of,))
    if new is None or old is None:
        state.wrong(About.PLAN, entry, f"it strikes from the plan `{said.of}`, and one of the two was never made")
        return
    if new["digest"] != said.digest or new["run_id"] != entry.run_id:
        state.wrong(About.PLAN, entry, f"it is for another digest or run than that of the plan `{said.plan_id}`")
    if old["superseded_by"] != said.plan_id or old["state"] != "open" or old["over_cap"]:
        state.wrong(About.PLAN, entry, f"nothing could be struck from the plan `{said.of}` any more")
    if said.plan_id in state.struck:
        state.wrong(About.PLAN, entry, f"the plan `{said.plan_id}` was struck before: another strike is another plan")
        return
    state.struck[said.plan_id] = said


def strike_wrong(document: PlanDocument, said: Struck | None, load: Callable[[str], PlanDocument]) -> str | None:
    """Return why a plan is not the one that it was struck from without the struck rows; None when it is.

    `load` raises `StoreError` for a plan that can't be used.
    """
    name = document.plan_id
    if said is None:
        if len(struck_groups(document)) == 0:
            return None
        return f"the plan `{name}` keeps objects as struck, and no entry says that anybody struck them"
    try:
        made = without(load(said.of), said.keys, said.by.name, said.because, plan_id=name, run_id=document.run_id)
    except NotListed as error:
        return f"the plan `{name}`: {error.message}"
    if canonical_text(made) != canonical_text(document):
        return f"the plan `{name}` is not the plan `{said.of}` without the rows that were struck from it"
    return None
