"""Verification: whatever is changed around the rules is found, and the first bad entry is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.records import full_history, raw, tamper
from tests.support.stores import ANA, BO, WORKFLOW, Office, lock

from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import Head, canonical_text
from fullcount.runtime.journal.expected import Expected, State
from fullcount.runtime.journal.payloads import (
    ApplyBegan,
    ApplyEnded,
    ApprovalComplete,
    Approved,
    IntentMeant,
    Intents,
    Outcomes,
    OutcomeSeen,
    Payload,
    SeatTaken,
    Who,
)
from fullcount.runtime.journal.report import About
from fullcount.runtime.journal.undos import out_of_place
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.digest import canonical_bytes, sha256_text
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import OutcomeEntry


def verified(file: Path, **options):
    with Store.open(f"sqlite:///{file}") as store:
        return verify(store, **options)


def first(file: Path, **options):
    report = verified(file, **options)
    assert not report.ok
    assert report.exit in {Exit.ERROR, Exit.INVALID_SUMS}
    return report.problems[0]


def forged(office: Office, payload: Payload, run_id: str | None = None) -> int:
    """Append an entry that the program would never have written, with a chain that holds."""
    with office.store.writing() as tx:
        return tx.record(payload, run_id=run_id)


def problems(office: Office, seq: int) -> str:
    report = verify(office.store)
    assert all(found.about is not About.CHAIN for found in report.problems)
    return "\n".join(found.what for found in report.problems if found.seq == seq)


# -- the chain --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("payload", '{"by":{"name":"ana","uid":4001},"reason":"nothing"}'),
        ("payload", "{}"),
        ("payload", "not JSON"),
        ("payload", ""),
        ("kind", "resumed"),
        ("at", 1),
        ("run_id", "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"),
        ("hash", "sha256:" + "0" * 64),
        ("prev", "sha256:" + "0" * 64),
    ],
)
def test_a_changed_entry_is_the_first_that_is_named(file, column, value):
    """Payload, kind, time, run, hash and link: each is covered."""
    tamper(file, f"UPDATE journal SET {column} = ? WHERE seq = 9", value)
    found = first(file)
    assert (found.about, found.seq) == (About.CHAIN, 9)


@pytest.mark.requirement("R34")
@pytest.mark.parametrize("seq", [1, 9, 20])
def test_a_removed_entry_is_missed(file, seq):
    """The number that is missing is named."""
    tamper(file, "DELETE FROM journal WHERE seq = ?", seq)
    assert f"entry {seq} is missing" in first(file).what


@pytest.mark.requirement("R34")
def test_entries_that_changed_places_are_found(file):
    """Reordering breaks links even if the numbers are put right."""
    connection = raw(file)
    for old, new in ((9, -1), (10, 9), (-1, 10)):
        connection.execute("UPDATE journal SET seq = ? WHERE seq = ?", (new, old))
    connection.close()
    assert first(file).seq == 9


@pytest.mark.requirement("R34")
def test_a_cut_tail_is_found_by_the_head_that_is_kept_apart(file):
    """The last entries removed: the head still speaks of them."""
    tamper(file, "DELETE FROM journal WHERE seq > 12")
    found = first(file)
    assert found.seq == 12
    assert "later entries were removed" in found.what


@pytest.mark.requirement("R34")
def test_a_tail_that_was_cut_together_with_the_head_is_found_by_a_head_noted_elsewhere(file):
    """Who holds an older head finds out, also when the chain was rewritten from there on."""
    head = verified(file).head
    connection = raw(file)
    connection.execute("DELETE FROM journal WHERE seq > 12")
    connection.execute("UPDATE journal_head SET seq = 12, hash = (SELECT hash FROM journal WHERE seq = 12)")
    connection.close()
    assert "was seen in it before" in first(file, anchor=head).what
    other = Head(seq=12, hash="sha256:" + "1" * 64)
    assert "the journal was rewritten" in first(file, anchor=other).what


def test_the_database_itself_refuses_to_change_the_journal(office):
    """No update, no delete, no replacement, no gap, and the head only moves on by one."""
    from sqlalchemy.exc import IntegrityError

    full_history(office)
    for statement in (
        "UPDATE journal SET at = 1",
        "DELETE FROM journal WHERE seq = 3",
        "INSERT INTO journal SELECT seq + 1, at, kind, run_id, payload, prev, hash FROM journal WHERE seq = 3",
        "INSERT OR REPLACE INTO journal SELECT seq, 7, kind, run_id, payload, prev, hash FROM journal WHERE seq = 3",
        "UPDATE journal_head SET hash = 'x'",
        "UPDATE journal_head SET seq = 3",
        "DELETE FROM journal_head",
    ):
        with pytest.raises(IntegrityError), office.store.writing() as tx:
            tx.session.connection().exec_driver_sql(statement)
    assert verify(office.store).ok


# -- plans, approvals and acts against the journal --------------------------------------------------------------------


def test_everything_that_happened_verifies(file):
    """A store in which everything has happened once is right, and every record was compared."""
    report = verified(file)
    assert report.problems == ()
    assert report.exit is Exit.DONE
    assert all(number > 0 for number in report.checked.values()), report.checked


@pytest.mark.requirement("R34")
def test_a_changed_plan_document_is_found(file):
    """Also when its hash in the table was changed along."""
    connection = raw(file)
    plan_id, text = connection.execute("SELECT plan_id, document FROM plans ORDER BY position LIMIT 1").fetchone()
    text = text.replace("iam-team", "its-team")
    sha256 = sha256_text(text.encode())
    connection.execute("UPDATE plans SET document = ?, sha256 = ? WHERE plan_id = ?", (text, sha256, plan_id))
    connection.close()
    found = first(file)
    assert found.about is About.PLAN
    assert plan_id in found.what


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("statement", "about"),
    [
        ("UPDATE acts SET outcome = 'failed' WHERE outcome = 'done' AND kind = 'act'", About.ACT),
        ("UPDATE acts SET parameters = '{}' WHERE kind = 'undo'", About.ACT),
        ("UPDATE acts SET before = '{}' WHERE before <> '{}'", About.ACT),
        ("DELETE FROM acts WHERE kind = 'undo'", About.ACT),
        ("UPDATE approval_rounds SET key = zeroblob(32) WHERE used_by IS NOT NULL", About.APPROVAL),
        ("UPDATE approval_rounds SET expires_at = expires_at + 1 WHERE state = 'complete'", About.APPROVAL),
        ("UPDATE approval_rounds SET state = 'complete' WHERE state = 'revoked'", About.APPROVAL),
        ("DELETE FROM approval_votes", About.APPROVAL),
        ("UPDATE approval_votes SET uid = uid + 5000, name = 'mallory'", About.APPROVAL),
        ("DELETE FROM controls", About.COORDINATION),
        ("UPDATE canaries SET passed_at = passed_at + 1", About.ACT),
        ("DELETE FROM canaries", About.ACT),
        ("UPDATE plans SET superseded_by = NULL WHERE superseded_by IS NOT NULL", About.PLAN),
        ("UPDATE plans SET over_cap = 1", About.PLAN),
        ("INSERT INTO plan_objects (plan_id, object_key) SELECT plan_id, '[\"zzz\"]' FROM plans", About.PLAN),
        ("UPDATE plan_objects SET step = 'delete' WHERE step = 'warn'", About.PLAN),
        ("UPDATE step_states SET since_at = since_at - 1", About.ACT),
        ("UPDATE step_states SET step = 'lock' WHERE step = 'warn'", About.ACT),
        ("DELETE FROM step_states", About.ACT),
        ("UPDATE acts SET step = 'lock' WHERE step = 'warn'", About.ACT),
        ("UPDATE notices SET state = 'pending'", About.RUN),
        ("UPDATE notices SET body = '{}'", About.RUN),
        ("DELETE FROM notices", About.RUN),
        ("DELETE FROM runs WHERE kind = 'undo'", About.RUN),
        ("UPDATE certificates SET document = '{}'", About.EVIDENCE),
        ("UPDATE envelopes SET complete = 1", About.EVIDENCE),
        ("UPDATE slots SET state = 'claimed'", About.COORDINATION),
    ],
)
def test_a_table_that_does_not_fit_the_journal_is_found(file, statement, about):
    """Outcomes, approvals, keys, plans, runs, evidence, slots and the kill switch."""
    tamper(file, statement)
    assert first(file).about is about


# -- what the journal itself tells ------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R34")
def test_an_act_without_a_valid_approval_is_found(office):
    """Even with a chain that holds: no approval, one that ran out, one of another digest."""
    plan = office.plan("a")
    office.approve(plan)
    round_id = office.store.approval_round(plan.document.plan_id).round_id
    newer = office.plan("b")
    plan_id = newer.document.plan_id
    run_id, fence = office.begin(newer)
    began = ApplyBegan(plan_id=plan_id, round_id=round_id, digest=newer.document.digest, fence=fence.token)
    assert "the approval was given for another digest" in problems(office, forged(office, began, run_id))
    meant = IntentMeant(
        act_id="x", key=("b",), operation="directory.update", parameters={}, idempotency_key="k", round_id="none"
    )
    seq = forged(office, Intents(plan_id=plan_id, kind="act", fence=1, acts=(meant,)), run_id)
    assert "without a valid approval: no approval of this id" in problems(office, seq)


@pytest.mark.requirement("R24")
def test_an_act_after_the_approval_ran_out_is_found(office):
    """The time of the entry decides."""
    plan, run_id, _ = office.applying("a")
    round_id = office.store.approval_round(plan.document.plan_id).round_id
    office.clock.forward(days=3)
    meant = IntentMeant(
        act_id="x", key=("a",), operation="directory.update", parameters={}, idempotency_key="k", round_id=round_id
    )
    seq = forged(office, Intents(plan_id=plan.document.plan_id, kind="act", fence=1, acts=(meant,)), run_id)
    assert "the approval had run out" in problems(office, seq)


@pytest.mark.requirement("R34")
@pytest.mark.parametrize("outcome", ["done", "failed", "unknown"])
def test_an_outcome_without_an_intent_before_it_is_found(office, outcome):
    """An act that nobody meant."""
    plan, run_id, _ = office.applying("a")
    seen = OutcomeSeen(act_id="x", key=("a",), outcome=outcome, reason=None, detail="", before_sha256="")
    seq = forged(office, Outcomes(plan_id=plan.document.plan_id, kind="act", outcomes=(seen,)), run_id)
    assert "without an intent before it" in problems(office, seq)


@pytest.mark.requirement("R29", "R34")
def test_two_outcomes_for_one_object_are_found(office):
    """The second is named, with the first."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    entry = office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0]
    office.store.record_outcomes(plan_id, run_id, fence, [OutcomeEntry(("a",), Outcome.DONE)])
    seen = OutcomeSeen(act_id=entry.act_id, key=("a",), outcome="failed", reason=None, detail="", before_sha256="")
    seq = forged(office, Outcomes(plan_id=plan_id, kind="act", outcomes=(seen,)), run_id)
    assert "has two outcomes: `done`" in problems(office, seq)


