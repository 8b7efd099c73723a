"""Errors beside data: what an error of a GraphQL reply takes away, told by its path.

Guarantees: an error is never passed over. One that names a field of one item makes that field unknown; one that took an
item, the list or a branch above it makes the read incomplete, with the reason of its type.
"""

from __future__ import annotations

from typing import Any

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.ways import usual_way
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.exchange import Exchange
from fullcount.runtime.connectors.http.forms import GraphQL, Operation
from fullcount.runtime.connectors.http.said import Found, Said, way_on
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Incompleteness


def read_errors(operation: Operation, exchange: Exchange, said: Said) -> None:
    """Note what each error of a reply takes away."""
    rules = operation.graphql
    if rules is None:
        return
    trail = _trail(operation, exchange.reply.body)
    lost: dict[str, FieldState] = {}
    stated = paths.first(exchange.reply.body, rules.errors)
    if stated is not None and not isinstance(stated, list):
        detail = "`errors` that is no list: what failed is not told"
        said.found.append(Found(Incompleteness(code=Reason.PARTIAL_ERRORS, detail=detail), None))
    for error in paths.find(exchange.reply.body, f"{rules.errors}/*"):
        kind = paths.first_of(error, rules.type)
        field = _field(paths.first(error, "path"), trail, operation.unwrap)
        if field is None:
            found = _reason(rules, kind, error)
            if all(found.reason.code is not one.reason.code for one in said.found):
                said.found.append(found)
            continue
        state = FieldState.FORBIDDEN if kind in rules.forbidden else FieldState.SOURCE_FAILED
        said.lost_fields[field] = state
        lost[field[1]] = state
    if len(lost) > 0:
        named = ", ".join(f"`{name}`" for name in lost)
        said.warn(WarningCode.PARTIAL_FIELD_SET, f"errors in the reply took values of {named}", fields=list(lost))


def _trail(operation: Operation, body: Any) -> tuple[str | int, ...]:
    """Return the steps to the list, without `data`, as the paths of errors leave it out."""
    for place in [operation.items] if isinstance(operation.items, str) else operation.items:
        found = paths.located(body, place)
        if len(found) > 0:
            return found[0][0][1:]
    return ()


def _field(path: Any, trail: tuple[str | int, ...], unwrap: str | None) -> tuple[int, str] | None:
    """Return the item's place and the field that an error's path names; None if it took more than a field."""
    steps = path if isinstance(path, list) else []
    if len(trail) == 0 or tuple(steps[: len(trail)]) != trail:
        return None
    rest = steps[len(trail) :]
    if len(rest) > 1 and rest[1] == unwrap:
        rest = [rest[0], *rest[2:]]
    return (rest[0], str(rest[1])) if len(rest) > 1 and isinstance(rest[0], int) else None


def _reason(rules: GraphQL, kind: Any, error: Any) -> Found:
    code = rules.reasons.get(str(kind), Reason.PARTIAL_ERRORS)
    said = error.get("message", "") if isinstance(error, dict) else ""
    reason = Incompleteness(code=code, detail=f"the reply has an error of type `{kind}`: {said}", data={"type": kind})
    way = rules.ways.get(str(kind))
    return Found(reason, usual_way(reason) if way is None else way_on(way))
