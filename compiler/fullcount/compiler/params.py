"""Parameters given at plan time, from text to values; nothing is guessed and nothing is left unset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from fullcount.compiler import ir
from fullcount.compiler.constants import decimal_fits
from fullcount.compiler.program import Param, Workflow
from fullcount.compiler.report import did_you_mean
from fullcount.compiler.types import Kind, Scalar
from fullcount.compiler.values import INT_MAX, INT_MIN, Value
from fullcount.compiler.walk import nodes
from fullcount.dsl import literals

_EXAMPLES = {
    Kind.INT: "100",
    Kind.DECIMAL: "2.5",
    Kind.BOOL: "true",
    Kind.TIMESTAMP: "2026-01-31T00:00:00Z",
    Kind.DATE: "2026-01-31",
    Kind.DURATION: "90d",
    Kind.SIZE: "10 GiB",
}
_NUMBER = r"[0-9]+(?:_[0-9]+)*(?:\.[0-9]+(?:_[0-9]+)*)?"
_SIGNED = frozenset({Kind.INT, Kind.DECIMAL, Kind.DURATION})


class ParamError(ValueError):
    """A parameter that is unknown, missing, or not of its type. The message is for people."""


def bind_params(workflow: Workflow, given: Mapping[str, str]) -> Mapping[str, Value]:
    """Return the value of every parameter: the given text read by the parameter's type, else its default.

    Texts are taken as they are, without quotes; all others are written as in a workflow. Raises ParamError.
    """
    known = {param.name: param for param in workflow.params}
    for name in given:
        if name not in known:
            raise ParamError(
                f"workflow `{workflow.name}` has no parameter `{name}`; {did_you_mean(name, known, 'parameters')}"
            )
    bound: dict[str, Value] = {}
    for name, param in known.items():
        if name in given:
            bound[name] = parse_value(param, given[name])
        elif param.default is not None:
            bound[name] = param.default
        else:
            raise ParamError(f"parameter `{name}: {param.type}` has no default; give it with `--param {name}=…`")
    for name in sorted(_parts_of_texts(workflow)):
        if bound[name] == "":
            raise ParamError(
                f"parameter `{name}` is empty, and every text begins with, ends with and holds an empty one: the rule"
                " asks for nothing; give it the text that is meant"
            )
    return bound


def _parts_of_texts(workflow: Workflow) -> set[str]:
    """Return the parameters that the workflow looks for at the beginning, at the end or inside of texts."""
    scopes = [each.scope for each in workflow.inventories.values() if each.scope is not None]
    read = [expr for proposal in workflow.proposals for expr in proposal.deciding]
    calls = [node for expr in (*scopes, *read) for node in nodes(expr) if isinstance(node, ir.Call)]
    parts = [call.arguments[1] for call in calls if call.function in {"starts_with", "ends_with", "contains"}]
    return {part.name for part in parts if isinstance(part, ir.Param)}


def parse_value(param: Param, text: str) -> Value:
    """Return the value of one parameter from its text. Raises ParamError."""
    if not isinstance(param.type, Scalar):
        raise ParamError(f"parameter `{param.name}` is `{param.type}`, which can't be given as text")
    kind = param.type.kind
    if kind is Kind.TEXT:
        return text
    value = _literal(kind, text.strip())
    if value is None:
        raise ParamError(
            f"parameter `{param.name}` is `{param.type}`, and `{text}` is not one; write it as `{_EXAMPLES[kind]}`"
        )
    # A length below zero turns `now - idle` into a time to come, which every object is older than.
    if kind is Kind.DURATION and _below_zero(value) and not _below_zero(param.default):
        raise ParamError(
            f"parameter `{param.name}` is given as `{text.strip()}`, a length below zero; the language has such"
            " lengths, and where one is meant its default in the workflow is below zero too"
        )
    return value


def _below_zero(value: Value | None) -> bool:
    return isinstance(value, int) and value < 0


def _literal(kind: Kind, text: str) -> Value | None:
    if kind is Kind.BOOL:
        return {"true": True, "false": False}.get(text)
    negative = text.startswith("-") and kind in _SIGNED
    digits = text[1:].lstrip() if negative else text
    if kind in {Kind.INT, Kind.DECIMAL}:
        read = literals.number(digits) if re.fullmatch(_NUMBER, digits) else None
    elif kind in {Kind.DURATION, Kind.SIZE}:
        read = literals.quantity(digits)
    else:
        read = literals.moment(digits)
    if not isinstance(read, literals.Value) or read.kind != kind:
        return None
    value = -read.value if negative and not isinstance(read.value, str) else read.value
    if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        return None
    return value if not isinstance(value, Decimal) or decimal_fits(value) else None
