"""A process of its own that writes to a store: what two hosts do to each other.

python -m tests.support.store_worker URL WORK NAME COUNT
"""

from __future__ import annotations

import sys
from datetime import timedelta

from tests.support.stores import ROLES, WORKFLOW, approval

from fullcount.runtime.approve.approvals import give
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.store.elsewhere import ActedElsewhere
from fullcount.runtime.store.errors import ApprovalRefused, FenceLost, LeaseHeld
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import Intent


def main(url: str, work: str, name: str, count: int) -> None:
    """Do the work; print what was got, one line for each."""
    with Store.open(url) as store:
        say("ready")
        sys.stdin.readline()
        match work:
            case "runs":
                for _ in range(count):
                    say(store.begin_run(WORKFLOW, "plan", Person(1, name)))
            case "slots":
                for number in range(count):
                    slot = store.claim_slot(WORKFLOW, from_micros(number * 10**6), name)
                    say(slot or "-")
            case "leases":
                leases(store, name, count)
            case "approve":
                approve(store, int(name))
            case "intents":
                intents(store, name)
            case "same-objects":
                same_objects(store, name)


def say(what: object) -> None:
    """Print one line, at once."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def leases(store: Store, name: str, count: int) -> None:
    """Claim one lease again and again, and print the tokens."""
    got = 0
    while got < count:
        try:
            fence = store.claim("the only one", name, timedelta(seconds=30))
        except LeaseHeld:
            continue
        say(fence.token)
        store.release(fence)
        got += 1


def approve(store: Store, uid: int) -> None:
    """Approve the newest plan as one person."""
    plan = store.latest_plan(WORKFLOW, "disable")
    assert plan is not None
    try:
        say(give(store, plan, approval(), ROLES, Person(uid, f"p{uid}")).approved)
    except ApprovalRefused as error:
        say(error.code)


def intents(store: Store, run_id: str) -> None:
    """Take over the lease and mean every act of the newest plan; print those that are this process's to call."""
    plan = store.latest_plan(WORKFLOW, "disable")
    assert plan is not None
    plan_id = plan.document.plan_id
    for row in plan.document.rows:
        while True:
            try:
                fence = store.claim_plan(plan_id, run_id, timedelta(seconds=30))
                entry = store.record_intents(plan_id, run_id, fence, [Intent(row.key, "lock", {"id": row.key[0]})])[0]
                store.release(fence)
                break
            except (FenceLost, LeaseHeld):
                continue
        if entry.fresh:
            say(row.key[0])


def same_objects(store: Store, run_id: str) -> None:
    """Mean every act of a run's plan, one by one; print those that no other plan was before at."""
    run = store.find_run(run_id)
    assert run is not None
    assert run.plan_id is not None
    plan = store.load_plan(run.plan_id)
    fence = store.claim_plan(run.plan_id, run_id, timedelta(seconds=30))
    store.begin_apply(run.plan_id, run_id, fence)
    for row in plan.document.rows:
        try:
            store.record_intents(run.plan_id, run_id, fence, [Intent(row.key, "lock", {"id": row.key[0]})])
        except ActedElsewhere:
            continue
        say(row.key[0])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
