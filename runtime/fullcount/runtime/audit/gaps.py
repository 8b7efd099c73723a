"""What evidence lacks besides an end: parts that failed, what was covered, states of fields, limits, waits.

None of these decides the verdict, with one exception: pages by position, which shift under change and so can't claim
completeness (R13), whatever end they have.
"""

from __future__ import annotations

from typing import Final

from fullcount.runtime.audit import additions, words
from fullcount.runtime.audit.ends import exact
from fullcount.runtime.audit.findings import Finding, Kind
from fullcount.runtime.audit.operations import Operation, Reply
from fullcount.runtime.audit.schemas import Reader
from fullcount.runtime.audit.signals import Place, Signals, cursor_parameters
from fullcount.runtime.evidence.codes import Reason, WarningCode

NAMED: Final = 3
"""How many fields or parameters a message names."""


def blocking(operation: Operation, signals: Signals) -> list[Finding]:
    """Return what keeps an end from being a proof: pages that shift."""
    positions = operation.sent(words.POSITION_PARAMETERS)
    # An address of the next page may well be one by position, so that only a cursor of its own lifts this.
    follows = cursor_parameters(operation, signals) and signals.cursors
    if not positions or follows or operation.sent(words.SNAPSHOT_PARAMETERS):
        return []
    name = positions[0].name
    return [
        Finding(
            Reason.UNSTABLE_ORDER,
            f"pages are asked for by position (`{name}`): what is deleted on one page moves another item past it",
            decides=True,
            declare="how well pages by position belong together; two passes that agree make up for it",
        )
    ]


def limits(operation: Operation, signals: Signals, items: Place | None, reply: Reply, version: str) -> list[Finding]:
    """Return the limits behind which the list can't be read."""
    found: list[Finding] = []
    add = additions.parameter("cursor", "The `next_cursor` of the page before.", version)
    on = (
        operation.sent(words.CURSOR_PARAMETERS | words.POSITION_PARAMETERS)
        or signals.cursors
        or "link" in reply.headers
    )
    caps = [each for each in operation.sent(words.LIMIT_PARAMETERS) if each.shape.maximum is not None]
    if caps and not on:
        most = caps[0].shape.maximum
        says = f"`{caps[0].name}` is {most:g} at most, and no request leads to what is behind it"
        found.append(Finding(Reason.RESULT_LIMIT_REACHED, says, decides=True, add=add))
    if items is not None and items.shape.max_items is not None and not on:
        says = f"the list has {items.shape.max_items:g} items at most, and no request leads to what is behind them"
        found.append(Finding(Reason.RESULT_LIMIT_REACHED, says, decides=True, add=add))
    for each in operation.sent(words.POSITION_PARAMETERS):
        if each.shape.maximum is not None:
            says = f"`{each.name}` is {each.shape.maximum:g} at most; what is behind it can't be asked for"
            found.append(Finding(Reason.RESULT_LIMIT_REACHED, says))
    return found


def gaps_of(
    operation: Operation, kind: Kind, signals: Signals, items: Place | None, reader: Reader, version: str
) -> list[Finding]:
    """Return what the schema does not say besides the end."""
    paged = signals.paged or len(operation.sent(words.CURSOR_PARAMETERS | words.POSITION_PARAMETERS)) > 0
    found = [*_body(items), *_parts(signals), *_scope(operation, signals), *_statuses(operation, version)]
    if kind is not Kind.AGGREGATE:
        found += [*_fields(items, signals, reader), *_totals(signals)]
    if paged:
        found += _snapshot(operation, signals)
    if kind in {Kind.SEARCH, Kind.AGGREGATE}:
        found += _searching(operation, kind, signals)
    return found


def _body(items: Place | None) -> list[Finding]:
    if items is None or items.path == () or (items.required and not items.shape.nullable):
        return []
    how = "null" if items.required else "left out"
    return [
        Finding(
            Reason.MALFORMED_RESPONSE,
            f"`{items.at}` may be {how}: an empty list can't be told from a broken reply",
            add=additions.required(items.path, {"type": "array"}),
        )
    ]


def _parts(signals: Signals) -> list[Finding]:
    if signals.named(words.FAILED):
        return []
    says = "no place names parts that did not answer: a shard that is down looks like one without items"
    return [Finding(Reason.PARTIAL_ERRORS, says, add=additions.failed_parts())]


