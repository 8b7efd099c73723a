"""Which end of a list a reply's schema affirms (R2): the heart of the audit.

A proof is an affirmative sign that every reply must carry: a flag that says `complete`, a cursor that must be there and
is null or empty at the end, a `Link` header that must be there, or `has_more: false` together with an exact total. A
sign that may be left out is none, because its absence looks like the end; neither is a count, nor `has_more: false`.
Such signs make a candidate: a dialect can declare what they mean, out of what the provider says elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fullcount.runtime.audit import additions, words
from fullcount.runtime.audit.findings import Finding
from fullcount.runtime.audit.operations import Operation, Reply
from fullcount.runtime.audit.schemas import Raw, Shape, mapping, text
from fullcount.runtime.audit.signals import Place, Signals
from fullcount.runtime.evidence.codes import Reason


@dataclass(frozen=True, slots=True)
class End:
    """A proof of the end: what affirms it, and the same as a condition of a dialect."""

    says: str
    when: Mapping[str, object]
    cursor: bool = False
    """Whether the proof is the cursor itself, which must then be one that can be sent back."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What one reply has to say of the end."""

    proofs: tuple[End, ...]
    candidates: tuple[Finding, ...]


def ends_of(signals: Signals, reply: Reply, operation: Operation, version: str) -> Ends:
    """Return the proofs and the candidates of one reply."""
    proofs: list[End] = []
    candidates: list[Finding] = []
    for found in (
        *(_flag(place) for place in signals.flags),
        *(_cursor(place, version) for place in signals.cursors),
        *_link(reply, version),
        *_more(signals),
        *_weak(signals, operation, version),
    ):
        if isinstance(found, End):
            proofs.append(found)
        else:
            candidates.append(found)
    return Ends(tuple(proofs), tuple(candidates))


def exact(total: Place) -> bool:
    """Whether a total is there in every reply, and its description says that it is exact."""
    described = total.shape.description
    said = words.SAYS_EXACT.search(described) is not None and words.SAYS_ESTIMATE.search(described) is None
    return total.required and not total.shape.nullable and said


def _candidate(says: str, declare: str, add: Mapping[str, object] | None = None) -> Finding:
    return Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, declare=declare, add=add)


def _constant(place: Place) -> Finding:
    return _candidate(
        f"`{place.at}` is the same in every reply, by its schema: what can't be otherwise says nothing",
        f"nothing of `{place.at}`, until its schema has the other value too, and a reply in which it was said",
    )


def _flag(place: Place) -> End | Finding:
    if place.shape.constant:
        return _constant(place)
    if place.required and not place.shape.nullable:
        return End(
            f"`{place.at}` is in every reply; true says that this was the last of it", {"body": {place.at: True}}
        )
    loose = "it may be null" if place.required else "a reply may leave it out"
    return _candidate(
        f"`{place.at}` would affirm the end, but {loose}",
        f"that `{place.at}: true` is the end, if every last page has it",
        additions.complete(place.path),
    )


def _cursor(place: Place, version: str) -> End | Finding:
    shape, at = place.shape, place.at
    if shape.constant:
        return _constant(place)
    add = additions.next_cursor(place.path, version)
    says_end = _says_end(shape.description)
    if not place.required:
        return _candidate(
            f"`{at}` leads on, but a reply may leave it out: the last page looks like one on which it was lost",
            f"that a page without `{at}` is the last one, if the provider says so",
            add,
        )
    if words.SAYS_OTHER_END.search(shape.description):
        return _candidate(
            f"`{at}` ends for other reasons than the end of the list, by its own description",
            f"how the end is told from the other reasons for which `{at}` is empty",
            add,
        )
    if shape.nullable or says_end:
        how = "null" if shape.nullable else "empty"
        said = (
            "is in every reply and may be null"
            if shape.nullable
            else "is in every reply, and described as empty at the end"
        )
        return End(
            f"`{at}` {said}; {how} says that nothing follows",
            {"body": {at: {"present": True, "empty": True}}},
            cursor=True,
        )
    return _candidate(
        f"`{at}` is in every reply, and nothing says what it is on the last page",
        f"what `{at}` is on the last page, such as an empty text",
        add,
    )


