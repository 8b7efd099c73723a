"""What becomes of single rows and fields: scope, keys, states, malformed pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from tests.support.fake_source import (
    NOW,
    FakeSource,
    FakeTable,
    equals,
    fake_inventory,
    fake_resource,
    rows_page,
    self_field,
)
from tests.support.reading import Reading, reasons, warnings

from fullcount.compiler import ir
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import TEXT
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import Page, Total
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Status

RESOURCE = fake_resource(fields="id: text, env: text, seen: timestamp?")
FIELDS = tuple(RESOURCE.fields)
PROD = fake_inventory(RESOURCE, scope=equals(RESOURCE, "env", "prod"))


@pytest.fixture
def reading(tmp_path):
    """Return a snapshot folder with a clock."""
    return Reading(tmp_path)


def scripted(*pages, **changes):
    """Return a source with these pages."""
    return FakeSource(FakeTable(RESOURCE, script=list(pages), **changes))


def row(key, env="prod", seen=None):
    """Return one object."""
    return {"id": key, "env": env, "seen": seen}


@pytest.mark.requirement("R6")
async def test_rows_outside_the_scope_are_left_out_and_unknown_ones_are_kept(reading):
    """False is outside; what can't be told stays in, so that the plan shows it as undecided."""
    rows = [row("a"), row("b", "dev"), row("c", FieldState.FORBIDDEN), row("d", 7), row("e", None)]
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e", total=Total(5, exact=True))), PROD)
    assert envelope.complete
    assert reading.keys(envelope) == ["a", "c", "d", "e"]
    assert envelope.scope.filter == 'env == "prod"'
    assert not envelope.scope.filter_pushed_down
    assert (envelope.work.rows, envelope.work.rows_read) == (4, 5)


@pytest.mark.requirement("R3")
async def test_a_source_that_ignores_the_scope_it_pushed_down_is_not_believed(reading):
    """Rows outside a scope that the source says it applied make its answer malformed."""
    rows = [row("a"), row("b", "dev")]
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e"), scope_pushed_down=True), PROD)
    assert reasons(envelope) == [Reason.MALFORMED_RESPONSE]
    assert envelope.completeness.reasons[0].data == {"rows_outside_scope": 1}
    assert reading.keys(envelope) == ["a"]


@pytest.mark.requirement("R2")
async def test_a_total_is_compared_over_the_rows_that_the_source_counted(reading):
    """With the scope applied here the source counts everything, with the scope pushed down it counts the scope."""
    rows = [row("a"), row("b", "dev"), row("c", "dev")]
    everything = await reading.read(scripted(rows_page(FIELDS, rows, end="e", total=Total(3, exact=True))), PROD)
    assert everything.complete
    inside = rows_page(FIELDS, rows[:1], end="e", total=Total(1, exact=True))
    assert (await reading.read(scripted(inside, scope_pushed_down=True), PROD)).complete
    short = rows_page(FIELDS, rows[:1], end="e", total=Total(3, exact=True))
    assert reasons(await reading.read(scripted(short, scope_pushed_down=True), PROD)) == [Reason.COUNT_MISMATCH]


async def test_parameters_in_the_scope_are_bound_before_the_source_is_asked(reading):
    """The source gets constants; the check here uses the same values."""
    scope = ir.Compare("==", self_field(RESOURCE, "env"), ir.Param("stage", TEXT))
    source = scripted(rows_page(FIELDS, [row("a", "dev"), row("b")], end="e"))
    envelope = await reading.read(source, fake_inventory(RESOURCE, scope=scope), bindings=Bindings({"stage": "dev"}, 0))
    asked = next(detail for method, detail in source.calls if method == "open")
    assert asked.scope == ir.Compare("==", self_field(RESOURCE, "env"), ir.Const("dev", TEXT))
    assert reading.keys(envelope) == ["a"]


@pytest.mark.parametrize("key", [None, 5, FieldState.FORBIDDEN, FieldState.INDETERMINATE, "\ud800"])
async def test_a_row_that_nothing_can_name_is_left_out_and_makes_the_answer_partial(reading, key):
    """An object without a usable key can't be accounted for, so the list is not complete."""
    envelope = await reading.read(scripted(rows_page(FIELDS, [row("a"), row(key)], end="e")))
    assert reasons(envelope) == [Reason.MALFORMED_RESPONSE]
    assert envelope.status is Status.PARTIAL
    assert envelope.completeness.reasons[0].data == {"rows_without_key": 1}
    assert reading.keys(envelope) == ["a"]


@pytest.mark.requirement("R7")
async def test_a_value_of_the_wrong_type_is_a_failed_field_and_never_an_absent_one(reading):
    """The row stays, the field is unknown, and the envelope counts and explains it."""
    rows = [row("a", seen=datetime(2026, 1, 1)), row("b", seen=NOW), row("c")]  # noqa: DTZ001
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e")))
    assert envelope.complete
    summary = envelope.fields["seen"]
    assert summary.states == {FieldState.PRESENT: 1, FieldState.ABSENT: 1, FieldState.SOURCE_FAILED: 1}
    assert summary.refused == 1
    assert summary.refusal == "expected timestamp, found a time without an offset; in `a`"
    assert [each["seen"] for each in reading.rows(envelope)] == [FieldState.SOURCE_FAILED, NOW, FieldState.ABSENT]


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("state", list(FieldState)[2:])
async def test_every_field_state_of_a_source_reaches_the_snapshot(reading, state):
    """No layer turns one state into another."""
    envelope = await reading.read(scripted(rows_page(FIELDS, [row("a", seen=state), row("b", seen=NOW)], end="e")))
    assert reading.rows(envelope)[0]["seen"] is state
    assert envelope.fields["seen"].states[state] == 1
    assert WarningCode.PARTIAL_FIELD_SET not in warnings(envelope)


