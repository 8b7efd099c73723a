"""Which lists a plan rests on: what keeps objects by name, and the values that a rule takes from files.

Guarantees: every list that the proposal names is there with its count, also one that keeps nothing; entries that ended
or match no object are counted, so that nobody believes to be protected by them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts
from fullcount.runtime.plan.document import ListUse
from fullcount.runtime.plan.exempt import Holding
from fullcount.runtime.workspace.exemptions import Exemption


def exemption_uses(
    workflow: program.Workflow,
    proposal: program.Proposal,
    lists: Mapping[str, Sequence[Exemption]],
    places: Mapping[str, str],
    *,
    today: date,
    holding: Iterable[Holding],
    unused: Iterable[Holding],
) -> tuple[ListUse, ...]:
    """Return how each exemption list bears on the plan, in the order in which the proposal names them."""
    held, lost = Counter(h.list_name for h in holding), Counter(h.list_name for h in unused)
    found: list[ListUse] = []
    for name in dict.fromkeys(e.list_name for e in proposal.excepts if e.list_name is not None):
        entries = [entry for entry in lists[name] if entry.workflow in (None, workflow.name)]
        found.append(
            ListUse(
                name=name,
                place=places.get(name, ""),
                entries=len(entries),
                matched=held[name] - lost[name],
                unused=lost[name],
                ended=sum(not entry.holds_on(today) for entry in entries),
            )
        )
    return tuple(found)


def file_uses(workflow: program.Workflow, proposal: program.Proposal) -> tuple[ListUse, ...]:
    """Return the list files whose values the proposal was made with, each once."""
    found: dict[tuple[str, int], ListUse] = {}
    for expr in _expressions(workflow, proposal):
        for node in facts.walk(expr):
            if isinstance(node, ir.ListConst) and node.file is not None:
                use = ListUse(name=node.file.text, entries=len(node.items), sha256=node.file.sha256)
                found[use.name, use.entries] = use
    return tuple(found.values())


def _expressions(workflow: program.Workflow, proposal: program.Proposal) -> Iterator[ir.Expr]:
    yield from proposal.deciding
    for name in dict.fromkeys((proposal.inventory, *(use.inventory for use in proposal.uses))):
        scope = workflow.inventories[name].scope
        if scope is not None:
            yield scope


def in_words(use: ListUse) -> str:
    """Return one line about a list: `vip (cmdb.exceptions): 12 entries, 3 match, 8 match nothing, 1 ended`."""
    name = use.name if use.place == "" else f"{use.name} ({use.place})"
    if use.sha256 is not None:
        return f"{name}: {_counted(use.entries, 'value', 'values')}, {use.sha256.removeprefix('sha256:')[:12]}"
    parts = [_counted(use.entries, "entry", "entries"), f"{use.matched:,} match"]
    parts += [] if use.unused == 0 else [f"{use.unused:,} match nothing"]
    parts += [] if use.ended == 0 else [f"{use.ended:,} ended"]
    return f"{name}: {', '.join(parts)}"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
