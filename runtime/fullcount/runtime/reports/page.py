"""A report as one offline page: no script, nothing loaded, every text escaped, written piece by piece.

Foreign text passes through `plain`, then through the template's escaping, and can't begin a formula when a table is
copied into a spreadsheet. The page names its content policy itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.reports.report import Report
from fullcount.runtime.text import formula_safe, plain

ROWS: Final = 5_000
"""How many objects stand on the page, those that need attention first; CSV and JSON have all."""

_STYLE: Final = Path(__file__).parent.parent / "plan" / "templates" / "plan.css"
_TEMPLATES: Final = Path(__file__).parent / "templates"
_WORDS: Final = {
    "unknown": "outcome unknown", "failed": "failed", "refused": "refused", "changed": "changed since the plan",
    "already_gone": "already gone", "not_started": "not started", "done": "done", "proposed": "proposed",
}  # fmt: skip
_TROUBLE: Final = frozenset({"unknown", "failed"})


def page_of(report: Report) -> Iterator[str]:
    """Yield the page piece by piece."""
    style = _STYLE.read_text(encoding="utf-8")
    verdict, tone = verdict_of(report)
    yield from _template().generate(
        report=report,
        verdict=verdict,
        tone=tone,
        said=said_of(report),
        sums=sums_of(report),
        go_on=_go_on(report),
        rows=islice(report.objects(), ROWS),
        rows_shown=ROWS,
        graduated=report.plan is not None and report.plan.operation == "",
        style=Markup(style),  # noqa: S704 - our own file, without any foreign text
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def verdict_of(report: Report) -> tuple[str, str]:
    """Return the one word that matters, and how it is coloured."""
    run = report.run
    if report.invalid is not None:
        return "INVALID", "stop"
    if run.state == "unfinished":
        return "UNFINISHED", "stop"
    if any(report.counts.get(name, 0) > 0 for name in _TROUBLE):
        return ("UNDONE IN PART" if report.undo else "DONE IN PART") if report.counts["done"] else "FAILED", "stop"
    words = {
        "refused": ("REFUSED", "stop"), "stopped": ("STOPPED", "stop"), "error": ("ERROR", "stop"),
        "paused": ("PAUSED", "ask"), "waiting": ("NEEDS APPROVAL", "ask"), "over_cap": ("OVER ITS CAP", "stop"),
        "approved": ("APPROVED", "go"), "nothing": ("NOTHING TO DO", "go"), "report": ("REPORT", "go"),
        "done": ("UNDONE" if report.undo else "DONE", "go"),
    }  # fmt: skip
    return words.get(run.state, (run.state.upper(), "ask"))


def said_of(report: Report) -> str:
    """Return the outcomes in one line: `34 done · 1 changed since the plan`."""
    counted = [f"{fmt.count(report.counts[name])} {_WORDS[name]}" for name in _order() if report.counts.get(name, 0)]
    return " · ".join(counted) if len(counted) > 0 else "no objects"


def sums_of(report: Report) -> str:
    """Return what the objects add up to: every outcome that there is, and the bad ones also where there are none."""
    shown = [name for name in _order() if report.counts.get(name, 0) or (name in _TROUBLE and name in report.counts)]
    return " + ".join(f"{fmt.count(report.counts[name])} {_WORDS[name]}" for name in shown) or "nothing"


def _go_on(report: Report) -> str:
    left = report.counts.get("not_started", 0) + report.counts.get("unknown", 0)
    if report.run.kind == "plan" or left == 0 or report.plan is None or report.invalid is not None:
        return ""
    return f"{'undo' if report.undo else 'apply'} {report.plan.plan_id}"


def _order() -> tuple[str, ...]:
    return ("done", "proposed", "changed", "already_gone", "refused", "failed", "unknown", "not_started")


def _moment(instant: datetime | None) -> str:
    return "" if instant is None else f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _ticked(text: str) -> Markup:
    """Return harmless text with what stands in backticks set as code."""
    parts = [f"<code>{escape(part)}</code>" if n % 2 == 1 else escape(part) for n, part in enumerate(text.split("`"))]
    return Markup("".join(parts))  # noqa: S704 - each part has been escaped


def _took(report: Report) -> str:
    run = report.run
    return "it has not ended" if run.finished_at is None else f"took {fmt.length(run.finished_at - run.started_at)}"


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "count": fmt.count,
        "moment": _moment,
        "plain": plain,
        "took": _took,
        "short": short_digest,
        "outcome": lambda name: _WORDS.get(name, name),
        "trouble": lambda name: name in _TROUBLE or name == "refused",
        "key": lambda parts: formula_safe(fmt.key(parts, 120)),
        "ticked": _ticked,
        "cell": lambda text: formula_safe(plain(text)),
    }
    return environment.get_template("run.html.j2")
