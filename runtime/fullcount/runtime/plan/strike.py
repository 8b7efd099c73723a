"""Rows that a reviewer strikes from a plan: what is left is another plan, with another digest.

Guarantees: a strike only takes away. The rows that stay, the evidence, the rule, the caps and the authors are those of
the plan that was looked at; the struck objects are kept, each named, for the reason "struck by NAME: …"; the sums hold.
The same strike of the same plan gives the same digest. Nothing here decides who may strike.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.digest import sealed
from fullcount.runtime.plan.document import STRUCK, KeptGroup, PlanDocument, Since

_FLOORS = "the groups of floors are counted as the rule selects, without regard to struck rows"

Key = tuple[Any, ...]


class NotListed(FullcountError):  # noqa: N818 - what was found
    """FC718: what was to be struck is no row of the plan."""

    exit = Exit.USAGE

    def __init__(self, message: str, *, help: str) -> None:  # noqa: A002
        super().__init__("FC718", message, help=help)


def without(
    document: PlanDocument, keys: Sequence[Key], name: str, because: str | None, *, plan_id: str, run_id: str
) -> PlanDocument:
    """Return the plan without these rows. Raises `NotListed`: then none is struck."""
    wanted = dict.fromkeys(keys)
    if len(wanted) == 0:
        raise NotListed("no object was named that should be struck", help="name the keys of rows of the plan")
    listed = {row.key for row in document.rows}
    for key in wanted:
        if key not in listed:
            raise _not_listed(document, key)
    struck = tuple(row.key for row in document.rows if row.key in wanted)
    rows = tuple(row for row in document.rows if row.key not in wanted)
    sums = document.sums
    return sealed(
        document.model_copy(
            update={
                "plan_id": plan_id,
                "run_id": run_id,
                "rows": rows,
                "kept": _kept(document.kept, _reason(name, because), struck),
                "sums": sums.model_copy(
                    update={"candidates": sums.candidates - len(struck), "kept": sums.kept + len(struck)}
                ),
                # what another threshold would select was counted with the struck objects
                "sensitivity": (),
                "notes": _notes(document),
                "since": Since(plan_id=document.plan_id, created_at=document.created_at, new=0, gone=len(struck)),
            }
        )
    )


def with_those_that_wait(document: PlanDocument, keys: Sequence[Key]) -> tuple[Key, ...]:
    """Return the keys, and those of rows that can't be acted on without them: that one of them goes before.

    With what refers to it left where it is, an apply could do nothing with such a row but refuse it.
    """
    found = dict.fromkeys(keys)
    grown = True
    while grown:
        waiting = [row.key for row in document.rows if row.closure is not None and _any(row.closure.first, found)]
        new = [key for key in waiting if key not in found]
        found.update(dict.fromkeys(new))
        grown = len(new) > 0
    return tuple(found)


def _any(keys: Sequence[Key], among: Mapping[Key, None]) -> bool:
    return any(tuple(key) in among for key in keys)


def struck_groups(document: PlanDocument) -> tuple[KeptGroup, ...]:
    """Return the objects that were struck, by the reason; each of them is named."""
    return tuple(group for group in document.kept if group.reason.startswith(STRUCK))


def struck_reasons(document: PlanDocument) -> Mapping[Key, str]:
    """Return why each struck object was struck."""
    return {key: group.reason for group in struck_groups(document) for key in group.examples}


def _reason(name: str, because: str | None) -> str:
    return f"{STRUCK}{name}" if because is None else f"{STRUCK}{name}: {because}"


def _notes(document: PlanDocument) -> tuple[str, ...]:
    if len(document.floors) == 0 or _FLOORS in document.notes:
        return document.notes
    return (*document.notes, _FLOORS)


def _kept(groups: Sequence[KeptGroup], reason: str, struck: tuple[Key, ...]) -> tuple[KeptGroup, ...]:
    same = next((group for group in groups if group.reason == reason), None)
    examples = struck if same is None else (*same.examples, *struck)
    others = tuple(group for group in groups if group is not same)
    return (*others, KeptGroup(reason=reason, count=len(examples), examples=examples))


def _not_listed(document: PlanDocument, key: Key) -> NotListed:
    name = fmt.key(key, 60)
    if any(row.key == key for row in document.undecided):
        return NotListed(
            f"`{name}` is undecided in this plan, so nothing would be done to it; nothing was struck",
            help="leave it out",
        )
    if any(key in group.examples for group in document.kept):
        return NotListed(
            f"`{name}` is kept by this plan, so nothing would be done to it; nothing was struck", help="leave it out"
        )
    rows = {fmt.key(row.key, 60): None for row in document.rows}
    close = difflib.get_close_matches(name, rows, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(f'`{other}`' for other in close)}?" if len(close) > 0 else ""
    return NotListed(
        f"`{name}` is no row of the plan `{document.plan_id}`; nothing was struck",
        help=hint or f"see its rows: `fullcount show {document.plan_id} --all`",
    )
