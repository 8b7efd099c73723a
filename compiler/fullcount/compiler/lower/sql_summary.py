"""What a set of rows says of an aggregate, in SQL: the counterpart of the evidence classes of `intervals.py`.

A set is summarised in one struct. The structs of disjoint sets add up to the interval. A set without rows may be NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullcount.compiler import ir
from fullcount.compiler.lower import numbers, sql_text
from fullcount.compiler.lower.sql_frame import NEVER, Frame, Range
from fullcount.compiler.types import DECIMAL, Type

_MAY = "s.p IS NOT FALSE AND NOT s.a"
"""The row may belong and may have a value."""
_OPEN = f"COALESCE(bool_or({_MAY} AND s.v IS NULL), FALSE)"
"""Such a row's value could be anything."""


def summary(expr: ir.Aggregate) -> dict[str, str]:
    """Return the parts of the summary of a set of rows `s(p, v, a)`."""
    parts = _summary(expr)
    return parts if expr.needs is None else {**parts, "samples": _SAMPLES}


_SAMPLES = "count(*) FILTER (WHERE s.p AND s.v IS NOT NULL)"
"""How many rows surely belong, with a known value."""


def _summary(expr: ir.Aggregate) -> dict[str, str]:
    match expr.function:
        case "count":
            return {
                "certain": "count(*) FILTER (WHERE s.p)",
                "possible": "count(*) FILTER (WHERE s.p IS NULL)",
            }
        case "min" | "max":
            return {
                "certain": f"{expr.function}(s.v) FILTER (WHERE s.p)",
                "overall": f"{expr.function}(s.v) FILTER (WHERE s.p IS NOT FALSE)",
                "contributors": f"COALESCE(bool_or({_MAY}), FALSE)",
                "open": _OPEN,
            }
        case "sum":
            found = {"open": _OPEN}
            for part, value in _units(expr.type).items():
                found[f"certain_{part}"] = f"COALESCE(sum({value}) FILTER (WHERE s.p), 0)"
                found[f"lowering_{part}"] = f"COALESCE(sum({value}) FILTER (WHERE s.p IS NULL AND s.v < 0), 0)"
                found[f"raising_{part}"] = f"COALESCE(sum({value}) FILTER (WHERE s.p IS NULL AND s.v > 0), 0)"
            return found
        case "avg" if expr.of is not None:
            sums = {
                f"certain_{part}": f"COALESCE(sum({value}) FILTER (WHERE s.p), 0)"
                for part, value in _units(expr.of.type).items()
            }
            unsettled = f"COALESCE(bool_or({_MAY} AND (s.p IS NULL OR s.v IS NULL)), FALSE)"
            return {
                **sums,
                "certain": _SAMPLES,
                "contributors": f"COALESCE(bool_or({_MAY}), FALSE)",
                "unsettled": unsettled,
            }
        case _:
            raise ValueError(f"`{expr.function}` is not an aggregate")


def _units(of_type: Type) -> dict[str, str]:
    """Decimals are added in two parts, whole and steps, each of which is far from its own limit."""
    if of_type != DECIMAL:
        return {"whole": "s.v"}
    fraction = f"CAST(s.v % CAST(1 AS {_DECIMAL}) AS {_DECIMAL})"
    return {
        "whole": f"CAST(s.v - {fraction} AS HUGEINT)",
        "steps": f"CAST(CAST({fraction} AS DECIMAL(18,9)) * {numbers.DECIMAL_UNIT} AS BIGINT)",
    }


_DECIMAL = sql_text.sql_type(DECIMAL)


def packed(parts: dict[str, str]) -> str:
    """Return the summary as one struct."""
    return "struct_pack(" + ", ".join(f"{name} := {sql}" for name, sql in parts.items()) + ")"


def interval(frame: Frame, expr: ir.Aggregate, sets: Sequence[str], complete: bool) -> Range:
    """Return the interval that the summaries of disjoint sets add up to."""
    found = _interval(frame, expr, sets, complete)
    if expr.needs is None:
        return found
    samples = " + ".join(f"COALESCE({s}.samples, 0)" for s in sets)
    enough = frame.hoist(f"({samples} >= {expr.needs})")
    return Range(found.low, found.high, f"({found.present} AND {enough})", NEVER)


