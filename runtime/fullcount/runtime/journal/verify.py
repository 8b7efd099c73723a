"""Verifying everything that the store holds against its journal, and the journal against itself.

What it detects: a byte changed anywhere, an entry removed, moved or cut off at the end, a plan that is not the one that
was made, an approval for another digest or by too few people, an act without a valid approval or without an intent,
two outcomes for one object, sums that do not hold. What it can't: that somebody rewrote the whole store from the start;
against that, note the head elsewhere and hand it in as `anchor`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fullcount.compiler.document import DocumentError, workflow_from_document
from fullcount.compiler.program import Act, Workflow
from fullcount.runtime.approve.automatic import automatic_rule, never_automatic
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotMissing, SnapshotStore
from fullcount.runtime.journal.append import read_head
from fullcount.runtime.journal.chain import ChainCheck
from fullcount.runtime.journal.compare import compare_tables
from fullcount.runtime.journal.entry import Entry, Head, canonical_text, read_canonical
from fullcount.runtime.journal.expected import Expected, State
from fullcount.runtime.journal.replay import replay
from fullcount.runtime.journal.report import About, Problem, VerifyReport
from fullcount.runtime.journal.strikes import strike_wrong
from fullcount.runtime.journal.undos import out_of_place, undos_wrong
from fullcount.runtime.journal.verify_backups import Look, check_backups
from fullcount.runtime.offline.clocks import steps_wrong
from fullcount.runtime.offline.facts import UNTOLD
from fullcount.runtime.offline.notices import untold
from fullcount.runtime.offline.pace import too_fast
from fullcount.runtime.offline.programs import act_of, program_wrong, rate_of
from fullcount.runtime.offline.rehearsals import still_to_rehearse
from fullcount.runtime.offline.signers import AllowedSigner
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store import plans, steps, tables
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.ledger_rows import idempotency_key, seal
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import ActKind


def verify(
    store: Store,
    snapshots: SnapshotStore | None = None,
    *,
    backups: BackupFiles | None = None,
    keeping: Mapping[str, Look] | None = None,
    anchor: Head | None = None,
    signers: tuple[AllowedSigner, ...] | None = None,
) -> VerifyReport:
    """Verify the store. `snapshots`, `backups`: check what is stored there too. `anchor`: a head noted elsewhere.
    `keeping`: the sources that keep the objects themselves, whose backups only name them, and what looks at those.

    `signers`: who may sign; without them signatures of approvals are checked by their own keys.
    """
    with store.reading() as session:
        chain, state = ChainCheck(anchor), State(signers=signers)
        for entry in entries(session):
            if chain.feed(entry):
                replay(state, entry)
        chain.compare_head(read_head(session))
        chain.finish()
        checked = compare_tables(state, session)
        _plan_documents(state, session)
        _keys(state, session)
        if snapshots is not None:
            checked["snapshot"] = _snapshots(state, snapshots)
        if backups is not None:
            checked |= check_backups(state, session, backups, store.now(), keeping)
    state.notes += [f"not judged: {what}" for what in UNTOLD]
    problems = chain.problems + sorted(state.problems, key=_place)
    return VerifyReport(
        entries=chain.head.seq,
        head=chain.head,
        problems=tuple(sorted(problems, key=lambda found: found.about is not About.CHAIN)),
        notes=tuple(state.notes),
        checked=checked,
    )


def entries(session: Session) -> Iterator[Entry]:
    """Return the entries in order, a few at a time."""
    columns = tables.JournalEntry
    query = select(
        columns.seq, columns.at, columns.kind, columns.run_id, columns.payload, columns.prev, columns.hash
    ).order_by(columns.seq)
    for row in session.execute(query.execution_options(yield_per=500)):
        yield Entry(*row)


def _place(problem: Problem) -> tuple[bool, int]:
    return (problem.seq is None, problem.seq or 0)


def _plan_documents(state: State, session: Session) -> None:
    """Check each plan's document by itself, and the objects that the ledger may act on against it."""
    undos: dict[str, set[str]] = {}
    for plan_id, row in ((key[0], expected) for key, expected in sorted(state.plans.items())):
        try:
            document = plans.load(session, plan_id, now=0).document
        except StoreError as error:
            state.problems.append(Problem(About.PLAN, row.seq, error.message))
            continue
        try:
            what = strike_wrong(document, state.struck.get(plan_id), lambda of: plans.load(session, of, now=0).document)
        except StoreError:
            what = None  # the plan that it was struck from is damaged, which is said of that one
        if what is not None:
            state.problems.append(Problem(About.PLAN, row.seq, what))
        if plans.makers(document) != state.authors.get(plan_id):
            state.problems.append(Problem(About.PLAN, row.seq, f"the plan `{plan_id}` names other authors"))
        _by_its_program(state, row, document)
        state.problems += undos_wrong(state, session, document)
        listed = {canonical_text(item.key) for item in document.rows}
        if document.undo is not None:
            undos[plan_id] = listed
        if _as_listed(document) != _objects(session, plan_id):
            what = f"the objects that may be acted on are not those that the plan `{plan_id}` lists"
            state.problems.append(Problem(About.PLAN, row.seq, what))
        for key, act in state.acts_of.get(plan_id, {}).items():
            if key[2] not in listed:
                what = f"the object {key[2]} was acted on, which the plan `{plan_id}` does not list"
                state.problems.append(Problem(About.ACT, act.seq, what))
    state.problems += out_of_place(state, undos)


