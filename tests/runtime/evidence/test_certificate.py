"""Certificates: every claim measured, every warning weighed, everything that lacks named at once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from tests.support.evidence import HOUR, USUAL, certified, envelope_of
from tests.support.fake_source import NOW

from fullcount.compiler.claims import Agrees, Change, Complete, Consistency, Fresh, Rows, Snapshot, Visible
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.certificate import Certificate
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Reason, WarningCode
from fullcount.runtime.evidence.envelope import FieldSummary, Incompleteness, Notice, Status
from fullcount.runtime.evidence.refusal import Ground, Refusal

CUT = Incompleteness(code=Reason.RESULT_LIMIT_REACHED, detail="stopped at 10")


def codes(result):
    """Return the codes of a refusal's findings."""
    assert isinstance(result, Refusal), result
    return [finding.code for finding in result.findings]


def measured(result, claim):
    """Return what a held claim was measured on."""
    assert isinstance(result, Certificate), result
    return next(held.measured for held in result.held if held.claim == claim)


# --- complete, snapshot, visible --------------------------------------------------------------------------------------


@pytest.mark.requirement("R1", "R20", "R35")
@pytest.mark.parametrize("rows", [10, 0], ids=["with items", "empty"])
@pytest.mark.parametrize("code", list(Reason))
def test_no_reason_is_ever_certified_as_complete(code, rows):
    """Each reason, with full and empty lists, ends in a refusal that carries the code and a way on."""
    result = certified(envelope_of(Incompleteness(code=code, detail="why"), rows=rows))
    assert code in codes(result)
    finding = next(each for each in result.findings if each.code == code)
    assert finding.detail == "why"
    assert len(finding.ways_on) > 0
    assert result.ground is Ground.EVIDENCE
    assert result.stage == "verify:people"


@pytest.mark.requirement("R1")
def test_partial_and_empty_is_refused_and_said_to_say_nothing():
    """The most dangerous state has its own words."""
    result = certified(envelope_of(CUT, rows=0, work={"total": 4_212, "total_exact": True}))
    assert "partial and empty: 0 rows of 4,212, which says nothing of what exists" in result.findings[0].message


def test_a_failed_read_gives_its_reasons_and_nothing_that_was_not_measured():
    """Where nothing was read, rows, age and visibility were not measured, and no number is made up."""
    failed = envelope_of(
        Incompleteness(code=Reason.AUTH_FAILED),
        rows=0,
        status=Status.FAILED,
        snapshot_digest=None,
    )
    assert codes(certified(failed, *USUAL, Rows(1), Change(Decimal(5)))) == [Reason.AUTH_FAILED]


@pytest.mark.requirement("R2")
def test_an_envelope_that_only_says_that_it_is_complete_is_not_believed():
    """Completeness is worked out from the parts, even where the constructor's own check was gone around."""
    good = envelope_of()
    for part, change in (
        ("work", {"end_marker": None}),
        ("work", {"canaries_expected": 1}),
        ("work", {"distinct_keys": 9}),
        ("scope", {"consistency": Consistency.UNSTABLE}),
    ):
        forged = good.model_copy(update={part: getattr(good, part).model_copy(update=change)})
        assert Reason.COMPLETENESS_UNPROVABLE in codes(certified(forged, Complete()))


def test_a_weaker_snapshot_than_asked_for_is_refused():
    """`pinned` is not met by `interval`; a stronger one meets the weaker claim."""
    interval = envelope_of(scope={"consistency": Consistency.INTERVAL})
    assert codes(certified(interval, Snapshot(Consistency.PINNED))) == ["FC745"]
    assert measured(certified(envelope_of(), Snapshot(Consistency.INTERVAL)), "snapshot interval") == "pinned"


@pytest.mark.requirement("R3")
def test_unknown_visibility_needs_a_canary():
    """A source that hides silently is certified only where a canary was seen."""
    unknown = {"visibility": "unknown"}
    assert codes(certified(envelope_of(scope=unknown), Visible())) == ["FC746"]
    seen = envelope_of(scope=unknown, work={"canaries_expected": 2, "canaries_seen": 2})
    assert measured(certified(seen, Visible()), "visibility all") == "2 canaries seen"
    unseen = envelope_of(CUT, scope=unknown, work={"canaries_expected": 2, "canaries_seen": 1})
    assert codes(certified(unseen, Visible())) == ["FC746"]


