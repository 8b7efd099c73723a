"""What an act does, operation by operation, each with the clauses that stand beside it in the text.

An act with one operation has one deed, a graduated one has a deed for each of its steps, so that what is kept, taken
along and rehearsed is asked in the same way of both. A release is none: it lets go, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fullcount.compiler import program
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Span


@dataclass(frozen=True, slots=True)
class Deed:
    """One checked operation: `label` is its step, None for the one operation of a plain act.

    `decl` is where `undo`, `backup`, `cascades` and `rehearse` stand, `at` the operation with its arguments.
    """

    label: str | None
    decl: tree.ActDecl | tree.StepDecl
    at: Span
    call: program.OperationCall
    undo: program.OperationCall | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A deed with the way back that its backup makes, if it has one."""

    deed: Deed
    call: program.OperationCall
    undo: program.OperationCall | None
    backup: program.Backup | None


def deeds(decl: tree.ActDecl, calls: program.Calls) -> tuple[Deed, ...]:
    """Return what a checked act does, in the order of the text; a step that is repeated stands there once."""
    if decl.operation is not None:
        return () if calls.call is None else (Deed(None, decl, decl.operation.span, calls.call, calls.undo),)
    made = {step.label: step for step in calls.steps}
    written = [(step, made[step.label.text]) for step in decl.steps if step.label.text in made]
    return tuple(Deed(found.label, step, step.operation.span, found.call, found.undo) for step, found in written)


def labels_of(step: tree.StepDecl) -> tuple[str, ...]:
    """Return the names of the steps that one stands for: `nag`, `nag 2`, `nag 3`."""
    name = step.label.text
    return (name, *(f"{name} {number}" for number in range(2, 1 if step.times is None else step.times + 1)))


def with_kept(calls: program.Calls, kept: Mapping[str | None, Kept]) -> program.Calls:
    """Return the calls of an act with what is kept of each of its deeds, and what else is said beside it."""
    if calls.call is not None:
        one = kept[None]
        return replace(
            calls,
            call=one.call,
            undo=one.undo,
            backup=one.backup,
            cascades=one.deed.decl.cascades is not None,
            rehearse=one.deed.decl.rehearse is not None,
        )
    of = {
        label: each
        for each in kept.values()
        if isinstance(each.deed.decl, tree.StepDecl)
        for label in labels_of(each.deed.decl)
    }
    steps = tuple(
        replace(
            step,
            call=of[step.label].call,
            undo=of[step.label].undo,
            backup=of[step.label].backup,
            cascades=of[step.label].deed.decl.cascades is not None,
            rehearse=of[step.label].deed.decl.rehearse is not None,
        )
        for step in calls.steps
    )
    return replace(calls, steps=steps)
