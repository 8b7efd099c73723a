"""The smallest changes that would flip a decision: single facts first.

Guarantees: each answer was tried, on the same rule over a world that differs in these facts alone, and came to the
verdict that stands beside it; no answer holds another that is shorter. The search is of bounded width, so there may be
other ways, and it says nothing of how likely a change is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fullcount.compiler.values import Row
from fullcount.runtime.understand.decision import Decision, Rule, Verdict, decided
from fullcount.runtime.understand.edits import (
    Change,
    DropRow,
    Finish,
    SetField,
    SetParam,
    Unlist,
    contradictory,
    edited,
    edited_row,
)
from fullcount.runtime.understand.knobs import Bench
from fullcount.runtime.understand.trace import Look, Node, Surroundings
from fullcount.runtime.understand.ways import Way, all_of, alternating, ways

SHOWN: Final = 6
"""How many ways are listed at most; of an undecided object, half of them for either side."""
_TRIED: Final = 80
_AT_LEAST: Final = 12
_ROWS_READ: Final = 500_000
"""How many rows of other inventories all tries together go through, but for the first few."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Facts that, were they so, would make the verdict another; all of them are needed."""

    changes: tuple[Change, ...]
    becomes: Verdict


def flips(rule: Rule, row: Row, decision: Decision, around: Surroundings) -> tuple[Flip, ...]:
    """Return the smallest changes that would flip a decision, each tried, the fewest facts first.

    A candidate is flipped by being kept, anything else by being selected; an undecided object by either.
    """
    bench = Bench(rule.inventory, rule.row, around)
    selecting = [] if decision.verdict is Verdict.CANDIDATE else _selecting(decision, bench)
    keeping = _keeping(decision, bench) if decision.verdict in {Verdict.CANDIDATE, Verdict.UNDECIDED} else []
    of_each = SHOWN // 2 if len(selecting) > 0 and len(keeping) > 0 else SHOWN
    wanted = (
        (selecting, frozenset({Verdict.CANDIDATE})),
        (keeping, frozenset({Verdict.KEPT, Verdict.OUTSIDE})),
    )
    return tuple(
        flip for goals, verdicts in wanted for flip in _tried(goals, verdicts, rule, row, decision, around)[:of_each]
    )


def _tried(
    goals: list[Way],
    verdicts: frozenset[Verdict],
    rule: Rule,
    row: Row,
    decision: Decision,
    around: Surroundings,
) -> list[Flip]:
    """Return the ways that lead to one of the verdicts, without those that hold a shorter one."""
    found: list[Flip] = []
    for way in sorted(goals, key=lambda way: _size(way, rule.inventory))[: _tries(rule, decision, around)]:
        texts = {change.text for change in way}
        if len(way) == 0 or any({change.text for change in known.changes} <= texts for known in found):
            continue
        becomes = verdict_with(way, rule, row, decision, around)
        if becomes in verdicts:
            found.append(Flip(way, becomes))
    return found


def verdict_with(way: Way, rule: Rule, row: Row, decision: Decision, around: Surroundings) -> Verdict | None:
    """Return the verdict as it would be with the changes; None if they can't all be so."""
    edits = [change.edit for change in way]
    key = around.key_of(rule.inventory, row)
    if contradictory(edits) or any(
        isinstance(e, DropRow) and (e.inventory, e.key) == (rule.inventory, key) for e in edits
    ):
        return None
    listed = decision.listed and not any(isinstance(edit, Unlist) for edit in edits)
    changed = edited_row(rule.inventory, key, row, edits)
    verdict, _ = decided(rule, changed, edited(around, edits), listed=listed)
    return verdict


def _selecting(decision: Decision, bench: Bench) -> list[Way]:
    if decision.floor is not False:
        return []  # it takes other objects, and how they stand to this one is no matter of a few facts
    parts = [
        ways(decision.scope, True, bench),
        ways(decision.rule, True, bench),
        *(ways(node, False, bench) for node in decision.protections),
        *(ways(node, False, bench) for node in decision.excepts),
        *(ways(node, True, bench) for _, node in decision.arguments),
    ]
    if decision.listed:
        parts.append([(Change(Unlist(), "no exemption list names it"),)])
    return all_of(parts)


def _keeping(decision: Decision, bench: Bench) -> list[Way]:
    return list(
        alternating(
            [
                ways(decision.rule, False, bench),
                *(ways(node, True, bench) for node in decision.protections),
                *(ways(node, True, bench) for node in decision.excepts),
                ways(decision.scope, False, bench),
            ]
        )
    )


def _tries(rule: Rule, decision: Decision, around: Surroundings) -> int:
    """Return how many ways to try: fewer where each try goes through many rows."""
    rows = sum(look.returned for node in decision.nodes for look in _looks(node))
    rows += len(rule.keeps) * around.sizes.get(rule.inventory, 0)
    return max(_AT_LEAST, min(_TRIED, _ROWS_READ // max(rows, 1)))


def _looks(node: Node) -> Iterator[Look]:
    yield from node.looks
    for part in node.parts:
        yield from _looks(part)


def _size(way: Way, inventory: str) -> tuple[int, int]:
    """Fewest facts first, then facts of the object before rows of others, parameters last."""
    return len(way), max((_reach(change, inventory) for change in way), default=0)


def _reach(change: Change, inventory: str) -> int:
    match change.edit:
        case SetField(inventory=of):
            return 0 if of == inventory else 1
        case Unlist():
            return 0
        case Finish():
            return 2
        case SetParam():
            return 3
        case _:
            return 1