@pytest.mark.requirement("R29", "R34")
def test_a_second_intent_for_one_object_is_found(office):
    """Once meant, never meant again under the same plan."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    entry = office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0]
    round_id = office.store.approval_round(plan_id).round_id
    meant = IntentMeant(
        act_id="x", key=("a",), operation="y", parameters={}, idempotency_key=entry.idempotency_key, round_id=round_id
    )
    seq = forged(office, Intents(plan_id=plan_id, kind="act", fence=1, acts=(meant,)), run_id)
    assert "acted upon twice" in problems(office, seq)


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("counts", "applied"), [({"done": 1}, True), ({"done": 2}, True), ({"not_started": 2}, True), ({}, False)]
)
def test_sums_that_do_not_hold_are_found(office, counts, applied):
    """Counts that differ from the entries, or do not add up to the candidates."""
    plan, run_id, _ = office.applying("a", "b")
    all_counts = dict.fromkeys((outcome.value for outcome in Outcome), 0) | counts
    ended = ApplyEnded(plan_id=plan.document.plan_id, counts=all_counts, applied=applied)
    forged(office, ended, run_id)
    assert any(found.about is About.SUMS for found in verify(office.store).problems)


@pytest.mark.requirement("R24")
def test_a_quorum_that_was_not_reached_is_found(office):
    """An approval by one where two are asked, by the same twice, by one who never voted, or by an author."""
    plan = office.plan("a")
    office.approve(plan, ANA)
    plan_id, digest = plan.document.plan_id, plan.document.digest
    round_id = office.store.approval_round(plan_id).round_id
    expires = office.store.approval_round(plan_id).votes[0].expires_at
    from fullcount.runtime.store.instants import to_micros

    def complete(*uids):
        seats = tuple(SeatTaken(quorum=0, uid=uid) for uid in uids)
        made = ApprovalComplete(
            round_id=round_id,
            plan_id=plan_id,
            digest=digest,
            seats=seats,
            key_sha256="sha256:x",
            expires_at=to_micros(expires),
        )
        return problems(office, forged(office, made))

    assert "the quorum was not reached" in complete(ANA.uid)
    assert "counted for two seats" in complete(ANA.uid, ANA.uid)
    assert "who had not approved" in complete(ANA.uid, BO.uid)
    vote = Approved(
        round_id=round_id, plan_id=plan_id, digest=digest, by=Who(uid=1000, name="x"), expires_at=to_micros(expires)
    )
    forged(office, vote)
    assert "is an author" in complete(ANA.uid, 1000)


@pytest.mark.requirement("R24")
def test_a_vote_for_another_digest_is_found(office):
    """A vote must be for the digest of its plan and of its round."""
    plan = office.plan("a")
    office.approve(plan, ANA)
    plan_id = plan.document.plan_id
    round_id = office.store.approval_round(plan_id).round_id
    vote = Approved(
        round_id=round_id, plan_id=plan_id, digest="sha256:other", by=Who(uid=BO.uid, name="bo"), expires_at=2**50
    )
    assert "another digest" in problems(office, forged(office, vote))


def test_an_entry_of_an_unknown_kind_is_found(office):
    """The list of kinds is closed."""

    class Strange(Payload):
        KIND = "strange"

    forged(office, Strange())
    assert "not a kind of entry" in verify(office.store).problems[0].what


# -- snapshots --------------------------------------------------------------------------------------------------------


def test_a_changed_snapshot_is_a_problem_and_a_missing_one_a_note(file, tmp_path):
    """Retention may remove rows; nobody may change them."""
    snapshots = SnapshotStore(tmp_path / "snapshots")
    report = verified(file, snapshots=snapshots)
    assert report.ok
    assert "is not stored" in report.notes[0]
    digest = f"{4212:064x}"
    place = tmp_path / "snapshots" / digest[:2] / f"{digest}.parquet"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else")
    assert first(file, snapshots=snapshots).about is About.EVIDENCE


def test_documents_are_compared_by_their_bytes(office):
    """What the journal records of a plan is the hash of the text that is stored."""
    plan = office.plan("a")
    with office.store.reading() as session:
        from fullcount.runtime.store import tables

        row = session.get(tables.Plan, plan.document.plan_id)
        assert row.document == canonical_text(plan.document) == canonical_bytes(plan.document).decode()
        assert row.sha256 == plan.sha256


def test_a_clock_that_was_set_back_does_not_break_the_record(office):
    """Times are recorded as they were; the order is that of the numbers."""
    office.plan("a")
    office.clock.forward(days=-2)
    office.store.begin_run(WORKFLOW, "plan", ANA)
    assert verify(office.store).ok


@pytest.mark.requirement("R25", "R34")
@pytest.mark.parametrize(
    ("newer", "replaced", "what"),
    [
        ({"a"}, True, "does not take back all of its objects"),
        ({"a", "b"}, False, "stands, although"),
        ({"a"}, False, None),
        ({"a", "b"}, True, None),
        ({"c"}, False, None),
    ],
)
def test_an_undo_gives_way_only_to_one_of_all_its_objects(newer, replaced, what):
    """Whether that held is seen by their documents; two that overlap may stand beside each other."""
    of = {"undoes": "P", "state": "open", "superseded_by": None}
    state = State()
    state.plans["U1",] = Expected(1, of | {"position": 1, "superseded_by": "U2" if replaced else None})
    state.plans["U2",] = Expected(2, of | {"position": 2})
    found = [each.what for each in out_of_place(state, {"U1": {"a", "b"}, "U2": newer})]
    assert [what in said for said in found] == ([] if what is None else [True])
