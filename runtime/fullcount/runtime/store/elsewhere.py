"""Acts of other plans on the very objects that a plan is about to act on.

An object is what stands under one key of one resource of one system, whichever plan lists it; and of two resources that
the source tells to have the same objects (`TARGET_OBJECTS`) whichever of them lists it. Guarantees: while an act
of another plan on it has no known outcome, nothing is meant for it; nor is anything on the ground of what was read of
it before another plan acted on it. To be asked in the transaction that records the intents: writers take turns, so that
of two plans that meet at once one finds the other. What can't be told apart counts as the same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from fullcount.compiler.document import DocumentError, workflow_from_document
from fullcount.runtime.connectors.base import TARGET_FACTS, TARGET_OBJECTS, Outcome
from fullcount.runtime.journal.entry import parse_canonical
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.views import ActKind
from fullcount.runtime.typed import object_argument

IN_THE_WAY: Final = "FC738"
"""The reason of an object that was left alone because of an act of another plan."""

_TABLE: Final = "target_table_"
"""A fact of one resource, by its name, that people are shown."""
_DID: Final = (Outcome.DONE.value, Outcome.FAILED.value)
"""Outcomes after which an object may not be as it was read before."""

_Found = Row[str, str, str, str | None, int | None, int | None, str, str | None]

_MEANT: Final = (
    select(
        tables.Act.plan_id,
        tables.Act.object_key,
        tables.Act.kind,
        tables.Act.outcome,
        tables.Act.intent_at,
        tables.Act.outcome_at,
        tables.Plan.workflow,
        tables.Plan.undoes,
    )
    .join(tables.Plan, tables.Plan.plan_id == tables.Act.plan_id)
    .where(tables.Act.intent_at.is_not(None), tables.Act.plan_id != bindparam("plan"))
    .order_by(tables.Act.intent_at, tables.Act.act_id)
)
_OPEN: Final = or_(tables.Act.outcome.is_(None), tables.Act.outcome == Outcome.UNKNOWN.value)
_IN_THE_WAY: Final = _MEANT.where(
    tables.Act.object_key.in_(bindparam("keys", expanding=True)),
    or_(_OPEN, and_(tables.Act.outcome.in_(_DID), tables.Act.outcome_at > bindparam("since"))),
)
_OF_A_PLAN: Final = _MEANT.where(
    _OPEN,
    tables.Act.object_key.in_(
        select(tables.PlanObject.object_key).where(tables.PlanObject.plan_id == bindparam("plan"))
    ),
)


@dataclass(frozen=True, slots=True)
class ActElsewhere:
    """An act of another plan on the same object. `settled`: its outcome is known, and is later than the reading."""

    plan_id: str
    workflow: str
    kind: str
    object_key: tuple[Any, ...]
    meant_at: datetime
    settled: bool
    by_hand: bool = False
    """No apply of its plan finds out what came of it: an older version took back under the plan that did it."""

    @property
    def why(self) -> str:
        """Why the object is left alone, and what to do."""
        if self.settled:
            return (
                f"the plan {self.plan_id} (`{self.workflow}`) acted on it after it was read here; plan again: the new"
                " plan has it if it is still due"
            )
        what = "act" if self.kind == "act" else "taking back"
        by_reading = "" if self.by_hand else f"fullcount apply {self.plan_id}, or "
        return (
            f"an earlier {what} on it, of the plan {self.plan_id} (`{self.workflow}`), is of unknown outcome; settle"
            f" it: {by_reading}by hand, once you know: fullcount settle {self.plan_id}"
            f" {object_argument(self.object_key)} --took-effect --because WHY (or --no-effect)"
        )


class ActedElsewhere(LedgerRefused):
    """FC738: nothing was recorded, because of acts of other plans on these objects, by key."""

    def __init__(self, objects: Mapping[tuple[Any, ...], ActElsewhere]) -> None:
        key, act = next(iter(objects.items()))
        more = "" if len(objects) == 1 else f" (and {len(objects) - 1} more)"
        super().__init__(IN_THE_WAY, f"the object `{', '.join(str(part) for part in key)}`{more}: {act.why}")
        self.objects = objects


def find(session: Session, plan: tables.Plan, read_at: Mapping[str, int]) -> dict[str, ActElsewhere]:
    """Return the act of another plan that stands in the way of each object, by key; `read_at` as microseconds."""
    if len(read_at) == 0:
        return {}
    asked = {"keys": list(read_at), "plan": plan.plan_id, "since": min(read_at.values())}
    acts = session.execute(_IN_THE_WAY, asked).all()
    return _first(session, plan, [act for act in acts if not _read_after(act, read_at[act.object_key])])


def open_acts(session: Session, plan: tables.Plan) -> tuple[ActElsewhere, ...]:
    """Return the acts of other plans on objects of this one of which nobody knows yet what came of them."""
    return tuple(_first(session, plan, session.execute(_OF_A_PLAN, {"plan": plan.plan_id}).all()).values())


def _read_after(act: _Found, read_at: int) -> bool:
    """Whether the object was read when the outcome of an act on it was known already."""
    return act.outcome in _DID and act.outcome_at is not None and act.outcome_at <= read_at


def _first(session: Session, plan: tables.Plan, acts: Sequence[_Found]) -> dict[str, ActElsewhere]:
    """Return one act for each object: an open one before one that is settled."""
    found: dict[str, ActElsewhere] = {}
    for act in acts:
        before = found.get(act.object_key)
        if (before is not None and not before.settled) or _other_object(session, plan.plan_id, act.plan_id):
            continue
        found[act.object_key] = ActElsewhere(
            plan_id=act.plan_id,
            workflow=act.workflow,
            kind=act.kind,
            object_key=tuple(parse_canonical(act.object_key)),
            meant_at=from_micros(act.intent_at or 0),
            settled=act.outcome in _DID,
            by_hand=act.kind == ActKind.UNDO.value and act.undoes is None,
        )
    return found


def require_none(session: Session, plan: tables.Plan, read_at: Mapping[str, int]) -> None:
    """Raise `ActedElsewhere` if an act of another plan stands in the way of one of these objects."""
    found = find(session, plan, read_at)
    if len(found) > 0:
        raise ActedElsewhere({act.object_key: act for act in found.values()})


# -- where a plan acts ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ground:
    """The resource that a plan's objects are of, and what is known of the system that has them.

    `objects`: what the source says of where they are; None: nothing.
    """

    resource: str
    facts: Mapping[str, str]
    objects: str | None


_KNOWN: Final[dict[str, _Ground | None]] = {}
"""By the hash of a plan's document, which never changes: documents are long, and two plans can meet many times."""
_MOST: Final = 512


