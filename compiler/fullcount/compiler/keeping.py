"""What is kept of an object before it is acted on, and what goes with it: `backup` and `cascades`.

Both are asked of each deed, so that a step of a graduated act is held to what a plain act is held to.

Guarantees of an act that checked: a deletion says, by its source's declaration, what else it takes along, or nothing is
deleted; what goes along goes only where the workflow says so; a backup is taken only of what can be brought back from
it as a whole. It must never take silence for "nothing else".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog, Closure, Operation
from fullcount.compiler.deeds import Deed, Kept, deeds, with_kept
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span

LEAST_KEPT: Final = 86_400_000_000
"""For how long a backup is kept at least once nothing waits any more, in microseconds: a day for people to see what
went wrong, plan an undo, have it approved and apply it."""


def check_keeping(
    decl: tree.ActDecl, calls: program.Calls, catalog: Catalog, sink: Diagnostics
) -> program.Calls | None:
    """Check these clauses; return the calls, with the undo that a backup makes possible; None with a finding."""
    found = [_kept(deed, decl.canary, catalog, sink) for deed in deeds(decl, calls)]
    kept = {each.deed.label: each for each in found if each is not None}
    return None if len(kept) < len(found) else with_kept(calls, kept)


def _kept(deed: Deed, canary: tree.CanaryDecl | None, catalog: Catalog, sink: Diagnostics) -> Kept | None:
    holds = [_closure(deed, catalog, sink), _cascades(deed, catalog, sink)]
    if deed.decl.backup is None:
        return Kept(deed, deed.call, deed.undo, None) if all(holds) else None
    holds.append(_long_enough(deed.decl.backup, canary, sink))
    kept = _backed_up(deed, deed.decl.backup, catalog, sink)
    return kept if all(holds) else None


def _long_enough(said: tree.BackupDecl, canary: tree.CanaryDecl | None, sink: Diagnostics) -> bool:
    """Whether a backup outlives the wait of the canary by a day; if not, that is reported.

    The objects of a canary are acted on before it waits, so their backups are the oldest when the rest is done. A
    canary of a graduated act waits for each of its steps.
    """
    if said.kept <= 0:
        error(
            sink,
            "FC574",
            "a backup that is kept for no time",
            said.span,
            why="zero means none: it would be gone before anybody could miss the object",
            help="write `backup kept for 30d`",
        )
        return False
    waits = 0 if canary is None else max(canary.wait, 0)
    if said.kept >= waits + LEAST_KEPT:
        return True
    label = () if canary is None else (Label(canary.span, "its objects wait this long"),)
    least = "24 hours" if canary is None else "24 hours longer than the canary waits"
    error(
        sink,
        "FC584",
        "this backup is over before anything could be taken back",
        said.span,
        labels=label,
        note=f"to be kept for at least {least}",
        why="an undo is planned, approved by people and applied, and a backup whose time is over restores nothing",
        help="write `backup kept for 30d`" if waits + LEAST_KEPT <= 30 * LEAST_KEPT else "keep it longer",
    )
    return False


def _operation(call: program.OperationCall, catalog: Catalog) -> Operation:
    return catalog.resources(call.source)[call.resource].operations[call.operation]


def _closure(deed: Deed, catalog: Catalog, sink: Diagnostics) -> bool:
    """Whether of what is deleted it is known what goes with it; if not, that is reported."""
    call = deed.call
    if not call.deletes or _operation(call, catalog).closure is not Closure.UNKNOWN:
        return True
    error(
        sink,
        "FC571",
        f"nobody says what else goes when `{call.operation}` deletes an object",
        deed.at,
        note="what goes with it is not known",
        why="what a deletion takes along was approved by nobody, and no limit counts it",
        help='if it takes nothing along, say so where the source is configured: `closure = "none"` under'
        f" `[sources.{call.source}.resources.{call.resource}.operations.{call.operation}]`",
    )
    return False


def _cascades(deed: Deed, catalog: Catalog, sink: Diagnostics) -> bool:
    """Whether something may go along that can be counted, where the deed says that it may; if not, that is reported."""
    said, call = deed.decl.cascades, deed.call
    if said is None or (call.deletes and _operation(call, catalog).closure is not Closure.NONE):
        return True  # where nobody knows what goes along, that is reported already
    error(
        sink,
        "FC572",
        "nothing goes along here that could be counted",
        said.span,
        labels=(Label(deed.at, "takes nothing along"),),
        help="remove `cascades within limit`",
    )
    return False


def _backed_up(deed: Deed, said: tree.BackupDecl, catalog: Catalog, sink: Diagnostics) -> Kept | None:
    call, decl = deed.call, deed.decl
    if decl.undo is not None:
        error(
            sink,
            "FC575",
            "there are two ways back, and it is not clear which of them is taken",
            said.span,
            labels=(Label(decl.undo.span, "the other one"),),
            help="remove `undo`: with a backup, the object is restored whole",
        )
        return None
    restoring = _restoring(call, catalog)
    if restoring is None:
        _no_way(call, deed.at, said, sink)
        return None
    if decl.cascades is not None:
        error(
            sink,
            "FC577",
            "a backup holds the object alone, and here more goes with it",
            said.span,
            labels=(Label(decl.cascades.span, "more goes along"),),
            why="the plan would say that it can be taken back, and what went along could not",
            help="remove one of the two clauses",
        )
        return None
    keys = {
        name: call.arguments[own]
        for name, parameter in restoring.parameters.items()
        for own, given in _operation(call, catalog).parameters.items()
        if parameter.key is not None and given.key == parameter.key
    }
    undo = program.OperationCall(call.source, call.resource, restoring.name, keys, reversible=True, from_backup=True)
    return Kept(deed, replace(call, reversible=True), undo, program.Backup(said.kept))


def _restoring(call: program.OperationCall, catalog: Catalog) -> Operation | None:
    """Return the operation that brings back from a backup what this one did; None if there is no such way."""
    if not call.own or not _operation(call, catalog).backup:
        return None
    operations = catalog.resources(call.source)[call.resource].operations.values()
    return next((each for each in operations if each.restores and call.operation in each.undoes), None)


def _no_way(call: program.OperationCall, at: Span, said: tree.BackupDecl, sink: Diagnostics) -> None:
    error(
        sink,
        "FC576",
        f"nothing can be restored of what `{call.operation}` did",
        said.span,
        labels=(Label(at, "no backup is taken of this"),),
        why="a backup that nothing brings back is none",
        help="remove `backup`; the act then can't be taken back, unless its operation has an `undo`",
    )


def refuse_restoring(operation: Operation, called: str, span: Span, sink: Diagnostics) -> bool:
    """Report a call of what only an undo from a backup calls; True if it is one."""
    if not operation.restores:
        return False
    error(
        sink,
        "FC578",
        f"`{called}` restores an object from its backup, and is called by `fullcount undo` alone",
        span,
        why="without a backup there is nothing that it could restore",
        help="write `backup kept for 30d` in the act instead: its undo is made of that",
    )
    return True
