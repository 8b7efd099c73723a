"""An audit for people: a table with the worst first, then for each operation what is missing and what to add."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from fullcount.runtime.audit.findings import Audit, Finding, Judged, Verdict
from fullcount.runtime.text import WIDTH, plain, shorten, wrapped

ROWS: Final = 40
"""How many operations the table names."""
DETAILED: Final = 8
"""How many kinds of trouble are spoken of, each by one operation that has it."""
_PATH: Final = 46


def report(audit: Audit, name: str) -> str:
    """Return the whole report."""
    lines = [*_head(audit, name), ""]
    if audit.judged:
        lines += [*_table(audit), ""]
    alike = _alike(audit)
    for group in alike[:DETAILED]:
        lines += [*_operation(group[0], len(group) - 1), ""]
    if len(alike) > DETAILED:
        lines += [f"{len(alike) - DETAILED:,} more kinds of trouble: see all with --json", ""]
    lines += _besides(audit)
    lines += _not_judged(audit)
    lines.append(_last(audit))
    return "\n".join(lines)


def report_one(judged: Judged) -> str:
    """Return everything that was found of one operation, with each part that is to be added in full."""
    lines = [f"{plain(judged.title)}   {judged.verdict.upper()}   {judged.kind}", ""]
    lines += [wrapped("  affirmed  ", plain(each)) for each in judged.proofs]
    for finding in judged.findings:
        lines += [wrapped(f"  {finding.code}  ", plain(finding.says))]
        if finding.declare:
            lines.append(wrapped("    a dialect would declare  ", plain(finding.declare)))
    parts = [finding.add for finding in judged.findings if finding.add is not None]
    operation = merged(part for part in parts if _of_operation(part))
    reply = merged(part for part in parts if not _of_operation(part))
    for what, whole in (("the schema of its reply", reply), ("the operation", operation)):
        if whole:
            text = json.dumps(whole, indent=2, ensure_ascii=True)
            lines += ["", f"  add to {what}", *(f"    {line}" for line in text.splitlines())]
    return "\n".join(lines)


def _of_operation(part: Mapping[str, object]) -> bool:
    return "responses" in part or "parameters" in part


def merged(parts: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return what several parts add together; where two say something of one thing, the first is kept."""
    whole: dict[str, object] = {}
    for part in parts:
        for key, value in part.items():
            there = whole.get(key)
            if isinstance(there, Mapping) and isinstance(value, Mapping):
                whole[key] = merged([there, value])
            elif isinstance(there, list) and isinstance(value, list):
                whole[key] = [*there, *(each for each in value if each not in there)]
            else:
                whole.setdefault(key, value)
    return whole


def _head(audit: Audit, name: str) -> Iterator[str]:
    counted = Counter(each.verdict for each in audit.judged)
    kinds = Counter(str(each.kind) for each in audit.judged)
    what = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
    title = f"{audit.title}, " if audit.title else ""
    swagger = "Swagger" if audit.version == "2.0" else "OpenAPI"
    yield wrapped("AUDIT  ", plain(f"{name}   {shorten(title, 60)}{swagger} {audit.version}"))
    yield (
        f"       {counted[Verdict.UNPROVABLE]:,} unprovable · {counted[Verdict.DEPENDS]:,} that a dialect decides · "
        f"{counted[Verdict.PROVABLE]:,} provable" + (f" · {len(audit.unjudged):,} not judged" if audit.unjudged else "")
    )
    yield f"       {audit.operations:,} operations" + (f"; of many objects: {what}" if what else "")


def _table(audit: Audit) -> Iterator[str]:
    yield f"  {'verdict':<11} {'kind':<10} {'operation':<{_PATH}} why"
    for each in audit.judged[:ROWS]:
        codes = list(dict.fromkeys(str(finding.code) for finding in each.deciding))
        why = "the end is affirmed" if each.verdict is Verdict.PROVABLE else codes[0]
        more = f" +{len(codes) - 1}" if len(codes) > 1 else ""
        yield f"  {each.verdict:<11} {each.kind:<10} {plain(each.title, _PATH):<{_PATH}} {why}{more}"
    if len(audit.judged) > ROWS:
        yield f"  {len(audit.judged) - ROWS:,} more: see all with --json"


def _alike(audit: Audit) -> list[list[Judged]]:
    """Return what can't be proven, gathered by what is wrong with it: one of each kind is spoken of."""
    groups: dict[tuple[str, ...], list[Judged]] = {}
    for each in audit.judged:
        if each.verdict is not Verdict.PROVABLE:
            codes = tuple(str(finding.code) for finding in each.deciding)
            parts = json.dumps([_short(finding.add) for finding in each.deciding])
            groups.setdefault((each.verdict, each.kind, *codes, parts), []).append(each)
    return list(groups.values())


def _operation(judged: Judged, others: int) -> Iterator[str]:
    more = f", and {others:,} like it" if others > 0 else ""
    yield f"{plain(judged.title, WIDTH - 36)}{more}   {judged.verdict}"
    for proof in judged.proofs:
        yield wrapped("  affirmed  ", plain(proof))
    for finding in judged.deciding:
        yield wrapped(f"  {finding.code}  ", plain(finding.says))
        if finding.declare:
            yield wrapped("    a dialect would declare  ", plain(finding.declare))
    best = _best(judged)
    if best is not None:
        yield wrapped("    add  ", json.dumps(_short(best), ensure_ascii=True))


def _best(judged: Judged) -> object | None:
    """Return one part that would make the difference; the others are in the whole list."""
    return next((each.add for each in judged.deciding if each.add is not None), None)


def _short(part: object) -> object:
    """Return a part without its prose."""
    if isinstance(part, Mapping):
        return {key: _short(each) for key, each in part.items() if not isinstance(each, str) or key != "description"}
    return part


def _besides(audit: Audit) -> Iterator[str]:
    """Say once what many operations lack."""
    lacking: dict[str, list[Finding]] = {}
    for each in audit.judged:
        for code in dict.fromkeys(str(finding.code) for finding in each.findings if not finding.decides):
            first = next(finding for finding in each.findings if not finding.decides and finding.code == code)
            lacking.setdefault(code, []).append(first)
    if not lacking:
        return
    yield f"besides, of {len(audit.judged):,}:"
    width = max(map(len, lacking))
    for code, found in sorted(lacking.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        same = len({finding.says for finding in found}) == 1
        example = found[0].says if same else f"such as: {found[0].says}"
        yield wrapped(f"  {len(found):>5,}  {code:<{width}}  ", plain(example))
    yield ""


def _not_judged(audit: Audit) -> Iterator[str]:
    if audit.unjudged:
        yield "not judged, because the document does not say what they return:"
        for each in audit.unjudged[:DETAILED]:
            yield wrapped("  ", plain(f"{each.method} {shorten(each.path, _PATH)}   {each.why}"))
        if len(audit.unjudged) > DETAILED:
            yield f"  {len(audit.unjudged) - DETAILED:,} more: see all with --json"
        yield ""
    if audit.remote:
        yield wrapped("not followed  ", plain(", ".join(f"`{shorten(each, 60)}`" for each in audit.remote[:3])))
        yield ""


def _last(audit: Audit) -> str:
    if len(audit.judged) == 0 and len(audit.unjudged) == 0:
        return "no operation returns a list, an aggregate or a search result"
    if audit.proven:
        return "each of them can be proven whole from its schema"
    return wrapped("", 'one operation in full, with all that is to be added:  --operation "GET /path"')
