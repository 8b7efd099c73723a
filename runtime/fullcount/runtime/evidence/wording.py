"""The words in which evidence is spoken of: what a reading amounts to, and the ways on for each code.

A way on is one line: what to do, three spaces, and where or with which command. It only ever names things that exist.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Envelope, Incompleteness, Status
from fullcount.runtime.format import counted

_SOURCE = "fullcount.toml [sources.{source}]"
_INVENTORY = "inventory {inventory} {{ … }}"

_REASON_WAYS: dict[Reason, tuple[tuple[str, str], ...]] = {
    Reason.MORE_PAGES_AVAILABLE: (("read again to the end", "fullcount plan FILE"),),
    Reason.RESULT_LIMIT_REACHED: (
        ("narrow the scope, so that each question stays below the source's limit", _INVENTORY),
        ("raise the source's own limit", _SOURCE),
    ),
    Reason.CLIENT_LIMIT_REACHED: (("raise our own limit of rows or pages", _SOURCE),),
    Reason.TIME_BUDGET_EXCEEDED: (
        ("give the read a longer deadline", _INVENTORY),
        ("narrow the scope", _INVENTORY),
    ),
    Reason.SOURCE_UNAVAILABLE: (("read again when the source answers", "fullcount plan FILE"),),
    Reason.VISIBILITY_RESTRICTED: (
        ("let the reader see every object of the scope", _SOURCE),
        ("narrow the scope to what the reader may see", _INVENTORY),
    ),
    Reason.RATE_LIMITED: (("read again later, or at a lower rate", _SOURCE),),
    Reason.QUOTA_EXHAUSTED: (("read again when the quota is renewed", "fullcount plan FILE"),),
    Reason.CURSOR_EXPIRED: (("read again from the beginning", "fullcount plan FILE"),),
    Reason.CURSOR_LOOP: (("read again; if it happens twice, report it for this source", "fullcount plan FILE"),),
    Reason.SNAPSHOT_CHANGED: (("read again, at a time when the collection changes less", "fullcount plan FILE"),),
    Reason.COUNT_MISMATCH: (
        ("read again; if the counts still differ, find out which is right", "fullcount plan FILE"),
    ),
    Reason.MALFORMED_RESPONSE: (("compare the declared types and key with what the source sends", _INVENTORY),),
    Reason.UNEXPECTED_STATUS: (("look for a proxy or cache between us and the source", _SOURCE),),
    Reason.UNPROCESSED_ITEMS: (("read again when the source is less busy", "fullcount plan FILE"),),
    Reason.PARTIAL_ERRORS: (("see the source's own messages in the detail", "fullcount runs"),),
    Reason.UNSTABLE_ORDER: (("read from a resource whose pages are stable", _INVENTORY),),
    Reason.SCOPE_NOT_COVERED: (("narrow the scope to what the question can cover", _INVENTORY),),
    Reason.COMPLETENESS_UNPROVABLE: (("read from a resource that says where it ends", _INVENTORY),),
    Reason.EXISTENCE_UNKNOWN: (
        ("see that it is there, mounted where it has to be, and that the reader may see it", _SOURCE),
    ),
    Reason.AUTH_FAILED: (("renew the credentials for reading", _SOURCE),),
    Reason.RESULT_NOT_READY: (("read again when the source has finished its report", "fullcount plan FILE"),),
}

_WARNING_WAYS: dict[WarningCode, tuple[tuple[str, str], ...]] = {
    WarningCode.STALE_INDEX: (("read from the system of record instead of an index", _INVENTORY),),
    WarningCode.STALE_READ: (("read from the primary", _SOURCE),),
    WarningCode.USAGE_DATA_LAG: (("use a threshold well above the delay of the signal", _INVENTORY),),
    WarningCode.TRACKING_WINDOW_LIMIT: (("use a threshold inside the window that the source tracks", _INVENTORY),),
    WarningCode.PARTIAL_FIELD_SET: (("let the reader see the field, or leave it out of the rule", _SOURCE),),
    WarningCode.DEFAULT_SCOPE_APPLIED: (("say the scope that the source chose in the inventory", _INVENTORY),),
    WarningCode.SHARED_IDENTITY: (("act on the underlying object, not on one of its names", _INVENTORY),),
    WarningCode.VERSIONS_NOT_LISTED: (("read from a resource that lists every version", _INVENTORY),),
}


def title(envelope: Envelope) -> str:
    """Return how an inventory is spoken of: `people` (hr.employees)."""
    return f"`{envelope.inventory}` ({envelope.scope.source}.{envelope.scope.resource})"


def unusable_fields(envelope: Envelope) -> list[str]:
    """Return a sentence for each field that could not be taken of some rows: how many, why, of which objects."""
    read = envelope.work.rows_read
    return [
        f"{found.refused:,} of {counted(read, 'row')} {'has' if found.refused == 1 else 'have'} no usable `{name}`:"
        f" {found.refusal}"
        for name, found in envelope.fields.items()
        if found.refused > 0
    ]


def amount(envelope: Envelope) -> str:
    """Return what a reading amounts to: `partial, 1,000 of at least 4,212 rows`."""
    parts = envelope.scope.parts
    lacking = [part for part in parts if part.status is not Status.COMPLETE]
    if envelope.status is Status.FAILED:
        of = "" if len(parts) == 0 else f" of {counted(len(parts), 'part')}"
        return f"failed, nothing was read{of}"
    work, scope = envelope.work, envelope.scope
    rows = counted(work.rows, "row")
    if len(lacking) > 0:
        missing = "; ".join(part.name for part in lacking)
        whole = len(parts) - len(lacking)
        return f"partial: {rows}, {whole:,} of {counted(len(parts), 'part')}, not {missing}"
    if envelope.complete:
        return f"complete, {rows}"
    of = "an unknown number"
    # a total of everything says nothing about how many there are inside a scope that only we applied
    if work.total is not None and work.total > work.rows and (scope.filter is None or scope.filter_pushed_down):
        of = f"{work.total:,}" if work.total_exact else f"about {work.total:,}"
    empty = ", which says nothing of what exists" if work.rows == 0 else ""
    return f"partial{' and empty' if work.rows == 0 else ''}: {rows} of {of}{empty}"


def incompleteness(reason: Incompleteness) -> str:
    """Return a reason as a plan keeps it: its code, with the part of the source that it is about."""
    return str(reason.code) if reason.part is None else f"{reason.code} ({reason.part})"


def ways_on(
    code: Reason | WarningCode, envelope: Envelope, continuation: Continuation | None = None
) -> tuple[str, ...]:
    """Return the ways on for a code that a source gave."""
    if isinstance(code, Reason):
        lines = _written(_REASON_WAYS[code], envelope)
    else:
        lines = _written(_WARNING_WAYS.get(code, ()), envelope)
    stated = None if continuation is None else continuation.after_seconds
    if stated is not None and continuation is not None and continuation.way is Way.RETRY_AFTER:
        lines = (f"wait {stated:g} s, as the source says", *lines)
    return lines


def way_to_act(source: str, code: Reason) -> str:
    """Return what to do about a source that can't be acted on, by why."""
    match code:
        case Reason.AUTH_FAILED:
            what = "check the credentials for acting"
        case Reason.VISIBILITY_RESTRICTED:
            what = "give whoever acts the rights that this needs"
        case _:
            what = "see that what it names is there, answers, and is as said above"
    return f"{what}   {_SOURCE.format(source=source)}"


def _written(ways: tuple[tuple[str, str], ...], envelope: Envelope) -> tuple[str, ...]:
    names = {"source": envelope.scope.source, "inventory": envelope.inventory}
    return tuple(f"{what}   {where.format(**names)}" for what, where in ways)


def inventory_way(what: str, inventory: program.Inventory | str) -> str:
    """Return a way on that leads to an inventory's own clauses."""
    name = inventory if isinstance(inventory, str) else inventory.name
    return f"{what}   inventory {name} {{ … }}"


def verify_way(what: str, inventory: str) -> str:
    """Return a way on that leads to what is verified of an inventory."""
    return f"{what}   verify {inventory} {{ … }}"


ACCEPT = "accept it with an owner, a reason and a last day   fullcount.toml [[accepted_warning]]"
READ_AGAIN = "read again   fullcount plan FILE"
