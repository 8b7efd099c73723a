"""Approvals: what they are refused for, what they are bound to, and how the key comes into being."""

from __future__ import annotations

import pytest
from tests.support.stores import ANA, AUTHOR, BO, CHEN, DORA, ROLES, approval, lock

from fullcount.runtime.approve.approvals import give, status
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import ApprovalRefused, PlanRefused, PlanStale
from fullcount.runtime.store.views import PlanState, RoundState


def key_of(office, plan):
    with office.store.reading() as session:
        found = session.query(tables.ApprovalRound).filter_by(digest=plan.document.digest)
        return found.order_by(tables.ApprovalRound.position.desc()).first()


@pytest.mark.requirement("R24", "R27", "R39")
def test_someone_without_the_role_can_not_approve(office):
    """Not being a member is refused by policy, and nothing is recorded."""
    plan, head = office.plan(), office.store.head()
    with pytest.raises(ApprovalRefused) as found:
        office.approve(plan, DORA)
    assert (found.value.code, found.value.exit) == ("FC701", Exit.REFUSED_BY_POLICY)
    assert office.store.head() == head


@pytest.mark.requirement("R24", "R39")
def test_an_author_can_not_approve_even_as_a_member(office):
    """Neither who wrote the rule nor who made the plan counts where the clause says `not by author`."""
    for changes in ({"authors": ("uid:1000",)}, {"authors": ("uid:7",), "created_by": "uid:1000"}):
        with pytest.raises(ApprovalRefused) as found:
            office.approve(office.plan(**changes), AUTHOR)
        assert found.value.code == "FC702"


def test_an_author_counts_where_the_clause_does_not_bar_them(office):
    """Without `not by author` an author is a member like any other."""
    status = office.approve(office.plan(), AUTHOR, clause=approval((1, "iam-admin"), not_by_author=False))
    assert status.approved


@pytest.mark.requirement("R24", "R39")
def test_the_same_person_twice_is_counted_once_and_told_so(office):
    """A second yes of one uid is refused with a message and changes nothing."""
    plan = office.plan()
    office.approve(plan, ANA)
    with pytest.raises(ApprovalRefused, match="one person counts once") as found:
        office.approve(plan, ANA)
    assert found.value.code == "FC703"
    seen = status(office.store, plan, approval(), ROLES)
    assert (seen.missing, seen.approved, len(seen.votes)) == (1, False, 1)


@pytest.mark.requirement("R24", "R39")
def test_an_approval_of_another_digest_is_refused(office):
    """What the approver says they looked at must be the plan."""
    plan, other = office.plan("a"), office.document("a", "b")
    with pytest.raises(ApprovalRefused) as found:
        give(office.store, plan, approval(), ROLES, ANA, digest=other.digest)
    assert found.value.code == "FC704"
    assert not status(office.store, plan, approval(), ROLES).votes


@pytest.mark.requirement("R24")
def test_a_superseded_plan_can_not_be_approved(office):
    """The newer plan is named, and the exit code says stale."""
    old = office.plan("a")
    new = office.plan("a", "b")
    with pytest.raises(PlanStale) as found:
        office.approve(old, ANA)
    assert (found.value.code, found.value.exit) == ("FC710", Exit.STALE)
    assert new.document.plan_id in found.value.message


@pytest.mark.requirement("R24")
def test_a_plan_over_its_cap_can_not_be_approved(office):
    """Over the cap is refused by policy, whoever approves."""
    plan = office.plan("a", "b", limit=(1, None))
    assert plan.state is PlanState.OVER_CAP
    with pytest.raises(PlanRefused) as found:
        office.approve(plan, ANA)
    assert (found.value.code, found.value.exit) == ("FC711", Exit.REFUSED_BY_POLICY)


def test_a_limit_of_zero_lets_nothing_be_approved(office):
    """`limit 0` means none, not no limit."""
    with pytest.raises(PlanRefused, match="limit"):
        office.approve(office.plan("a", limit=(0, None)), ANA)


@pytest.mark.requirement("R24", "R29")
def test_the_key_is_minted_exactly_when_the_quorum_is_reached(office):
    """One of two is no key; two of two is a key of 32 bytes, and the plan is approved."""
    plan = office.plan()
    assert office.approve(plan, ANA).missing == 1
    assert key_of(office, plan).key is None
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.WAITING
    done = office.approve(plan, BO)
    assert (done.approved, done.missing) == (True, 0)
    assert len(key_of(office, plan).key) == 32
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.APPROVED


def test_one_more_yes_after_the_quorum_is_refused(office):
    """A complete approval takes no more votes, and its end does not move."""
    plan = office.plan()
    before = office.approve(plan).expires_at
    office.clock.forward(hours=1)
    with pytest.raises(ApprovalRefused) as found:
        office.approve(plan, CHEN)
    assert found.value.code == "FC716"
    assert office.store.approval_round(plan.document.plan_id).expires_at == before


def test_the_approval_ends_when_the_first_of_its_votes_does(office):
    """Two votes a day apart: three days after the first it is over."""
    plan = office.plan()
    first = office.approve(plan, ANA).expires_at
    office.clock.forward(days=1)
    assert office.approve(plan, BO).expires_at == first
    office.clock.now = first
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.EXPIRED


