"""The rows of a plan as CSV: every candidate with every field that was read, for people with a spreadsheet.

Nothing in it can act: foreign text is one harmless line, and what a spreadsheet would take for a formula is marked as
text. It is for reading; what runs is the plan itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.cells import iso
from fullcount.runtime.plan.document import CellDoc, PlanDocument, PlanRow, StepDoc
from fullcount.runtime.plan.summary import RISKS
from fullcount.runtime.text import escaped, formula_safe, plain


def render_csv(doc: PlanDocument) -> str:
    """Return the rows, riskiest first, under a line of headings (RFC 4180)."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(csv_lines(doc))
    return out.getvalue()


def csv_lines(doc: PlanDocument) -> Iterator[list[str]]:
    """Yield the headings and then a line for each row; every text is safe."""
    keys = max((len(row.key) for row in doc.rows), default=1)
    fields = sorted({name for row in doc.rows for name in row.fields})
    arguments = sorted({name for row in doc.rows for name in row.arguments})
    graduated = doc.steps is not None
    headings = ["risk", "note", *(["step", "after step", "since", "due"] if graduated else [])]
    headings += [*(["key"] if keys == 1 else [f"key {n + 1}" for n in range(keys)]), "incarnation"]
    headings += ["version", *fields, *(f"argument {name}" for name in arguments)]
    yield [formula_safe(plain(heading)) for heading in headings]
    for row in doc.rows:
        yield [formula_safe(text) for text in _line(row, keys, fields, arguments, graduated=graduated)]


def _line(
    row: PlanRow, keys: int, fields: Sequence[str], arguments: Sequence[str], *, graduated: bool
) -> Iterator[str]:
    yield f"{row.risk} {RISKS[row.risk]}".strip()
    yield plain("; ".join(row.notes))
    if graduated:
        yield from map(escaped, _step(row.step))
    yield from (escaped(_json(row.key[n])) if n < len(row.key) else "" for n in range(keys))
    yield escaped(row.incarnation or "")
    yield escaped(row.version or "")
    yield from (escaped(_cell(row.fields.get(name))) for name in fields)
    yield from (escaped(_json(row.arguments[name])) if name in row.arguments else "" for name in arguments)


def _step(step: StepDoc | None) -> tuple[str, ...]:
    if step is None:
        return ("", "", "", "")
    instants = ("" if at is None else iso(at) for at in (step.since, step.due))
    return (step.label, step.before or "", *instants)


def _cell(cell: CellDoc | None) -> str:
    if cell is None:
        return ""
    if cell.state is FieldState.PRESENT:
        return _json(cell.value)
    return f"({cell.state.value.replace('_', ' ')})"


def _json(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(_json(part) for part in value)
        case dict():
            return ", ".join(f"{key}={_json(part)}" for key, part in sorted(value.items()))
        case _:
            return str(value)