@pytest.mark.requirement("R3", "R18")
def test_a_canary_seen_in_one_part_vouches_for_no_other_part():
    """A right that was withdrawn in one region left an empty list there, and the canary of the other one was seen."""

    def read(*parts):
        scope = {"visibility": "unknown", "parts": [{"status": "complete", "rows": 5, **part} for part in parts]}
        return certified(envelope_of(scope=scope, work={"canaries_expected": 1, "canaries_seen": 1}), Visible())

    eu, us = {"values": {"region": "eu"}, "canaries_seen": 1}, {"values": {"region": "us"}, "rows": 0}
    refused = read(eu, us)
    assert codes(refused) == ["FC746"]
    assert "every object of region=us" in refused.findings[0].message
    assert measured(read(eu, us | {"canaries_seen": 1}), "visibility all") == "1 canary seen"
    assert measured(read(eu, us | {"vouched": True}), "visibility all") == "1 canary seen"


@pytest.mark.requirement("R3")
def test_a_canary_that_was_not_seen_outweighs_a_source_that_vouches():
    """A source may say that all is visible; a missing canary says that it is not."""
    lost = Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail="the canary was not seen")
    envelope = envelope_of(lost, work={"canaries_expected": 1, "canaries_seen": 0})
    assert codes(certified(envelope, Visible())) == [Reason.VISIBILITY_RESTRICTED]
    assert codes(certified(envelope, Complete(), Visible())) == [Reason.VISIBILITY_RESTRICTED]


# --- fresh, rows, change, agrees --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "fresh"), [(0, True), (3600, True), (3600.000001, False), (86_400, False), (-0.000001, False)]
)
def test_freshness_counts_from_the_start_of_the_read_to_the_microsecond(seconds, fresh):
    """The oldest state that a read can show is that of its start; a reading from the future is refused too."""
    result = certified(envelope_of(), Fresh(HOUR), at=NOW + timedelta(seconds=seconds))
    assert isinstance(result, Certificate) if fresh else codes(result) == ["FC742"]


@pytest.mark.parametrize(("rows", "holds"), [(100, True), (99, False), (0, False)])
def test_fewer_rows_than_plausible_are_refused(rows, holds):
    """`rows at least` guards against a feed that was emptied; the bound itself is enough."""
    result = certified(envelope_of(rows=rows), Rows(100))
    assert isinstance(result, Certificate) if holds else codes(result) == ["FC743"]


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        (None, 5, True),
        (100, 100, True),
        (100, 80, True),
        (100, 79, False),
        (100, 120, True),
        (100, 121, False),
        (0, 0, True),
        (0, 1, False),
        (1, 0, False),
        (3, 0, False),
    ],
)
def test_change_counts_shrinking_and_growing_and_a_start_from_nothing(before, now, holds):
    """At most 20 %, both ways; from zero any growth is too much; the first reading has nothing to compare with."""
    result = certified(envelope_of(rows=now), Change(Decimal(20)), previous_rows=before)
    assert isinstance(result, Certificate) if holds else codes(result) == ["FC744"]


def test_the_first_reading_passes_the_change_with_a_note():
    """That nothing was compared is written down, not passed over."""
    result = certified(envelope_of(), Change(Decimal(20)))
    assert "nothing to compare with" in measured(result, "change at most 20%")


@pytest.mark.parametrize(("count", "code"), [(9, Reason.COUNT_MISMATCH), (11, Reason.COUNT_MISMATCH), (None, "FC748")])
def test_a_count_that_differs_or_was_not_taken_is_no_agreement(count, code):
    """Only the same number agrees; no number does not."""
    assert codes(certified(envelope_of(), Agrees("hr", "headcount"), agreed_count=count)) == [code]


def test_a_count_that_failed_gives_the_reason_of_its_source():
    """An error in the place of the count is named as what it was."""
    error = SourceError(Incompleteness(code=Reason.RATE_LIMITED, detail="slow down"))
    result = certified(envelope_of(), Agrees("hr", "headcount"), agreed_count=error)
    assert codes(result) == [Reason.RATE_LIMITED]
    assert result.findings[0].detail == "slow down"


def test_a_count_that_agrees_stands_in_the_certificate():
    """The number, and the resource that it was taken from."""
    result = certified(envelope_of(), *USUAL, Agrees("hr", "headcount"), agreed_count=10)
    assert measured(result, "count agrees with hr.headcount") == "10"
    assert result.doc.count_agrees == "hr.headcount"


