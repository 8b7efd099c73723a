"""Screens kept as files, so that a change of wording is seen in a review.

`FULLCOUNT_WRITE_SCREENS=1` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path


def assert_screen(path: Path, shown: str) -> None:
    """Compare what is shown with the file."""
    if os.environ.get("FULLCOUNT_WRITE_SCREENS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing: run with FULLCOUNT_WRITE_SCREENS=1 and look at what it wrote"
    assert shown == path.read_text(encoding="utf-8")
