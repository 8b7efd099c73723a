"""A store with a clock that tests move by hand, and the few steps that most tests begin with."""

from __future__ import annotations

import functools
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from tests.support.plans import document, plan_row

from fullcount.compiler.claims import Consistency
from fullcount.compiler.program import Approval, Quorum
from fullcount.runtime.approve.approvals import ApprovalStatus, give
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Completeness, Envelope, Incompleteness, Scope, Status, Work
from fullcount.runtime.plan.document import HeadDoc, PlanDocument, TakenBackDoc, UndoDoc
from fullcount.runtime.plan.undo import UndoInputs, undo_document
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import Fence, Intent, StoredPlan

ANA, BO, CHEN, DORA = (
    Person(uid=4001 + number, name=name) for number, name in enumerate(("ana", "bo", "chen", "dora"))
)
AUTHOR = Person(uid=1000, name="author")
ROLES = {
    "iam-admin": tuple(person.principal for person in (ANA, BO, CHEN, AUTHOR)),
    "security": (CHEN.principal, DORA.principal),
}
THREE_DAYS = 3 * 86_400 * 10**6
TTL = timedelta(minutes=5)
WORKFLOW = "disable_orphaned_accounts"


def approval(*quorums: tuple[int, str], not_by_author: bool = True, expires: int = THREE_DAYS) -> Approval:
    """Return an approval clause; by default two of `iam-admin`."""
    wanted = quorums or ((2, "iam-admin"),)
    return Approval("disable", tuple(Quorum(count, role, not_by_author) for count, role in wanted), expires)


@functools.cache
def empty_store() -> bytes:
    """Return the file of a store in which nothing has happened yet."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        Store.open(f"sqlite:///{file}").close()
        return file.read_bytes()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, **by: float) -> datetime:
        """Return an instant to come."""
        return self.now + timedelta(**by)

    def forward(self, **by: float) -> None:
        """Let time pass, as `timedelta` takes it."""
        self.now += timedelta(**by)


class Office:
    """A store and the people around it."""

    def __init__(self, place: Path | str) -> None:
        if isinstance(place, Path):
            # a copy of an empty store opens faster than a new one is made
            (place / "state.db").write_bytes(empty_store())
            place = f"sqlite:///{place / 'state.db'}"
        self.url = place
        self.clock = Clock()
        self.store = Store.open(self.url, clock=self.clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def document(self, *keys: str, **changes: Any) -> PlanDocument:
        """Return a plan for these objects, made by a run of this store."""
        run_id = self.store.begin_run(changes.get("workflow", WORKFLOW), "plan", AUTHOR)
        rows = tuple(plan_row(key) for key in keys) if keys else None
        return document(rows, plan_id=new_id(), run_id=run_id, **changes)

    def plan(self, *keys: str, **changes: Any) -> StoredPlan:
        """Make and keep a plan."""
        return self.store.save_plan(self.document(*keys, **changes))

    def certified(self, plan: StoredPlan) -> StoredPlan:
        """Record the certificates that a plan rests on, as its run did, with an envelope; return the plan."""
        document, question = plan.document, "sha256:" + "6" * 64
        for each in document.certificates:
            self.store.record_certificate(document.run_id, document.workflow, each, self.clock(), question)
        self.store.record_envelope(document.run_id, document.workflow, self.cut_short("people"), "iam")
        return plan

    def undo(self, plan: StoredPlan, *keys: str, **changes: Any) -> StoredPlan:
        """Make and keep a plan that takes back what another one did to these objects; who did it is not asked."""
        store, acted, at = self.store, plan.document, self.clock()
        acts = {entry.object_key: entry.act_id for entry in store.last_acts(acted.plan_id)}
        head = store.head()
        given = {
            "plan_id": acted.plan_id, "plan_digest": acted.digest, "runs": (), "by": AUTHOR.principal, "read_at": at,
            "head": HeadDoc(seq=head.seq, hash=head.hash), "valid_until": at + timedelta(days=3),
        }  # fmt: skip
        rows = [((key,), TakenBackDoc(act_id=acts[key,], operation="directory.update", left={}), {}) for key in keys]
        document = undo_document(
            UndoInputs(
                acted=acted,
                undo=UndoDoc(**(given | changes)),
                taken=rows,
                left=(),
                unknown=(),
                plan_id=new_id(),
                run_id=store.begin_run(acted.workflow, "plan", AUTHOR),
                created_at=at,
                created_by=AUTHOR.principal,
                engine_version=acted.engine_version,
                connector_versions=acted.connector_versions,
            )
        )
        return store.save_plan(document)

    def undoing(self, plan: StoredPlan, *keys: str) -> tuple[StoredPlan, str, Fence]:
        """Make an undo of these objects, have it approved, and begin to apply it."""
        undo = self.undo(plan, *keys)
        self.approve(undo)
        run_id, fence = self.begin(undo, "undo")
        self.store.begin_apply(undo.document.plan_id, run_id, fence)
        return undo, run_id, fence

    def cut_short(self, inventory: str) -> Envelope:
        """Return a partial and empty answer, the most dangerous one (R1)."""
        at = self.clock()
        return Envelope(
            inventory=inventory,
            status=Status.PARTIAL,
            completeness=Completeness(complete=False, reasons=(Incompleteness(code=Reason.RESULT_LIMIT_REACHED),)),
            scope=Scope(
                source="hr", resource="employees", consistency=Consistency.PINNED, started_at=at, finished_at=at
            ),
            work=Work(),
            snapshot_digest="sha256:" + "0" * 64,
        )

    def approve(self, plan: StoredPlan, *people: Person, clause: Approval | None = None) -> ApprovalStatus:
        """Let these people say yes; by default ana and bo."""
        for person in people or (ANA, BO):
            status = give(self.store, plan, clause or approval(), ROLES, person)
        return status

    def begin(self, plan: StoredPlan, kind: str = "apply") -> tuple[str, Fence]:
        """Begin a run for a plan, and take the lease; of an undo that of the plan that it takes back."""
        document = plan.document
        run_id = self.store.begin_run(WORKFLOW, kind, ANA, plan_id=document.plan_id)
        of = document.plan_id if document.undo is None else document.undo.plan_id
        return run_id, self.store.claim_plan(of, run_id, TTL)

    def applying(self, *keys: str) -> tuple[StoredPlan, str, Fence]:
        """Make a plan, have it approved, and begin to apply it."""
        plan = self.plan(*keys)
        self.approve(plan)
        run_id, fence = self.begin(plan)
        self.store.begin_apply(plan.document.plan_id, run_id, fence)
        return plan, run_id, fence


def lock(key: str, **parameters: Any) -> Intent:
    """Return the intent of locking one account."""
    return Intent((key,), "directory.update", {"id": key, "locked": True} | parameters)
