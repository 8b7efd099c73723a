"""Arithmetic in signed 64 bits, and sums of decimals that cannot overflow.

What leaves the range has no known value (None here): it never wraps, and never raises.
"""

from __future__ import annotations

from decimal import Decimal

from fullcount.compiler.values import DECIMAL_PRECISION, DECIMAL_SCALE, INT_MAX, INT_MIN

DECIMAL_UNIT = 10**DECIMAL_SCALE
"""How many of the smallest steps make 1."""

DECIMAL_WHOLE = 10 ** (DECIMAL_PRECISION - DECIMAL_SCALE)
"""The whole part of a decimal stays below this, on both sides of zero."""

DECIMAL_MAX = Decimal(f"{DECIMAL_WHOLE - 1}.{DECIMAL_UNIT - 1}")
DECIMAL_MIN = Decimal(-(DECIMAL_WHOLE - 1))
"""The least sum that is kept as it is; a lesser one is only known to be at most this."""


def in_range(number: int) -> int | None:
    """Return the number, or None outside of signed 64 bits."""
    return number if INT_MIN <= number <= INT_MAX else None


def calculate(operator: str, left: int, right: int) -> int | None:
    """Return `left operator right`, or None outside of signed 64 bits and for `/ 0`. Division goes towards zero."""
    match operator:
        case "+":
            return in_range(left + right)
        case "-":
            return in_range(left - right)
        case "*":
            return in_range(left * right)
        case "/":
            if right == 0:
                return None
            quotient = abs(left) // abs(right)
            return in_range(quotient if (left < 0) == (right < 0) else -quotient)
        case _:
            raise ValueError(f"`{operator}` is not an arithmetic operator")


def decimal_steps(value: Decimal) -> int:
    """Return the decimal as a whole number of smallest steps."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent < -DECIMAL_SCALE:
        raise ValueError(f"`{value}` is not a decimal with at most {DECIMAL_SCALE} digits after the point")
    steps: int = int("".join(map(str, digits))) * 10 ** (exponent + DECIMAL_SCALE)
    return -steps if sign else steps


def lower_bound(steps: int) -> Decimal | None:
    """Return the greatest decimal that is surely not above a sum; None if there is none."""
    whole = steps // DECIMAL_UNIT
    if whole >= DECIMAL_WHOLE:
        return DECIMAL_MAX
    return None if whole <= -DECIMAL_WHOLE else decimal_of(steps)


def upper_bound(steps: int) -> Decimal | None:
    """Return the least decimal that is surely not below a sum; None if there is none."""
    whole = steps // DECIMAL_UNIT
    if whole <= -DECIMAL_WHOLE:
        return DECIMAL_MIN
    return None if whole >= DECIMAL_WHOLE else decimal_of(steps)


def decimal_of(steps: int) -> Decimal:
    """Return the decimal that is so many smallest steps, exactly."""
    digits = tuple(int(d) for d in str(abs(steps)))
    return Decimal((1 if steps < 0 else 0, digits, -DECIMAL_SCALE))