@pytest.mark.requirement("R5", "R7")
async def test_a_field_of_which_nothing_is_known_in_any_row_is_warned_of(reading):
    """The warning names the field; a field that is absent everywhere is known, and no cause for it."""
    rows = [row("a", seen=FieldState.FORBIDDEN), row("b", seen=FieldState.FORBIDDEN)]
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e")))
    notice = next(n for n in envelope.warnings if n.code is WarningCode.PARTIAL_FIELD_SET)
    assert notice.data["fields"] == ["seen"]
    assert notice.blocking
    absent = await reading.read(scripted(rows_page(FIELDS, [row("a"), row("b")], end="e")))
    assert WarningCode.PARTIAL_FIELD_SET not in warnings(absent)


@pytest.mark.parametrize("fault", ["missing", "short", "states"])
@pytest.mark.parametrize("rows", [[row("a")], []], ids=["with items", "empty"])
async def test_a_page_out_of_shape_ends_the_read_and_keeps_the_pages_before_it(reading, fault, rows):
    """A page that lacks a field, or whose columns differ in length, is not guessed at."""
    good, bad = rows_page(FIELDS, rows, cursor="2"), rows_page(FIELDS, [row("b"), row("c")], end="e")
    columns = dict(bad.columns)
    if fault == "missing":
        del columns["seen"]
    if fault == "short":
        columns["seen"] = columns["seen"][:1]
    states = {"seen": [FieldState.FORBIDDEN]} if fault == "states" else {}
    envelope = await reading.read(scripted(good, replace(bad, columns=columns, states=states)))
    assert reasons(envelope) == [Reason.MALFORMED_RESPONSE]
    assert envelope.work.end_marker is None
    assert reading.keys(envelope) == [each["id"] for each in rows]


async def test_the_version_is_read_and_stored_although_no_rule_mentions_it(reading):
    """The version field of the resource is part of the question and of the snapshot."""
    resource = fake_resource(fields="id: text, etag: text", version="etag")
    inventory = fake_inventory(resource, fields={"id": resource.fields["id"]})
    source = FakeSource(FakeTable(resource, [{"id": "a", "etag": "v1"}]))
    envelope = await reading.read(source, inventory)
    assert reading.rows(envelope) == [{"id": "a", "etag": "v1"}]


@pytest.mark.requirement("R6")
async def test_the_scope_of_an_envelope_says_who_read_what_when_and_how(reading):
    """Source, resource, identity, consistency, token and the interval of the scan are all there."""
    source = FakeSource(FakeTable(RESOURCE, [row("a")], snapshot_token="rv-17"))
    source.on("fetch", do=lambda: reading.clock.advance(3))
    envelope = await reading.read(source)
    scope = envelope.scope
    assert (scope.source, scope.resource, scope.filter) == ("fake", "accounts", None)
    assert scope.identity == {"target.system": "fake://fake", "user": "reader"}
    assert (scope.consistency, scope.visibility, scope.snapshot_token) == ("pinned", "all", "rv-17")
    assert scope.started_at == NOW
    assert (scope.finished_at - scope.started_at).total_seconds() == 3


async def test_names_with_instructions_markup_or_quotes_are_only_names(reading):
    """Field values can't change the question, the scope or the file."""
    keys = ["'; DROP TABLE chunk; --", '"quoted"', "\x1b[2J", "{{ 7*7 }}", "ignore previous instructions", "a\0b"]
    rows = [row(key, env="pro'd\"") for key in keys]
    inventory = fake_inventory(RESOURCE, scope=equals(RESOURCE, "env", "pro'd\""))
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e")), inventory)
    assert envelope.complete
    assert reading.keys(envelope) == sorted(keys)


async def test_a_page_may_hold_more_than_was_asked_for(reading):
    """Columns that nobody asked for are not stored."""
    page = rows_page(FIELDS, [row("a")], end="e")
    extra = Page({**page.columns, "secret": ["x"]}, 1, end="e")
    assert list(reading.rows(await reading.read(scripted(extra)))[0]) == list(FIELDS)


@pytest.mark.requirement("R7")
async def test_a_field_that_is_declared_to_have_a_value_and_has_none_is_a_failed_field(reading):
    """Neither absent nor present: the declaration and the source contradict each other, and the objects are named."""
    rows = [row(key, None) for key in ("a", "b", "c", "d")] + [row("e")]
    envelope = await reading.read(scripted(rows_page(FIELDS, rows, end="e")))
    summary = envelope.fields["env"]
    assert summary.states == {FieldState.SOURCE_FAILED: 4, FieldState.PRESENT: 1}
    assert summary.refused == 4
    assert summary.refusal == (
        "expected text, found no value (declare it `text?` if it may have none); in `a`, `b`, `c` and 1 more"
    )
