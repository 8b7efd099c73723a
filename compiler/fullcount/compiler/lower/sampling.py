"""`sample`: the same part of all texts, every time and everywhere, by SHA-256.

A text is in the sample of `p` percent if the SHA-256 of its UTF-8 bytes, read as a number, is less than `p` percent of
2^256 (rounded down). So a smaller sample is always a part of a larger one, and nothing but the text decides.

Digests and borders are compared as texts of 64 hexadecimal digits, whose order is that of the numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

_ALL = 2**256


def border(percent: Decimal) -> str:
    """Return the digest that the sample ends before. Raises ValueError unless 0 < percent < 100."""
    if not 0 < percent < 100:
        raise ValueError(f"{percent}% is not a part of all texts")
    return f"{int(Fraction(percent) * _ALL / 100):064x}"


def sampled(before: str) -> Callable[[str], bool]:
    """Return the test that a text is in the sample that ends before a digest."""
    return lambda text: hashlib.sha256(text.encode()).hexdigest() < before


def sampled_sql(before: str, value: str) -> str:
    """Return the test over a DuckDB expression."""
    return f"(sha256({value}) < '{before}')"
