"""Exemption lists at the act: what could be meant is left alone."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from fullcount.runtime.act.exempted import exempted
from fullcount.runtime.workspace.exemptions import Exemption

AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
TODAY = date(2026, 11, 30)


def test_a_key_is_compared_by_the_rules_of_its_inventory():
    """What the plan would have kept for an entry is kept for it at the act as well."""
    assert exempted([entry("SVC-A")], ("svc-a",), "w", AT) is None
    assert exempted([entry("SVC-A")], ("svc-a",), "w", AT, (("lower",),)) is not None
    assert exempted([entry("svc-a")], ("SVC-A",), "w", AT, (("nfc", "lower"),)) is not None


def entry(*key, workflow=None, expires=TODAY):
    """Return an entry for a key."""
    return Exemption(key, workflow, "ana", "audit", expires)


@pytest.mark.parametrize("written", [17, "17"])
@pytest.mark.parametrize("key", [17, "17"])
def test_a_number_and_its_text_are_the_same_key(written, key):
    """However a list is written, either protects."""
    assert exempted([entry(written)], (key,), "tidy", AT) == "audit (ana)"


@pytest.mark.parametrize(
    "held",
    [
        entry("other"),
        entry("a", "b"),
        entry("a", workflow="another"),
        entry("a", expires=date(2026, 11, 29)),
    ],
)
def test_entries_of_other_objects_other_workflows_and_past_days_do_not_count(held):
    """An entry holds for its object, its workflow and through its last day."""
    assert exempted([held], ("a",), "tidy", AT) is None


def test_an_entry_holds_through_its_last_day():
    """The day it names is the last one on which it keeps the object."""
    assert exempted([entry("a", workflow="tidy")], ("a",), "tidy", AT) is not None


def test_every_part_of_a_key_counts():
    """A compound key is compared part by part."""
    assert exempted([entry("a", 1)], ("a", 1), "tidy", AT) is not None
    assert exempted([entry("a", 1)], ("a", 2), "tidy", AT) is None
