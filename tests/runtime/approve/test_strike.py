"""Striking rows: a reviewer takes objects out of a plan, which makes another plan; nothing is ever put in."""

from __future__ import annotations

import pytest
from tests.support.records import tamper
from tests.support.stores import ANA, AUTHOR, BO, DORA, ROLES, WORKFLOW, Office, approval, lock

from fullcount.runtime.approve.approvals import strike
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.payloads import Struck, Who
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.digest import check_document
from fullcount.runtime.plan.strike import NotListed
from fullcount.runtime.store.errors import ApprovalRefused, PlanRefused, PlanStale, StoreError
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import OutcomeEntry, PlanState


def struck(office: Office, plan, *keys: str, by=ANA, because: str | None = "in use"):
    return strike(office.store, plan, approval(), ROLES, by, [(key,) for key in keys], because)


def refused(kind: type[Exception], office: Office, plan, *keys: str, **options):
    journal = office.store.head()
    with pytest.raises(kind) as found:
        struck(office, plan, *keys, **options)
    assert office.store.head() == journal
    return found.value


@pytest.mark.requirement("R24", "R27")
def test_who_may_not_approve_may_not_strike(office):
    """Striking ends approvals that others gave: it takes the same role."""
    plan = office.plan("a", "b")
    assert refused(ApprovalRefused, office, plan, "a", by=DORA).code == "FC701"


def test_what_the_plan_does_not_list_is_not_struck(office):
    """An object that is kept, undecided or unknown: nothing is struck at all, and the message says which it is."""
    plan = office.plan("a", "b")
    for key, why in (("svc-mailer", "kept"), ("svc-dark", "undecided"), ("aa", "a")):
        error = refused(NotListed, office, plan, "b", key)
        assert (error.code, error.exit, key in error.message) == ("FC718", Exit.USAGE, True)
        assert why in error.message + error.help
    assert refused(NotListed, office, plan).code == "FC718"


@pytest.mark.requirement("R24")
def test_a_plan_that_does_not_stand_is_not_struck_from(office):
    """Over its cap, superseded, being applied, applied."""
    assert refused(PlanRefused, office, office.plan("a", "b", limit=(1, None)), "a").code == "FC711"
    older = office.plan("a", "b")
    office.plan("a", "b", "c")
    assert refused(PlanStale, office, older, "a").code == "FC710"
    plan, run_id, fence = office.applying("a", "b")
    assert refused(PlanRefused, office, plan, "a").code == "FC712"
    office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a"), lock("b")])
    ended = [OutcomeEntry((key,), Outcome.DONE) for key in ("a", "b")]
    office.store.record_outcomes(plan.document.plan_id, run_id, fence, ended)
    office.store.finish_apply(plan.document.plan_id, run_id, fence)
    assert refused(PlanRefused, office, plan, "a").code == "FC712"


@pytest.mark.requirement("R24", "R29")
def test_what_was_struck_is_kept_under_another_digest_and_is_never_acted_on(office):
    """The old plan and its approval are over, the new one has its own; sums hold; the struck object has no intent."""
    plan = office.plan("a", "b", "c")
    office.approve(plan)
    new = struck(office, plan, "b", "a")
    document = new.document
    assert [row.key for row in document.rows] == [("c",)]
    group = document.kept[-1]
    assert (group.reason, group.count, set(group.examples)) == ("struck by ana: in use", 2, {("a",), ("b",)})
    assert document.digest != plan.document.digest
    assert check_document(document) == []
    assert (document.sums.candidates, document.sums.inventory) == (1, plan.document.sums.inventory)
    assert (document.authors, document.created_by) == (plan.document.authors, plan.document.created_by)
    older = office.store.load_plan(plan.document.plan_id)
    assert (older.state, older.superseded_by, new.state) == (PlanState.SUPERSEDED, document.plan_id, PlanState.WAITING)
    assert office.approve(new).approved
    run_id, fence = office.begin(new)
    office.store.begin_apply(document.plan_id, run_id, fence)
    for plan_id in (document.plan_id, plan.document.plan_id):
        with pytest.raises(StoreError):
            office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.record_intents(document.plan_id, run_id, fence, [lock("c")])
    assert verify(office.store).problems == ()


