"""Whether one claim holds for one reading: measured on the envelope, never taken on anybody's word.

The same function answers when a certificate is issued and each time one is used, so that what was certified is worked
out again from the reading it names. Whatever was not measured does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from fullcount.compiler.claims import (
    Agrees,
    Change,
    Claim,
    Complete,
    Consistency,
    Fresh,
    Rows,
    Snapshot,
    Visible,
)
from fullcount.compiler.edges import claim_model, duration_text
from fullcount.compiler.values import FieldState
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Envelope, Incompleteness, Notice, Status, Wire
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.wording import ACCEPT, READ_AGAIN, amount, inventory_way, title, verify_way, ways_on
from fullcount.runtime.format import counted, length

_NAMED_PARTS = 3

_KNOWN = (FieldState.PRESENT, FieldState.ABSENT)


class Held(Wire):
    """A claim that held, in the words of `verify`, and what it was measured on."""

    claim: str
    measured: str


@dataclass(frozen=True, slots=True)
class CountFailed:
    """The independent count could not be taken, and why."""

    reason: Incompleteness


@dataclass(frozen=True, slots=True)
class Measured:
    """What claims are judged on. `previous_rows` None: there was no certified reading before this one.

    `agreed_count` None: no independent count was taken.
    """

    envelope: Envelope
    at: datetime
    previous_rows: int | None = None
    agreed_count: int | CountFailed | None = None


def judge(claim: Claim, on: Measured) -> Held | tuple[Finding, ...]:
    """Return the claim as held with its measurement, or everything that speaks against it (at least one finding)."""
    if on.envelope.status is Status.FAILED:
        return _reasons(on.envelope)
    if isinstance(claim, Rows | Change | Agrees) and not on.envelope.complete:
        # How many rows were returned says nothing of a collection that was not read to its end.
        return _reasons(on.envelope)
    match claim:
        case Complete():
            return _complete(on)
        case Snapshot(consistency=wanted):
            return _snapshot(wanted, on)
        case Visible():
            return _visible(on)
        case Fresh(max_age=max_age):
            return _fresh(claim, max_age, on)
        case Rows(minimum=minimum):
            return _rows(minimum, on)
        case Change(percent=percent):
            return _change(percent, on)
        case Agrees():
            return _agrees(claim, on)


def in_words(claim: Claim) -> str:
    """Return a claim in the words of `verify`."""
    return "fresh" if claim == Fresh(None) else claim_model(claim).text()


def blocking(envelope: Envelope, used_fields: frozenset[str], accepted: frozenset[WarningCode]) -> tuple[Finding, ...]:
    """Return a finding for each warning that blocks an act and was not accepted.

    That nothing is known of a field blocks only where the field is used; it is worked out from the states as well, in
    case nobody warned of it.
    """
    notices = [notice for notice in envelope.warnings if notice.blocking and _concerns(notice, used_fields)]
    if envelope.work.rows > 0:
        unknown = [n for n in sorted(used_fields) if n in envelope.fields and not _anything_known(envelope, n)]
        named = {n for notice in notices if notice.code is WarningCode.PARTIAL_FIELD_SET for n in _fields(notice)}
        notices += [
            Notice(
                code=WarningCode.PARTIAL_FIELD_SET,
                detail=f"nothing is known of `{name}` in any row",
                data={"fields": [name]},
            )
            for name in unknown
            if name not in named
        ]
    return tuple(
        Finding(
            code=notice.code,
            message=f"{title(envelope)} was read with a warning that blocks acts",
            inventory=envelope.inventory,
            detail=notice.detail,
            ways_on=(*ways_on(notice.code, envelope), ACCEPT),
        )
        for notice in notices
        if notice.code not in accepted
    )


def _anything_known(envelope: Envelope, name: str) -> bool:
    return any(envelope.fields[name].states.get(state, 0) > 0 for state in _KNOWN)


def _fields(notice: Notice) -> tuple[str, ...]:
    named = notice.data.get("fields", ())
    return tuple(str(name) for name in named) if isinstance(named, list | tuple) else ()


def _concerns(notice: Notice, used_fields: frozenset[str]) -> bool:
    """Whether a warning can matter: one about named fields only where one of them is used."""
    if notice.code is not WarningCode.PARTIAL_FIELD_SET:
        return True
    named = _fields(notice)
    return len(named) == 0 or not used_fields.isdisjoint(named)


def _reasons(envelope: Envelope) -> tuple[Finding, ...]:
    """Return a finding for each reason of an answer that is not complete."""
    completeness = envelope.completeness
    reasons = completeness.reasons
    if len(reasons) == 0:
        reasons = (Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail="the reading does not say why"),)
    return tuple(
        Finding(
            code=reason.code,
            message=f"{title(envelope)} is {amount(envelope)}",
            inventory=envelope.inventory,
            detail=reason.detail if reason.part is None else f"{reason.part}: {reason.detail}",
            ways_on=ways_on(reason.code, envelope, completeness.continuation),
        )
        for reason in reasons
    )


def _complete(on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    completeness, work, scope = envelope.completeness, envelope.work, envelope.scope
    if not completeness.complete or len(completeness.reasons) > 0 or envelope.status is not Status.COMPLETE:
        return _reasons(envelope)
    # the constructor of an envelope holds these; evidence that licenses acts is not taken on that alone
    contradictions = [
        text
        for text, holds in (
            ("no end marker was seen", work.end_marker is None),
            ("its pages do not belong together", not scope.consistency.at_least(Consistency.INTERVAL)),
            ("its reader saw less than the scope", scope.visibility == "restricted"),
            ("it has no snapshot", envelope.snapshot_digest is None),
            ("a canary was not seen", work.canaries_seen != work.canaries_expected),
            ("its rows have keys in common", work.distinct_keys != work.rows),
        )
        if holds
    ]
    if len(contradictions) > 0:
        message = f"{title(envelope)} is called complete, but {', '.join(contradictions)}"
        code = Reason.COMPLETENESS_UNPROVABLE
        return (Finding(code=code, message=message, inventory=envelope.inventory, ways_on=(READ_AGAIN,)),)
    end = f"end seen ({work.end_marker})"
    return Held(claim="complete", measured=f"{counted(work.rows, 'row')}, {counted(work.pages, 'page')}, {end}")


def _snapshot(wanted: Consistency, on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    got = envelope.scope.consistency
    if got.at_least(wanted):
        return Held(claim=f"snapshot {wanted}", measured=str(got))
    return (
        Finding(
            code="FC745",
            message=f"{title(envelope)} was read as `{got}`, but `snapshot {wanted}` is asked for",
            inventory=envelope.inventory,
            ways_on=(inventory_way("read from a source that pins its snapshots", envelope.inventory),),
        ),
    )


def _visible(on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    work, visibility = envelope.work, envelope.scope.visibility
    hidden = tuple(f for f in _reasons(envelope) if f.code == Reason.VISIBILITY_RESTRICTED)
    if len(hidden) > 0:
        return hidden
    all_canaries = work.canaries_seen == work.canaries_expected
    if visibility == "all" and all_canaries:
        return Held(claim="visibility all", measured="the source vouches that its reader sees everything")
    blind = [part.name for part in envelope.scope.parts if not part.vouched and part.canaries_seen == 0]
    if visibility == "unknown" and work.canaries_expected > 0 and all_canaries and len(blind) > 0:
        message = (
            f"nothing shows that the reader of {title(envelope)} could see every object of {_named(blind)}: "
            f"a right can be lost in one part alone, and no canary was seen there"
        )
        way = inventory_way("name an object of each part that must always be seen:  expect …", envelope.inventory)
        return (Finding(code="FC746", message=message, inventory=envelope.inventory, ways_on=(way,)),)
    if visibility == "unknown" and work.canaries_expected > 0 and all_canaries:
        return Held(claim="visibility all", measured=f"{counted(work.canaries_seen, 'canary', 'canaries')} seen")
    if visibility == "unknown" and work.canaries_expected == 0:
        message = f"nothing shows that the reader of {title(envelope)} could see every object"
        way = inventory_way("name an object that must always be seen:  expect …", envelope.inventory)
        return (Finding(code="FC746", message=message, inventory=envelope.inventory, ways_on=(way,)),)
    missing = counted(work.canaries_expected - work.canaries_seen, "canary", "canaries")
    if visibility != "restricted" and not envelope.completeness.complete:
        message = (
            f"nothing shows that the reader of {title(envelope)} could see every object: {missing} not seen so far"
        )
        return (Finding(code="FC746", message=message, inventory=envelope.inventory, ways_on=(READ_AGAIN,)),)
    what = "the source says so" if visibility == "restricted" else f"{missing} not seen"
    return (
        Finding(
            code=Reason.VISIBILITY_RESTRICTED,
            message=f"the reader of {title(envelope)} does not see every object of the scope: {what}",
            inventory=envelope.inventory,
            ways_on=ways_on(Reason.VISIBILITY_RESTRICTED, envelope),
        ),
    )


def _named(parts: Sequence[str]) -> str:
    named = "; ".join(parts[:_NAMED_PARTS])
    more = len(parts) - _NAMED_PARTS
    return f"{named}, and {counted(more, 'more part')}" if more > 0 else named


def _fresh(claim: Claim, max_age: int | None, on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    age = on.at - envelope.scope.started_at
    measured = f"{length(age)} old"
    if max_age is not None and timedelta(0) <= age <= timedelta(microseconds=max_age):
        return Held(claim=in_words(claim), measured=measured)
    if max_age is None:
        problem = "nothing says how old it may be"
    elif age < timedelta(0):
        problem = f"it is dated {length(-age)} in the future, so a clock is wrong"
    else:
        problem = f"it is {measured}, and may be {duration_text(max_age)} old"
    message = f"the reading of {title(envelope)} can't be used now: {problem}"
    return (Finding(code="FC742", message=message, inventory=envelope.inventory, ways_on=(READ_AGAIN,)),)


def _rows(minimum: int, on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    rows = envelope.work.rows
    if rows >= minimum:
        return Held(claim=f"rows at least {minimum}", measured=counted(rows, "row"))
    return (
        Finding(
            code="FC743",
            message=f"{title(envelope)} has {counted(rows, 'row')}, but at least {minimum:,} are asked for",
            inventory=envelope.inventory,
            ways_on=(
                f"look at the source first: was it emptied or reloaded?   {envelope.scope.source}",
                verify_way("lower the bound if the collection really became that small", envelope.inventory),
            ),
        ),
    )


def _change(percent: Decimal, on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    rows, before = envelope.work.rows, on.previous_rows
    claim = f"change at most {percent}%"
    if before is None:
        return Held(claim=claim, measured="the first certified reading: there is nothing to compare with")
    # exact: both sides are multiplied out, so that no rounding decides; from 0 every growth is too much
    if abs(rows - before) * 100 <= percent * before:
        return Held(claim=claim, measured=f"{before:,} rows before, {rows:,} now")
    how = "grew" if rows > before else "shrank"
    share = "from nothing" if before == 0 else f"by {abs(rows - before) * 100 / before:,.1f} %"
    return (
        Finding(
            code="FC744",
            message=f"{title(envelope)} {how} {share} since the last certified reading, from {before:,} to "
            f"{counted(rows, 'row')}; at most {percent} % is allowed",
            inventory=envelope.inventory,
            ways_on=(
                f"find out what changed in the source   {envelope.scope.source}",
                verify_way("allow more once, if the change is real", envelope.inventory),
            ),
        ),
    )


def _agrees(claim: Agrees, on: Measured) -> Held | tuple[Finding, ...]:
    envelope = on.envelope
    other = f"{claim.source}.{claim.resource}"
    keys = envelope.work.distinct_keys
    match on.agreed_count:
        case None:
            message = f"`{other}` was not counted, so nothing agrees with {title(envelope)}"
            return (Finding(code="FC748", message=message, inventory=envelope.inventory, ways_on=(READ_AGAIN,)),)
        case CountFailed(reason=reason):
            return (
                Finding(
                    code=reason.code,
                    message=f"`{other}` could not be counted, so nothing agrees with {title(envelope)}",
                    inventory=envelope.inventory,
                    detail=reason.detail,
                    ways_on=(f"see whether the source answers   fullcount.toml [sources.{claim.source}]",),
                ),
            )
        case int(count) if count == keys:
            return Held(claim=in_words(claim), measured=f"{count:,}")
        case int(count):
            return (
                Finding(
                    code=Reason.COUNT_MISMATCH,
                    message=f"{title(envelope)} has {counted(keys, 'object')}, but `{other}` counts {count:,}",
                    inventory=envelope.inventory,
                    ways_on=ways_on(Reason.COUNT_MISMATCH, envelope),
                ),
            )