def test_a_vote_that_ran_out_no_longer_counts(office):
    """A lapsed yes and a new one are not two; the lapsed person may say yes again."""
    plan = office.plan()
    office.approve(plan, ANA)
    office.clock.forward(days=3)
    after = office.approve(plan, BO)
    assert (after.approved, after.missing) == (False, 1)
    assert [vote.lapsed for vote in after.votes] == [True, False]
    assert office.approve(plan, ANA).approved


@pytest.mark.requirement("R29")
def test_a_new_approval_means_a_new_key(office):
    """After the first approval ran out or was taken back, the next round has another key."""
    plan = office.plan()
    keys = set()
    office.approve(plan)
    keys.add(key_of(office, plan).key)
    office.clock.forward(days=4)
    office.approve(plan)
    keys.add(key_of(office, plan).key)
    office.store.revoke_approval(plan.document.plan_id, CHEN, "wrong team")
    office.approve(plan)
    keys.add(key_of(office, plan).key)
    assert len(keys) == 3


def test_a_revoked_approval_is_shown_with_its_reason_and_carries_nothing(office):
    """Who took it back and why is seen; the plan waits again."""
    plan = office.plan()
    office.approve(plan)
    office.store.revoke_approval(plan.document.plan_id, CHEN, "wrong team")
    seen = status(office.store, plan, approval(), ROLES)
    assert (seen.state, seen.approved, seen.missing) == (RoundState.REVOKED, False, 2)
    assert seen.ended_because == "chen: wrong team"
    assert office.store.load_plan(plan.document.plan_id).state is PlanState.WAITING
    run_id, fence = office.begin(plan)
    with pytest.raises(ApprovalRefused) as found:
        office.store.begin_apply(plan.document.plan_id, run_id, fence)
    assert found.value.code == "FC709"


def test_revoking_what_was_never_given_is_refused(office):
    """There is nothing to take back."""
    with pytest.raises(ApprovalRefused):
        office.store.revoke_approval(office.plan().document.plan_id, CHEN, "no")


def test_several_quorums_must_all_be_reached(office):
    """Two of one role and one of another, as three people."""
    clause = approval((2, "iam-admin"), (1, "security"))
    plan = office.plan()
    assert not office.approve(plan, ANA, BO, clause=clause).approved
    done = office.approve(plan, DORA, clause=clause)
    assert done.approved
    assert [(quorum.role, quorum.have) for quorum in done.quorums] == [("iam-admin", 2), ("security", 1)]


# -- re-made plans ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29")
def test_an_identical_plan_keeps_the_approval_and_its_key(office):
    """Design section 5: a re-made identical plan keeps its approval until that expires."""
    first = office.plan("a", "b")
    office.approve(first)
    before = key_of(office, first)
    second = office.plan("b", "a")
    assert second.document.digest == first.document.digest
    assert second.state is PlanState.APPROVED
    assert office.store.load_plan(first.document.plan_id).state is PlanState.SUPERSEDED
    assert key_of(office, second).key == before.key
    office.clock.forward(days=3)
    assert office.store.load_plan(second.document.plan_id).state is PlanState.EXPIRED


def test_an_identical_plan_keeps_the_votes_so_far(office):
    """One yes for the first and one for the re-made one are two."""
    office.approve(office.plan("a"), ANA)
    assert office.approve(office.plan("a"), BO).approved


def test_any_changed_row_voids_the_approval_for_good(office):
    """A plan with another digest ends it, also for a later plan that equals the first again."""
    office.approve(office.plan("a"))
    assert office.plan("a", "b").state is PlanState.WAITING
    again = office.plan("a")
    assert again.state is PlanState.WAITING
    assert office.store.approval_round(again.document.plan_id).state is RoundState.VOIDED


@pytest.mark.requirement("R24", "R29")
def test_an_approval_that_was_used_is_not_inherited(office):
    """Plans are single-use: an identical plan after an apply must be approved anew, with a new key."""
    plan, run_id, fence = office.applying("a")
    old = key_of(office, plan).key
    office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a")])
    again = office.plan("a")
    assert again.document.digest == plan.document.digest
    assert again.state is PlanState.WAITING
    office.approve(again)
    assert key_of(office, again).key != old


@pytest.mark.requirement("R29", "R31")
def test_a_key_outlives_its_approval_by_any_time(office):
    """Years later the same act still has the same key, so an unknown outcome can still be resolved with it."""
    plan, run_id, fence = office.applying("a", "b")
    entry = office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a")])[0]
    office.clock.forward(days=3650)
    assert office.store.open_intents(plan.document.plan_id)[0].idempotency_key == entry.idempotency_key
    assert key_of(office, plan).key is not None


def test_the_key_is_in_nothing_that_leaves_the_store(office):
    """Neither the journal nor any value that is handed out holds the key."""
    plan, run_id, fence = office.applying("a")
    entry = office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a")])
    key = key_of(office, plan).key
    with office.store.reading() as session:
        journal = "".join(row.payload for row in session.query(tables.JournalEntry))
    shown = journal + repr(office.store.approval_round(plan.document.plan_id)) + repr(entry)
    assert key.hex() not in shown
    assert repr(key) not in shown
