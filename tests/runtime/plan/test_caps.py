"""Caps: the stricter of both, rounded down, and zero is none."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.planning import ORPHANS, account, evidence

from fullcount.runtime.plan.caps import caps_for, effective_cap, percent_of


@pytest.mark.parametrize("limit", ["0", "0%", "50, 0%", "0, 50%"])
def test_a_limit_of_zero_means_none(tmp_path, limit):
    """With zero in either half not a single object may be acted on."""
    text = ORPHANS.replace("limit  50, 50%", f"limit  {limit}")
    doc = evidence(tmp_path, [account("a")], text=text).plan()
    assert doc.caps.effective == 0
    assert doc.caps.exceeded


def test_a_percentage_is_rounded_down_and_the_stricter_half_wins():
    """5 % of 19 is none; 37 of 1,204 is within 50 and over 3 %."""
    assert percent_of(Decimal(5), 19) == 0
    assert effective_cap(None, Decimal(5), 19) == 0
    assert effective_cap(50, Decimal(3), 1204) == 36
    assert caps_for(50, Decimal(3), 1204, 37).exceeded
    assert not caps_for(50, Decimal("3.50"), 1204, 37).exceeded
    assert caps_for(50, Decimal("3.50"), 1204, 37).percent == "3.5%"
    assert effective_cap(None, None, 7) == 7


@given(st.none() | st.integers(0, 500), st.none() | st.decimals(0, 100, places=2), st.integers(0, 10**6))
def test_no_cap_is_wider_than_either_half_or_the_population(count, percent, population):
    """Whatever is written, the cap in force breaks neither half."""
    cap = effective_cap(count, percent, population)
    assert 0 <= cap <= population
    assert count is None or cap <= count
    assert percent is None or cap * 100 <= percent * population
