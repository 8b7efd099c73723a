"""Whether a row still is what was seen at the recheck, and whether a write that got lost took effect. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, FieldState, Value, present
from fullcount.runtime.connectors.base import ActCall

_KNOWN = frozenset({FieldState.PRESENT, FieldState.ABSENT})


@dataclass(frozen=True, slots=True)
class Difference:
    """Why the write must not happen. `verifiable`: the row is known to differ; else it can't be compared."""

    detail: str
    verifiable: bool = True


def fields_to_compare(call: ActCall) -> list[str]:
    """Return the fields that the precondition rests on."""
    return sorted({*call.expected, *call.resource.key})


def difference(call: ActCall, now: Mapping[str, Cell]) -> Difference | None:
    """Return what stands against the write, or None if the row is as expected."""
    resource = call.resource
    unknown = set(call.expected) - set(resource.fields)
    if unknown or not call.expected:
        return Difference("what was seen of the object is not known, so nothing can be compared", verifiable=False)
    if resource.version is not None and not is_known(call.expected.get(resource.version)):
        return Difference(
            f"its version `{resource.version}` was not seen, so nothing can be compared", verifiable=False
        )
    for name in _most_telling_first(resource, call.expected):
        found = _compare(resource, name, call.expected[name], now[name])
        if found is not None:
            return found
    return None


def _most_telling_first(resource: Resource, names: Mapping[str, Cell]) -> list[str]:
    rank = {resource.incarnation: 0, resource.version: 1}
    return sorted(names, key=lambda name: (rank.get(name, 2), name))


def _compare(resource: Resource, name: str, expected: Cell, now: Cell) -> Difference | None:
    identifies = name in {resource.incarnation, resource.version}
    if not is_known(expected):
        if identifies:
            return Difference(f"`{name}` was not known when the object was seen", verifiable=False)
        return None
    if not is_known(now):
        # with a version that is equal, a field that this credential can't read needs no comparison of its own
        needed = identifies or resource.version is None
        return (
            Difference(f"`{name}` can't be compared: {now.state} to the acting credential", False) if needed else None
        )
    if expected == now:
        return None
    if name == resource.incarnation:
        return Difference(f"another object has this key now: `{name}` differs")
    return Difference(f"it changed since it was seen: `{name}` differs")


def delete_took_effect(call: ActCall, now: Mapping[str, Cell] | None) -> bool | None:
    """Tell whether a delete happened, from the row as it is now (None: there is none)."""
    if now is None:
        return True
    same = _same_incarnation(call, now)
    if same is not None:
        return not same
    return False if _as_expected(call, now) else None


def update_took_effect(
    call: ActCall, wanted: Mapping[str, Value], now: Mapping[str, Cell] | None, *, managed: bool
) -> bool | None:
    """Tell whether an update happened. `managed`: each update of ours adds 1 to the version.

    `wanted`: what it sets. Of one that sets no field of the object only an unmoved version tells something: that it
    did not happen.
    """
    if now is None or _same_incarnation(call, now) is False:
        return None
    version = call.resource.version
    seen = None if version is None else call.expected.get(version)
    same_version = None if version is None or seen is None or not is_known(seen) else seen == now[version]
    if len(wanted) == 0:
        return False if same_version else None
    if all(now[name] == present(value) for name, value in wanted.items()):
        return not (managed and same_version)
    if same_version is not None:
        return False if same_version else None
    return False if _as_expected(call, now) else None


def _same_incarnation(call: ActCall, now: Mapping[str, Cell]) -> bool | None:
    name = call.resource.incarnation
    if name is None:
        return None
    expected = call.expected.get(name)
    if not is_known(expected) or not is_known(now[name]):
        return None
    return expected == now[name]


def _as_expected(call: ActCall, now: Mapping[str, Cell]) -> bool:
    return all(is_known(cell) and now.get(name) == cell for name, cell in call.expected.items())


def is_known(cell: Cell | None) -> bool:
    """Whether it was read what stands there, if only that nothing does."""
    return cell is not None and cell.state in _KNOWN
