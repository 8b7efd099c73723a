"""Reading a report out of the store, in one state of it. Objects come by a cursor: a large plan costs no memory.

The store is not judged here beyond its sums: that the record was not changed is what `fullcount verify` says.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Row, and_, case, func, literal, select
from sqlalchemy import text as sql
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from fullcount.dsl.codes import CODES
from fullcount.runtime import format as fmt
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.append import read_head
from fullcount.runtime.journal.entry import parse_canonical
from fullcount.runtime.offline.rehearsals import AGAIN, RESTORE, Ends, counts_as, last_kind
from fullcount.runtime.offline.sshsig import SignatureWrong, read_signature
from fullcount.runtime.reports.report import (
    OUTCOMES,
    ApprovalLine,
    EvidenceLine,
    ObjectLine,
    PlanFacts,
    Refused,
    Report,
    RunLine,
)
from fullcount.runtime.store import plans, rehearsals, runs, tables, undone
from fullcount.runtime.store.instants import from_micros, to_micros
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunRow

_OPEN = "FC770"
"""What is said of an act that was meant and has no outcome."""
_PARTS = ("sums", "caps", "describe", "owner", "act", "target")


@contextmanager
def report_of(store: Store, run: RunRow, workspace: str) -> Iterator[Report]:
    """Give the report of a run; its objects can be read as long as the context lasts."""
    now = to_micros(store.now())
    with store.reading() as session:
        yield _report(session, run, workspace, now)


def _report(session: Session, run: RunRow, workspace: str, now: int) -> Report:
    made = (run.summary or {}).get("plan_id")
    plan_id = run.plan_id if run.plan_id is not None else made
    plan = None if plan_id is None else session.get(tables.Plan, plan_id)
    kind = "undo" if run.kind == "undo" or (plan is not None and plan.undoes is not None) else "act"
    applied = plan is not None and (run.kind != "plan" or plan.state != "open")
    counts = {} if plan is None else _counts(session, plan, kind, applied=applied)
    at_once = plan is not None and kind == "undo" and plan.undoes is None  # by a version whose undos were no plans
    planned = 0 if plan is None else sum(counts.values()) if at_once else plan.candidates
    head = read_head(session)
    facts = None if plan is None else _plan_facts(session, plan, now)
    return Report(
        workspace=workspace,
        run=_run(run),
        workflow=run.workflow,
        plan=facts,
        planned=planned,
        counts=counts,
        invalid=_invalid(run, facts, counts, planned),
        approvals=() if plan is None else _approvals(session, plan),
        evidence=_evidence(session, run.run_id if plan is None else plan.run_id),
        runs=(_run(run),) if plan is None else _runs(session, plan),
        refused=_refused(run),
        canary="" if plan is None else _canary(session, plan.plan_id),
        run_head=_run_head(session, run),
        head="none: somebody removed it" if head is None else f"{head.seq}:{head.hash}",
        made_at=from_micros(now),
        objects=partial(_objects, session, plan, kind, applied=applied),
    )


def _invalid(run: RunRow, plan: PlanFacts | None, counts: Mapping[str, int], planned: int) -> str | None:
    if run.exit == Exit.INVALID_SUMS:
        return "the run itself found that its sums do not hold"
    said = (run.summary or {}).get("counts")
    if isinstance(said, dict) and sum(said.values()) != (run.summary or {}).get("candidates"):
        return "the counts that the run recorded do not add up to its objects"
    if sum(counts.values()) != planned:
        return "the outcomes of the objects do not add up to the plan"
    if plan is None:
        return None
    sums = plan.sums
    if sums is None:
        return "the plan's document can't be read"
    whole = sums["candidates"] + sums["kept"] + sums["undecided"]
    if sums["inventory"] != whole or sums["candidates"] != plan.candidates:
        return "the plan's own sums do not hold"
    return None


def _counts(session: Session, plan: tables.Plan, kind: str, *, applied: bool) -> dict[str, int]:
    plan_id, candidates = plan.plan_id, plan.candidates
    query = (
        select(tables.Act.outcome, func.count())
        .where(tables.Act.plan_id == plan_id, tables.Act.kind == kind)
        .group_by(tables.Act.outcome)
    )
    found = Counter[str]()
    for outcome, number in session.execute(query):
        found["unknown" if outcome is None else outcome] += number  # meant, and nothing is known of it
    for ends in rehearsals.ends_of(session, [plan_id]).values() if kind == "act" else ():
        found[ends["act"] or "unknown"] -= 1
        found[counts_as(ends)] += 1
    del found["not_started"]  # it is what is left over
    if kind == "undo" and plan.undoes is None:
        candidates = _counts(session, plan, "act", applied=True)["done"]
    rest = candidates - sum(found.values())
    return {**{name: found.get(name, 0) for name in OUTCOMES}, "not_started" if applied else "proposed": rest}


def _objects(session: Session, plan: tables.Plan | None, kind: str, *, applied: bool) -> Iterator[ObjectLine]:
    """Yield the plan's objects, those that need attention first."""
    if plan is None:
        return
    act, listed = tables.Act, tables.PlanObject
    missing = "not_started" if applied else "proposed"
    meant_without_end = and_(act.act_id.is_not(None), act.outcome.is_(None))
    outcome = case((meant_without_end, "unknown"), else_=func.coalesce(act.outcome, missing))
    order = case({name: place for place, name in enumerate(OUTCOMES)}, value=outcome, else_=len(OUTCOMES))
    columns = (
        listed.object_key, outcome, act.reason, act.detail, func.coalesce(act.step, listed.step), act.operation,
        act.intent_at, act.outcome_at, act.outcome_run_id,
    )  # fmt: skip
    ends = {key: each for (_, key), each in rehearsals.ends_of(session, [plan.plan_id]).items()}
    last = {key: last_kind(each) for key, each in ends.items()} if kind == "act" else {}
    counted = case(last, value=listed.object_key, else_=kind) if len(last) > 0 else literal(kind)
    of_kind = and_(act.plan_id == listed.plan_id, act.object_key == listed.object_key, act.kind == counted)
    query = select(*columns).select_from(listed).outerjoin(act, of_kind).where(listed.plan_id == plan.plan_id)
    if kind == "undo" and plan.undoes is None:
        done = select(act.object_key).where(act.plan_id == plan.plan_id, act.kind == "act", act.outcome == "done")
        restored = [key for key, each in ends.items() if counts_as(each) != "done"]
        query = query.where(listed.object_key.in_(done), listed.object_key.not_in(restored))
    for row in session.execute(query.order_by(order, listed.object_key).execution_options(yield_per=1_000)):
        yield _object(row)


