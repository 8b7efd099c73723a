"""R38: any collection, any page size, any fault: complete only if every element of the collection is accounted for."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.support.fake_source import FakeClock, FakeSource, FakeTable, equals, fake_inventory, fake_resource, rows_page
from tests.support.profiles import examples
from tests.support.reading import Reading, reasons

from fullcount.runtime.connectors.base import Page, SourceError, Total
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness, Status

RESOURCE = fake_resource(fields="id: text, n: int")
FIELDS = tuple(RESOURCE.fields)
ITSELF = "a fault that leaves the answer whole"


@dataclass(frozen=True)
class World:
    """A collection, how it is cut into pages, and how far a row group of ours reaches."""

    rows: tuple[dict, ...]
    page_rows: int
    group_rows: int
    order: tuple[int, ...]


@st.composite
def worlds(draw):
    """Draw a collection from empty to well above every limit in the test, in any order and any page size."""
    count = draw(st.integers(0, 60))
    order = draw(st.one_of(st.just(tuple(range(count))), st.permutations(range(count)).map(tuple)))
    rows = tuple({"id": f"k{n:03}", "n": n} for n in range(count))
    return World(rows, draw(st.integers(1, 25)), draw(st.integers(1, 40)), order)


def pages_of(world):
    """Return the honest pages: empty ones may stand anywhere, the last has the end marker, all an exact total."""
    rows = [world.rows[index] for index in world.order]
    parts = [rows[start : start + world.page_rows] for start in range(0, len(rows), world.page_rows)] or [[]]
    total = Total(len(rows), exact=True)
    pages = [rows_page(FIELDS, part, cursor=str(n), total=total) for n, part in enumerate(parts)]
    pages[-1] = replace(pages[-1], cursor=None, end="the end")
    return pages


@contextmanager
def groups_of(rows):
    """Let row groups and chunks hold so many rows, and spare the disk."""
    with (
        patch("fullcount.runtime.collect.writer.GROUP_ROWS", rows),
        patch("fullcount.runtime.collect.intake.GROUP_ROWS", rows),
        patch("fullcount.runtime.collect.snapshots.os.fsync"),
    ):
        yield


def read(world, script, inventory=None, **budget):
    """Read the script; return the envelope and the stored rows."""
    folder = Path(tempfile.mkdtemp())
    try:
        reading = Reading(folder, FakeClock())
        source = FakeSource(FakeTable(RESOURCE, script=list(script)))
        source.on("fetch", at=None, do=lambda: reading.clock.advance(1))
        with groups_of(world.group_rows):
            envelope = asyncio.run(reading.read(source, inventory, **budget))
        stored = [] if envelope.snapshot_digest is None else reading.rows(envelope)
        assert [path.name for path in reading.files() if ".incoming" in path.parts] == []
        return envelope, stored
    finally:
        shutil.rmtree(folder)


# --- faults: each changes the pages, and says whether elements may be missing or wrong afterwards ---------------------


def cut_tail(draw, pages):
    """The last pages never come and the last one that does says nothing of it."""
    kept = draw(st.integers(0, len(pages) - 1))
    return [*pages[:kept], replace(pages[kept], cursor=None, end=None)], "cut"


def fail_at(draw, pages):
    """A page does not come: an error stands in its place, sometimes one that may be tried again."""
    index = draw(st.integers(0, len(pages) - 1))
    code = draw(st.sampled_from(list(Reason)))
    again = draw(st.booleans())
    error = SourceError(Incompleteness(code=code), retryable=again)
    repeats = draw(st.integers(1, 6)) if again else 1
    survives = again and repeats <= 4
    return [*pages[:index], *[error] * repeats, *pages[index:]], ITSELF if survives else "cut"


def lose_rows(draw, pages):
    """A page silently lacks a row; only the source's exact total can show it."""
    full = [n for n, page in enumerate(pages) if page.rows > 0]
    if len(full) == 0:
        return pages, ITSELF
    index = draw(st.sampled_from(full))
    page = pages[index]
    lost = draw(st.integers(0, page.rows - 1))
    columns = {name: [v for n, v in enumerate(values) if n != lost] for name, values in page.columns.items()}
    return [*pages[:index], replace(page, columns=columns, rows=page.rows - 1), *pages[index + 1 :]], "cut"


def repeat_page(draw, pages):
    """A page comes twice under a new cursor, with the same content."""
    index = draw(st.integers(0, len(pages) - 1))
    return [*pages[:index], replace(pages[index], cursor=f"again {len(pages)}", end=None), *pages[index:]], ITSELF


def loop(draw, pages):
    """A cursor comes twice."""
    index = draw(st.integers(0, len(pages) - 1))
    twice = replace(pages[index], cursor="loop", end=None)
    return [*pages[:index], twice, replace(twice, columns={n: [] for n in FIELDS}, rows=0), *pages[index:]], "cut"


