"""A report as CSV (RFC 4180) and as JSON, written piece by piece, so that any number of objects costs no memory.

Nothing in them can act: in the CSV foreign text is one harmless line and what a spreadsheet would take for a formula is
marked as text; the JSON is ASCII, so that foreign text in it does nothing to a terminal.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, Final

from fullcount.runtime import format as fmt
from fullcount.runtime.reports.report import ObjectLine, Report
from fullcount.runtime.text import formula_safe, plain

_PAGE: Final = '<meta name="generator" content="Fullcount">'
_OF_AN_OBJECT: Final = tuple(each.name for each in fields(ObjectLine))
HEADINGS: Final = ("section", "name", "value", "reason", "detail", "step", "operation", "at", "until", "run")


def csv_of(report: Report) -> Iterator[str]:
    """Yield the lines of the CSV: one table, whose first column says what each line is about."""
    for line in (HEADINGS, *_facts(report)):
        yield _csv_line(line)
    for each in report.objects():
        yield _csv_line(_object_line(each))


def json_of(report: Report) -> Iterator[str]:
    """Yield the JSON piece by piece; `objects` comes last."""
    said: dict[str, Any] = {
        "format": "fullcount report 1",
        "workspace": report.workspace,
        "workflow": report.workflow,
        "run": asdict(report.run),
        "plan": None if report.plan is None else asdict(report.plan),
        "planned": report.planned,
        "counts": dict(report.counts),
        "valid": report.invalid is None,
        "invalid_because": report.invalid,
        "approvals": [asdict(each) for each in report.approvals],
        "evidence": [asdict(each) for each in report.evidence],
        "runs": [asdict(each) for each in report.runs],
        "refused": [asdict(each) for each in report.refused],
        "canary": report.canary,
        "run_head": report.run_head,
        "head": report.head,
        "made_at": report.made_at,
    }
    whole = json.dumps(said, indent=2, default=_json_value)
    yield whole.removesuffix("\n}") + ',\n  "objects": ['
    between = "\n    "
    for each in report.objects():
        yield between + json.dumps({name: getattr(each, name) for name in _OF_AN_OBJECT}, default=_json_value)
        between = ",\n    "
    yield "\n  ]\n}\n"


def is_report(beginning: str) -> bool:
    """Whether a file that begins like this is a report, in any of its forms."""
    first = ",".join(f'"{name}"' for name in HEADINGS)
    return beginning.startswith((first, '{\n  "format": "fullcount report 1"')) or _PAGE in beginning


def _json_value(value: object) -> str:
    if isinstance(value, datetime):
        return _iso(value)
    msg = f"{type(value).__name__} has no place in a report"
    raise TypeError(msg)


def _facts(report: Report) -> Iterator[tuple[str, ...]]:
    run, plan = report.run, report.plan
    yield _line("run", "workflow", report.workflow)
    yield _line("run", run.kind, run.state, run.stopped_by, run.message, at=run.started_at, until=run.finished_at,
                run=run.run_id)  # fmt: skip
    yield _line("run", "exit", "" if run.exit is None else str(run.exit))
    yield _line("run", "by", run.by)
    yield _line("run", "valid", "yes" if report.invalid is None else "NO", detail=report.invalid or "")
    if plan is not None:
        yield _line("plan", "plan", plan.plan_id, detail=plan.describe)
        yield _line("plan", "digest", plan.digest)
        yield _line("plan", "target", plan.target)
        for name, number in (plan.sums or {}).items():
            yield _line("plan", name, str(number))
        if plan.taken_back > 0:
            yield _line("plan", "taken back", str(plan.taken_back))
    for name, number in report.counts.items():
        yield _line("sum", name, str(number))
    yield _line("sum", "all of them", str(report.planned))
    for yes in report.approvals:
        signed = "" if yes.signed_by == "" else f"signed {yes.signed_by}"
        yield _line("approval", yes.who, yes.what, detail=signed, at=yes.at, until=yes.until)
    for read in report.evidence:
        state = f"{'complete' if read.complete else 'PARTIAL'}, {read.rows} rows"
        told = "; ".join((*read.claims, *read.warnings))
        yield _line("evidence", f"{read.inventory} ({read.resource})", state, ", ".join(read.reasons), told)
    for other in report.runs:
        yield _line("history", other.kind, other.state, other.stopped_by, other.message, at=other.started_at,
                    until=other.finished_at, run=other.run_id)  # fmt: skip
    for no in report.refused:
        yield _line("refused", no.title, "", no.code, no.message)
    if report.canary != "":
        yield _line("history", "canary", report.canary)
    yield _line("record", "head of the run", report.run_head)
    yield _line("record", "head of the journal", report.head)


def _object_line(each: ObjectLine) -> tuple[str, ...]:
    words = each.detail if each.detail != "" else each.reason_text
    return _line("object", fmt.key(each.key), each.outcome, each.reason, words, each.step, each.operation,
                 at=each.meant_at, until=each.ended_at, run=each.run_id)  # fmt: skip


def _line(
    section: str,
    name: str,
    value: str = "",
    reason: str = "",
    detail: str = "",
    step: str = "",
    operation: str = "",
    *,
    at: datetime | None = None,
    until: datetime | None = None,
    run: str = "",
) -> tuple[str, ...]:
    instants = ("" if each is None else _iso(each) for each in (at, until))
    return (section, name, value, reason, detail, step, operation, *instants, run)


def _iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _csv_line(cells: Iterable[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([formula_safe(plain(cell)) for cell in cells])
    return out.getvalue()
