"""Every shipped dialect against a server that speaks as its API does: whole, or with the reason why not."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from tests.support.collecting import inventory_of
from tests.support.stubs import NAMES, STUBS, StubServer

from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.http import CONNECTOR, catalogue
from fullcount.runtime.connectors.http.config import HttpConfig

EVERY = pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.title)


@pytest.fixture(scope="module")
def server():
    """One server for all of them."""
    with StubServer() as made:
        yield made


class Read:
    """One list of one stub, read with the real connector."""

    def __init__(self, server, stub, folder):
        self.server, self.stub, self.store = server, stub, SnapshotStore(folder)
        config = {"dialect": stub.dialect, "base_url": server.url, "resources": {"things": stub.resource}}
        self.config = HttpConfig.model_validate(config)
        self.resource = CONNECTOR.resources("api", self.config)["things"]

    async def __aenter__(self):
        self.reader = await CONNECTOR.open_reader("api", self.config)
        return self

    async def __aexit__(self, *_):
        await self.reader.close()

    async def once(self, fault=None, names=NAMES):
        """Collect it once, with what goes wrong."""
        self.server.speak(self.stub, fault, names)
        return await collect(
            self.reader,
            inventory_of(self.resource),
            self.resource,
            bindings=Bindings({}, 0),
            snapshots=self.store,
            budget=Budget(retries=0),
            clock=lambda: datetime.now(UTC),
        )


def codes(envelope):
    """Return the reasons of an envelope."""
    return {str(reason.code) for reason in envelope.completeness.reasons}


@pytest.mark.requirement("R36")
def test_every_shipped_dialect_has_a_stub_that_can_be_read_whole():
    """A dialect that no test speaks is one that nobody knows to be right; `http` alone has no sign of an end."""
    whole = {stub.dialect for stub in STUBS if len(stub.best) == 0}
    assert {dialect.name for dialect in catalogue.shipped().values()} - whole == {"http"}
    assert {stub.dialect for stub in STUBS} - whole == {"http"}
    titles = [stub.title for stub in STUBS]
    assert sorted(set(titles)) == sorted(titles)


@pytest.mark.requirement("R1", "R2", "R11", "R38")
@EVERY
async def test_every_object_of_every_page_is_read_and_only_then_it_is_all(server, stub, tmp_path):
    """Each object once, over all pages; complete by the API's own sign of the end, where it has one."""
    async with Read(server, stub, tmp_path) as read:
        envelope = await read.once()
    assert codes(envelope) == stub.best, envelope.completeness
    assert envelope.complete is (len(stub.best) == 0)
    found = pq.read_table(read.store.path(envelope.snapshot_digest), columns=["name"]).column("name").to_pylist()
    everything = {thing_name(stub, name) for name in NAMES}
    assert set(found) == everything if envelope.complete else set(found) <= everything
    pages = envelope.work.pages
    assert pages >= 3 if stub.paged else pages == 1


def thing_name(stub, name):
    """Return what the object of this name has at its place."""
    value = stub.thing(name)
    for step in stub.at.removeprefix("$value").strip("/").split("/"):
        if step.isdecimal():
            value = value[int(step)]
        elif isinstance(value, dict) and step != "":
            value = value[step]
    return value


@pytest.mark.requirement("R2", "R38")
@EVERY
async def test_list_that_is_empty_is_all_by_the_same_sign(server, stub, tmp_path):
    """Nothing at all is an answer where the API says that it is, and only there."""
    async with Read(server, stub, tmp_path) as read:
        envelope = await read.once(names=())
    assert codes(envelope) <= stub.best, envelope.completeness
    assert envelope.work.rows == 0


@pytest.mark.requirement("R3", "R4", "R36", "R38")
@EVERY
async def test_no_list_that_lost_something_on_its_way_is_complete(server, stub, tmp_path):
    """Each fault is refused, for the cause that it is."""
    wrong = {}
    async with Read(server, stub, tmp_path) as read:
        for fault in stub.every_fault():
            envelope = await read.once(fault)
            if not server.met:
                wrong[fault.name] = "never happened"
            elif envelope.complete or codes(envelope).isdisjoint(fault.codes):
                wrong[fault.name] = (envelope.complete, sorted(codes(envelope)))
    assert wrong == {}
