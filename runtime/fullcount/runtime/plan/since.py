"""What came and went since the plan before, and how its question was another one.

Guarantees: whatever of a proposal decides which objects it takes is compared, so that a plan never shows as news of the
world what is only news of its rule: a protection that is gone, an exception fewer, a wider scope. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.document import PlanDocument, PlanRow, Since

_PARTS: Final = {
    "excepts": "the exceptions were others",
    "keeps": "other objects were kept back",
    "picks": "the pick was another",
    "limit": "the limit was another",
    "bounded": "the scope was bounded otherwise",
}
"""Parts of a proposal in a plan's program, and what is said of one that was another."""


def since(
    previous: PlanDocument | None,
    rows: Sequence[PlanRow],
    parameters: Mapping[str, Any],
    rule: str,
    program: Mapping[str, Any],
) -> Since | None:
    """Return what is new and gone since the plan before of the same proposal; None if there was none."""
    if previous is None:
        return None
    before = {_hashable(row.key) for row in previous.rows}
    after = {_hashable(row.key) for row in rows}
    return Since(
        plan_id=previous.plan_id,
        created_at=previous.created_at,
        new=len(after - before),
        gone=len(before - after),
        differs=tuple(_differs(previous, parameters, rule, program)),
    )


def _differs(
    previous: PlanDocument, parameters: Mapping[str, Any], rule: str, program: Mapping[str, Any]
) -> Iterator[str]:
    then = previous.parameters
    for name in sorted({*then, *parameters}):
        if name not in then:
            yield f"without {name}"
        elif name not in parameters or then[name] != parameters[name]:
            yield f"{name} was {fmt.parameter(then[name])}"
    if previous.rule != rule:
        yield "the rule was another"
    if previous.program.get("version") != program.get("version"):
        yield "the program was of another version"
        return
    was, now = (_proposal(each, previous.proposal) for each in (previous.program, program))
    yield from (said for part, said in _PARTS.items() if was.get(part) != now.get(part))
    yield from _protections(was, now)
    yield from _scopes(previous.program, program)


def _proposal(program: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(each for each in program["workflow"]["proposals"] if each["name"] == name)
    return found


def _protections(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Return the protections that were others; the reason of one may change."""
    before, after = (
        {each["name"]: each["condition"] for each in proposal.get("protections", ())} for proposal in (was, now)
    )
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"`{name}` protected"
        elif name not in before:
            yield f"`{name}` did not protect"
        elif before[name] != after[name]:
            yield f"`{name}` protected others"


def _scopes(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Return the inventories that were read over another scope."""
    before, after = (program["workflow"]["inventories"]["$map"] for program in (was, now))
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"`{name}` was read"
        elif name not in before:
            yield f"`{name}` was not read"
        elif any(before[name].get(part) != after[name].get(part) for part in ("source", "resource", "scope", "across")):
            yield f"the scope of `{name}` was another"


def _hashable(value: Any) -> Hashable:
    """Return a key of JSON values as something that can stand in a set."""
    return tuple(_hashable(item) for item in value) if isinstance(value, list | tuple) else value