# --- warnings ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R5", "R23")
@pytest.mark.parametrize("code", sorted(BLOCKING_WARNINGS))
def test_a_blocking_warning_refuses_unless_it_is_accepted_by_its_own_code(code):
    """Complete and stale is still refused; acceptance is of one code, and is written down."""
    envelope = envelope_of(warnings=(Notice(code=code, detail="d"),))
    assert codes(certified(envelope)) == [code]
    others = frozenset(WarningCode) - {code}
    assert codes(certified(envelope, accepted=others)) == [code]
    accepted = certified(envelope, accepted=frozenset({code}))
    assert isinstance(accepted, Certificate)
    assert accepted.doc.accepted_warnings == (code,)


@pytest.mark.parametrize("code", sorted(set(WarningCode) - BLOCKING_WARNINGS))
def test_other_warnings_do_not_block(code):
    """Duplicates, totals and the like are told and do not decide."""
    assert isinstance(certified(envelope_of(warnings=(Notice(code=code),))), Certificate)


@pytest.mark.requirement("R7")
def test_a_field_of_which_nothing_is_known_blocks_only_where_it_is_used():
    """Worked out from the states, with or without a warning of the collector."""
    fields = {"id": FieldSummary(states={FieldState.PRESENT: 10}), "active": FieldSummary(states={"forbidden": 10})}
    silent = envelope_of(fields=fields)
    warned = envelope_of(
        fields=fields, warnings=(Notice(code=WarningCode.PARTIAL_FIELD_SET, data={"fields": ["active"]}),)
    )
    for envelope in (silent, warned):
        assert codes(certified(envelope, used_fields=frozenset({"active"}))) == [WarningCode.PARTIAL_FIELD_SET]
        assert isinstance(certified(envelope, used_fields=frozenset({"id"})), Certificate)
    unnamed = envelope_of(warnings=(Notice(code=WarningCode.PARTIAL_FIELD_SET),))
    assert codes(certified(unnamed, used_fields=frozenset({"id"}))) == [WarningCode.PARTIAL_FIELD_SET]


# --- as a whole -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R33")
def test_a_refusal_names_everything_that_lacks_and_not_only_the_first():
    """One night's refusal is enough to mend all of it; how many rows a cut list has says nothing more."""
    envelope = envelope_of(
        CUT,
        rows=3,
        scope={"consistency": Consistency.INTERVAL, "visibility": "unknown"},
        warnings=(Notice(code=WarningCode.STALE_READ),),
    )
    claims = (Complete(), Snapshot(Consistency.PINNED), Visible(), Fresh(1), Rows(100), Change(Decimal(5)))
    result = certified(envelope, *claims, Agrees("hr", "headcount"), previous_rows=100, agreed_count=100)
    assert codes(result) == [
        Reason.RESULT_LIMIT_REACHED,
        "FC745",
        "FC746",
        "FC742",
        WarningCode.STALE_READ,
    ]
    assert all(len(finding.ways_on) > 0 for finding in result.findings)


def test_nothing_verified_is_refused():
    """An empty `verify` certifies nothing."""
    from tests.support.evidence import INVENTORY, ONCE, certify

    result = certify(
        INVENTORY,
        (),
        envelope_of(),
        previous_rows=None,
        series=None,
        agreed_count=None,
        used_fields=frozenset(),
        accepted=frozenset(),
        recurrence=ONCE,
        at=NOW,
    )
    assert codes(result) == ["FC747"]


def test_a_reading_of_something_else_is_not_certified():
    """The envelope must be of the inventory that is verified."""
    assert "FC747" in codes(certified(envelope_of(inventory="accounts")))
    assert "FC747" in codes(certified(envelope_of(scope={"source": "other"})))


@pytest.mark.requirement("R6")
def test_a_certificate_says_what_held_and_on_what():
    """Digest, rows, keys, claims in words, guarantees and end marker stand in the document."""
    result = certified(envelope_of())
    assert isinstance(result, Certificate)
    assert result.doc.claims == ("complete", "snapshot interval", "visibility all", "fresh within 1h")
    assert (result.doc.rows, result.doc.distinct_keys, result.doc.end_marker) == (10, 10, "last page")
    assert (result.doc.consistency, result.doc.visibility) == ("pinned", "all")
    assert result.observed_at == NOW
    assert result.max_age == 3600
    assert result.notes[0] == "complete: 10 rows, 1 page, end seen (last page)"


def test_a_partial_reading_can_be_certified_for_what_does_not_need_completeness():
    """A witness needs only freshness; the certificate promises no more than that."""
    result = certified(envelope_of(CUT), Fresh(HOUR))
    assert isinstance(result, Certificate)
    assert result.doc.claims == ("fresh within 1h",)
    assert result.doc.end_marker == "none seen"
