"""`fullcount runs`: what ran, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import click

from fullcount.runtime.cli import options
from fullcount.runtime.cli.layout import wrapped
from fullcount.runtime.text import plain

if TYPE_CHECKING:
    from fullcount.runtime.store.views import PlanBrief, RunRow, SlotRow, StepCount, WarningRow


@options.command()
@click.option("--workflow", metavar="NAME", help="Only of this workflow.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="How many, newest first.")
@options.as_json
def runs(workflow: str | None, limit: int, as_json: bool) -> None:
    """List what ran and how it ended. The plans and the planned instants follow."""
    from fullcount.runtime.cli.reports import notice_document, notice_text
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.store.errors import StoreMissing

    try:
        with reading_session() as here:
            ran = here.store.runs(limit, workflow=workflow)
            plans = here.store.plans(limit, workflow=workflow)
            slots = here.store.slots(limit, workflow=workflow)
            steps = here.store.step_counts(workflow)
            notices = here.store.latest_notices(limit, workflow=workflow)
            warned = here.store.warnings(workflow)
            accepted = sorted(here.workspace.accepted_warnings(), key=lambda each: each.expires)
            until = {(each.resource, str(each.code)): each.expires for each in accepted}
    except StoreMissing as error:
        # Not an error for who asks what ran; but said, since a store that went away looks the same.
        if as_json:
            show_json({"runs": [], "plans": [], "slots": [], "steps": [], "notices": [], "warnings": []})
        else:
            click.echo(wrapped("", plain(f"nothing has run: {error.message}; {error.help}")))
        return
    if as_json:
        show_json(
            {
                "runs": [_run(r) for r in ran],
                "plans": [_plan(p) for p in plans],
                "slots": [_slot(s) for s in slots],
                "steps": [_step(s) for s in steps],
                "notices": [notice_document(n) for n in notices],
                "warnings": [_warning(w, until.get((w.resource, w.code))) for w in warned],
            }
        )
        return
    if not ran and not slots:
        of = "" if workflow is None else f" of `{plain(workflow, 40)}`"
        click.echo(f"nothing{of} has run yet; `fullcount plan FILE` makes a first plan")
        return
    for row in ran:
        click.echo(_run_text(row))
        for notice in (each for each in notices if each.run_id == row.run_id):
            click.echo(wrapped(f"{'':<23}  told ", notice_text(notice)))
    _say("plans", [_plan_text(plan) for plan in sorted(plans, key=_still_open)])
    _say("steps of graduated acts", [_step_text(step) for step in steps])
    _say("warnings of the last readings", [_warning_text(w, until.get((w.resource, w.code))) for w in warned])
    _say("planned instants", [_slot_text(slot) for slot in slots])


def _say(title: str, lines: Sequence[str]) -> None:
    if len(lines) > 0:
        click.echo("\n".join((f"\n{title}", *lines)))


def _still_open(plan: PlanBrief) -> tuple[bool, int]:
    """Return where a plan stands on the page: what can still be acted on first, and of that the largest."""
    over = plan.state not in {"waiting", "over_cap", "approved", "applying"}
    return over, 0 if over else -plan.candidates


def _plan_text(plan: PlanBrief) -> str:
    name = plain(f"{plan.workflow}.{plan.proposal}", 44)
    undoes = "" if plan.undoes is None else f"\n{'':<28}  undo of {plan.undoes}"
    return f"  {plan.plan_id}  {plan.state:<10}  {plan.candidates:>7,} objects  {name}{undoes}"


def _slot_text(slot: SlotRow) -> str:
    line = f"  {_when(slot.planned_at)}  {slot.state:<8}  {plain(slot.workflow, 60)}"
    return f"{line}\n{wrapped(' ' * 35, plain(slot.detail))}" if slot.detail else line


def _step_text(row: StepCount) -> str:
    """Return how many objects stand at a step of a graduated act."""
    where = "selected, no step done" if row.step is None else f"after `{plain(row.step, 40)}`"
    lapsed = ", no longer qualify, not yet released" if row.standing == "lapsed" else ""
    name = plain(f"{row.workflow}.{row.proposal}", 44)
    return f"  {row.objects:>7,} objects  {where}{lapsed}  since {_when(row.first_since)}  {name}"


def _warning_text(row: WarningRow, until: date | None) -> str:
    """Return a warning in one line, with a second one for whose it is."""
    over = "" if until is None or until >= datetime.now(UTC).date() else ", which is over"
    accepted = "not accepted" if until is None else f"accepted until {until}{over}"
    return (
        f"  {row.runs:>4} in a row  {row.code}  {plain(f'{row.workflow}.{row.inventory} ({row.resource})', 60)}\n"
        f"{'':<15}  since {_when(row.since)}, first seen {_when(row.first_seen)}  "
        f"owner {plain(row.owner, 40)}  {accepted}"
    )


def _run_text(row: RunRow) -> str:
    """Return a run in one line, with a second one for who ran it and the plan."""
    if row.finished_at is None or row.exit is None:
        ended = "unfinished: at work, or it was killed"
    else:
        ended = f"{row.state:<10}  exit {row.exit}  {(row.finished_at - row.started_at).total_seconds():>7,.1f} s"
    plan_id = row.plan_id or (row.summary or {}).get("plan_id")
    made = f"run {row.run_id}" if plan_id is None else f"plan {plan_id}"
    of = _undone(row.summary or {})
    made += "" if of == "" else "\n" + wrapped(" " * 25, of)
    return (
        f"{_when(row.started_at)}  {row.kind:<5}  {ended}  {plain(row.workflow, 40)}\n"
        f"{'':<23}  by {plain(str(row.by), 40)}  {made}"
    )


def _undone(summary: Mapping[str, Any]) -> str:
    """Return of what an undo is, and how many objects, in words; nothing for a run that was none."""
    if summary.get("undoes") is None:
        return ""
    runs = [plain(str(run), 26) for run in summary.get("undoes_runs", ())]
    by = "" if len(runs) == 0 else f", done by run {', '.join(runs[:3])}{' and others' if len(runs) > 3 else ''}"
    objects = summary.get("objects")
    many = "" if objects is None else f", {objects:,} {'object' if objects == 1 else 'objects'}"
    return f"undo of {plain(str(summary['undoes']), 26)}{many}{by}"


def _when(instant: datetime) -> str:
    return instant.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "run_id": row.run_id,
        "workflow": row.workflow,
        "kind": row.kind,
        "by": row.by.principal,
        "plan_id": row.plan_id,
        "slot_id": row.slot_id,
        "started_at": row.started_at.isoformat(),
        "finished_at": None if row.finished_at is None else row.finished_at.isoformat(),
        "state": row.state,
        "exit": row.exit,
        "undoes": _undoes(row.summary or {}),
        "summary": row.summary,
    }


def _undoes(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return of what an undo is, and how many objects it has (None: none could be taken back)."""
    if summary.get("undoes") is None:
        return None
    return {
        "plan_id": summary["undoes"],
        "runs": summary.get("undoes_runs", []),
        "objects": summary.get("objects"),
    }