def _by_its_program(state: State, row: Expected, document: PlanDocument) -> None:
    """Check what was done by what the plan's program says of it. One that can't be read is told: nothing was judged."""
    plan = _as_read_offline(document)
    unread = program_wrong(plan)
    try:
        workflow = workflow_from_document(document.program)
    except DocumentError as error:
        unread = unread or (
            f"what it does can't be read in its program, so that its acts can't be judged by it: {error}"
        )
    if unread is not None:
        state.problems.append(Problem(About.PLAN, row.seq, f"the plan `{document.plan_id}`: {unread}"))
        return
    act = next((act for act in workflow.acts if act.proposal == document.proposal), None)
    if act is None and len(state.acts_of.get(document.plan_id, {})) > 0:
        what = f"the plan `{document.plan_id}`: it was acted on, and its program only proposes"
        state.problems.append(Problem(About.PLAN, row.seq, what))
    _canary(state, row, document, act)
    _counted(state, row, document, act)
    _automatic(state, row, document, workflow)
    _out_of_turn(state, plan)


def _as_read_offline(document: PlanDocument) -> dict[str, Any]:
    steps = document.steps is not None
    staged = [row for row in document.rows if steps or row.step is not None]
    return {
        "plan_id": document.plan_id,
        "run_id": document.run_id,
        "proposal": document.proposal,
        "program": document.program,
        "steps": {} if steps else None,
        "undo": None if document.undo is None else {},
        "rows": [row.model_dump(mode="json", include={"key", "incarnation", "step"}) for row in staged],
    }


def _out_of_turn(state: State, plan: dict[str, Any]) -> None:
    """Check what the plan says should have come earlier, later or at all: steps, their pace, and who is told."""
    plan_id, act = plan["plan_id"], act_of(plan)

    def outcome_of(kind: str, key: str) -> str | None:
        found: str | None = state.acts[plan_id, kind, key]["outcome"]
        return found

    for seq, what in (
        *steps_wrong(state.clocks, plan),
        *too_fast(state.pace, plan_id, None if act is None else rate_of(act), outcome_of),
    ):
        state.problems.append(Problem(About.ACT, seq, what))
    for seq, what in untold(state.told, plan):
        state.problems.append(Problem(About.RUN, seq, what))


def _as_listed(document: PlanDocument) -> dict[str, dict[str, Any]]:
    return {canonical_text(row.key): _NO_STEP | steps.listed(row) for row in document.rows}


def _objects(session: Session, plan_id: str) -> dict[str, dict[str, Any]]:
    columns = [getattr(tables.PlanObject, name) for name in _NO_STEP]
    query = select(tables.PlanObject.object_key, *columns).where(tables.PlanObject.plan_id == plan_id)
    return {key: dict(zip(_NO_STEP, values, strict=True)) for key, *values in session.execute(query)}


_NO_STEP: Final = dict.fromkeys(("step", "incarnation", "before_step", "since_at", "due_at"))


