"""How an apply is run: signals become an orderly stop, progress a line, the end a document."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullcount.runtime.act.context import Progress, RowOutcome, StopSignal
    from fullcount.runtime.engine import ApplyEnd

    Run = Callable[[StopSignal, Callable[[Progress], None]], Coroutine[Any, Any, ApplyEnd]]


def run_to_its_end(run: Run, quiet: bool) -> ApplyEnd:
    """Run to the end; SIGINT and SIGTERM ask it to take up nothing new, and what is in flight is recorded."""
    import asyncio

    from fullcount.runtime.cli.screen import progress_line

    with progress_line(quiet=quiet) as say:
        return asyncio.run(_run(run, say))


async def _run(run: Run, say: Callable[[str], None]) -> ApplyEnd:
    import asyncio
    import signal

    from fullcount.runtime.act.context import StopSignal

    stop = StopSignal()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.request, f"stopped by {number.name}")

    def tell(progress: Progress) -> None:
        counts = ", ".join(
            f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in progress.counts.items() if count
        )
        if progress.waits_until is not None:
            counts += f"; waiting for the canary until {progress.waits_until:%H:%M:%S} UTC"
        say(f"{progress.finished:,} of {progress.planned:,}: {counts}")

    return await run(stop, tell)


def end_document(end: ApplyEnd) -> dict[str, Any]:
    """Return the end of an apply as JSON: every row with its outcome."""
    from fullcount.runtime.cli.reports import notice_document, steps_of

    report = end.report
    return {
        "plan_id": end.plan.document.plan_id,
        "undoes": None if end.plan.document.undo is None else end.plan.document.undo.plan_id,
        "exit": int(end.exit),
        "refusals": [refusal.model_dump(mode="json") for refusal in end.refusals],
        "notices": [notice_document(notice) for notice in end.told],
        "report": None
        if report is None
        else {
            "run_id": report.run_id,
            "candidates": report.candidates,
            "counts": {str(outcome): count for outcome, count in report.counts.items()},
            "sums_hold": report.sums_hold,
            "repeated": report.repeated,
            "resumes_at": None if report.resumes_at is None else report.resumes_at.isoformat(),
            "stopped_by": None if report.stopped_by is None else report.stopped_by.model_dump(mode="json"),
            "next_steps": list(steps_of(report, end.plan)),
            "moved": len(report.moved),
            "rows": [_row(row) for row in report.rows],
        },
    }


def _row(row: RowOutcome) -> dict[str, Any]:
    """Return one outcome; of a field that the proposal does not show only its name is said."""
    moved: list[dict[str, str | None]] = [
        {"field": each.field} if each.was is None else {"field": each.field, "was": each.was, "now": each.now}
        for each in row.moved
    ]
    return {
        "key": list(row.key),
        "outcome": row.outcome,
        "reason": row.reason,
        "detail": row.detail,
        "moved": moved,
    }
