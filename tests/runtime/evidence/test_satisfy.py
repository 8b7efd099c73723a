"""Edges: nothing is taken on the word of a certificate, and evidence of another kind meets nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import pytest
from tests.support.evidence import HOUR, USUAL, certified, envelope_of
from tests.support.fake_source import NOW

from fullcount.compiler.claims import Agrees, Change, Consistency, Direction, Rows
from fullcount.compiler.edges import Approved, Collected, Evidence, Planned, QuorumModel, claim_model
from fullcount.runtime.evidence.certificate import Certificate, restore
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Incompleteness, Notice
from fullcount.runtime.evidence.satisfy import unmet

AT = NOW + timedelta(minutes=5)
CUT = Incompleteness(code=Reason.RESULT_LIMIT_REACHED)


def edge(*claims, max_age=HOUR, inventory="people"):
    """Return the requirement of an edge; no claims: the usual ones."""
    return Evidence(
        inventory=inventory,
        directions=(Direction.ABSENCE,),
        claims=tuple(claim_model(claim) for claim in (claims or USUAL)),
        max_age=max_age,
        uses=("absence  orphans.fcw:27:31  no people as p",),
    )


def certificate(*claims, **rest):
    """Return a certificate of a complete reading."""
    result = certified(envelope_of(), *(claims or USUAL), **rest)
    assert isinstance(result, Certificate)
    return result


def codes(findings):
    """Return the codes."""
    return [finding.code for finding in findings]


@pytest.mark.requirement("R21")
@pytest.mark.parametrize("evidence", [None, True, "complete", envelope_of(), {"complete": True}, object()])
def test_only_a_certificate_meets_an_edge_that_asks_for_evidence(evidence):
    """An envelope by itself, a flag or nothing at all starts no stage."""
    assert codes(unmet(edge(), evidence, AT)) == ["FC747"]


@pytest.mark.requirement("R19", "R21")
def test_a_collapse_is_seen_again_at_each_edge_that_rests_on_absence():
    """Nobody's word is taken for it, least of all where nothing was compared; the base of a proposal is left alone."""
    fallen = certificate(series=None).model_copy(update={"series": (20, 20, 20, 20, 20)})
    assert codes(unmet(edge(), fallen, AT)) == ["FC736"]
    assert codes(unmet(edge(), certificate(series=None), AT)) == ["FC747"]
    stated = Change(Decimal(50))
    allowed = certificate(*USUAL, stated, series=fallen.series)
    assert unmet(edge(*USUAL, stated), allowed, AT) == ()
    base = edge().model_copy(update={"directions": (Direction.BASE, Direction.WITNESS)})
    assert unmet(base, certificate(series=None), AT) == ()
    assert codes(certified(envelope_of(), series=fallen.series).findings) == ["FC736"]


@pytest.mark.requirement("R2", "R21")
def test_a_certificate_around_a_partial_reading_is_not_believed():
    """The claims are worked out from the envelope again: its say-so is worth nothing."""
    forged = certificate().model_copy(update={"envelope": envelope_of(CUT)})
    assert Reason.RESULT_LIMIT_REACHED in codes(unmet(edge(), forged, AT))


@pytest.mark.requirement("R3")
@pytest.mark.parametrize(
    ("scope", "code"),
    [({"consistency": Consistency.UNSTABLE}, "FC745"), ({"visibility": "restricted"}, Reason.VISIBILITY_RESTRICTED)],
)
def test_consistency_and_visibility_are_worked_out_again(scope, code):
    """A reading that was weaker than certified is found at the edge."""
    good = certificate()
    envelope = good.envelope.model_copy(update={"scope": good.envelope.scope.model_copy(update=scope)})
    assert code in codes(unmet(edge(), good.model_copy(update={"envelope": envelope}), AT))


def test_a_certificate_of_another_reading_or_inventory_meets_nothing():
    """Digest, rows, time and name must be those of the reading that the certificate names."""
    good = certificate()
    other = "sha256:" + "cd" * 32
    assert codes(unmet(edge(inventory="accounts"), good, AT)) == ["FC747"]
    for doc in ({"snapshot_digest": other}, {"rows": 9}, {"distinct_keys": 9}):
        changed = good.model_copy(update={"doc": good.doc.model_copy(update=doc)})
        assert "FC747" in codes(unmet(edge(), changed, AT))
    later = good.model_copy(update={"observed_at": NOW + timedelta(hours=5)})
    assert "FC747" in codes(unmet(edge(), later, AT))


def test_evidence_grows_old_between_two_edges():
    """The same certificate meets the edge into the plan and no longer the edge into the act."""
    good = certificate()
    assert unmet(edge(), good, NOW + timedelta(hours=1)) == ()
    assert codes(unmet(edge(), good, NOW + timedelta(hours=1, microseconds=1))) == ["FC742"]
    assert codes(unmet(edge(max_age=1_000_000), good, AT)) == ["FC742"]


def test_a_claim_that_was_not_certified_does_not_meet_the_edge_even_if_it_happens_to_hold():
    """An edge asks for what was verified, not for luck."""
    assert codes(unmet(edge(*USUAL, Rows(1)), certificate(), AT)) == ["FC747"]