def _canary(state: State, row: Expected, document: PlanDocument, act: Act | None) -> None:
    """Check that no more objects were acted on before the canary passed than may be, and that it was rehearsed."""
    early, passed = state.early.get(document.plan_id, 0), state.passed.get(document.plan_id)
    if early == 0 and passed is None:
        return
    canary = None if act is None else act.canary
    listed = {canonical_text(each.key): None if each.step is None else each.step.label for each in document.rows}
    missing = [] if act is None or passed is None else still_to_rehearse(act.rehearsed, listed, passed)
    for step in missing:
        of = "" if step is None else f" of step `{step}`"
        what = f"the canary of the plan `{document.plan_id}` passed although no restore{of} had been rehearsed"
        state.problems.append(Problem(About.ACT, row.seq, what))
    if canary is not None and early > canary.count:
        what = (
            f"{early} objects of the plan `{document.plan_id}` were acted on before its canary of {canary.count} passed"
        )
        state.problems.append(Problem(About.ACT, row.seq, what))


def _counted(state: State, row: Expected, document: PlanDocument, act: Act | None) -> None:
    """Check that a canary only passed with a count that is no more than the workflow allows."""
    if document.plan_id not in state.counted:
        return
    canary = None if act is None else act.canary
    then, there = None if canary is None else canary.then, state.counted[document.plan_id]
    if then is not None and (there is None or there > then.count):
        found = "without a count" if there is None else f"with {there:,}"
        what = f"the canary of the plan `{document.plan_id}` passed {found} of `{then.address}`: {then.count:,} may be"
        state.problems.append(Problem(About.ACT, row.seq, what))


def _automatic(state: State, row: Expected, document: PlanDocument, workflow: Workflow) -> None:
    """Check that a plan that was approved by a rule was approved by its own, and that a rule may decide over it."""
    decided = [said for said in state.automatic.values() if said.plan_id == document.plan_id]
    if len(decided) == 0:
        return
    rule = automatic_rule(workflow, document.proposal)
    for said in decided:
        if said.rule != rule or said.population != document.sums.inventory:
            what = f"the plan `{document.plan_id}` was approved by a rule that is not its own"
            state.problems.append(Problem(About.APPROVAL, row.seq, what))
        never = never_automatic(workflow, document)
        if never is not None:
            what = f"the plan `{document.plan_id}` was approved by a rule, but {never}"
            state.problems.append(Problem(About.APPROVAL, row.seq, what))


def _keys(state: State, session: Session) -> None:
    """Check that each act's idempotency key was made from its approval's key."""
    query = select(tables.ApprovalRound.round_id, tables.ApprovalRound.key)
    key_of = {round_id: key for round_id, key in session.execute(query) if isinstance(key, bytes)}
    uses: defaultdict[str, int] = defaultdict(int)
    for key, act in state.acts.items():
        if act["idempotency_key"] is None:
            continue
        uses[act["idempotency_key"]] += 1
        approval_key = key_of.get(act["round_id"])
        wanted, sealed = None, True
        if isinstance(approval_key, bytes) and key[1] in {kind.value for kind in ActKind}:
            of = (read_canonical(key[2]), act["operation"], ActKind(key[1]), act["step"])
            wanted = idempotency_key(approval_key, *of)
            sealed = state.sealed.get(key) in {None, seal(approval_key, wanted, act["parameters_sha256"])}
        if not sealed:
            what = f"the parameters of the act on the object {key[2]} are not those that were sealed when it was meant"
            state.problems.append(Problem(About.ACT, act.seq, what))
        if wanted != act["idempotency_key"] or uses[act["idempotency_key"]] > 1:
            what = f"the act on the object {key[2]} does not carry the key of its approval"
            state.problems.append(Problem(About.ACT, act.seq, what))


def _snapshots(state: State, snapshots: SnapshotStore) -> int:
    """Check the stored rows that certificates were given for. One that is no longer kept is a note."""
    seen: set[str] = set()
    for certificate in state.certificates.values():
        digest = certificate["snapshot_digest"]
        if digest in seen:
            continue
        seen.add(digest)
        try:
            snapshots.path(digest)
        except SnapshotCorrupt as error:
            state.problems.append(Problem(About.EVIDENCE, certificate.seq, str(error)))
        except SnapshotMissing as error:
            state.notes.append(str(error))
    return len(seen)
