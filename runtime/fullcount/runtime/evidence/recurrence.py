"""Warnings that come again: how long a warning has been there, and when it becomes a failure (R23).

A warning is mended at its cause, accepted by somebody with a reason and an end, or it refuses: it is never read over
for ever. A reading that was not complete and lacks the warning proves nothing: it neither ends a row nor lengthens it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from fullcount.runtime.evidence.codes import WARNING_TEXT, Severity, WarningCode, severity_of
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.warned import Accepted, Recurrence
from fullcount.runtime.evidence.wording import ACCEPT, title
from fullcount.runtime.format import counted


def codes_held(entries: Sequence[Accepted], resource: str, day: date) -> frozenset[WarningCode]:
    """Return the warnings of a resource that are accepted on a day."""
    return frozenset(each.code for each in entries if each.resource == resource and each.holds_on(day))


def recurring(envelope: Envelope, of: Recurrence, accepted: frozenset[WarningCode]) -> tuple[Finding, ...]:
    """Return a finding for each warning of the reading that came too often in a row and that nobody accepts."""
    details = {notice.code: notice.detail for notice in reversed(envelope.warnings)}
    return tuple(
        Finding(
            code="FC737",
            message=f"{title(envelope)} was read with the warning `{seen.code}` {counted(seen.runs, 'time')} in a row, "
            f"since {seen.since:%Y-%m-%d}: nobody resolved or accepted it",
            inventory=envelope.inventory,
            detail=details[seen.code] or WARNING_TEXT[seen.code],
            ways_on=(
                f"mend it at its cause; it is for {seen.owner} to see to   {envelope.scope.source}",
                ACCEPT,
            ),
        )
        for seen in of.seen
        if seen.code in details
        and seen.code not in accepted
        and severity_of(seen.code) is Severity.RECURS
        and seen.runs >= of.limit
    )


def with_ended(
    findings: Sequence[Finding], entries: Sequence[Accepted], resource: str, day: date
) -> tuple[Finding, ...]:
    """Return the findings; those about a warning that was accepted until a day that is over say so first."""
    ended = {each.code: each for each in entries if each.resource == resource and not each.holds_on(day)}

    def said(finding: Finding) -> Finding:
        about = [code for code in ended if finding.code == code or f"the warning `{code}`" in finding.message]
        ways = tuple(
            f"look at it again: {ended[code].owner} accepted it until {ended[code].expires}, which is over   "
            "fullcount.toml [[accepted_warning]]"
            for code in about
        )
        return finding.model_copy(update={"ways_on": (*ways, *finding.ways_on)})

    return tuple(map(said, findings))


def notes_on(entries: Sequence[Accepted], read: Mapping[str, frozenset[WarningCode]], day: date) -> tuple[str, ...]:
    """Return what to say of accepted warnings in a plan; `read`: the warnings of each resource that was read."""
    notes = []
    for each in entries:
        if each.resource not in read:
            continue
        what = f"accepted warning `{each.code}` of `{each.resource}` ({each.owner}: {each.reason})"
        if not each.holds_on(day):
            notes.append(f"{what} ended on {each.expires}: it accepts nothing any more")
        elif each.code not in read[each.resource]:
            notes.append(f"{what} is unused: the reading came without it")
    return tuple(notes)
