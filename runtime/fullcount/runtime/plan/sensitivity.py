"""What another length of time would have selected, and which kept object is nearest to being selected.

Computed by running the very statement of the plan again with another length, never estimated.
"""

from __future__ import annotations

from datetime import timedelta

from fullcount.compiler import ir, program
from fullcount.compiler.lower.closure import NOWHERE, compile_value
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import exact_duration
from fullcount.runtime.plan.document import Sensitivity
from fullcount.runtime.plan.evaluate import Candidate, Evaluation
from fullcount.runtime.plan.thresholds import Threshold, other_lengths, thresholds, with_length

BORDERS = 2
"""How many borders of a rule are tried at most; parameters come first."""
_COMPARED = 2_000
_NARROWER = 8


def sensitivity(
    evaluation: Evaluation, proposal: program.Proposal, bindings: Bindings, candidates: int
) -> tuple[Sensitivity, ...]:
    """Return the counts for other lengths of the rule's first borders, and the nearest kept object if there is one."""
    found: list[Sensitivity] = []
    for border in thresholds(proposal.where, proposal.row)[:BORDERS]:
        length, nearest = border.length_of(bindings), None
        tried: list[tuple[int, int]] = []
        for other in sorted(other_lengths(length), key=lambda other: abs(other - length)):
            count = evaluation.count_with(*with_length(border, proposal.where, bindings, other))
            if nearest is None and count > candidates:
                nearest = (other, _closest(evaluation, proposal, border, bindings, other))
            tried.append((other, count))
        for other, count in sorted(tried):
            closest = nearest[1] if nearest is not None and nearest[0] == other else None
            found.append(Sensitivity(change=_change(border, other), candidates=count, closest=closest))
    return tuple(found)


def _change(border: Threshold, other: int) -> str:
    if isinstance(border.length, ir.Param):
        return f"{border.name} {exact_duration(other)}"
    return f"{exact_duration(other)} instead of {border.name}"


def _closest(
    evaluation: Evaluation, proposal: program.Proposal, border: Threshold, bindings: Bindings, other: int
) -> str | None:
    """Return the object that another length would take first; None if too many are equally near to compare."""
    length = border.length_of(bindings)
    for _ in range(_NARROWER):
        newcomers = evaluation.newcomers(*with_length(border, proposal.where, bindings, other), _COMPARED)
        if len(newcomers) == 0:
            return None
        if len(newcomers) < _COMPARED:
            return _nearest(newcomers, proposal, border, bindings)
        other = (length + other) // 2
    return None


def _nearest(
    newcomers: list[Candidate], proposal: program.Proposal, border: Threshold, bindings: Bindings
) -> str | None:
    instant_of = compile_value(border.instant, bindings)
    at = border.border(bindings)
    measured: list[tuple[int, int, Candidate]] = []
    for number, item in enumerate(newcomers):
        value = instant_of({proposal.row: item.cells}, NOWHERE).value
        if isinstance(value, int):
            measured.append((abs(value - at), number, item))
    if len(measured) == 0:
        return None
    _, _, item = min(measured)
    value = instant_of({proposal.row: item.cells}, NOWHERE).value
    away = timedelta(microseconds=abs(bindings.now - int(str(value))))
    return f"{fmt.key(item.key, 60)} ({fmt.length(away)})"