@pytest.mark.requirement("R5")
def test_a_blocking_warning_meets_no_edge_unless_it_was_accepted():
    """Accepted warnings are those that the certificate was issued with."""
    stale = envelope_of(warnings=(Notice(code=WarningCode.STALE_READ),))
    accepted = certified(stale, accepted=frozenset({WarningCode.STALE_READ}))
    assert isinstance(accepted, Certificate)
    assert unmet(edge(), accepted, AT) == ()
    not_accepted = accepted.model_copy(update={"accepted": ()})
    assert codes(unmet(edge(), not_accepted, AT)) == [WarningCode.STALE_READ]


def test_change_and_count_are_judged_on_the_numbers_of_the_certificate():
    """What they were compared with is kept, so the comparison can be made again."""
    claims = (*USUAL, Change(Decimal(20)), Agrees("hr", "headcount"))
    good = certificate(*claims, previous_rows=11, agreed_count=10)
    assert unmet(edge(*claims), good, AT) == ()
    assert codes(unmet(edge(*claims), good.model_copy(update={"previous_rows": 100}), AT)) == ["FC744"]
    assert codes(unmet(edge(*claims), good.model_copy(update={"agreed_count": None}), AT)) == ["FC748"]


@pytest.mark.requirement("R25")
def test_what_is_missing_names_the_uses_that_needed_it():
    """The place of use and the claims stand in each finding."""
    finding = unmet(edge(), certificate().model_copy(update={"envelope": envelope_of(CUT)}), AT)[0]
    assert "orphans.fcw:27:31" in finding.needed_by[0].place
    assert "complete" in finding.needed_by[0].claims


def test_a_certificate_that_a_plan_carries_is_judged_like_a_new_one():
    """Restored from a stored plan it meets the edge while it is fresh, and no longer."""
    claims = (*USUAL, Change(Decimal(20)), Agrees("hr", "headcount"))
    good = certificate(*claims, previous_rows=11, agreed_count=10)
    restored = restore(good.doc, good.envelope, max_age=good.max_age)
    assert unmet(edge(*claims), restored, AT) == ()
    assert codes(unmet(edge(*claims), restored, NOW + timedelta(days=1))) == ["FC742"]
    partial = restore(good.doc, envelope_of(CUT), max_age=good.max_age)
    assert Reason.RESULT_LIMIT_REACHED in codes(unmet(edge(*claims), partial, AT))


# --- the other edges --------------------------------------------------------------------------------------------------


def test_any_envelope_of_the_inventory_meets_the_edge_into_verify():
    """Whatever came of the read: to judge it is what `verify` is for."""
    wanted = Collected(inventory="people")
    assert unmet(wanted, envelope_of(CUT), AT) == ()
    assert codes(unmet(wanted, envelope_of(inventory="accounts"), AT)) == ["FC747"]
    assert codes(unmet(wanted, None, AT)) == ["FC747"]


@dataclass
class Count:
    """How far a quorum has come."""

    role: str = "iam-admin"
    needed: int = 2
    have: int = 2
    not_by_author: bool = True


@dataclass
class Status:
    """How far an approval has come."""

    approved: bool = True
    expires_at: object = AT + timedelta(days=1)
    broken: str | None = None
    quorums: list = field(default_factory=lambda: [Count()])


@pytest.mark.requirement("R24", "R39")
@pytest.mark.parametrize(
    "status",
    [
        None,
        "approved",
        Status(approved=False),
        Status(expires_at=None),
        Status(expires_at=AT),
        Status(quorums=[]),
        Status(quorums=[Count(have=1)]),
        Status(quorums=[Count(role="ops")]),
        Status(quorums=[Count(not_by_author=False)]),
    ],
)
def test_an_act_does_not_start_without_the_approval_that_the_workflow_asks_for(status):
    """No approval, an expired one, too few people, another role, or authors among them: not approved."""
    quorum = QuorumModel(count=2, role="iam-admin", not_by_author=True)
    wanted = Approved(proposal="disable", quorums=(quorum,), expires=HOUR)
    assert codes(unmet(wanted, status, AT)) == ["FC707"]
    assert unmet(wanted, Status(), AT) == ()


@pytest.mark.requirement("R24", "R39")
def test_an_approval_that_no_longer_holds_starts_no_act():
    """It is told apart from one that is still to come, and says whose yes is missing."""
    quorum = QuorumModel(count=2, role="iam-admin", not_by_author=True)
    wanted = Approved(proposal="disable", quorums=(quorum,), expires=HOUR)
    for approved in (True, False):
        (finding,) = unmet(wanted, Status(approved=approved, broken="ana left"), AT)
        assert (finding.code, "ana left" in finding.message) == ("FC779", True)


def test_an_approval_needs_a_plan_of_its_own_proposal():
    """Nothing, or something that is no plan, meets no edge into an approval."""
    assert codes(unmet(Planned(proposal="disable"), None, AT)) == ["FC747"]
    assert codes(unmet(Planned(proposal="disable"), envelope_of(), AT)) == ["FC747"]
