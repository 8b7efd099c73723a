"""The conformance kit: it passes what keeps the contract, and each of its checks finds the lie that it is for."""

from __future__ import annotations

import asyncio
from unittest import SkipTest

import pytest
from tests.support.beds import files_bed, git_bed, http_bed, sqlite_bed
from tests.support.memory_source import LIES, memory_bed

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
    from dataclasses import replace

    with pytest.raises(Nonconformity, match="faults"):
        asyncio.run(named("a_list_cut_anywhere_says_why")(replace(memory_bed(), faults=())))


def test_what_a_bed_lacks_is_skipped_by_its_name():
    """A check that can't be made does not pass."""
    from dataclasses import replace

    with pytest.raises(SkipTest, match="hang"):
        asyncio.run(named("the_deadline_holds_while_a_source_is_silent")(replace(memory_bed(), hang=None)))


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