def _warning(row: WarningRow, until: date | None) -> dict[str, Any]:
    return {
        "workflow": row.workflow,
        "inventory": row.inventory,
        "resource": row.resource,
        "code": row.code,
        "owner": row.owner,
        "first_seen": row.first_seen.isoformat(),
        "since": row.since.isoformat(),
        "last_seen": row.last_seen.isoformat(),
        "runs_in_a_row": row.runs,
        "accepted_until": None if until is None else until.isoformat(),
    }


def _plan(row: PlanBrief) -> dict[str, Any]:
    return {
        "plan_id": row.plan_id,
        "workflow": row.workflow,
        "proposal": row.proposal,
        "digest": row.digest,
        "candidates": row.candidates,
        "state": row.state,
        "saved_at": row.saved_at.isoformat(),
        "superseded_by": row.superseded_by,
        "undoes": row.undoes,
    }


def _step(row: StepCount) -> dict[str, Any]:
    return {
        "workflow": row.workflow,
        "proposal": row.proposal,
        "step": row.step,
        "standing": row.standing,
        "objects": row.objects,
        "first_since": row.first_since.isoformat(),
    }


def _slot(row: SlotRow) -> dict[str, Any]:
    return {
        "slot_id": row.slot_id,
        "workflow": row.workflow,
        "planned_at": row.planned_at.isoformat(),
        "local_day": row.local_day,
        "state": row.state,
        "detail": row.detail,
    }
