"""Blast radius: caps, pace and stops. Zero means none at all, and a missing cap is an error, never "no limit"."""

from __future__ import annotations

from decimal import Decimal

from fullcount.compiler import program
from fullcount.compiler.names import Names
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


def check_limit(decl: tree.ProposeDecl, act: tree.ActDecl | None, sink: Diagnostics) -> None:
    """Report a proposal that is acted on without a cap, or with one that means nothing."""
    limit = decl.limit
    if limit is None or (limit.count is None and limit.percent is None):
        if act is not None:
            error(
                sink,
                "FC501",
                f"`{decl.name.text}` is acted on without a limit",
                decl.head_span,
                labels=(Label(act.proposal.span, "acted on here"),),
                why="when a rule goes wrong, the limit is what is left between it and every object there is",
                help="add `limit 50, 5%`",
            )
        return
    if limit.percent is not None:
        _percent(limit.percent, limit.span, sink)


def _percent(percent: Decimal, span: Span, sink: Diagnostics) -> None:
    if percent > 100:
        error(
            sink,
            "FC503",
            f"{percent}% is more than all there is",
            span,
            why="such a cap never holds anything back",
            help="give a percentage of at most 100%",
        )


def check_pace(decl: tree.ActDecl, sink: Diagnostics) -> None:
    """Report a pace that never acts and a stop that never stops or never starts."""
    if decl.concurrency is not None and decl.concurrency <= 0:
        _zero("concurrency", "no object at a time", decl.span, "write `concurrency 1` or more", sink)
    if decl.rate is not None and decl.rate.count <= 0:
        _zero("rate", "no act in any time", decl.rate.span, "write `rate 1 per second` or more", sink)
    if decl.stop is None:
        return
    stop = decl.stop
    if (stop.failures is not None and stop.failures <= 0) or (stop.percent is not None and stop.percent <= 0):
        _zero("stop after", "a stop before the first act", stop.span, "write `stop after 3 failures or 1%`", sink)
    elif stop.percent is not None:
        _percent(stop.percent, stop.span, sink)


def _zero(what: str, meaning: str, span: Span, help_text: str, sink: Diagnostics) -> None:
    error(
        sink,
        "FC504",
        f"`{what}` of zero means {meaning}",
        span,
        why="zero means none, never `unlimited`",
        help=help_text,
    )


def act_of(
    decl: tree.ActDecl,
    calls: program.Calls,
    windows: tuple[program.Window, ...],
    canary: program.Canary | None,
) -> program.Act:
    """Make the act of the program; without `concurrency` one object at a time."""
    rate = None if decl.rate is None else Decimal(decl.rate.count) / _SECONDS[decl.rate.per]
    stop = None if decl.stop is None else program.Stop(decl.stop.failures, decl.stop.percent)
    return program.Act(
        decl.proposal.text,
        calls.call,
        calls.undo,
        rate,
        1 if decl.concurrency is None else decl.concurrency,
        stop,
        windows,
        canary,
        calls.steps,
        calls.release,
        calls.backup,
        calls.cascades,
        calls.rehearse,
    )


def acted_on(names: Names, proposal: str) -> tree.ActDecl | None:
    """Return the act of a proposal, or None for a report."""
    return next((act for act in names.workflow.acts if act.proposal.text == proposal), None)
