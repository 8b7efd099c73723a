"""The store: one object through which everything else keeps and finds its state.

Guarantees: each method is one transaction; each change is in the journal in the same transaction; time is the
database's. It never retries, never half does, and knows no rule of what may be approved or acted upon beyond what its
parts state: `plans`, `rounds` (approvals), `applying`, `ledger`, `leases`, `slots`, `runs`, `evidence`,
`controls`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Self

from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError, OperationalError, ProgrammingError
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.signing import Signed
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.events import Notice
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.append import locked_head, read_head
from fullcount.runtime.journal.entry import Head, canonical_text
from fullcount.runtime.journal.payloads import AutomaticRule, QuorumRule
from fullcount.runtime.plan.document import CertificateDoc, PlanDocument
from fullcount.runtime.store import (
    applying,
    canaries,
    controls,
    elsewhere,
    evidence,
    leases,
    ledger,
    plans,
    rehearsals,
    rounds,
    runs,
    settling,
    slots,
    steps,
    strikes,
    undone,
    warnings,
)
from fullcount.runtime.store import notices as outbox
from fullcount.runtime.store.elsewhere import ActElsewhere
from fullcount.runtime.store.engine import make_engine, writer
from fullcount.runtime.store.errors import StoreUnavailable
from fullcount.runtime.store.instants import from_micros, system_micros, to_micros
from fullcount.runtime.store.migrate import check_revision, migrate
from fullcount.runtime.store.reading import Steady, Watch, reading_engine
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import (
    ActKind,
    CanaryRow,
    Fence,
    Intent,
    LedgerEntry,
    NoticeRow,
    NoticeState,
    OutcomeEntry,
    Paused,
    PlanBrief,
    Round,
    RunKind,
    RunRow,
    SlotRow,
    StepCount,
    StepRow,
    StoredCertificate,
    StoredPlan,
    WarningRow,
)

_NOT_ALLOWED = "42501"
"""PostgreSQL's state for a right that the role does not have."""

_DAMAGED = ("not a database", "malformed")
"""What SQLite says of a file that is damaged."""

Clock = Callable[[], datetime]