def _other_object(session: Session, plan_id: str, other_id: str) -> bool:
    """Whether equal keys of two plans surely are two objects: of another resource, or in another system.

    Resources of one name are never told apart by where their objects are: one table may have two names.
    """
    here, there = _ground(session, plan_id), _ground(session, other_id)
    if here is None or there is None:
        return False
    if here.resource != there.resource and (here.objects is None or here.objects != there.objects):
        return True
    return any(there.facts.get(name, fact) != fact for name, fact in here.facts.items())


def _ground(session: Session, plan_id: str) -> _Ground | None:
    sha256 = session.scalar(select(tables.Plan.sha256).where(tables.Plan.plan_id == plan_id))
    if sha256 is None:
        return None
    if sha256 not in _KNOWN:
        text = session.scalar(select(tables.Plan.document).where(tables.Plan.plan_id == plan_id))
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        _KNOWN[sha256] = None if text is None or sha256_text(text.encode()) != sha256 else _ground_of(text)
    return _KNOWN[sha256]


def _ground_of(text: str) -> _Ground | None:
    """Return where the objects of a plan are; None for a document that does not say it in full."""
    document = parse_canonical(text)
    try:
        workflow = workflow_from_document(document["program"])
    except DocumentError:
        return None
    inventory = next(
        (workflow.inventories.get(each.inventory) for each in workflow.proposals if each.name == document["proposal"]),
        None,
    )
    if inventory is None:
        return None
    facts = document["target"].get(inventory.source, {})
    own = f"{_TABLE}{inventory.resource}"
    system = {
        name: fact
        for name, fact in facts.items()
        if name.startswith(TARGET_FACTS)
        and not name.startswith(TARGET_OBJECTS)
        and (name == own or not name.startswith(_TABLE))  # where other resources are says nothing of these objects
    }
    return _Ground(inventory.resource, system, facts.get(f"{TARGET_OBJECTS}{inventory.resource}"))
