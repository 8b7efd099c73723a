"""Plans, approvals and acts in any order of events: nothing is ever acted on that was not rightly approved.

The model beside the store is as simple as the rules are said: who said yes to which digest until when, which plan is
the newest, and what has been done.
"""

from __future__ import annotations

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.profiles import examples
from tests.support.stores import ANA, AUTHOR, BO, CHEN, DORA, ROLES, TTL, WORKFLOW, Office, approval, lock

from fullcount.runtime.approve.approvals import strike
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.strike import NotListed
from fullcount.runtime.store.errors import ApprovalRefused, StoreError
from fullcount.runtime.store.views import Fence, OutcomeEntry, PlanState, StoredPlan

KEYS = ("a", "b")
FINAL = (Outcome.DONE, Outcome.FAILED, Outcome.CHANGED)
MAY = frozenset(person.uid for person in (ANA, BO, CHEN))


class LifeOfPlans(RuleBasedStateMachine):
    """One proposal, plans over one or two objects, five people, one clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.office = Office(Path(self.folder.name))
        self.store = self.office.store
        self.plan: StoredPlan | None = None
        self.votes: dict[int, datetime] = {}
        self.approved_until: datetime | None = None
        self.used = False
        self.halted = False
        self.meant: dict[str, set[str]] = {}
        self.ended: dict[tuple[str, str], Outcome] = {}
        self.run: tuple[str, Fence] | None = None

    def teardown(self) -> None:
        try:
            assert verify(self.store).problems == ()
        finally:
            self.store.close()
            self.folder.cleanup()

    @property
    def plan_id(self) -> str:
        assert self.plan is not None
        return self.plan.document.plan_id

    @property
    def carried(self) -> bool:
        """Whether the newest plan has an approval that holds now."""
        return self.approved_until is not None and self.office.clock.now < self.approved_until

    def forget_approval(self) -> None:
        self.votes, self.approved_until, self.used = {}, None, False

    @initialize(keys=st.sampled_from([KEYS, ("a",)]), steps=st.integers(0, 5))
    def begin_somewhere_in_a_life(self, keys, steps):
        """Without this, few of the random lives get as far as an act."""
        self.make_plan(keys)
        self.go_on(steps, "a")

    @rule(keys=st.sampled_from([("a",), KEYS]))
    def make_a_plan(self, keys):
        self.make_plan(keys)

    def make_plan(self, keys):
        made = self.office.plan(*keys)
        if self.plan is None or made.document.digest != self.plan.document.digest or self.used:
            self.forget_approval()
        self.plan, self.run = made, None

    @rule()
    def two_say_yes(self):
        self.both_say_yes()

    def both_say_yes(self):
        for person in (ANA, BO):
            self.one_says_yes(person)

    @rule(person=st.sampled_from([ANA, BO, CHEN, DORA, AUTHOR]))
    def say_yes(self, person):
        self.one_says_yes(person)

    def one_says_yes(self, person):
        now = self.office.clock.now
        live = {uid for uid, until in self.votes.items() if until > now}
        finished = self.store.load_plan(self.plan_id).state is PlanState.APPLIED
        allowed = person.uid in MAY and person.uid not in live and not self.carried and not finished
        if self.approved_until is not None and not self.carried:
            allowed = person.uid in MAY and not finished  # it ran out: a new round, in which everybody may vote again
        try:
            done = self.office.approve(self.plan, person)
        except StoreError:
            assert not allowed
            return
        assert allowed
        if self.approved_until is not None:
            self.forget_approval()
        self.votes = {uid: until for uid, until in self.votes.items() if until > now}
        self.votes[person.uid] = now + timedelta(days=3)
        if len(self.votes) == 2:
            self.approved_until = min(self.votes.values())
        assert done.approved == (len(self.votes) == 2)

    @rule(steps=st.integers(1, 4), key=st.sampled_from(KEYS))
    def go_on_as_intended(self, steps, key):
        self.go_on(steps, key)

    def go_on(self, steps, key):
        for _ in range(steps):
            if not self.carried:
                self.both_say_yes()
            elif self.run is None or not self.used:
                self.begin()
            elif self.ended.get((self.plan_id, key)) is not None or key not in self.meant.get(self.plan_id, set()):
                self.do_mean_an_act(key, False)
            else:
                self.let_something_come_of_it(key, Outcome.DONE)

    @rule()
    def take_it_back(self):
        try:
            self.store.revoke_approval(self.plan_id, DORA, "stop")
        except ApprovalRefused:
            assert not self.votes
            return
        self.forget_approval()

    @rule(key=st.sampled_from(KEYS), person=st.sampled_from([ANA, DORA, AUTHOR]))
    def strike_a_row(self, key, person):
        state = self.store.load_plan(self.plan_id).state
        named = key in {row.key[0] for row in self.plan.document.rows}
        applying = state in {PlanState.APPLYING, PlanState.APPLIED}
        may = named and person is not DORA and not applying
        try:
            made = strike(self.store, self.plan, approval(), ROLES, person, [(key,)])
        except (StoreError, NotListed):
            assert not may
            return
        assert may
        self.forget_approval()
        self.plan, self.run = made, None

    @rule(hours=st.sampled_from([0.01, 0.1, 0.1, 1, 30, 80]))
    def time_passes(self, hours):
        self.office.clock.forward(hours=hours)

    @rule(on=st.booleans())
    def pull_or_lift_the_stop(self, on):
        if on:
            self.store.halt("stop", ANA)
        else:
            self.store.resume(ANA)
        self.halted = on

    @rule()
    def begin_to_apply(self):
        self.begin()

    def begin(self):
        run_id = self.store.begin_run(WORKFLOW, "apply", ANA, plan_id=self.plan_id)
        if self.run is not None:
            self.store.release(self.run[1])
        fence = self.store.claim_plan(self.plan_id, run_id, TTL)
        self.run = (run_id, fence)
        may = self.carried and not self.halted and self.store.load_plan(self.plan_id).state is not PlanState.APPLIED
        try:
            self.store.begin_apply(self.plan_id, run_id, fence)
        except StoreError:
            assert not may
            return
        assert may
        self.used = True

    @precondition(lambda self: self.run is not None)
    @rule(key=st.sampled_from(KEYS), other=st.booleans())
    def mean_an_act(self, key, other):
        self.do_mean_an_act(key, other)

    def do_mean_an_act(self, key, other):
        intent = lock(key, other=True) if other else lock(key)
        named = key in {row.key[0] for row in self.plan.document.rows}
        standing = self.office.clock.now < self.run[1].expires_at
        may = named and standing and self.carried and self.used and not self.halted
        known = key in self.meant.get(self.plan_id, set()) or (self.plan_id, key) in self.ended
        try:
            entry = self.store.record_intents(self.plan_id, *self.run, [intent])[0]
        except StoreError:
            assert known or not may, "an intent was refused that everything carried"
            return
        assert may, "an intent was taken that nothing carried"
        if entry.fresh:
            assert key not in self.meant.get(self.plan_id, set()), "an object was given out twice"
            assert (self.plan_id, key) not in self.ended
            self.meant.setdefault(self.plan_id, set()).add(key)

    @precondition(lambda self: self.run is not None)
    @rule(key=st.sampled_from(KEYS), outcome=st.sampled_from([*FINAL, Outcome.UNKNOWN]))
    def something_comes_of_it(self, key, outcome):
        self.let_something_come_of_it(key, outcome)

    def let_something_come_of_it(self, key, outcome):
        place = (self.plan_id, key)
        try:
            entry = self.store.record_outcomes(self.plan_id, *self.run, [OutcomeEntry((key,), outcome)])[0]
        except StoreError:
            return
        if key not in self.meant.get(self.plan_id, set()):
            assert entry.outcome is Outcome.CHANGED
        if self.ended.get(place) in FINAL:
            assert entry.outcome is self.ended[place], "a final outcome was changed"
        self.ended[place] = entry.outcome

    @precondition(lambda self: self.run is not None)
    @rule()
    def end_the_run(self):
        try:
            counts = self.store.finish_apply(self.plan_id, *self.run)
        except StoreError:
            return
        assert sum(counts.values()) == len(self.plan.document.rows)

    @invariant()
    def the_state_is_what_the_model_says(self):
        if self.plan is None:
            return
        state = self.store.load_plan(self.plan_id).state
        if state is PlanState.APPROVED:
            assert self.carried
        if state is PlanState.WAITING:
            assert self.approved_until is None
        if state is PlanState.EXPIRED:
            assert not self.carried
        assert sum(self.store.counts(self.plan_id).values()) == len(self.plan.document.rows)


TestLifeOfPlans = LifeOfPlans.TestCase
TestLifeOfPlans.settings = settings(examples(100), stateful_step_count=30)
TestLifeOfPlans = pytest.mark.slow(pytest.mark.requirement("R24", "R29", "R30", "R39")(TestLifeOfPlans))
