"""What an undo says of itself to whoever is asked to approve it: of what it is, how it was read, how long it holds."""

from __future__ import annotations

from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.text import plain


def undo_summary(doc: PlanDocument) -> dict[str, Any]:
    """Return what the record of a run says of the undo that it planned or applied; nothing for any other plan."""
    if doc.undo is None:
        return {}
    return {"undoes": doc.undo.plan_id, "undoes_runs": list(doc.undo.runs), "objects": doc.sums.candidates}


def taken_back(doc: PlanDocument, where: str) -> str:
    """Return what is taken back, in a sentence. `where`: ` in ldap://…`, or nothing."""
    sums = doc.sums
    proposal = plain(doc.proposal).replace("_", " ")
    objects = f"{fmt.count(sums.candidates)} of the {fmt.counted(sums.inventory, 'object')}"
    return f"Take back `{proposal}` for {objects} that it was done to{where}."


def undo_lines(doc: PlanDocument) -> tuple[tuple[str, str], ...]:
    """Return the lines of a plan that is an undo; none for any other."""
    undo = doc.undo
    if undo is None:
        return ()
    runs = "" if len(undo.runs) == 0 else f", by {fmt.counted(len(undo.runs), 'run')}"
    return (
        ("undoes", f"plan {plain(undo.plan_id)}{runs}"),
        ("read", f"each object live, {fmt.moment(undo.read_at)}; the record up to entry {fmt.count(undo.head.seq)}"),
        ("valid", f"until {fmt.weekday_moment(undo.valid_until)}; each object is read again before it is touched"),
    )