class Store:
    """An open store. Make one with `Store.open` or `Store.open_to_read`; it may be used from several threads."""

    def __init__(self, engine: Engine, writes: Engine | None, clock: Clock | None, watch: Watch) -> None:
        self._engine = engine
        self._writer = writes
        self._clock = clock
        self._watch = watch

    @classmethod
    def open(cls, url: str, *, clock: Clock | None = None) -> Store:
        """Open the store at `url`, bringing its tables up to date.

        `clock` replaces the database's time, for tests. Raises `StoreUnavailable`, `StoreTooNew`.
        """
        engine = make_engine(url)
        try:
            with _translated():
                migrate(writer(engine))
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, writer(engine), clock, Steady())

    @classmethod
    def open_to_read(cls, url: str, *, clock: Clock | None = None) -> Store:
        """Open the store at `url` for somebody who may read it and no more; nothing is made, changed or migrated.

        Raises `StoreMissing`, `StoreUnavailable`, `StoreTooOld`, `StoreTooNew`.
        """
        engine, watch = reading_engine(url)
        try:
            with _translated():
                check_revision(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, None, clock, watch)

    def close(self) -> None:
        """Release every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- transactions -------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session that sees one state of everything; nothing that is written in it is kept."""
        connection_options = {"isolation_level": "REPEATABLE READ"} if self._is_postgresql else {}
        try:
            with (
                _translated(),
                self._engine.connect().execution_options(**connection_options) as connection,
                Session(connection, autoflush=False) as session,
            ):
                yield session
        finally:
            # Also when it ended in an error: half of two states looks like damage.
            self._watch.check()

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Give a transaction that holds the journal's head; it is committed at the end, or undone by an exception."""
        if self._writer is None:
            raise StoreUnavailable("FC730", "the store was opened to read, so nothing can be recorded in it")
        with _translated(), Session(self._writer, autoflush=False) as session, session.begin():
            head = locked_head(session)
            yield Transaction(session=session, now=self._now(session), head=head)

    @property
    def _is_postgresql(self) -> bool:
        return self._engine.dialect.name == "postgresql"

    def _now(self, session: Session) -> int:
        if self._clock is not None:
            return to_micros(self._clock())
        if self._is_postgresql:
            return int(session.scalar(text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")) or 0)
        return system_micros()  # SQLite has no clock of its own: its time is this host's

    def now(self) -> datetime:
        """Return the store's time, by which leases and approvals run out."""
        if self._clock is None and self._is_postgresql:
            with self.reading() as session:
                return from_micros(self._now(session))
        return from_micros(system_micros() if self._clock is None else to_micros(self._clock()))

    def head(self) -> Head:
        """Return the journal's last entry: note it elsewhere, and nobody can rewrite what came before."""
        with self.reading() as session:
            found = read_head(session)
        if found is None:
            raise StoreUnavailable("FC740", "the journal has no head", help="look at it: `fullcount verify`")
        return found

    # -- runs ---------------------------------------------------------------------------------------------------------

    def begin_run(
        self, workflow: str, kind: RunKind | str, by: Person, *, plan_id: str | None = None, slot_id: str | None = None
    ) -> str:
        """Record that a run begins, and return its id (ULID)."""
        with self.writing() as tx:
            return runs.begin(tx, workflow, RunKind(kind), by, plan_id, slot_id)

    def finish_run(
        self, run_id: str, state: str, ended: Exit, summary: Mapping[str, Any], notices: Sequence[Notice] = ()
    ) -> None:
        """Record how a run ended, and with it who is to be told.

        Raises `StoreError` when it is unknown or has ended before.
        """
        with self.writing() as tx:
            workflow = runs.running(tx.session, run_id).workflow
            runs.finish(tx, run_id, state, ended, summary)
            outbox.queue(tx, run_id, workflow, notices)

    def finish_settling(self, run_id: str, plan_id: str, settled: int) -> None:
        """Record the end of a run that only found out what came of open acts of a plan (its full id)."""
        with self.writing() as tx:
            runs.finish_settling(tx, run_id, plan_id, settled)

    def runs(self, limit: int = 20, *, workflow: str | None = None) -> tuple[RunRow, ...]:
        """Return the latest runs, newest first."""
        with self.reading() as session:
            return runs.recent(session, limit, workflow)

    def find_run(self, run_id: str) -> RunRow | None:
        """Return a run by its id, or by a beginning of it that no other run shares; None when there is none such."""
        with self.reading() as session:
            return runs.find(session, run_id)

    # -- notices ------------------------------------------------------------------------------------------------------

    def notices(self, run_id: str) -> tuple[NoticeRow, ...]:
        """Return what is told of a run, and what came of it."""
        with self.reading() as session:
            return outbox.of_run(session, run_id)

    def latest_notices(self, limit: int = 20, *, workflow: str | None = None) -> tuple[NoticeRow, ...]:
        """Return what is told of the latest runs, oldest first."""
        with self.reading() as session:
            return outbox.of_runs(session, limit, workflow)

    def take_notice(self) -> NoticeRow | None:
        """Take the oldest notice that is due, to be sent by the caller alone; None when there is none."""
        with self.reading() as session:
            if not outbox.is_due(session, self._now(session)):
                return None
        with self.writing() as tx:
            return outbox.take(tx)

    def end_notice(self, notice_id: str, state: NoticeState, detail: str = "") -> NoticeRow:
        """Record what came of a notice that was taken; one that failed is tried again, as often as it may be."""
        with self.writing() as tx:
            return outbox.ended(tx, notice_id, state, detail)

    # -- evidence -----------------------------------------------------------------------------------------------------

    def record_envelope(self, run_id: str, workflow: str, envelope: Envelope, owner: str = "") -> str:
        """Keep an envelope, complete or not, and return its id; `owner` of the workflow is who its warnings are for."""
        with self.writing() as tx:
            return evidence.record_envelope(tx, run_id, workflow, envelope, owner)

    def warnings(self, workflow: str | None = None, inventory: str | None = None) -> tuple[WarningRow, ...]:
        """Return the warnings that the last readings came with, with how many in a row had them."""
        with self.reading() as session:
            return warnings.find(session, workflow, inventory)

    def envelopes(self, run_id: str) -> tuple[Envelope, ...]:
        """Return the envelopes that a run received, in order. Raises `StoreError` for one that was changed."""
        with self.reading() as session:
            return evidence.envelopes(session, run_id)

    def record_certificate(
        self,
        run_id: str,
        workflow: str,
        certificate: CertificateDoc,
        observed_at: datetime,
        series: str | None = None,
    ) -> str:
        """Keep a certificate with the instant that its freshness counts from, and return its id.

        `series`: the question (`evidence.series.question_of`) in whose series it is counted; None: in none.
        """
        with self.writing() as tx:
            return evidence.record_certificate(tx, run_id, workflow, certificate, observed_at, series)

    def series(self, workflow: str, inventory: str, question: str) -> tuple[int, ...]:
        """Return the rows of the last certified readings of a question, the latest first."""
        with self.reading() as session:
            return evidence.series(session, workflow, inventory, question)

    def previous_rows(self, workflow: str, inventory: str) -> int | None:
        """Return the rows of the last certified snapshot of an inventory; None when there has been none."""
        with self.reading() as session:
            return evidence.previous_rows(session, workflow, inventory)

    def certificates(self, run_id: str) -> tuple[StoredCertificate, ...]:
        """Return the certificates that a run issued."""
        with self.reading() as session:
            return evidence.certificates(session, run_id)

    # -- plans --------------------------------------------------------------------------------------------------------

    def save_plan(self, document: PlanDocument) -> StoredPlan:
        """Keep a plan; older plans of its proposal are superseded. Raises `PlanCorrupt`, `PlanRefused`."""
        with self.writing() as tx:
            return plans.save(tx, document)

    def strike_plan(self, plan_id: str, keys: Sequence[tuple[Any, ...]], by: Person, because: str | None) -> StoredPlan:
        """Keep a plan anew without these rows; the older one is superseded. Called by `approve.approvals.strike`.

        Raises `NotListed`, `PlanNotFound`, `PlanCorrupt`, `PlanRefused`, `PlanStale`.
        """
        with self.writing() as tx:
            return strikes.strike(tx, plan_id, keys, by, because)

    def load_plan(self, plan_id: str) -> StoredPlan:
        """Return a plan by its id or an unambiguous beginning of it. Raises `PlanNotFound`, `PlanCorrupt`."""
        with self.reading() as session:
            return plans.load(session, plan_id, self._now(session))

    def latest_plan(self, workflow: str, proposal: str) -> StoredPlan | None:
        """Return the newest plan of a proposal; None when there is none. Raises `PlanCorrupt`."""
        with self.reading() as session:
            plan_id = plans.latest(session, workflow, proposal)
            return None if plan_id is None else plans.load(session, plan_id, self._now(session))

    def plans(self, limit: int = 20, *, workflow: str | None = None) -> tuple[PlanBrief, ...]:
        """Return the latest plans, newest first, without their documents."""
        with self.reading() as session:
            return plans.briefs(session, workflow, limit, self._now(session))

    def plan_brief(self, plan_id: str) -> PlanBrief:
        """Return a plan without its document, by its id or an unambiguous beginning of it. Raises `PlanNotFound`."""
        with self.reading() as session:
            return plans.brief(session, plans.find(session, plan_id), self._now(session))

    def replaced_by(self, plan_id: str) -> tuple[str, ...]:
        """Return the plans that this one superseded when it was made, oldest first."""
        with self.reading() as session:
            return plans.replaced_by(session, plan_id)

    # -- approvals (who may give them is decided in `approve`) --------------------------------------------------------

    def approval_round(self, plan_id: str) -> Round:
        """Return the approval that a plan has, as far as it has come. Raises `PlanNotFound`."""
        with self.reading() as session:
            return rounds.view(session, plans.find(session, plan_id), self._now(session))

    def record_vote(
        self,
        plan_id: str,
        digest: str,
        person: Person,
        lifetime: timedelta,
        voters: rounds.Voters,
        signed: Signed | None = None,
        until: datetime | None = None,
    ) -> Round:
        """Count one person's yes over one digest. Called by `approve.approvals.give`, which knows who may.

        It lives for `lifetime`, and not beyond `until`.

        Raises `ApprovalRefused`, `PlanRefused`, `PlanStale`, `PlanNotFound`.
        """
        with self.writing() as tx:
            plan = plans.find(tx.session, plan_id)
            plans.check_usable(plan)
            plans.check_digest(plan, digest)
            ends = None if until is None else to_micros(until)
            rounds.vote(tx, plan, person, lifetime // timedelta(microseconds=1), voters, signed, ends)
            return rounds.view(tx.session, plan, tx.now)

    def approve_automatically(
        self,
        plan_id: str,
        digest: str,
        lifetime: timedelta,
        quorums: tuple[QuorumRule, ...],
        rule: AutomaticRule,
        *,
        allowed: int,
        population: int,
    ) -> bool:
        """Approve a plan by its workflow's rule. Called by `approve.approvals.decide`, which knows whether it holds.

        Return False, and do nothing, while acting is halted and where people have decided over this digest before.
        Raises `ApprovalRefused`, `PlanRefused`, `PlanStale`, `PlanNotFound`.
        """
        with self.writing() as tx:
            plan = plans.find(tx.session, plan_id)
            plans.check_usable(plan)
            plans.check_digest(plan, digest)
            if controls.halted(tx.session) is not None:
                return False
            return rounds.approve_automatically(
                tx,
                plan,
                lifetime // timedelta(microseconds=1),
                quorums,
                rule,
                allowed=allowed,
                population=population,
            )

    def revoke_approval(self, plan_id: str, by: Person, reason: str) -> Round:
        """Take an approval back; acts that have not begun will not. Raises `ApprovalRefused`, `PlanNotFound`."""
        with self.writing() as tx:
            plan = plans.find(tx.session, plan_id)
            rounds.revoke(tx, plan, by, reason)
            return rounds.view(tx.session, plan, tx.now)

    def check_may_act(self, plan_id: str, fence: Fence) -> None:
        """Raise the error of whatever forbids acting now: halt, lease, newer plan, approval. For the guard."""
        with self.reading() as session:
            applying.check_may_act(session, plan_id, fence, self._now(session))

    # -- the ledger of acts -------------------------------------------------------------------------------------------

    def begin_apply(self, plan_id: str, run_id: str, fence: Fence) -> None:
        """Begin applying a plan, or go on with it. Raises the error of whatever is in the way."""
        with self.writing() as tx:
            applying.begin_apply(tx, plan_id, run_id, fence)

    def finish_apply(self, plan_id: str, run_id: str, fence: Fence) -> dict[Outcome, int]:
        """Record where the apply stands and return the counts; the plan is used up once all outcomes are final."""
        with self.writing() as tx:
            return applying.finish_apply(tx, plan_id, run_id, fence)

    def begin_canary_wait(self, plan_id: str, run_id: str, fence: Fence, wait: timedelta) -> CanaryRow:
        """Record that what was acted on so far is the canary, and that the rest waits from now on; once."""
        with self.writing() as tx:
            return canaries.begin_wait(tx, plan_id, run_id, fence, wait)

    def pass_canary(self, plan_id: str, run_id: str, fence: Fence, counted: int | None = None) -> CanaryRow:
        """Record that the canary holds, so that the rest may be acted on. Raises `LedgerRefused` before its time.

        `counted`: how many there were of what the workflow has counted; None: it has nothing counted.
        """
        with self.writing() as tx:
            return canaries.passed(tx, plan_id, run_id, fence, counted)

    def canary(self, plan_id: str) -> CanaryRow | None:
        """Return the canary of a plan (its full id); None while its wait has not begun."""
        with self.reading() as session:
            return canaries.find(session, plan_id)

    def steps(self, workflow: str, proposal: str) -> tuple[StepRow, ...]:
        """Return the clocks of a graduated act that have not ended."""
        with self.reading() as session:
            return steps.running(session, workflow, proposal)

    def step_counts(self, workflow: str | None = None) -> tuple[StepCount, ...]:
        """Return how many objects stand at which step of a graduated act."""
        with self.reading() as session:
            return steps.counts(session, workflow)

    def step_in_the_way(self, plan_id: str, object_key: tuple[Any, ...], *, kind: ActKind = ActKind.ACT) -> str | None:
        """Return why the step that a plan (its full id) lists for an object may not be taken now; None: it may."""
        key = canonical_text(list(object_key))
        with self.reading() as session:
            plan = plans.get(session, plan_id)
            rows = steps.objects(session, plan.plan_id, [key]).values()
            return steps.in_the_way(session, plan, rows, kind, self._now(session)).get(key)

    def paused(self, plan_id: str | None = None) -> tuple[Paused, ...]:
        """Return the plans that stand and whose latest apply is only paused, or the one that is named, newest first."""
        with self.reading() as session:
            return runs.paused(session, plan_id)

    def record_intents(
        self, plan_id: str, run_id: str, fence: Fence, intents: Sequence[Intent], *, kind: ActKind = ActKind.ACT
    ) -> tuple[LedgerEntry, ...]:
        """Record up to 50 intents, all or nothing, before any of their calls. Only entries with `fresh` may be called.

        Raises `FenceLost`, `Halted`, `PlanStale`, `PlanRefused`, `ApprovalMissing`, `ApprovalRefused`,
        `IdempotencyMismatch`, `ActedElsewhere`, `LedgerRefused`.
        """
        with self.writing() as tx:
            return ledger.record_intents(tx, plan_id, run_id, fence, intents, kind)

    def record_outcomes(
        self, plan_id: str, run_id: str, fence: Fence, outcomes: Sequence[OutcomeEntry], *, kind: ActKind = ActKind.ACT
    ) -> tuple[LedgerEntry, ...]:
        """Record up to 50 outcomes, all or nothing. Raises `LedgerRefused`, `FenceLost`, `PlanRefused`.

        Objects that were left alone (`changed`, `already_gone`, `refused`) need no intent; all other outcomes do.
        """
        with self.writing() as tx:
            return ledger.record_outcomes(tx, plan_id, run_id, fence, outcomes, kind)

    def open_elsewhere(self, plan_id: str) -> tuple[ActElsewhere, ...]:
        """Return the acts of other plans on objects of this one (its full id) whose outcome nobody knows."""
        with self.reading() as session:
            return elsewhere.open_acts(session, plans.get(session, plan_id))

    def settle(
        self, plan_id: str, keys: Sequence[tuple[Any, ...]], *, took_effect: bool, by: Person, because: str
    ) -> tuple[LedgerEntry, ...]:
        """Record what a person says came of open acts. Called by `approve.approvals.settle`.

        Raises `NothingToSettle`, `LeaseHeld`, `PlanNotFound`.
        """
        with self.writing() as tx:
            return settling.settle(tx, plan_id, keys, took_effect=took_effect, by=by, because=because)

    def ledger(self, plan_id: str, *, kind: ActKind = ActKind.ACT) -> tuple[LedgerEntry, ...]:
        """Return everything that the ledger holds of a plan (its full id)."""
        with self.reading() as session:
            return ledger.entries(session, plan_id, kind)

    def last_acts(self, plan_id: str) -> tuple[LedgerEntry, ...]:
        """Return the act that each object of a plan (its full id) counts by; see `rehearsals`."""
        with self.reading() as session:
            return rehearsals.last_acts(session, plan_id, ledger.entries(session, plan_id, ActKind.ACT))

    def open_intents(self, plan_id: str, *, kind: ActKind = ActKind.ACT) -> tuple[LedgerEntry, ...]:
        """Return the intents without a final outcome, to be resolved by reading or by the same key (R32)."""
        with self.reading() as session:
            return ledger.open_intents(session, plan_id, kind)

    def runs_of(self, act_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the runs that meant these acts, in the order in which they began."""
        with self.reading() as session:
            return ledger.runs_of(session, act_ids)

    def taken_back(self, plan_id: str) -> tuple[undone.TakenBack, ...]:
        """Return what undos took back of a plan (its full id), or may have."""
        with self.reading() as session:
            return undone.of_plan(session, plan_id)

    def counts(self, plan_id: str) -> dict[Outcome, int]:
        """Return how many of a plan's objects ended how; the numbers add up to its candidates."""
        with self.reading() as session:
            return applying.counts(session, plan_id)

    # -- coordination -------------------------------------------------------------------------------------------------

    def claim(self, name: str, holder: str, ttl: timedelta) -> Fence:
        """Take a lease, with a token above all earlier ones of that name. Raises `LeaseHeld`."""
        with self.writing() as tx:
            return leases.claim(tx, name, holder, ttl)

    def claim_plan(self, plan_id: str, holder: str, ttl: timedelta, *, part: str = "") -> Fence:
        """Take the lease for acting on a plan, or on a part of it. Raises `LeaseHeld`."""
        return self.claim(leases.plan_lease(plan_id, part), holder, ttl)

    def plan_lease(self, plan_id: str) -> Fence | None:
        """Return the last claim of the lease for acting on a plan, in force or not. To look at, never to act on."""
        with self.reading() as session:
            return leases.latest(session, leases.plan_lease(plan_id))

    def renew(self, fence: Fence, ttl: timedelta) -> Fence:
        """Move the end of a lease that is still held. Raises `FenceLost`."""
        with self.writing() as tx:
            return leases.renew(tx, fence, ttl)

    def check_fence(self, fence: Fence) -> None:
        """Raise `FenceLost` unless this very claim is still in force."""
        with self.reading() as session:
            leases.check(session, fence, self._now(session))

    def release(self, fence: Fence) -> None:
        """Give a lease back; another's lease is not touched."""
        with self.writing() as tx:
            leases.release(tx, fence)

    def claim_slot(
        self, workflow: str, planned_at: datetime, holder: str, *, local_day: str | None = None
    ) -> str | None:
        """Take a planned instant and return its slot's id; None when somebody has it already."""
        with self.writing() as tx:
            return slots.claim(tx, workflow, planned_at, holder, local_day=local_day, skipped=None)

    def skip_slot(
        self, workflow: str, planned_at: datetime, holder: str, reason: str, *, local_day: str | None = None
    ) -> str | None:
        """Record that a planned instant is not run, and why; None when somebody has it already."""
        with self.writing() as tx:
            return slots.claim(tx, workflow, planned_at, holder, local_day=local_day, skipped=reason)

    def finish_slot(self, slot_id: str, detail: str) -> None:
        """Record that the run of a slot has ended. Raises `StoreError` when the slot is not being run."""
        with self.writing() as tx:
            slots.finish(tx, slot_id, detail)

    def slots(self, limit: int = 20, *, workflow: str | None = None) -> tuple[SlotRow, ...]:
        """Return the latest planned instants, newest first."""
        with self.reading() as session:
            return slots.recent(session, workflow, limit)

    def halt(self, reason: str, by: Person) -> None:
        """Stop all acting, everywhere, until `resume`. What a rule approved has to be approved by people after that."""
        with self.writing() as tx:
            controls.halt(tx, reason, by)
            rounds.revoke_automatic(tx, by, f"acting was halted: {reason}")

    def resume(self, by: Person) -> None:
        """Allow acting again."""
        with self.writing() as tx:
            controls.resume(tx, by)

    def halted(self) -> str | None:
        """Return why acting is halted; None when it is not."""
        with self.reading() as session:
            return controls.halted(session)

    def pause(self, workflow: str, reason: str, by: Person) -> None:
        """Let nothing further be acted on for a workflow until `unpause`. Taking back stays possible."""
        with self.writing() as tx:
            controls.pause(tx, workflow, reason, by)

    def unpause(self, workflow: str, by: Person) -> None:
        """Allow a workflow to act again."""
        with self.writing() as tx:
            controls.unpause(tx, workflow, by)

    def paused_because(self, workflow: str) -> str | None:
        """Return why a workflow is paused; None when it is not."""
        with self.reading() as session:
            return controls.paused(session, workflow)


@contextmanager
def _translated() -> Iterator[None]:
    """Say what a database's trouble means for a person. A broken rule of the tables stays the bug that it is."""
    try:
        yield
    except DatabaseError as error:
        if isinstance(error, ProgrammingError) and getattr(error.orig, "sqlstate", None) == _NOT_ALLOWED:
            raise StoreUnavailable(
                "FC730",
                f"the store's database does not allow it: {str(error.orig).strip()}",
                help="to look and to verify, its role needs USAGE on the schema and SELECT on every table; to plan,"
                " approve and act, it must own the tables or have their rights",
            ) from error
        if type(error) not in {DatabaseError, OperationalError}:
            raise
        if any(sign in str(error.orig) for sign in _DAMAGED):
            raise StoreUnavailable(
                "FC730",
                f"the store can't be read: {error.orig}",
                help="keep the file as it is, and put the store back from a backup; then run `fullcount verify`",
            ) from error
        raise StoreUnavailable(
            "FC730",
            f"the store does not answer: {error.orig}",
            help="check that it can be reached and written to, and that its disk is not full",
        ) from error
