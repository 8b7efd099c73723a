"""The envelope: it can't be built to claim more than was seen."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError
from tests.support.evidence import envelope_of

from fullcount.compiler.claims import Consistency
from fullcount.runtime.evidence.codes import Decision, Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import (
    Completeness,
    Continuation,
    Envelope,
    FieldSummary,
    Incompleteness,
    Notice,
    Status,
)

CUT = Incompleteness(code=Reason.RESULT_LIMIT_REACHED)


@pytest.mark.requirement("R2", "R8")
@pytest.mark.parametrize(
    "changes",
    [
        {"work": {"end_marker": None}},
        {"scope": {"consistency": Consistency.UNSTABLE}},
        {"scope": {"visibility": "restricted"}},
        {"snapshot_digest": None},
        {"status": Status.PARTIAL},
        {"status": Status.FAILED},
    ],
    ids=str,
)
def test_a_complete_envelope_without_what_makes_it_complete_can_not_be_built(changes):
    """End marker, pages that belong together, full sight, a snapshot, and a status that agrees: all or none."""
    with pytest.raises(ValidationError):
        envelope_of(**changes)


@pytest.mark.requirement("R8")
def test_a_partial_envelope_can_not_have_the_status_of_a_success():
    """Neither the status nor `complete` can be set beside a reason."""
    with pytest.raises(ValidationError):
        envelope_of(CUT, status=Status.COMPLETE)
    with pytest.raises(ValidationError):
        Completeness(complete=True, reasons=(CUT,))
    with pytest.raises(ValidationError):
        Completeness(complete=False)


@pytest.mark.requirement("R9")
def test_a_complete_answer_has_no_continuation():
    """What is complete has nothing to go on with."""
    way = Continuation(way=Way.NEXT_CURSOR, preserves_snapshot=True, cursor="x")
    with pytest.raises(ValidationError):
        Completeness(complete=True, continuation=way)


@pytest.mark.requirement("R12")
@pytest.mark.parametrize("reasons", [(), (CUT,)])
@pytest.mark.parametrize("rows", [0, 3])
def test_an_envelope_survives_its_wire_format_with_every_reason_and_state(reasons, rows):
    """Nothing is dropped or softened on the way through JSON."""
    fields = {"id": FieldSummary(states={"present": 3, "forbidden": 1}, refused=1, refusal="expected text")}
    envelope = envelope_of(*reasons, rows=rows, fields=fields, warnings=(Notice(code=WarningCode.STALE_READ),))
    assert Envelope.model_validate_json(envelope.model_dump_json()) == envelope


@pytest.mark.parametrize("part", [(), ("completeness",), ("work",), ("scope",)])
def test_an_envelope_with_an_unknown_part_is_refused(part):
    """What we do not know is not ignored: it might be what matters."""
    document = json.loads(envelope_of().model_dump_json())
    place = document
    for name in part:
        place = place[name]
    place["has_more"] = False
    with pytest.raises(ValidationError):
        Envelope.model_validate(document)


@pytest.mark.requirement("R9")
@pytest.mark.parametrize(
    ("way", "decision"),
    [
        (None, Decision.REFUSE_OR_REQUEST_REVIEW),
        (Way.RESTART, Decision.RESTART),
        (Way.NARROW_QUERY, Decision.CONTINUE_SEARCH),
        (Way.NEXT_CURSOR, Decision.CONTINUE_SEARCH),
        (Way.RETRY_AFTER, Decision.CONTINUE_SEARCH),
    ],
)
def test_what_a_partial_answer_licenses_follows_from_its_way_on(way, decision):
    """Partial answers license a search, a restart or a look by a person, never an act."""
    continuation = None if way is None else Continuation(way=way, preserves_snapshot=False)
    completeness = Completeness(complete=False, reasons=(CUT,), continuation=continuation)
    assert envelope_of(CUT, completeness=completeness).decision() is decision


@pytest.mark.requirement("R5")
@pytest.mark.parametrize("code", list(WarningCode))
def test_a_complete_answer_with_a_blocking_warning_licenses_no_act(code):
    """An answer may be complete and stale; then it lists everything and still carries no change."""
    notice = Notice(code=code)
    expected = Decision.REFUSE_OR_REQUEST_REVIEW if notice.blocking else Decision.ACT
    envelope = envelope_of(warnings=(notice,))
    assert envelope.complete
    assert envelope.decision() is expected
