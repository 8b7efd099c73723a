"""Whether an object is on an exemption list by now.

Parts of a key are compared as text: a list written by hand says `17` or `"17"`, and where the two could be confused the
object is left alone. An entry holds through its last day, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from fullcount.compiler.lower.spelling import spelled
from fullcount.runtime.workspace.exemptions import Exemption


def exempted(
    entries: Iterable[Exemption],
    key: tuple[Any, ...],
    workflow: str,
    at: datetime,
    rules: Sequence[Sequence[str]] = (),
) -> str | None:
    """Return why the object is exempted, with by whom; None if it is on no list that holds for the workflow.

    `rules` are those by which each part of the key is spelled; none: as it is.
    """
    wanted = _alike(key, rules)
    today = at.astimezone(UTC).date()
    for entry in entries:
        if entry.workflow is not None and entry.workflow != workflow:
            continue
        if not entry.holds_on(today):
            continue
        if _alike(entry.key, rules) == wanted:
            return f"{entry.reason} ({entry.owner})"
    return None


def _alike(key: Sequence[Any], rules: Sequence[Sequence[str]]) -> tuple[str, ...]:
    parts = tuple(map(_as_text, key))
    if len(parts) != len(rules):
        return parts
    return tuple(spelled(part, own) for part, own in zip(parts, rules, strict=True))


def _as_text(part: Any) -> str:
    return str(part).lower() if isinstance(part, bool) else str(part)
