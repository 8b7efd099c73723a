"""Signed approvals: a yes counts only with the signature that the workspace asks for, and as long as it does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.ssh_keys import Key, line
from tests.support.stores import ANA, BO, ROLES, Office, approval

from fullcount.runtime.act.watch import broken
from fullcount.runtime.approve.approvals import give, status
from fullcount.runtime.approve.signing import Signed, Signing
from fullcount.runtime.journal.report import About
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.offline.signers import read_signers
from fullcount.runtime.offline.statements import approval_statement
from fullcount.runtime.store.errors import ApprovalRefused
from fullcount.runtime.store.instants import to_micros

pytestmark = pytest.mark.requirement("R24", "R27")

KEYS = {ANA: Key("ana"), BO: Key("bo")}
SIGNERS = line("ana", KEYS[ANA]) + line("uid:4002", KEYS[BO])
CLAUSE = approval()


def asked(text: str = SIGNERS, *, required: bool = True) -> Signing:
    return Signing(required=required, signers=read_signers(text))


def signed(office: Office, plan, person, key: Key | None = None, **other) -> Signed:
    """A signature of a person, or what is like it but for `other`."""
    at = to_micros(other.pop("at", office.clock()))
    namespace = other.pop("namespace", "fullcount")
    said = {"plan_id": plan.document.plan_id, "digest": plan.document.digest, "uid": person.uid} | other
    return Signed((key or KEYS[person]).sign(approval_statement(**said, signed_at=at), namespace), at)


@pytest.fixture
def office(tmp_path):
    with Office(tmp_path) as made:
        yield made


@pytest.fixture
def plan(office):
    return office.plan("a", "b")


def say_yes(office, plan, person, given, signing=None):
    return give(office.store, plan, CLAUSE, ROLES, person, signing=signing or asked(), signed=given)


# -- refused cases -----------------------------------------------------------------------------------------------------


def test_a_yes_without_a_signature_is_refused_where_one_is_asked_for(office, plan):
    """By its own code, and nothing is recorded."""
    before = office.store.head()
    with pytest.raises(ApprovalRefused, match="is not signed") as found:
        say_yes(office, plan, ANA, None)
    assert found.value.code == "FC781"
    assert office.store.head() == before


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("wrong key", "may not sign as `ana`"),
        ("unknown key", "not among the allowed signers"),
        ("other namespace", "for the namespace `git`"),
        ("changed digest", "does not fit what it stands for"),
        ("another plan", "does not fit what it stands for"),
        ("of somebody else", "does not fit what it stands for"),
        ("expired", "was no longer valid"),
        ("not yet valid", "was not valid yet"),
        ("long ago", "one is given as it is made"),
        ("to come", "one is given as it is made"),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_a_signature_that_is_wrong_is_refused_also_where_none_is_asked_for(office, plan, case, expected, required):
    """One that is there and wrong is never taken for none."""
    text, changes, key = SIGNERS, {}, None
    match case:
        case "wrong key":
            key = KEYS[BO]
        case "unknown key":
            key = Key("mallory")
        case "other namespace":
            changes = {"namespace": "git"}
        case "changed digest":
            changes = {"digest": "sha256:" + "0" * 64}
        case "another plan":
            changes = {"plan_id": "0" * 26}
        case "of somebody else":
            changes = {"uid": BO.uid}
        case "expired":
            text = line("ana", KEYS[ANA], 'valid-before="20261101Z"')
        case "not yet valid":
            text = line("ana", KEYS[ANA], 'valid-after="20270101Z"')
        case "long ago":
            changes = {"at": office.clock.later(minutes=-16)}
        case "to come":
            changes = {"at": office.clock.later(seconds=1)}
    with pytest.raises(ApprovalRefused, match=expected) as found:
        say_yes(office, plan, ANA, signed(office, plan, ANA, key, **changes), asked(text, required=required))
    assert found.value.code == "FC782"


def test_a_signature_that_was_given_before_is_refused_also_after_the_approval_was_taken_back(office, plan):
    """The approval was revoked, and somebody hands in the same yes again."""
    once = signed(office, plan, ANA)
    say_yes(office, plan, ANA, once)
    office.store.revoke_approval(plan.document.plan_id, BO, "wait")
    with pytest.raises(ApprovalRefused, match="was given before") as found:
        say_yes(office, plan, ANA, once)
    assert found.value.code == "FC782"


def test_signers_that_nobody_named_sign_nothing(office, plan):
    """A workspace that asks for signatures and names nobody has no approvals."""
    with pytest.raises(ApprovalRefused, match="names no allowed signers"):
        say_yes(office, plan, ANA, signed(office, plan, ANA), Signing(required=True, signers=None))


# -- what holds, and for how long --------------------------------------------------------------------------------------


@pytest.fixture
def approved(office, plan):
    for person in (ANA, BO):
        say_yes(office, plan, person, signed(office, plan, person))
    return plan


def test_signed_votes_complete_an_approval_and_verify(office, approved):
    """They are in the journal, and whoever checks it needs nothing but the signers."""
    assert status(office.store, approved, CLAUSE, ROLES, signing=asked()).approved
    found = verify(office.store, signers=asked().signers)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (line("ana", KEYS[ANA]), "not among the allowed signers"),
        (SIGNERS.replace("uid:4002", "chen"), "may not sign as `bo`"),
    ],
)
def test_a_key_that_is_taken_out_no_longer_carries_what_it_approved(office, approved, left, why):
    """At the next look of the guard, in the status that people see, and in what verification says."""
    votes = office.store.approval_round(approved.document.plan_id).votes
    found, unsigned = broken(CLAUSE, ROLES, approved.document, votes, asked(left))
    assert found is not None
    assert why in str(unsigned)
    now = status(office.store, approved, CLAUSE, ROLES, signing=asked(left))
    assert (now.approved, now.unsigned == now.broken) == (False, True)
    problem = verify(office.store, signers=asked(left).signers).problems[0]
    assert (problem.about, why.split(" as ")[0] in problem.what) == (About.APPROVAL, True)


def test_a_key_that_ran_out_after_it_signed_still_carries_what_it_approved(office, approved):
    """Its time counts at the instant of signing."""
    later = asked(line("ana", KEYS[ANA], 'valid-before="20261201Z"') + line("uid:4002", KEYS[BO]))
    office.clock.forward(hours=40)
    assert status(office.store, approved, CLAUSE, ROLES, signing=later).approved


def test_what_was_approved_without_signatures_counts_no_more_once_they_are_asked_for(office, plan):
    """And the same people can approve anew, by a new round with a new key."""
    office.approve(plan)
    now = status(office.store, plan, CLAUSE, ROLES, signing=asked())
    assert "is not signed" in str(now.unsigned)
    assert not now.approved
    for person in (ANA, BO):
        made = say_yes(office, plan, person, signed(office, plan, person))
        office.clock.forward(seconds=1)
    assert made.approved
    assert verify(office.store, signers=asked().signers).problems == ()


def test_a_begun_round_of_unsigned_votes_is_begun_anew_once_signatures_are_asked_for(office, plan):
    """The one yes of before does not count towards the quorum."""
    office.approve(plan, ANA)
    made = say_yes(office, plan, BO, signed(office, plan, BO))
    assert (made.approved, made.missing) == (False, 1)
    assert say_yes(office, plan, ANA, signed(office, plan, ANA)).approved
    assert replace(made, approved=True).unsigned is None
