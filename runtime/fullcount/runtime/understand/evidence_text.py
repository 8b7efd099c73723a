"""The evidence that a workflow rests on, for a terminal and as JSON; see `evidence_of`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fullcount.runtime.text import plain, wrapped
from fullcount.runtime.understand.evidence_of import EvidenceOf, Place, ProposalEvidence, Required

_CLAIM = 32


def evidence_lines(found: Sequence[ProposalEvidence]) -> list[str]:
    """Return the evidence of each proposal: uses with their reasons, then requirements with what promises them."""
    lines: list[str] = []
    for proposal in found:
        lines.append(f"{proposal.workflow}.{proposal.proposal}")
        for inventory in proposal.inventories:
            lines += ["", *_inventory(inventory)]
        lines.append("")
    return lines[:-1]


def _inventory(found: EvidenceOf) -> Iterator[str]:
    declared = "" if found.declared is None else f", declared at {_at(found.declared)}"
    yield wrapped("  ", f"{plain(found.inventory)}  ({plain(found.resource)}{declared})")
    for use in found.uses:
        if use.place is None:
            yield f"    {use.direction:<9}"
        else:
            yield wrapped(f"    {use.direction:<9}", f"{_at(use.place)}  {plain(use.place.text)}")
        yield wrapped(f"    {'':<9}", f"why: {plain(use.why)}")
    file = None if found.declared is None else found.declared.file
    yield from _claims("required", found.requires, file)
    yield from _claims("besides", found.besides, file)
    for number, remaining in enumerate(found.remains):
        yield wrapped(f"    {'to see' if number == 0 else '':<9}", plain(remaining))


def _claims(label: str, claims: Sequence[Required], file: str | None) -> Iterator[str]:
    for number, required in enumerate(claims):
        lead = f"    {label if number == 0 else '':<9}{plain(required.claim):<{_CLAIM}}"
        if required.place is None:
            yield lead.rstrip()
        else:
            at = f"line {required.place.line}" if required.place.file == file else _at(required.place)
            yield wrapped(f"{lead} ", f"promised at {at}: `{plain(required.place.text)}`")


def _at(place: Place) -> str:
    return f"{plain(place.file)}:{place.line}:{place.column}"


def evidence_json(found: Sequence[ProposalEvidence]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [asdict(proposal) for proposal in found]
