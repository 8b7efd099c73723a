"""The review of a plan as one offline page: no script, nothing loaded, every text escaped.

The same words as on the terminal (`summary.py`), in the same order of a reviewer's questions. Foreign text passes
through `plain`, then through the template's escaping, and can't begin a formula when the table is copied into a
spreadsheet. The page names its content policy itself, so that even a mistake here could not run anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from fullcount.runtime import format as fmt
from fullcount.runtime.evidence.refusal import Finding, Refusal
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.lists import in_words
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.summary import KEY_WIDTH, summarise
from fullcount.runtime.text import formula_safe, plain

ROWS: Final = 5_000
"""How many rows, and how many undecided objects, stand on the page; the CSV has all."""

_GENERATOR: Final = '<meta name="generator" content="Fullcount">'

_TEMPLATES: Final = Path(__file__).parent / "templates"


def render_html(
    doc: PlanDocument, status: ReviewStatus, refusals: Sequence[Refusal] = (), *, graph_svg: str | None = None
) -> str:
    """Return the whole page. `refusals` say why it can't be gone on with; `graph_svg` is shown as a picture."""
    style = (_TEMPLATES / "plan.css").read_text(encoding="utf-8")
    undecided = [(fmt.key(row.key, KEY_WIDTH), "; ".join(map(plain, row.missing))) for row in doc.undecided[:ROWS]]
    return _template().render(
        said=summarise(doc, status, ROWS),
        doc=doc,
        undecided=undecided,
        rows_shown=ROWS,
        step_names=[] if doc.act is None else [plain(each["step"]) for each in doc.act.get("steps") or ()],
        findings=[_finding(finding) for refusal in refusals for finding in refusal.findings],
        prevented=next((refusal.prevented for refusal in refusals if refusal.prevented is not None), None),
        versions=sorted({"fullcount": doc.engine_version, **doc.connector_versions}.items()),
        targets=[
            (source, ", ".join(f"{name}: {fact}" for name, fact in sorted(facts.items())))
            for source, facts in sorted(doc.target.items())
        ],
        style=Markup(style),  # noqa: S704 - our own file, without any foreign text
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        graph=None if graph_svg is None else base64.b64encode(graph_svg.encode()).decode(),
    )


def is_page(beginning: str) -> bool:
    """Whether a file that begins like this is such a page."""
    return _GENERATOR in beginning


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "inventory": finding.inventory,
        "message": finding.message,
        "detail": finding.detail,
        "needed_by": [f"{need.stage}, {need.place}: {', '.join(need.claims)}" for need in finding.needed_by],
        "ways_on": finding.ways_on,
    }


def _ticked(text: str) -> Markup:
    """Return harmless text with what stands in backticks set as code."""
    parts = [f"<code>{escape(part)}</code>" if n % 2 == 1 else escape(part) for n, part in enumerate(text.split("`"))]
    return Markup("".join(parts))  # noqa: S704 - each part has been escaped


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "count": fmt.count,
        "moment": fmt.moment,
        "percent": fmt.percent,
        "plain": plain,
        "ticked": _ticked,
        "list_use": lambda use: plain(in_words(use)),
        "cell": lambda text: formula_safe(plain(text)),
    }
    return environment.get_template("plan.html.j2")
