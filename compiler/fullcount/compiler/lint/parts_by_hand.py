"""FC335: an absence that is looked for in parts which are listed by hand, of objects that may be used in any part."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import program
from fullcount.compiler.claims import Direction
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each split inventory whose absence decides about objects that may belong to a part it is not read in."""
    inventories = subject.workflow.inventories
    said: set[tuple[str, str]] = set()
    for proposal in subject.workflow.proposals:
        base = inventories[proposal.inventory]
        for use in proposal.uses:
            if use.direction is not Direction.ABSENCE or use.names_parts or use.inventory == base.name:
                continue
            for across in inventories[use.inventory].across:
                if (use.inventory, across.name) not in said and _may_lack(across, base):
                    said.add((use.inventory, across.name))
                    yield finding(
                        "FC335",
                        f"what `{use.inventory}` lacks is looked for in the parts on this list alone",
                        across.span,
                        label=(use.head, "here absence decides"),
                        why=f"a `{across.name}` that is not on it is not looked into, and what is used there alone "
                        "would be taken for unused",
                        way=f"name the parts by an inventory of them, as `{across.name} in accounts.id`",
                    )


def _may_lack(across: program.Across, base: program.Inventory) -> bool:
    """Whether an object of the base may belong to a part that is not on the list; a list in an inventory lacks none."""
    if across.values is None:
        return False
    own = next((each for each in base.across if each.name == across.name), None)
    return own is None or own.values is None or not set(own.values) <= set(across.values)