def _interval(frame: Frame, expr: ir.Aggregate, sets: Sequence[str], complete: bool) -> Range:
    def total(*parts: str) -> str:
        return "(" + " + ".join(f"COALESCE({s}.{part}, 0)" for s in sets for part in parts) + ")"

    def any_of(part: str) -> str:
        return "(" + " OR ".join(f"COALESCE({s}.{part}, FALSE)" for s in sets) + ")"

    unbounded = f"CAST(NULL AS {_bound_type(expr)})"
    match expr.function:
        case "count":
            low = frame.hoist(total("certain"))
            high = frame.hoist(total("certain", "possible")) if complete else unbounded
            return Range(low, high, "TRUE", NEVER)
        case "min" | "max":
            better = "least" if expr.function == "min" else "greatest"
            certain = frame.hoist(f"{better}({', '.join(f'{s}.certain' for s in sets)})")
            present = f"({certain} IS NOT NULL)"
            if not complete:
                reach, absent = unbounded, NEVER
            else:
                reach = frame.hoist(
                    f"CASE WHEN NOT {any_of('open')} THEN {better}({', '.join(f'{s}.overall' for s in sets)}) END"
                )
                absent = f"(NOT {any_of('contributors')})"
            low, high = (reach, certain) if expr.function == "min" else (certain, reach)
            return Range(low, high, present, absent)
        case "avg" if expr.of is not None:
            count = frame.hoist(total("certain"))
            present = f"({count} > 0)"
            if not complete:
                return Range(unbounded, unbounded, present, NEVER)
            steps = total("certain_steps") if expr.of.type == DECIMAL else None
            low, high = _average(frame, expr, total("certain_whole"), steps, count)
            settled = f"{present} AND NOT {any_of('unsettled')}"
            bounds = [frame.hoist(f"CASE WHEN {settled} THEN {bound} END") for bound in (low, high)]
            return Range(bounds[0], bounds[1], present, f"(NOT {any_of('contributors')})")
        case _:
            if not complete:
                return Range(unbounded, unbounded, "TRUE", NEVER)
            bounds = []
            for side, moving in (("low", "lowering"), ("high", "raising")):
                whole = total("certain_whole", f"{moving}_whole")
                if expr.type == DECIMAL:
                    steps = total("certain_steps", f"{moving}_steps")
                    bound = _decimal_bound(frame, whole, steps, low=side == "low")
                else:
                    bound = whole
                bounds.append(frame.hoist(f"CASE WHEN NOT {any_of('open')} THEN {bound} END"))
            return Range(bounds[0], bounds[1], "TRUE", NEVER)


def _average(frame: Frame, expr: ir.Aggregate, whole: str, steps: str | None, count: str) -> tuple[str, str]:
    """Return the quotient rounded down and up to the steps of its type; decimals are divided in two parts as well."""
    n = f"CAST(NULLIF({count}, 0) AS HUGEINT)"
    quotient, rest = _divided(frame, whole, n)
    if expr.type != DECIMAL:
        return quotient, f"{quotient} + CASE WHEN {rest} = 0 THEN 0 ELSE 1 END"
    carried = f"{rest} * {numbers.DECIMAL_UNIT}" + ("" if steps is None else f" + CAST({steps} AS HUGEINT)")
    low_steps, left = _divided(frame, carried, n)
    high_steps = f"({low_steps} + CASE WHEN {left} = 0 THEN 0 ELSE 1 END)"
    # an average lies among the values, so neither bound can leave the range
    return _decimal(frame, quotient, low_steps), _decimal(frame, quotient, high_steps)


def _decimal(frame: Frame, whole: str, steps: str) -> str:
    """Return the decimal of so many wholes and smallest steps; what stands behind the point has the sign of it all."""
    unit = f"CAST({numbers.DECIMAL_UNIT} AS HUGEINT)"
    more, rest = _divided(frame, steps, unit)
    floor = frame.hoist(f"{whole} + {more}")

    def joined(before: str, behind: str) -> str:
        fraction = f"CAST({behind} AS DECIMAL(18,0)) * CAST('0.000000001' AS DECIMAL(10,9))"
        return f"TRY_CAST({before} AS {_DECIMAL}) + CAST({fraction} AS {_DECIMAL})"

    below_zero = joined(f"({floor} + 1)", f"({rest} - {unit})")
    return f"CASE WHEN {floor} < 0 AND {rest} > 0 THEN {below_zero} ELSE {joined(floor, rest)} END"


def _divided(frame: Frame, dividend: str, divisor: str) -> tuple[str, str]:
    """Return quotient and remainder of a division towards minus infinity."""
    held = frame.hoist(f"CAST({dividend} AS HUGEINT)")
    rest = frame.hoist(f"(({held} % {divisor}) + {divisor}) % {divisor}")
    return frame.hoist(f"({held} - {rest}) // {divisor}"), rest


def _bound_type(expr: ir.Aggregate) -> str:
    return "HUGEINT" if expr.function in ("count", "sum") and expr.type != DECIMAL else sql_text.sql_type(expr.type)


def _decimal_bound(frame: Frame, whole: str, steps: str, *, low: bool) -> str:
    """Return the sum of both parts, or the bound that `numbers.lower_bound` and `upper_bound` give for it."""
    unit = f"CAST({numbers.DECIMAL_UNIT} AS HUGEINT)"
    carried = frame.hoist(f"CAST({steps} AS HUGEINT)")
    rest = frame.hoist(f"(({carried} % {unit}) + {unit}) % {unit}")
    floor = frame.hoist(f"{whole} + ({carried} - {rest}) // {unit}")
    limit = f"CAST('{numbers.DECIMAL_WHOLE}' AS HUGEINT)"
    fraction = f"CAST({rest} AS DECIMAL(18,0)) * CAST('0.000000001' AS DECIMAL(10,9))"
    exact = f"TRY_CAST({floor} AS {_DECIMAL}) + CAST({fraction} AS {_DECIMAL})"
    below, above = (
        ("NULL", f"CAST('{numbers.DECIMAL_MAX}' AS {_DECIMAL})")
        if low
        else (f"CAST('{numbers.DECIMAL_MIN}' AS {_DECIMAL})", "NULL")
    )
    return f"CASE WHEN {floor} >= {limit} THEN {above} WHEN {floor} <= -{limit} THEN {below} ELSE {exact} END"