def test_striking_again_and_striking_everything_hold_their_sums(office):
    """Strikes add up, also by the same person for the same reason; a plan without rows is nothing to do."""
    plan = office.plan("a", "b", "c")
    for key, by, because in (("a", ANA, None), ("b", ANA, None), ("c", BO, "\u202ehr")):
        plan = struck(office, plan, key, by=by, because=because)
    assert plan.document.rows == ()
    assert [(group.reason, group.examples) for group in plan.document.kept[-2:]] == [
        ("struck by ana", (("a",), ("b",))),
        ("struck by bo: \u202ehr", (("c",),)),
    ]
    assert verify(office.store).problems == ()


@pytest.mark.requirement("R24")
def test_the_same_strike_of_the_same_plan_has_the_same_digest(office):
    """Who strikes, what and why is part of what is approved; ids and clocks are not."""
    one = struck(office, office.plan("a", "b"), "a").document.digest
    office.clock.forward(hours=1)
    same = struck(office, office.plan("a", "b"), "a").document.digest
    others = {
        struck(office, office.plan("a", "b"), "a", by=BO).document.digest,
        struck(office, office.plan("a", "b"), "a", because="other").document.digest,
        struck(office, office.plan("a", "b"), "b").document.digest,
        office.plan("b").document.digest,
    }
    assert one == same
    assert len(others | {one}) == 5


def test_an_author_who_has_the_role_may_strike(office):
    """It takes away from what they proposed, and approves nothing."""
    plan = office.plan("a", "b")
    assert struck(office, plan, "a", by=AUTHOR).state is PlanState.WAITING


@pytest.mark.requirement("R34")
def test_a_strike_that_nobody_made_does_not_verify(office):
    """A plan that was saved as if rows had been struck, and an entry that says so of another plan."""
    plan = office.plan("a", "b")
    new = struck(office, plan, "a")
    with office.store.writing() as tx:
        tx.record(
            Struck(
                plan_id=new.document.plan_id, of=plan.document.plan_id, digest=new.document.digest, keys=(("b",),),
                by=Who(uid=ANA.uid, name="ana"), because="x",
            )
        )  # fmt: skip
    assert not verify(office.store).ok


@pytest.mark.requirement("R34")
def test_a_plan_with_struck_rows_that_no_entry_speaks_of_does_not_verify(tmp_path):
    """Somebody who can write to the store puts a narrower plan in the place of the one that was made."""
    with Office(tmp_path) as office:
        plan = office.plan("a", "b")
        from fullcount.runtime.plan.strike import without

        run_id = office.store.begin_run(WORKFLOW, "plan", AUTHOR)
        forged = without(plan.document, [("a",)], "ana", None, plan_id="01JDZ8M3Q5W7X9Y1Z3A5B7C9D9", run_id=run_id)
        office.store.save_plan(forged)
        found = verify(office.store)
    assert [problem.what for problem in found.problems if "struck" in problem.what]


@pytest.mark.requirement("R34")
@pytest.mark.parametrize("name", ["bo", "mallory"])
def test_a_changed_strike_does_not_verify(tmp_path, name):
    """Who struck what is in the journal, which holds it."""
    with Office(tmp_path) as office:
        struck(office, office.plan("a", "b"), "a")
        file = tmp_path / "state.db"
    tamper(file, "UPDATE journal SET payload = replace(payload, '\"ana\"', ?) WHERE kind = 'struck'", f'"{name}"')
    with Store.open(f"sqlite:///{file}") as store:
        assert not verify(store).ok


def test_a_strike_is_one_transaction(office, monkeypatch):
    """If it can't be finished, the older plan stands with its approval."""
    from fullcount.runtime.store import runs

    plan = office.plan("a", "b")
    office.approve(plan)
    monkeypatch.setattr(runs, "finish", interrupted)
    refused(KeyboardInterrupt, office, plan, "a")
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.APPROVED


def interrupted(*_):
    raise KeyboardInterrupt