def _says_end(description: str) -> bool:
    """Whether one sentence says, without any "not", that the value is empty at the end."""
    return any(
        words.SAYS_END.search(sentence) is not None and words.SAYS_NOT.search(sentence) is None
        for sentence in description.split(".")
    )


def _link(reply: Reply, version: str) -> list[End | Finding]:
    header = reply.headers.get("link")
    if header is None:
        return []
    if mapping(header).get("required") is True and _speaks_of_next(mapping(header)):
        says = 'the header `Link` is in every reply; one without `rel="next"` says that nothing follows'
        return [End(says, {"header": {"link": {"present": True}}}, cursor=True)]
    says = "the header `Link` leads on, but a reply may leave it out: a header that was lost looks like the end"
    if mapping(header).get("required") is True:
        says = "the header `Link` is in every reply, and nothing says that it names the next page"
    return [
        _candidate(
            says,
            'that a reply without `Link: …; rel="next"` is the last one, if the provider says so',
            additions.header(reply.status, "Link", 'Has rel="next" on every page but the last.', version, always=True),
        )
    ]


def _speaks_of_next(header: Raw) -> bool:
    """Whether a header is said to name the next page: `Link` serves other relations too."""
    schema = mapping(header.get("schema"))
    said = (header.get("description"), header.get("example"), schema.get("description"), schema.get("example"))
    return any(_NEXT.search(text(each)) is not None for each in said)


_NEXT = re.compile(r"\bnext\b", re.IGNORECASE)


def _more(signals: Signals) -> list[End | Finding]:
    found: list[End | Finding] = []
    total = next((each for each in signals.totals if exact(each)), None)
    for place in signals.more:
        sure = place.required and not place.shape.nullable
        if place.shape.constant:
            found.append(_constant(place))
        elif sure and total is not None:
            found.append(
                End(
                    f"`{place.at}` and the exact `{total.at}` are in every reply; false at that number is the end",
                    {"body": {place.at: False, total.at: {"present": True}}},
                )
            )
        else:
            why = "nobody set it to true" if sure else "a reply may leave it out"
            found.append(
                _candidate(
                    f"`{place.at}: false` is no sign of the end: {why}, and no exact total stands beside it",
                    f"that `{place.at}: false` is only said when the list was read to its end",
                    additions.complete(),
                )
            )
    return found


def _weak(signals: Signals, operation: Operation, version: str) -> list[Finding]:
    """Return what only helps a dialect that knows more."""
    found = [
        _candidate(
            f"`{place.at}: false` says that nothing is known to be missing, and not that the list ended",
            f"whether `{place.at}` is also set when pages are left or a limit was reached",
            additions.complete(),
        )
        for place in signals.named(words.CUT_SHORT, "boolean")
    ]
    found += [
        _candidate(
            f"`{place.at}` names a position, and nothing says that it is null behind the last item",
            f"what `{place.at}` is on the last page",
            additions.next_cursor((*place.path[:-1], "next_cursor"), version),
        )
        for place in signals.named(words.POSITIONS, "string")
    ]
    for total in signals.totals:
        if _estimate(total.shape):
            continue
        sure = "" if exact(total) else f"that `{total.at}` is exact, and "
        found.append(
            _candidate(
                f"`{total.at}` is a count: a list of that length can still miss items that others took the place of",
                f"{sure}how the last page is told, and that the order is stable",
                additions.exact_total(total.path) if sure else additions.complete(),
            )
        )
    headers = operation.replies
    counted = next((name for reply in headers if reply.good for name in reply.headers if name in _TOTAL_HEADERS), None)
    if counted is not None:
        found.append(
            _candidate(
                f"the header `{counted}` is a count, and no end",
                f"that `{counted}` is exact, and how the last page is told",
                additions.complete(),
            )
        )
    return found


_TOTAL_HEADERS = frozenset({"x-total-count", "x-total", "total-count", "x-pagination-total-count", "x-total-pages"})


def _estimate(shape: Shape) -> bool:
    return words.SAYS_ESTIMATE.search(shape.description) is not None
