"""Polarity: whether a condition becoming true can only help, only hinder, or do either to what is selected.

It is carried down an expression by the checker (for `never`) and by the direction analysis (for evidence), so that both
mean the same by it.
"""

from __future__ import annotations

from enum import IntEnum


class Polarity(IntEnum):
    """Where an expression stands in its rule."""

    NEGATIVE = -1
    MIXED = 0
    POSITIVE = 1

    def flipped(self) -> Polarity:
        """The polarity under one more negation."""
        return Polarity(-self)

    def under(self, sign: Polarity) -> Polarity:
        """The polarity of a part that acts on its whole with `sign`."""
        return Polarity(self * sign)


_ABOVE = frozenset({">", ">="})
_BELOW = frozenset({"<", "<="})
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The same comparison with its sides swapped."""


def sign_of_more_rows(function: str, operator: str) -> Polarity:
    """What one more matching row does to `aggregate <operator> value`: only help it, only hinder it, or either.

    More rows raise `count` and `max` and lower `min`; a `sum` may go either way.
    """
    raised = {"count": Polarity.POSITIVE, "max": Polarity.POSITIVE, "min": Polarity.NEGATIVE}
    direction = raised.get(function, Polarity.MIXED)
    if operator in _ABOVE:
        return direction
    if operator in _BELOW:
        return direction.flipped()
    return Polarity.MIXED
