"""What a connector must pass: one list of checks, and a class that brings them into pytest.

    from fullcount.runtime.testing import Bed, ConnectorConformance

    class TestMine(ConnectorConformance):
        @pytest.fixture
        def bed(self, tmp_path):
            yield Bed(connector=CONNECTOR, ...)

Each check gets a bed of its own and runs in an event loop of its own, so that no plugin is needed. The same list can be
gone through without pytest: `asyncio.run(check(bed))` raises `Nonconformity`, or `unittest.SkipTest` where the bed
lacks what the check is about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from fullcount.runtime.testing import checks_of_lists as lists
from fullcount.runtime.testing import checks_of_many as many
from fullcount.runtime.testing import checks_of_objects as objects
from fullcount.runtime.testing.bed import Bed

Check = Callable[[Bed], Awaitable[None]]

CHECKS: tuple[Check, ...] = (
    lists.the_declaration_is_complete_and_fits_together,
    objects.a_reading_session_can_not_act,
    objects.an_identity_names_the_target_and_no_secret,
    lists.a_whole_list_is_complete_at_any_page_size,
    lists.the_end_is_said_once_and_never_beside_a_cursor,
    lists.nothing_there_is_complete_and_empty,
    lists.a_list_cut_anywhere_says_why,
    lists.a_cursor_of_another_scan_is_refused,
    lists.changes_between_pages_break_no_promise,
    lists.the_deadline_holds_while_a_source_is_silent,
    lists.our_own_limits_are_said,
    lists.objects_that_are_hidden_are_missed,
    objects.an_object_is_read_as_it_is_now,
    objects.an_object_that_is_gone_is_not_found,
    objects.a_recreated_object_is_another_one,
    objects.a_look_that_fails_says_nothing_of_absence,
    objects.a_look_up_finds_all_that_match_or_may,
    many.objects_read_together_are_as_each_is_alone,
    many.look_ups_together_say_what_each_says_alone,
    many.what_is_asked_together_and_fails_says_nothing,
    objects.a_count_is_of_what_is_there,
    objects.an_act_does_what_it_says_and_nothing_else,
    objects.an_object_that_changed_is_left_alone,
    objects.an_object_that_is_gone_is_not_made_again,
    objects.an_object_that_was_made_again_is_left_alone,
    objects.doing_it_twice_is_doing_it_once,
    objects.a_lost_answer_is_unknown_and_told_by_reading,
    many.what_keeps_from_acting_is_foreseen,
)
"""Every check. New ones are added; a connector that passed is to pass those too."""


def name_of(check: Check) -> str:
    """Return a check's name, which is the rule that it holds."""
    return getattr(check, "__name__", repr(check))


class _Parametrizes(Protocol):
    """What pytest hands to a class that makes its own cases."""

    fixturenames: list[str]

    def parametrize(self, argnames: str, argvalues: object, *, ids: object) -> None:
        """See pytest."""


class ConnectorConformance:
    """Subclass it under a name that begins with `Test`, with a fixture `bed`: each check is a test."""

    def pytest_generate_tests(self, metafunc: _Parametrizes) -> None:
        """Make one test of each check."""
        if "check" in metafunc.fixturenames:
            metafunc.parametrize("check", CHECKS, ids=name_of)

    def test_conforms(self, check: Check, bed: Bed) -> None:
        """The connector keeps the rule that the check is named by."""
        asyncio.run(_run(check, bed))


async def _run(check: Check, bed: Bed) -> None:
    await check(bed)
