"""What `fullcount undo` is about: a plan, what one run of it did, or single objects.

Guarantees: a word means one thing, or it is refused with the things that it could mean (FC798): nothing is taken back
that nobody named. Looks at the store alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store import done_acts, plans
from fullcount.runtime.store.done_acts import DoneAct
from fullcount.runtime.store.errors import PlanNotFound
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunKind
from fullcount.runtime.text import ELLIPSIS
from fullcount.runtime.typed import object_argument
from fullcount.runtime.typed_keys import meant, readings, shortened


class NotDoneError(FullcountError):
    """FC798: what was named was not acted upon, or could be several things."""

    exit = Exit.USAGE

    def __init__(self, message: str, *, help: str) -> None:  # noqa: A002
        super().__init__("FC798", message, help=help)


@dataclass(frozen=True, slots=True)
class Aim:
    """The plan that an undo is of, and its objects; None: all that it did. `named`: somebody named each of them."""

    plan_id: str
    only: frozenset[tuple[Any, ...]] | None = None
    named: bool = False


def aim(store: Store, what: str, objects: Sequence[str] = ()) -> Aim:
    """Return what is meant: `what` is a plan, a run or an object; `objects` are some of those that it did.

    Raises `NotDoneError`, `UndoRefused`, `PlanNotFound` for an id that could be several plans, and `NoAnswerError`
    for a key that could be several objects.
    """
    found = _plan_or_run(store, what)
    if found is not None:
        with store.reading() as session:
            plans.check_can_be_undone(plans.get(session, found.plan_id))
    if found is None:
        if len(objects) > 0:
            raise NotDoneError(f"`{what}` is no plan and no run", help="list them with `fullcount runs`")
        return _object(store, what)
    if len(objects) == 0:
        return found
    wanted: set[tuple[Any, ...]] = set()
    with store.reading() as session:
        for text in objects:
            acts = [act for act in done_acts.of_object(session, readings(text)) if _within(act, found)]
            if len(acts) == 0 and ELLIPSIS in text:
                all_of_it = [act for act in done_acts.of_plan(session, found.plan_id) if _within(act, found)]
                short = set(shortened(text, [act.object_key for act in all_of_it]))
                acts = [act for act in all_of_it if act.object_key in short]
            key = meant(text, [act.object_key for act in acts])
            wanted.update(() if key is None else (key,))
            if len(acts) == 0:
                raise NotDoneError(
                    f"`{text}` was not acted upon by the plan `{found.plan_id}`; nothing was taken back",
                    help=f"see what it did: fullcount report {found.plan_id} --format csv",
                )
    return Aim(found.plan_id, frozenset(wanted), named=True)


def _within(act: DoneAct, of: Aim) -> bool:
    return act.plan_id == of.plan_id and (of.only is None or act.object_key in of.only)


def _plan_or_run(store: Store, what: str) -> Aim | None:
    try:
        return Aim(store.load_plan(what).document.plan_id)
    except PlanNotFound as error:
        if error.code != "FC713":
            raise  # it is the beginning of several
    run = store.find_run(what)
    if run is None or run.plan_id is None:
        return None
    if run.kind is not RunKind.APPLY:
        return Aim(run.plan_id)
    with store.reading() as session:
        return Aim(run.plan_id, frozenset(act.object_key for act in done_acts.of_run(session, run.run_id)))


def _object(store: Store, text: str) -> Aim:
    with store.reading() as session:
        acts = done_acts.of_object(session, readings(text))
    open_ = [act for act in acts if not act.undone]
    if len(acts) == 0:
        raise NotDoneError(
            f"there is no plan and no run `{text}`, and no object of this key was acted upon",
            help="list plans and runs with `fullcount runs`; a key may also be a JSON list of its parts",
        )
    could = open_ or list(acts[:1])
    if len({act.plan_id for act in could}) > 1:
        told = ", ".join(f"`{act.plan_id}` ({act.workflow}, {fmt.key(act.object_key, 40)})" for act in could[:3])
        raise NotDoneError(
            f"`{text}` was acted upon by several plans and not taken back: {told}",
            help=f"name the plan as well: fullcount undo {could[0].plan_id} {object_argument(could[0].object_key)}",
        )
    key = meant(text, [act.object_key for act in could])
    return Aim(could[0].plan_id, frozenset(() if key is None else (key,)), named=True)