def _object(row: Row[Any]) -> ObjectLine:
    key, outcome, reason, detail, step, operation, meant_at, ended_at, run_id = tuple(row)
    if outcome == "unknown" and reason is None:
        reason = _OPEN
    return ObjectLine(
        key=tuple(parse_canonical(key)),
        outcome=outcome,
        reason=reason or "",
        reason_text=_title(reason),
        detail=detail or "",
        step=step or "",
        operation=operation or "",
        meant_at=_instant(meant_at),
        ended_at=_instant(ended_at),
        run_id=run_id or "",
    )


def _title(code: str | None) -> str:
    known = CODES.get(code or "")
    return "" if known is None else known.title


def _instant(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _run(run: RunRow) -> RunLine:
    summary = run.summary or {}
    stopped = summary.get("stopped_by") or {}
    return RunLine(
        run_id=run.run_id,
        kind=run.kind,
        by=str(run.by),
        started_at=run.started_at,
        finished_at=run.finished_at,
        state="unfinished" if run.finished_at is None else run.state,
        exit=run.exit,
        stopped_by=str(stopped.get("code", "")),
        message=str(stopped.get("message", "")),
        resumes_at=str(summary.get("resumes_at", "")),
    )


def _runs(session: Session, plan: tables.Plan) -> tuple[RunLine, ...]:
    return tuple(map(_run, runs.of_plan(session, plan.plan_id, plan.run_id)))


def _refused(run: RunRow) -> tuple[Refused, ...]:
    summary = run.summary or {}
    found = [finding for refusal in summary.get("refusals", ()) for finding in refusal.get("findings", ())]
    return tuple(
        Refused(
            code=str(each.get("code", "")),
            title=_title(each.get("code")),
            message=str(each.get("message", "")),
            ways_on=tuple(map(str, each.get("ways_on", ()))),
        )
        for each in found
    )


def _approvals(session: Session, plan: tables.Plan) -> tuple[ApprovalLine, ...]:
    rounds = session.scalars(
        select(tables.ApprovalRound)
        .where(
            tables.ApprovalRound.workflow == plan.workflow,
            tables.ApprovalRound.proposal == plan.proposal,
            tables.ApprovalRound.digest == plan.digest,
        )
        .order_by(tables.ApprovalRound.position)
    )
    lines: list[ApprovalLine] = []
    for round_ in rounds.all():
        votes = session.scalars(
            select(tables.ApprovalVote)
            .where(tables.ApprovalVote.round_id == round_.round_id)
            .order_by(tables.ApprovalVote.at, tables.ApprovalVote.uid)
        ).all()
        for vote in votes:
            who = f"{vote.name} (uid:{vote.uid})"
            lines.append(ApprovalLine(who, "yes", _instant(vote.at), _instant(vote.expires_at), _key_of(vote)))
        if round_.completed_at is not None:
            who = "the workflow's own rule" if len(votes) == 0 else "the quorum"
            lines.append(
                ApprovalLine(
                    who,
                    "approved it" if len(votes) == 0 else "is complete",
                    _instant(round_.completed_at),
                    _instant(round_.expires_at),
                    "",
                )
            )
        if round_.ended_at is not None:
            what = f"{round_.state}: {round_.ended_because or 'no reason was given'}"
            lines.append(ApprovalLine("", what, _instant(round_.ended_at), None, ""))
    return tuple(lines)


def _key_of(vote: tables.ApprovalVote) -> str:
    if vote.signature is None:
        return ""
    try:
        return read_signature(vote.signature).fingerprint
    except SignatureWrong:
        return "a signature that can't be read"


def _evidence(session: Session, run_id: str) -> tuple[EvidenceLine, ...]:
    query = select(tables.Certificate.inventory, tables.Certificate.document)
    claims = {
        name: tuple(json.loads(text).get("claims", ()))
        for name, text in session.execute(query.where(tables.Certificate.run_id == run_id))
    }
    read = select(tables.Evidence.inventory, tables.Evidence.document).where(tables.Evidence.run_id == run_id)
    read = read.order_by(tables.Evidence.recorded_at, tables.Evidence.envelope_id)
    return tuple(_envelope(name, json.loads(text), claims.get(name, ())) for name, text in session.execute(read))


def _envelope(name: str, said: Mapping[str, Any], claims: Sequence[str]) -> EvidenceLine:
    complete, scope = said["completeness"], said["scope"]
    return EvidenceLine(
        inventory=name,
        resource=f"{scope['source']}.{scope['resource']}",
        complete=complete["complete"] is True,
        rows=said["work"]["rows"],
        claims=tuple(claims),
        reasons=tuple(f"{each['code']} {each.get('detail', '')}".strip() for each in complete["reasons"]),
        warnings=tuple(each["code"] for each in said.get("warnings", ())),
        snapshot=said.get("snapshot_digest") or "",
    )


def _canary(session: Session, plan_id: str) -> str:
    canary = session.get(tables.Canary, plan_id)
    if canary is None:
        return ""
    count = len(json.loads(canary.objects))
    until = f"{from_micros(canary.waits_until):%Y-%m-%d %H:%M:%S} UTC"
    passed = "" if canary.passed_at is None else f"{from_micros(canary.passed_at):%Y-%m-%d %H:%M:%S} UTC"
    ended = f"found to hold at {passed}" if passed else "not passed"
    rehearsed = [_rehearsed(key, ends) for (_, key), ends in rehearsals.ends_of(session, [plan_id]).items()]
    return "; ".join([f"the first {count} were acted on, the rest waited until {until}", *rehearsed, ended])


def _rehearsed(key: str, ends: Ends) -> str:
    """Return how far the rehearsal of a restore came, in words."""
    told = {kind: ends[kind] or "unknown" for kind in (RESTORE, AGAIN) if kind in ends}
    again = f"acted on again: {told[AGAIN]}" if AGAIN in told else "not acted on again"
    return f"a restore was rehearsed with {fmt.key(parse_canonical(key))}: restored: {told[RESTORE]}, {again}"


def _run_head(session: Session, run: RunRow) -> str:
    query = select(tables.JournalEntry.seq, tables.JournalEntry.hash).where(tables.JournalEntry.run_id == run.run_id)
    ended = query.where(tables.JournalEntry.kind == "run_finished").order_by(tables.JournalEntry.seq).limit(1)
    found = session.execute(ended).first() or session.execute(query.order_by(tables.JournalEntry.seq.desc())).first()
    return "none" if found is None else f"{found.seq}:{found.hash}"


def _plan_facts(session: Session, plan: tables.Plan, now: int) -> PlanFacts:
    parts = _parts(session, plan.plan_id)
    act, sums = parts.get("act") or {}, parts.get("sums")
    targets = parts.get("target") or {}
    return PlanFacts(
        plan_id=plan.plan_id,
        digest=plan.digest,
        proposal=plan.proposal,
        state=str(plans.state_of(session, plan, now)),
        describe=str(parts.get("describe") or ""),
        owner=str(parts.get("owner") or ""),
        operation=str(act.get("operation") or ""),
        undo=str(act.get("undo") or ""),
        target="; ".join(
            f"{source}: {', '.join(f'{name} {fact}' for name, fact in sorted(facts.items()))}"
            for source, facts in sorted(targets.items())
        ),
        candidates=plan.candidates,
        sums=None if not isinstance(sums, dict) else sums,
        cap=(parts.get("caps") or {}).get("effective"),
        taken_back=len(undone.done_of(session, [plan.plan_id])),
    )


def _parts(session: Session, plan_id: str) -> dict[str, Any]:
    """Return the small parts of a plan's document; its rows stay in the database. Nothing where it is no JSON."""
    postgresql = session.get_bind().dialect.name == "postgresql"
    if postgresql:
        columns = ", ".join(f"(document::json -> '{part}')::text" for part in _PARTS)
    else:
        columns = ", ".join(f"json_extract(document, '$.{part}')" for part in _PARTS)
    whole = sql(f"SELECT {columns} FROM plans WHERE plan_id = :id")  # noqa: S608 - of nothing but our own words
    try:
        with session.begin_nested():  # a document that is no JSON must not end the reading of the rest
            row = session.execute(whole, {"id": plan_id}).one()
    except DatabaseError:
        return {}
    # what is text in the document comes out of SQLite as it is, and of PostgreSQL as JSON
    as_it_is = frozenset[str]() if postgresql else {"describe", "owner"}
    return {
        part: json.loads(value) if isinstance(value, str) and part not in as_it_is else value
        for part, value in zip(_PARTS, row, strict=True)
    }
