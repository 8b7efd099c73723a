"""R37, R38: whatever moves while a list is read over HTTP, complete means that every element is accounted for."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.support.fake_source import FakeClock
from tests.support.profiles import examples
from tests.support.reading import Reading, reasons
from tests.support.shifting import DIALECTS, Event, Moving, Trouble

from fullcount.compiler.claims import Consistency
from fullcount.compiler.everything import everything_of
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.evidence.codes import Reason

PASSING = {"throttled", "down", "reset"}
"""Troubles that a read gets over within its budget."""
CONFIRMED_ONLY = {"uncounted", "numbers"}
"""APIs that tell neither a total nor a state: what shifts there shows only by two passes that differ."""


def read(api, **budget):
    """Read the API to its end; return the envelope and the stored rows."""
    folder, clock = Path(tempfile.mkdtemp()), FakeClock()
    try:
        reading = Reading(folder, clock)
        reader = api.reader()
        resource = CONNECTOR.resources("api", api.settings)["things"]

        async def run():
            try:
                return await collect(
                    reader,
                    everything_of(resource),
                    resource,
                    bindings=Bindings({}, 0),
                    snapshots=reading.store,
                    budget=Budget(sleep=clock.sleep, monotonic=clock.monotonic, **budget),
                    clock=clock,
                )
            finally:
                await reader.close()

        with patch("fullcount.runtime.collect.snapshots.os.fsync"):
            envelope = asyncio.run(run())
        stored = {} if envelope.snapshot_digest is None else {r["id"]: r["place"] for r in reading.rows(envelope)}
        return envelope, stored
    finally:
        shutil.rmtree(folder)


def key(number):
    """Return the key of an object."""
    return f"k{number:03}"


@st.composite
def worlds(draw, troubled=False):
    """Draw an API: its kind, its page size, its objects, and what happens at which request."""
    style = draw(st.sampled_from(sorted(DIALECTS)))
    count, page = draw(st.integers(0, 12)), draw(st.integers(1, 5))
    places = {key(2 * n): 10 * n for n in range(count)}
    at = st.integers(2, 3 * (count // page + 2))
    free = list(range(1, 2 * count + 3, 2))
    events = []
    # each object changes at most once; where no total tells, one change: that two passes agree is all there is
    for subject in draw(
        st.lists(st.integers(0, 2 * count + 2), unique=True, max_size=1 if style in CONFIRMED_ONLY else 4)
    ):
        when, place = draw(at), draw(st.integers(-5, 10 * count + 5))
        if subject in free:
            events.append(Event(when, "insert", key(subject), place))
        else:
            # an order that rows move in is no order of keys: there only what is made and removed can shift
            kinds = ["delete", "withdraw"] if style in {"keyset", "shards"} else ["delete", "withdraw", "move"]
            events.append(Event(when, draw(st.sampled_from(kinds)), key(subject), place))
    troubles = ()
    if troubled:
        kinds = ["expired", "forbidden", "throttled", "down", "reset", "broken", "html"]
        made = st.builds(Trouble, st.integers(1, 8), st.sampled_from(kinds))
        troubles = tuple(draw(st.lists(made, max_size=2, unique_by=lambda each: each.at)))  # one answer has one trouble
    return Moving(style, page, places, tuple(events), troubles)


def holds(api, envelope, stored):
    """Hold the answer against what was there: the theorem of this module."""
    event(f"{api.style}: {envelope.status}")
    if not envelope.complete:
        assert len(envelope.completeness.reasons) > 0
        assert set(stored) <= api.ever
        return
    assert api.throughout <= set(stored) <= api.ever
    assert envelope.work.rows == len(stored)
    if envelope.scope.consistency is Consistency.PINNED:
        assert stored in api.states


@pytest.mark.requirement("R37", "R38", "R15")
@examples(200)
@given(worlds())
def test_complete_only_with_all_that_was_there_throughout_whatever_moves_between_pages(api):
    """Objects made, removed, moved or hidden between any two requests, at any page size, of any kind of API."""
    envelope, stored = read(api)
    holds(api, envelope, stored)
    happened = [each for each in api.events if each.at <= api.requests]
    if len(happened) == 0:
        assert envelope.complete, envelope.completeness
        assert stored == api.places
    if api.style == "numbers" and api.withdrawn:
        # the page behind it says that the reader has fewer rights than it had
        assert not envelope.complete
        assert Reason.VISIBILITY_RESTRICTED in reasons(envelope)


@pytest.mark.requirement("R37", "R38", "R14", "R18")
@examples(200)
@given(worlds(troubled=True))
def test_complete_only_with_all_of_it_when_requests_fail_as_well(api):
    """A cursor that expired, a permission withdrawn, a shard that fails after another answered, half a body."""
    envelope, stored = read(api)
    holds(api, envelope, stored)
    met = {each.kind for each in api.troubles if each.at <= api.requests}
    if not met <= PASSING:
        assert not envelope.complete
    if api.style == "shards" and not met <= PASSING:
        assert any(reason.part in {"/left", "/right"} for reason in envelope.completeness.reasons)


@pytest.mark.requirement("R12", "R38")
@examples(60)
@given(worlds(), st.sampled_from(["max_pages", "max_rows"]), st.integers(0, 12))
def test_a_limit_of_ours_is_never_the_end_of_theirs(api, limit, value):
    """However small our own limit, and whatever moves: complete with everything, or not complete."""
    envelope, stored = read(api, **{limit: value})
    holds(api, envelope, stored)
    if value == 0:
        assert reasons(envelope)[0] is Reason.CLIENT_LIMIT_REACHED