def _scope(operation: Operation, signals: Signals) -> list[Finding]:
    found: list[Finding] = []
    known = words.CURSOR_PARAMETERS | words.POSITION_PARAMETERS | words.LIMIT_PARAMETERS | words.NO_FILTER
    asked = [
        each for each in operation.parameters if each.place == "query" and each.plain not in known | words.SNAPSHOTS
    ]
    narrowing = [each for each in asked if each.shape.default is not None]
    if narrowing:
        narrow = "narrows" if len(narrowing) == 1 else "narrow"
        says = f"{_listed([each.name for each in narrowing])} {narrow} the list unless asked otherwise"
        found.append(Finding(WarningCode.DEFAULT_SCOPE_APPLIED, says))
    if asked and not signals.named(words.SCOPES):
        says = f"the reply does not repeat the scope that it covered ({_listed([each.name for each in asked])})"
        add = additions.required(("scope",), {"type": "object", "description": "The filter that was applied."})
        found.append(Finding(Reason.SCOPE_NOT_COVERED, says, add=add))
    if not signals.named(words.VISIBILITY):
        says = "nothing says whether the caller may see everything: what is hidden is just not there"
        description = "Whether the caller may see all that the request matches."
        add = additions.required(("visibility",), {"enum": ["all", "restricted"], "description": description})
        found.append(Finding(Reason.VISIBILITY_RESTRICTED, says, add=add))
    return found


def _statuses(operation: Operation, version: str) -> list[Finding]:
    found: list[Finding] = []
    by_status = {reply.status.upper(): reply for reply in operation.replies}
    throttled = by_status.get("429")
    if throttled is None or "retry-after" not in throttled.headers:
        what = "no reply 429 is described" if throttled is None else "the reply 429 has no `Retry-After`"
        add = additions.header("429", "Retry-After", "Seconds to wait.", version, always=True)
        found.append(Finding(Reason.RATE_LIMITED, f"{what}: a throttled reader can't know when to go on", add=add))
    if "202" in by_status:
        says = "a reply 202 is described: the answer may not be ready, and is then no list"
        found.append(Finding(Reason.RESULT_NOT_READY, says))
    strange = [status for status in ("204", "206") if status in by_status]
    if strange:
        says = f"a reply {' and '.join(strange)} is described: whether that is an empty or a cut list is not said"
        found.append(Finding(Reason.UNEXPECTED_STATUS, says))
    return found


def _fields(items: Place | None, signals: Signals, reader: Reader) -> list[Finding]:
    if items is None or signals.named(words.FIELD_STATES):
        return []
    member = reader.shape(items.shape.items if items.is_a("array") else items.shape.members or True)
    loose = [name for name, each in member.properties.items() if not each.required]
    if not loose:
        return []
    says = f"{_listed(loose)} may be missing from an item, and nothing says whether absent, hidden or not asked for"
    return [Finding(WarningCode.PARTIAL_FIELD_SET, says)]


def _totals(signals: Signals) -> list[Finding]:
    if not signals.totals:
        return [
            Finding(
                WarningCode.TOTAL_ABSENT, "no total to check the collected number against", add=additions.exact_total()
            )
        ]
    if not any(exact(each) for each in signals.totals):
        place = signals.totals[0]
        says = f"`{place.at}` is not said to be in every reply and exact"
        return [Finding(WarningCode.TOTAL_ESTIMATED, says, add=additions.exact_total(place.path))]
    return []


def _snapshot(operation: Operation, signals: Signals) -> list[Finding]:
    found: list[Finding] = []
    if not operation.sent(words.SNAPSHOT_PARAMETERS) and not signals.named(words.SNAPSHOTS):
        says = "nothing says that the pages belong to one state of the collection"
        add = additions.named("snapshot", "The state that this page belongs to; the same on every page of one list.")
        found.append(Finding(WarningCode.NO_SNAPSHOT, says, add=add))
    statuses = {reply.status for reply in operation.replies}
    if signals.cursors and "410" not in statuses:
        says = "no reply 410 is described: how an expired cursor is told is not known"
        add = {"responses": {"410": {"description": "The cursor is no longer valid. Begin the list anew."}}}
        found.append(Finding(Reason.CURSOR_EXPIRED, says, add=add))
    return found


def _searching(operation: Operation, kind: Kind, signals: Signals) -> list[Finding]:
    found: list[Finding] = []
    if not signals.named(words.DEADLINES | words.CUT_SHORT):
        says = "no flag says that the source ran out of time over it"
        add = additions.flag(("timed_out",), "Whether the search ended before it had seen everything.")
        found.append(Finding(Reason.TIME_BUDGET_EXCEEDED, says, add=add))
    if kind is Kind.SEARCH and not signals.named(words.REVISIONS):
        lags = words.SAYS_LAGGING.search(operation.prose) is not None
        says = (
            "the index lags behind, by its description"
            if lags
            else "nothing says of which state of its index it speaks"
        )
        add = additions.named("as_of", "The instant that the index reflects.")
        found.append(Finding(WarningCode.STALE_INDEX, says, add=add))
    return found


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
