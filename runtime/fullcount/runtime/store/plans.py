"""Plans: kept as they were made, handed out only when they fit their hash, schema and digest, and used once.

A newer plan of the same workflow and proposal supersedes the older ones. It keeps their approval when its digest is the
same and the approval was not used; with any other digest the approval is void. A plan that is an undo stands beside
those: it supersedes older undos of the same plan that have an object in common with it, and nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pydantic import ValidationError
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import Planned
from fullcount.runtime.plan.digest import SHORTEST, check_document, digest_begins, sha256_text, short_digest
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store import runs, steps, tables
from fullcount.runtime.store.errors import (
    ApprovalRefused,
    PlanCorrupt,
    PlanNotFound,
    PlanRefused,
    PlanStale,
    StoreError,
    UndoRefused,
)
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.rounds import current_round, void_others
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import PlanBrief, PlanState, RunKind, StoredPlan

OPEN, APPLYING, APPLIED = "open", "applying", "applied"


def save(tx: Transaction, document: PlanDocument) -> StoredPlan:
    """Keep a plan; in the same transaction older plans are superseded. Raises `PlanCorrupt`, `PlanRefused`."""
    text = canonical_text(document)
    checked = _checked(document.plan_id, text)
    if tx.session.get(tables.Plan, document.plan_id) is not None:
        raise PlanRefused("FC712", f"the plan `{document.plan_id}` is already stored; a plan is never replaced")
    run = runs.running(tx.session, document.run_id)
    if run.kind != RunKind.PLAN.value or run.workflow != document.workflow:
        raise StoreError("FC733", f"the run `{run.run_id}` is not one that makes plans of `{document.workflow}`")
    undoes = None if document.undo is None else document.undo.plan_id
    if undoes is not None:
        check_can_be_undone(get(tx.session, undoes))
    older = _replaced(tx.session, document)
    voided = void_others(
        tx, document.workflow, document.proposal, document.digest, document.plan_id, None if undoes is None else older
    )
    planned = Planned(
        plan_id=document.plan_id,
        workflow=document.workflow,
        proposal=document.proposal,
        digest=document.digest,
        sha256=sha256_text(text.encode()),
        candidates=len(document.rows),
        over_cap=checked.caps.exceeded,
        authors=makers(document),
        supersedes=tuple(older),
        voids=tuple(voided),
        undoes=undoes,
    )
    position = tx.record(planned, run_id=document.run_id)
    columns = planned.model_dump(exclude={"authors", "supersedes", "voids"})
    tx.session.execute(
        insert(tables.Plan).values(
            **columns, run_id=document.run_id, document=text, saved_at=tx.now, position=position, state=OPEN
        )
    )
    if older:
        tx.session.execute(
            update(tables.Plan).where(tables.Plan.plan_id.in_(older)).values(superseded_by=document.plan_id)
        )
    keys = [
        {"plan_id": document.plan_id, "object_key": canonical_text(row.key)} | steps.listed(row)
        for row in document.rows
    ]
    if keys:
        tx.session.execute(insert(tables.PlanObject), keys)
    steps.seen(tx, document)
    plan = get(tx.session, document.plan_id)
    return _stored(plan, checked, state_of(tx.session, plan, tx.now))


def _replaced(session: Session, document: PlanDocument) -> list[str]:
    """Return the plans that a new one supersedes, oldest first."""
    open_ = (
        select(tables.Plan.plan_id)
        .where(
            tables.Plan.workflow == document.workflow,
            tables.Plan.proposal == document.proposal,
            tables.Plan.superseded_by.is_(None),
            tables.Plan.state != APPLIED,
        )
        .order_by(tables.Plan.position)
    )
    if document.undo is None:
        return list(session.scalars(open_.where(tables.Plan.undoes.is_(None))))
    undos = session.scalars(open_.where(tables.Plan.undoes == document.undo.plan_id)).all()
    keys = {canonical_text(row.key) for row in document.rows}
    listed = select(tables.PlanObject.plan_id, tables.PlanObject.object_key).where(tables.PlanObject.plan_id.in_(undos))
    shared = {plan_id for plan_id, key in session.execute(listed) if key in keys}
    return [plan_id for plan_id in undos if plan_id in shared]


def check_can_be_undone(plan: tables.Plan) -> None:
    """Raise `UndoRefused` for a plan that is an undo itself."""
    if plan.undoes is not None:
        raise UndoRefused(
            "FC800",
            f"the plan `{plan.plan_id}` is an undo itself, of the plan `{plan.undoes}`, and an undo is not undone",
            help="what it took back is acted on again by a new plan, if it is still due: `fullcount plan FILE`",
        )


def load(session: Session, plan_id: str, now: int) -> StoredPlan:
    """Return a plan by its id or a beginning of it that no other plan shares.

    Raises `PlanNotFound`, and `PlanCorrupt` when anything of it does not fit: it is never half used.
    """
    plan = find(session, plan_id)
    if sha256_text(plan.document.encode()) != plan.sha256:
        raise _corrupt(plan.plan_id, ["the stored text does not fit its hash"])
    document = _checked(plan.plan_id, plan.document)
    wrong = [
        f"the document says {name} `{inside}`, the store says `{outside}`"
        for name, inside, outside in (
            ("plan", document.plan_id, plan.plan_id),
            ("run", document.run_id, plan.run_id),
            ("workflow", document.workflow, plan.workflow),
            ("proposal", document.proposal, plan.proposal),
            ("digest", document.digest, plan.digest),
            ("undo of", None if document.undo is None else document.undo.plan_id, plan.undoes),
            ("candidates", len(document.rows), plan.candidates),
            ("over the cap", document.caps.exceeded, plan.over_cap),
        )
        if inside != outside
    ]
    saved_at: object = plan.saved_at  # a database file holds whatever somebody put there
    if not isinstance(saved_at, int):
        wrong.append(f"the store says `{plan.saved_at}` for when it was saved")
    if wrong:
        raise _corrupt(plan.plan_id, wrong)
    return _stored(plan, document, state_of(session, plan, now))


def _stored(plan: tables.Plan, document: PlanDocument, state: PlanState) -> StoredPlan:
    return StoredPlan(
        document=document,
        state=state,
        sha256=plan.sha256,
        saved_at=from_micros(plan.saved_at),
        superseded_by=plan.superseded_by,
    )


def makers(document: PlanDocument) -> tuple[str, ...]:
    """Return everyone who counts as an author: who wrote the rule, and who made the plan."""
    return tuple(sorted({*document.authors, document.created_by}))


def find(session: Session, plan_id: str) -> tables.Plan:
    """Return the row of a plan by its id or an unambiguous beginning of it. Raises `PlanNotFound`."""
    wanted = plan_id.strip().upper().removesuffix("…")
    if re.fullmatch(r"[0-9A-Z]{1,26}", wanted) is None:
        _not_by_digest(session, plan_id)
        raise PlanNotFound("FC713", f"`{plan_id}` is not the id of a plan", help="list plans with `fullcount runs`")
    found = session.scalars(
        select(tables.Plan).where(tables.Plan.plan_id.startswith(wanted)).order_by(tables.Plan.position).limit(6)
    ).all()
    if len(found) == 1:
        return found[0]
    if len(found) == 0:
        _not_by_digest(session, plan_id)
        raise PlanNotFound(
            "FC713", f"there is no plan `{plan_id}` in this store", help="list plans with `fullcount runs`"
        )
    names = ", ".join(f"`{plan.plan_id}`" for plan in found[:5])
    more = " and more" if len(found) > 5 else ""
    raise PlanNotFound("FC714", f"`{plan_id}` could be {names}{more}", help="write more of the id")


def _not_by_digest(session: Session, given: str) -> None:
    """Raise `PlanNotFound` when a plan is asked for by its digest: several plans may have one, so an id is needed."""
    begins = digest_begins(given)
    if begins is None or len(begins) < SHORTEST:
        return
    found = session.scalars(
        select(tables.Plan.plan_id)
        .where(tables.Plan.digest.startswith(f"sha256:{begins}"))
        .order_by(tables.Plan.position.desc())
        .limit(1)
    ).first()
    if found is not None:
        raise PlanNotFound(
            "FC713", f"`{given}` is the digest of a plan, not its id", help=f"name the plan by its id: `{found}`"
        )


def get(session: Session, plan_id: str) -> tables.Plan:
    """Return the row of a plan by its whole id, as acting needs it. Raises `PlanNotFound`."""
    plan = session.get(tables.Plan, plan_id)
    if plan is None:
        raise PlanNotFound("FC713", f"there is no plan `{plan_id}` in this store")
    return plan


def latest(session: Session, workflow: str, proposal: str) -> str | None:
    """Return the id of the newest plan of a proposal that is no undo; None when there is none."""
    return session.scalar(
        select(tables.Plan.plan_id)
        .where(tables.Plan.workflow == workflow, tables.Plan.proposal == proposal, tables.Plan.undoes.is_(None))
        .order_by(tables.Plan.position.desc())
        .limit(1)
    )


def briefs(session: Session, workflow: str | None, limit: int, now: int) -> tuple[PlanBrief, ...]:
    """Return the latest plans, newest first, without their documents."""
    query = select(tables.Plan).order_by(tables.Plan.position.desc()).limit(limit)
    if workflow is not None:
        query = query.where(tables.Plan.workflow == workflow)
    return tuple(brief(session, plan, now) for plan in session.scalars(query))


def brief(session: Session, plan: tables.Plan, now: int) -> PlanBrief:
    """Return a plan without its document."""
    return PlanBrief(
        plan_id=plan.plan_id,
        workflow=plan.workflow,
        proposal=plan.proposal,
        digest=plan.digest,
        candidates=plan.candidates,
        state=state_of(session, plan, now),
        saved_at=from_micros(plan.saved_at),
        superseded_by=plan.superseded_by,
        undoes=plan.undoes,
    )


def state_of(session: Session, plan: tables.Plan, now: int) -> PlanState:
    """Return where a plan stands at this instant."""
    if plan.state == APPLIED:
        return PlanState.APPLIED
    if plan.superseded_by is not None:
        return PlanState.SUPERSEDED
    if plan.over_cap:
        return PlanState.OVER_CAP
    if plan.state == APPLYING:
        return PlanState.APPLYING
    round_ = current_round(session, plan)
    if round_ is None or round_.expires_at is None:
        return PlanState.WAITING
    return PlanState.APPROVED if round_.expires_at > now else PlanState.EXPIRED


def check_usable(plan: tables.Plan) -> None:
    """Raise `PlanStale` or `PlanRefused` when nothing may be approved or begun under this plan any more."""
    name = f"the plan `{plan.plan_id}` ({short_digest(plan.digest)})"
    if plan.superseded_by is not None:
        raise PlanStale(
            "FC710",
            f"{name} was superseded by the newer plan `{plan.superseded_by}`",
            help=f"look at the newer one: `fullcount show {plan.superseded_by}`",
        )
    if plan.state == APPLIED:
        raise PlanRefused(
            "FC712",
            f"{name} was applied already, and a plan is used once",
            help=f"make a new plan: `fullcount {'plan' if plan.undoes is None else f'undo {plan.undoes}'}`",
        )
    if plan.over_cap:
        raise PlanRefused(
            "FC711",
            f"{name} selects {plan.candidates} objects, more than its limit allows, so it can't be approved",
            help="find out why so many were selected; then narrow the rule or raise `limit`, and make a new plan",
        )


def check_digest(plan: tables.Plan, digest: str) -> None:
    """Raise `ApprovalRefused` when a decision was made over something else than this plan (R24)."""
    if digest != plan.digest:
        given = short_digest(digest) if re.fullmatch(r"sha256:[0-9a-f]{64}", digest) else digest
        raise ApprovalRefused(
            "FC704",
            f"the digest `{given}` is not that of the plan `{plan.plan_id}`, which has `{short_digest(plan.digest)}`",
            help=f"look at the plan and its digest again: `fullcount show {plan.plan_id}`",
        )


def _checked(plan_id: str, text: str) -> PlanDocument:
    """Return the document that the text holds, if everything about it fits. Raises `PlanCorrupt`."""
    return _checked_once(plan_id, text) if len(text) <= _REMEMBERED else _check(plan_id, text)


_REMEMBERED: Final = 16 * 1024 * 1024
"""How long a text may be of which the outcome is remembered: acting on a plan reads it several times over."""


@lru_cache(maxsize=2)
def _checked_once(plan_id: str, text: str) -> PlanDocument:
    return _check(plan_id, text)


def _check(plan_id: str, text: str) -> PlanDocument:
    try:
        document = PlanDocument.model_validate(parse_canonical(text))
    except ValidationError as error:
        places = [".".join(str(part) for part in item["loc"]) + ": " + item["msg"] for item in error.errors()[:3]]
        raise _corrupt(plan_id, places) from error
    except ValueError as error:
        raise _corrupt(plan_id, [str(error)]) from error
    wrong = check_document(document)
    if canonical_text(document) != text:
        wrong.append("the document does not keep its content when it is read back")
    if wrong:
        raise _corrupt(plan_id, wrong)
    return document


def _corrupt(plan_id: str, wrong: list[str]) -> PlanCorrupt:
    return PlanCorrupt(
        "FC715",
        f"the plan `{plan_id}` can't be used: {'; '.join(wrong)}",
        help="make a new plan, and find out what changed this one: `fullcount verify`",
    )
