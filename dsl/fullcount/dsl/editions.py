"""Editions: the versions of the language. They are counted apart from the versions of the package.

A file without `edition` is read in the current one. A change that would give a right text another meaning comes only
with a new edition, and each edition that was ever published stays readable.
"""

from __future__ import annotations

from typing import Final

#: The edition that new files are written in.
CURRENT: Final = "2026"

#: Every edition that is understood, the oldest first.
EDITIONS: Final = ("2026",)
