"""What a use of an inventory rests on, under the pointer: its direction, what it requires, what promises that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullcount.compiler.program import Use, Workflow
from fullcount.compiler.reasons import reasons
from fullcount.dsl.source import Source
from fullcount.runtime.understand.evidence_of import EvidenceOf, evidence_of


def evidence_note(workflows: Sequence[Workflow], sources: Mapping[str, Source], name: str, offset: int) -> str | None:
    """Return what is known of the use whose inventory is named at an offset, in Markdown; None if there is none."""
    for workflow in workflows:
        for proposal in workflow.proposals:
            for use, why in reasons(proposal):
                head = use.head
                if head.source == name and head.start <= offset <= head.end:
                    found = [
                        each
                        for of in evidence_of(workflow, sources)
                        if of.proposal == proposal.name
                        for each in of.inventories
                        if each.inventory == use.inventory
                    ]
                    return _note(use, why, found[0] if found else None)
    return None


def _note(use: Use, why: str, found: EvidenceOf | None) -> str:
    lines = [f"**{use.direction}** of `{use.inventory}`: {why}"]
    for required in () if found is None else found.requires:
        promised = f"promised by `{required.promised}`" if required.promised else "**promised by nothing yet**"
        lines.append(f"- requires `{required.claim}`: {promised}")
    lines += [f"- to see at run time: {each}" for each in (() if found is None else found.remains)]
    return "\n".join(lines)
