"""Who is told of what: notifiers that the workspace has, each event once, and only events that can happen."""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.names import Names
from fullcount.compiler.report import did_you_mean, error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span


def check_notifies(names: Names, sink: Diagnostics) -> tuple[program.Notify, ...]:
    """Check every `notify` of a workflow; those that name the same notifier become one."""
    known = names.catalog.notifiers()
    told: dict[str, dict[str, Span]] = {}
    for decl in names.workflow.notifies:
        if decl.target not in known:
            error(
                sink,
                "FC130",
                f"there is no notifier `{decl.target}` in this workspace",
                decl.target_span,
                why="nobody would ever be told",
                help=did_you_mean(decl.target, known, "notifiers"),
            )
            continue
        _events(decl, told.setdefault(decl.target, {}), names, sink)
    return tuple(
        program.Notify(target, tuple(e for e in program.EVENTS if e in events)) for target, events in told.items()
    )


def _events(decl: tree.NotifyDecl, told: dict[str, Span], names: Names, sink: Diagnostics) -> None:
    for event in decl.events:
        first = told.setdefault(event.text, event.span)
        if first is not event.span:
            error(
                sink,
                "FC431",
                f"`{decl.target}` is told of `{event.text}` twice",
                event.span,
                note="said again",
                labels=(Label(first, "first said here"),),
                why="each event is told once, so one of the two means nothing",
                help="remove one of them",
            )
        elif event.text == "waiting" and len(names.workflow.acts) == 0:
            error(
                sink,
                "FC432",
                "nothing of this workflow ever waits for approval",
                event.span,
                note="no `act`",
                why="whoever waits to be told would wait for ever",
                help="a report is `done` with its plan: `on done, refused, stopped`",
            )
