"""The reference page of codes says what the registry says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullcount.dsl.codes import CODES
from fullcount.dsl.codes.pages import page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "codes.md"


@pytest.mark.requirement("R33")
def test_page_of_codes_is_current():
    """If not: `python -m fullcount.dsl.codes.pages > docs/reference/codes.md`."""
    assert PAGE.read_text("utf-8") == page(CODES.values())


def test_page_has_an_entry_for_every_code_and_shows_how_each_example_is_mended():
    """Each code once, in order, with its difference where it has examples."""
    text = page(CODES.values())
    entries = [line.removeprefix("### ") for line in text.split("\n") if line.startswith("### ")]
    assert entries == sorted(CODES)
    assert text.count("```diff") == sum(bool(code.wrong) for code in CODES.values())
    assert "\u200b" not in text
