"""The conformance kit: it passes what keeps the contract, and each of its checks finds the lie that it is for."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from unittest import SkipTest

import pytest
from tests.support.beds import files_bed, git_bed, http_bed, sqlite_bed
from tests.support.memory_source import LIES, MemoryConnector, Reader, failed, memory_bed

from fullcount.runtime.testing import CHECKS, ConnectorConformance, Nonconformity
from fullcount.runtime.testing.conformance import name_of


@pytest.mark.requirement("R2", "R36")
@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_a_connector_that_lies_is_found_by_the_check_of_that_rule(check):
    """One lie a check: the honest connector passes it, the lying one does not."""
    asyncio.run(check(memory_bed()))
    with pytest.raises(Nonconformity):
        asyncio.run(check(memory_bed(lie=name_of(check))))


def test_there_is_a_lie_for_every_check():
    """A check that nothing fails may check nothing."""
    assert len(LIES) == len(set(LIES)) == len(CHECKS)


def test_a_connector_that_is_never_cut_short_has_shown_nothing():
    """Faults can't be left out."""
    with pytest.raises(Nonconformity, match="faults"):
        asyncio.run(named("a_list_cut_anywhere_says_why")(replace(memory_bed(), faults=())))


def test_what_a_bed_lacks_is_skipped_by_its_name():
    """A check that can't be made does not pass."""
    with pytest.raises(SkipTest, match="hang"):
        asyncio.run(named("the_deadline_holds_while_a_source_is_silent")(replace(memory_bed(), hang=None)))


class Shop:
    """The client that the samples speak to, over the objects in memory."""

    def __init__(self, store):
        self.store = store

    async def carts(self, *, ids=None, owners=None):
        """Return carts by one of two lists."""
        if self.store.down:
            raise failed()
        rows = self.store.objects.values()
        return [row for row in rows if (row["id"] in ids if owners is None else row["owner"] in owners)]

    async def accepts_changes(self):
        """Whether it does."""
        return not self.store.shut


PAGE = Path(__file__).parents[3] / "docs/how-to/write-a-connector.md"
OPTIONAL = [name_of(check) for check in CHECKS if check.__module__.endswith("checks_of_many")]


@pytest.mark.parametrize("name", OPTIONAL)
def test_the_samples_of_the_page_pass_the_checks_that_it_names(name):
    """A reader made of them alone."""
    page = PAGE.read_text(encoding="utf-8")
    assert name in page
    samples: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "Bed(" not in block:
            exec(block, samples)
    shown = [each for each in samples.values() if isinstance(each, type) and each.__module__ == "builtins"]
    made = type("Carts", (*shown, Reader), {"shop": property(lambda reader: Shop(reader.store))})
    assert len(shown) == 3

    class Connector(MemoryConnector):
        async def open_reader(self, source, config):
            return made(self, config)

    bed = memory_bed()
    asyncio.run(named(name)(replace(bed, connector=Connector(bed.connector.store))))


def named(name):
    """Return a check."""
    return next(check for check in CHECKS if name_of(check) == name)


@pytest.mark.requirement("R11", "R13", "R37")
class TestSql(ConnectorConformance):
    """The `sql` connector on an SQLite file."""

    @pytest.fixture
    def bed(self, tmp_path):
        """Return seven accounts in a file."""
        return sqlite_bed(tmp_path)


@pytest.mark.requirement("R11", "R13", "R37")
class TestGit(ConnectorConformance):
    """The `git` connector on a repository."""

    @pytest.fixture
    def bed(self, tmp_path):
        """Return seven branches of a repository."""
        return git_bed(tmp_path)


@pytest.mark.requirement("R11", "R13", "R37")
class TestHttp(ConnectorConformance):
    """The `http` connector with the plain dialect, behind the fault front."""

    @pytest.fixture
    def bed(self):
        """Return seven things of a server."""
        with http_bed() as made:
            yield made


@pytest.mark.requirement("R11", "R13", "R37")
class TestFiles(ConnectorConformance):
    """The `files` connector on a folder."""

    @pytest.fixture
    def bed(self, tmp_path):
        """Return seven files in three folders."""
        return files_bed(tmp_path)