def empty_pages(draw, pages):
    """Pages without rows stand between the others."""
    index = draw(st.integers(0, len(pages) - 1))
    empty = [rows_page(FIELDS, [], cursor=f"empty {len(pages)} {n}") for n in range(draw(st.integers(1, 3)))]
    return [*pages[:index], *empty, *pages[index:]], ITSELF


def contradict(draw, pages):
    """An object comes a second time with other content."""
    known = [key for page in pages for key in page.columns["id"]]
    if len(known) == 0:
        return pages, ITSELF
    other = rows_page(FIELDS, [{"id": draw(st.sampled_from(known)), "n": -1}], cursor=f"other {len(pages)}")
    index = draw(st.integers(0, len(pages) - 1))
    return [*pages[:index], other, *pages[index:]], "cut"


def spoil_key(draw, pages):
    """A row's key is not of its type."""
    full = [n for n, page in enumerate(pages) if page.rows > 0]
    if len(full) == 0:
        return pages, ITSELF
    index = draw(st.sampled_from(full))
    columns = {**pages[index].columns, "id": [None, *list(pages[index].columns["id"])[1:]]}
    return [*pages[:index], replace(pages[index], columns=columns), *pages[index + 1 :]], "cut"


def say_reason(draw, pages):
    """A page says itself that something is missing."""
    index = draw(st.integers(0, len(pages) - 1))
    reason = Incompleteness(code=draw(st.sampled_from(list(Reason))))
    return [*pages[:index], replace(pages[index], reasons=(reason,)), *pages[index + 1 :]], "cut"


def end_twice(draw, pages):
    """The end marker comes too early, beside a cursor."""
    index = draw(st.integers(0, len(pages) - 1))
    both = replace(pages[index], cursor=f"more {len(pages)}", end="the end")
    return [*pages[:index], both, *pages[index + 1 :]], "cut"


FAULTS = [cut_tail, fail_at, lose_rows, repeat_page, loop, empty_pages, contradict, spoil_key, say_reason, end_twice]


@pytest.mark.requirement("R38", "R2")
@examples(300)
@given(worlds())
def test_an_honest_source_is_read_completely_whatever_the_page_size_and_order(world):
    """Above every page and group size, in any order, every element is stored once, in the order of keys."""
    envelope, stored = read(world, pages_of(world))
    assert envelope.status is Status.COMPLETE, envelope.completeness
    assert stored == list(world.rows)
    assert envelope.work.rows == envelope.work.distinct_keys == len(world.rows)


@pytest.mark.requirement("R38", "R2", "R15")
@examples(1_000)
@given(worlds(), st.data())
def test_complete_only_if_every_element_is_accounted_for_whatever_goes_wrong(world, data):
    """Under any one or two faults the answer is complete exactly if it holds every element, and is else partial."""
    pages = pages_of(world)
    harm = ITSELF
    faults = data.draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=2))
    for fault in faults:
        if not all(isinstance(page, Page) for page in pages):
            break
        pages, done = fault(data.draw, pages)
        event(f"{fault.__name__}: {done}")
        harm = harm if done is ITSELF else done
    envelope, stored = read(world, pages)
    if envelope.complete:
        assert [row["id"] for row in stored] == [row["id"] for row in world.rows]
        # with the true row lost, a contradicting one is all that the source says of the object: nobody could tell
        assert stored == list(world.rows) or (contradict in faults and lose_rows in faults)
        # a second fault may make good what the first one did: a page that comes twice, and loses a row once
        assert harm is ITSELF or len(faults) > 1
    else:
        assert len(envelope.completeness.reasons) > 0
        assert {row["id"] for row in stored} <= {row["id"] for row in world.rows}
    if harm is ITSELF:
        assert envelope.complete, envelope.completeness


@pytest.mark.requirement("R38", "R12", "R16")
@examples(300)
@given(worlds(), st.sampled_from(["max_rows", "max_pages", "deadline"]), st.integers(0, 70))
def test_no_limit_of_ours_is_ever_hidden(world, limit, value):
    """Whatever stops us, the answer is complete only with every row, and otherwise names our own limit."""
    envelope, stored = read(world, pages_of(world), **{limit: value})
    if envelope.complete:
        assert stored == list(world.rows)
    else:
        expected = Reason.TIME_BUDGET_EXCEEDED if limit == "deadline" else Reason.CLIENT_LIMIT_REACHED
        assert reasons(envelope)[0] == expected
        assert set(reasons(envelope)) <= {expected, Reason.MORE_PAGES_AVAILABLE}
        assert len(stored) < len(world.rows) or len(world.rows) == 0


@pytest.mark.requirement("R38", "R1")
@examples(300)
@given(worlds(), st.integers(0, 70))
def test_a_canary_is_seen_exactly_if_it_is_there(world, wanted):
    """However the rows are cut, a canary that was returned is found, and one that was not is missed."""
    inventory = fake_inventory(RESOURCE, expects=(equals(RESOURCE, "n", wanted),))
    envelope, _ = read(world, pages_of(world), inventory)
    assert envelope.complete == (wanted < len(world.rows))
    assert envelope.work.canaries_seen == int(wanted < len(world.rows))
