"""What a plan's program says of its acts, as far as a record is judged by it: read strictly, for both verifiers.

Guarantees: a part that can't be read is told (`Unread`), and never taken for one that says nothing: what would be
judged by it was not judged then. That a plan only proposes, has no rate or no canary is said by its program, not by a
gap in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

_DIGITS: Final = 40
"""More has no number that a program holds."""


class Unread(ValueError):  # noqa: N818 - a state of the document
    """A part of a program can't be read; the message says which."""


def act_of(plan: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a plan does to its objects; None: it only proposes. Raises `Unread`."""
    acts = [_parts_of(each, "an act") for each in _list_of(_workflow_of(plan), "acts")]
    mine = [act for act in acts if _text_of(act, "proposal") == plan["proposal"]]
    if len(mine) > 1:
        raise Unread(f"it has {len(mine)} acts for `{plan['proposal']}`")
    return mine[0] if mine else None


def steps_of(act: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the steps of an act: each with its `label`, when it is due `after` the one before, and its `call`.

    Raises `Unread`.
    """
    steps = [_parts_of(each, "a step") for each in _list_of(act, "steps")]
    return [each | {"label": _text_of(each, "label"), "after": _whole_of(each, "after")} for each in map(dict, steps)]


def name_of_call(call: Any) -> str:
    """Return what a call does, as an intent names it. Raises `Unread`."""
    said = _parts_of(call, "a call")
    return ".".join(_text_of(said, part) for part in ("source", "resource", "operation"))


def rate_of(act: Mapping[str, Any]) -> Decimal | None:
    """Return how many acts a second are allowed; None: any number. Raises `Unread`."""
    rate = _part_of(act, "rate")
    if rate is None:
        return None
    try:
        found = Decimal(str(rate["$decimal"] if isinstance(rate, dict) else rate))
    except (InvalidOperation, KeyError):
        raise Unread("its `rate` is no number") from None
    if not found.is_finite() or found <= 0:
        raise Unread(f"its `rate` of {found} is none that acts can keep to")
    return found


def canary_of(act: Mapping[str, Any]) -> tuple[int, tuple[int, str] | None] | None:
    """Return how many objects are the canary, and of what no more than how many may be there after; None: none is.

    Raises `Unread`.
    """
    canary = _part_of(act, "canary")
    if canary is None:
        return None
    said = _parts_of(canary, "its canary")
    then = said.get("then")  # it came later, and is left out where it says nothing
    if then is None:
        return _whole_of(said, "count"), None
    counted = _parts_of(then, "what its canary counts")
    return _whole_of(said, "count"), (
        _whole_of(counted, "count"),
        f"{_text_of(counted, 'source')}.{_text_of(counted, 'resource')}",
    )


def to_rehearse(act: Mapping[str, Any]) -> list[str | None]:
    """Return the steps of an act whose restore is rehearsed; None: its one operation. Raises `Unread`."""
    steps = [step["label"] for step in steps_of(act) if _yes_of(step, "rehearse")]
    return [None] if _yes_of(act, "rehearse") else steps


def told_of(plan: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return who is told of the ends of a plan's runs, each of which events. Raises `Unread`."""
    notifies = [_parts_of(each, "who is told") for each in _list_of(_workflow_of(plan), "notifies")]
    return [(_text_of(each, "target"), _list_of(each, "events")) for each in notifies]


def program_wrong(plan: Mapping[str, Any]) -> str | None:
    """Return why what a plan does can't be judged by its program; None: all of it can be read."""
    try:
        told_of(plan)
        act = act_of(plan)
        if act is not None:
            for step in steps_of(act):
                name_of_call(_part_of(step, "call"))
            if _part_of(act, "release") is not None:
                name_of_call(act["release"])
            rate_of(act)
            canary_of(act)
            to_rehearse(act)
        elif plan["steps"] is not None:
            raise Unread("it has no act, and the plan takes steps")
        at_steps = any(row.get("step") is not None for row in plan["rows"])
        if (
            plan["steps"] is None and at_steps and plan.get("undo") is None
        ):  # an undo takes none, and names those of acts
            raise Unread("its rows are at steps, and it takes none")
    except Unread as error:
        return f"what it does can't be read in its program, so that its acts can't be judged by it: {error}"
    return None


def _workflow_of(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return _parts_of(_part_of(_parts_of(plan["program"], "the program"), "workflow"), "its workflow")


def _part_of(of: Mapping[str, Any], name: str) -> Any:
    if name not in of:
        raise Unread(f"`{name}` is missing")
    return of[name]


def _parts_of(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Unread(f"{what} is not made of parts")
    return value


def _list_of(of: Mapping[str, Any], name: str) -> list[Any]:
    found = _part_of(of, name)
    if not isinstance(found, list):
        raise Unread(f"`{name}` is no list")
    return found


def _text_of(of: Mapping[str, Any], name: str) -> str:
    found = _part_of(of, name)
    if not isinstance(found, str):
        raise Unread(f"`{name}` is no text")
    return found


def _whole_of(of: Mapping[str, Any], name: str) -> int:
    """Return a whole number; a large one stands as text (`{"$int": "…"}`)."""
    found = _part_of(of, name)
    if isinstance(found, dict) and set(found) == {"$int"}:
        text = found["$int"]
        if isinstance(text, str) and len(text) <= _DIGITS and text.isascii() and text.removeprefix("-").isdecimal():
            return int(text)
    if type(found) is not int:
        raise Unread(f"`{name}` is no whole number")
    return found


def _yes_of(of: Mapping[str, Any], name: str) -> bool:
    """Return a yes or no that came later, and is left out where it is no."""
    found = of.get(name, False)
    if not isinstance(found, bool):
        raise Unread(f"`{name}` is neither yes nor no")
    return found
