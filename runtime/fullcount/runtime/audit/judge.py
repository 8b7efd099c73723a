"""One operation to its verdict: is it a list at all, what affirms its end, what keeps that from being a proof.

The worst reply decides: a caller can't choose which of the described ones it gets. What can't be read is never taken
for "no list": it is unprovable where the operation looks like a list, and named as not judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullcount.runtime.audit import additions, words
from fullcount.runtime.audit.ends import End, ends_of, exact
from fullcount.runtime.audit.findings import Finding, Judged, Kind, Unjudged, Verdict, Way
from fullcount.runtime.audit.gaps import blocking, gaps_of, limits
from fullcount.runtime.audit.operations import Content, Operation, Reply
from fullcount.runtime.audit.schemas import Reader, Shape
from fullcount.runtime.audit.signals import Place, Signals, asks_for_pages, cursor_parameters, items_of, signals_of
from fullcount.runtime.evidence.codes import Reason

_SEARCH_PARAMETERS = frozenset({"q", "query", "search", "searchterm", "jql", "keyword", "keywords"})


def judge(operation: Operation, reader: Reader, version: str) -> Judged | Unjudged | None:
    """Return the verdict on an operation; None if it returns no list, no aggregate and no search result."""
    if not _reads(operation):
        return None
    judged: list[Judged] = []
    unread: list[str] = []
    for found in _forms(operation, reader, version):
        if isinstance(found, str):
            unread.append(found)
        else:
            judged.append(found)
    if judged:
        worst = min(judged, key=lambda each: each.verdict.rank)
        return replace(worst, findings=_ordered([finding for each in (worst, *judged) for finding in each.findings]))
    if not unread:
        return None
    if not (asks_for_pages(operation) or operation.words & words.LISTING):
        return Unjudged(operation.method, operation.path, unread[0])
    says = f"{unread[0]}: nothing says how the list ends"
    finding = Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, add=_an_envelope(version))
    return _judged(operation, kind_of(operation), Verdict.UNPROVABLE, (), [finding], None)


def kind_of(operation: Operation) -> Kind:
    """Return whether an operation that returns a list is a search."""
    searches = operation.words & words.SEARCHING or any(
        each.plain in _SEARCH_PARAMETERS for each in operation.parameters
    )
    return Kind.SEARCH if searches else Kind.LIST


def _reads(operation: Operation) -> bool:
    """Whether an operation reads. A `POST` does if it is called a search or asks for pages."""
    if operation.method in {"GET", "QUERY"}:
        return True
    return operation.method == "POST" and (_called_a_search(operation) or asks_for_pages(operation))


def _called_a_search(operation: Operation) -> bool:
    return len(operation.words & (words.LISTING | words.AGGREGATING) - {"all"}) > 0


def _unasked(operation: Operation, signals: Signals) -> bool:
    """Whether it is a write that happens to answer with a list: it is not called a search, and gives no pages."""
    return operation.method == "POST" and not _called_a_search(operation) and not signals.paged


def _aggregates(operation: Operation) -> bool:
    """Whether an operation is called a count or a sum. Of one object, its name alone does not make it one."""
    called = operation.words if not operation.of_one else words.words_of(operation.last_step.partition("{")[0])
    return len(called & words.AGGREGATING) > 0


def _forms(operation: Operation, reader: Reader, version: str) -> Iterator[Judged | str]:
    """Judge each form of each good reply, or say why it could not be read."""
    good = [reply for reply in operation.replies if reply.good]
    for reply in good or [reply for reply in operation.replies if reply.status.lower() == "default"]:
        if reply.unread:
            yield f"its reply {reply.status} can't be read: {reply.unread}"
        elif len(reply.contents) == 0 and reply.status.upper() in {"200", "2XX", "DEFAULT"}:
            yield f"its reply {reply.status} has no schema"
        for content in _chosen(reply):
            found = _form(operation, reply, content, reader, version)
            if found is not None:
                yield found
    if len(operation.replies) == 0:
        yield "it describes no reply"


def _chosen(reply: Reply) -> list[Content]:
    """Return the forms that count. A caller names the form that it takes, and so may pass streams by for plain JSON."""
    plain = [each for each in reply.contents if words.JSON_TYPE.fullmatch(each.media) and not _streams(each)]
    return plain or list(reply.contents)


def _streams(content: Content) -> bool:
    return content.each or words.STREAM_TYPE.fullmatch(content.media) is not None


def _form(operation: Operation, reply: Reply, content: Content, reader: Reader, version: str) -> Judged | str | None:
    if _streams(content):
        return _stream(operation, content, reader)
    if not words.JSON_TYPE.fullmatch(content.media):
        return f"its reply {reply.status} is {content.media}, of which only JSON is read" if _xml(content) else None
    if content.schema is None:
        return f"its reply {reply.status} has no schema"
    root = reader.shape(content.schema)
    signals = signals_of(root, reader)
    items = items_of(signals, operation, reader)
    if items is not None and _unasked(operation, signals):
        return None
    if items is not None:
        return _list(operation, reply, signals, items, reader, version)
    if _aggregates(operation) and (root.types & {"integer", "number"} or _numbers(signals)):
        return _aggregate(operation, signals, reader, version)
    if root.unread:
        return f"its reply {reply.status} can't be read: {root.unread[0]}"
    if _says_nothing(root):
        return f"the schema of its reply {reply.status} says nothing of what is in it"
    return None


def _xml(content: Content) -> bool:
    return "xml" in content.media.lower() and "html" not in content.media.lower()


def _says_nothing(root: Shape) -> bool:
    bare = len(root.properties) == 0 and root.members is None
    return bare and (len(root.types) == 0 or root.types == frozenset({"object"}))


def _numbers(signals: Signals) -> tuple[Place, ...]:
    return signals.named(words.NUMBERS, "integer", "number")


# -- lists ------------------------------------------------------------------------------------------------------------


def _list(operation: Operation, reply: Reply, signals: Signals, items: Place, reader: Reader, version: str) -> Judged:
    kind = kind_of(operation)
    ends = ends_of(signals, reply, operation, version)
    proofs = [each for each in ends.proofs if not each.cursor or _can_follow(operation, signals, reply)]
    blocked = blocking(operation, signals)
    findings: list[Finding] = []
    if len(proofs) < len(ends.proofs):
        lost = _nowhere_to_send(signals, version)
        # Where another sign affirms the end, the first page can be told from a whole list, and no more is claimed.
        (findings if proofs else blocked).append(replace(lost, decides=len(proofs) == 0))
    said = " ".join((operation.prose, signals.root.shape.description, items.shape.description))
    disclaimed = words.SAYS_INCOMPLETE.search(said)
    if disclaimed is not None:
        says = f'its description says that it may not be whole ("{disclaimed.group(0).lower()}")'
        findings.append(Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, add=additions.complete()))
    findings += blocked
    caps = limits(operation, signals, items, reply, version)
    if proofs:
        verdict = Verdict.DEPENDS if blocked else Verdict.PROVABLE
        caps = [replace(each, decides=False) for each in caps]
    elif ends.candidates or ends.proofs:
        verdict = Verdict.DEPENDS
        findings += ends.candidates
    else:
        verdict = Verdict.UNPROVABLE
        findings.append(_no_end(operation, items, version))
    if disclaimed is not None:
        verdict = Verdict.UNPROVABLE
    findings += [*caps, *gaps_of(operation, kind, signals, items, reader, version)]
    affirmed = tuple(each.says for each in proofs)
    return _judged(operation, kind, verdict, affirmed, findings, _way(operation, reply, signals, items, proofs))


def _can_follow(operation: Operation, signals: Signals, reply: Reply) -> bool:
    """Whether a cursor can be sent back, or is an address that is called as it is."""
    by_name = operation.sent(words.CURSOR_PARAMETERS | words.POSITION_PARAMETERS)
    return len(by_name) > 0 or "link" in reply.headers or any(each.address for each in signals.cursors)


def _nowhere_to_send(signals: Signals, version: str) -> Finding:
    at = signals.cursors[0].at if signals.cursors else "next"
    return Finding(
        Reason.MORE_PAGES_AVAILABLE,
        f"`{at}` leads on, and no parameter takes it: the pages behind the first can't be asked for",
        decides=True,
        declare=f"how `{at}` is sent back",
        add=additions.parameter("cursor", f"The `{at}` of the page before.", version),
    )


def _no_end(operation: Operation, items: Place, version: str) -> Finding:
    asked = [
        each.name
        for family in (words.POSITION_PARAMETERS, words.CURSOR_PARAMETERS, words.LIMIT_PARAMETERS)
        for each in operation.sent(family)
    ]
    if items.path == () and items.is_a("array"):
        says = "a bare list has no place that could say that it ended"
        add = _an_envelope(version)
    else:
        says = "no place in the reply says that the list ended"
        add = additions.next_cursor(("next_cursor",), version)
    if asked:
        says += f"; `{asked[0]}` asks for a part, and a short or empty page is no end"
    return Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, add=add)


def _an_envelope(version: str) -> additions.Part:
    cursor = additions.nullable("string", "Where the list goes on. Null on the last page, and only there.", version)
    properties = {"items": {"type": "array"}, "next_cursor": cursor}
    return {"type": "object", "required": ["items", "next_cursor"], "properties": properties}


def _way(operation: Operation, reply: Reply, signals: Signals, items: Place, proofs: list[End]) -> Way:
    cursor = next((each for each in signals.cursors), None)
    sent = [each for each in cursor_parameters(operation, signals) if each.place == "query"]
    total = next(iter(signals.totals), None)
    return Way(
        items=items.at,
        end=proofs[0].when if proofs else None,
        cursor=None if cursor is None else cursor.at,
        query=sent[0].name if sent else None,
        link="link" in reply.headers,
        total=None if total is None else total.at,
        total_exact=total is not None and exact(total),
        cut=tuple(each.at for each in signals.named(words.CUT_SHORT, "boolean")),
        failed=tuple(each.at for each in signals.named(words.FAILED, "array")),
    )


# -- aggregates and streams -------------------------------------------------------------------------------------------


def _aggregate(operation: Operation, signals: Signals, reader: Reader, version: str) -> Judged:
    """Judge a number over many: it must say that it counts them all."""
    proofs = [
        f"`{each.at}` is in every reply; true says that nothing was left out"
        for each in signals.flags
        if each.required and not each.shape.nullable
    ]
    places = [signals.root] if signals.root.path == () and signals.root.is_a("integer", "number") else []
    proofs += [
        f"`{each.at or 'the number'}` is described as exact" for each in (*places, *_numbers(signals)) if exact(each)
    ]
    hints = [*signals.flags, *signals.named(words.CUT_SHORT, "boolean"), *signals.named(words.FAILED)]
    findings: list[Finding] = []
    if not proofs:
        declare = f"whether `{hints[0].at}` tells every way in which something can be left out" if hints else ""
        says = "nothing says that the number counts everything that the request matches"
        add = additions.complete()
        findings.append(Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, declare=declare, add=add))
    verdict = Verdict.PROVABLE if proofs else Verdict.DEPENDS if hints else Verdict.UNPROVABLE
    findings += gaps_of(operation, Kind.AGGREGATE, signals, None, reader, version)
    return _judged(operation, Kind.AGGREGATE, verdict, tuple(proofs), findings, None)


def _stream(operation: Operation, content: Content, reader: Reader) -> Judged:
    """Judge a stream: what was cut off looks like what ended, unless a last record says that it is the last."""
    each = signals_of(reader.shape(content.schema), reader) if content.schema is not None else None
    flags = each.named(words.EOF_NAMES, "boolean", "object", "string") if each is not None else ()
    says = f"a stream ({content.media.partition(';')[0]}) that was cut off looks like one that ended"
    declare = f"that the last record has `{flags[0].at}`, and no other" if flags else ""
    add = additions.complete() if content.each else None
    finding = Finding(Reason.COMPLETENESS_UNPROVABLE, says, decides=True, declare=declare, add=add)
    verdict = Verdict.DEPENDS if flags else Verdict.UNPROVABLE
    return _judged(operation, Kind.STREAM, verdict, (), [finding], None)


# -- results ----------------------------------------------------------------------------------------------------------


def _judged(
    operation: Operation,
    kind: Kind,
    verdict: Verdict,
    proofs: tuple[str, ...],
    findings: list[Finding],
    way: Way | None,
) -> Judged:
    return Judged(operation.method, operation.path, operation.name, kind, verdict, proofs, _ordered(findings), way)


def _ordered(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return each thing once, what decides first."""
    distinct = {(each.code, each.says): each for each in findings}
    return tuple(sorted(distinct.values(), key=lambda each: not each.decides))
