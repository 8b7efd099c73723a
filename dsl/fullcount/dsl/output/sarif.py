"""Findings as SARIF 2.1.0, which code scanning services take.

Rules come from the registry of codes, paths are relative to the root of the repository, columns count code points. The
fingerprint of a finding stays the same while lines are added or removed elsewhere, so that a service knows it again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fullcount.dsl.codes import CODES, Code
from fullcount.dsl.diagnostics import Diagnostic, Fix
from fullcount.dsl.output.places import Region, Root, region
from fullcount.dsl.render import visible
from fullcount.dsl.source import Source, Span

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE: Final = "%SRCROOT%"


def to_sarif(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], root: Root, *, version: str
) -> dict[str, Any]:
    """Return one run with the findings and the rules that they broke. `version` is that of Fullcount."""
    found = list(diagnostics)
    codes = sorted({item.code for item in found})
    seen: Counter[str] = Counter()
    results = [_result(item, codes.index(item.code), sources, root, seen) for item in found]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fullcount",
                        "version": version,
                        "semanticVersion": version,
                        "rules": [_rule(CODES[code]) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _rule(code: Code) -> dict[str, Any]:
    more = f"`fullcount explain {code.id}` shows an example."
    return {
        "id": code.id,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "help": {"text": f"{code.explanation}\n\n{more}", "markdown": f"{code.explanation}\n\n{more}"},
        "defaultConfiguration": {"level": str(code.severity)},
    }


def _result(
    item: Diagnostic, rule: int, sources: Mapping[str, Source], root: Root, seen: Counter[str]
) -> dict[str, Any]:
    print_ = _fingerprint(item, sources, root)
    seen[print_] += 1
    result: dict[str, Any] = {
        "ruleId": item.code,
        "ruleIndex": rule,
        "level": str(item.severity),
        "message": {"text": _told(item)},
        "locations": [{"physicalLocation": _location(item.span, sources, root)}],
        "partialFingerprints": {"primaryLocationLineHash": f"{print_}:{seen[print_]}"},
    }
    if item.labels:
        result["relatedLocations"] = [
            {
                "id": index,
                "physicalLocation": _location(each.span, sources, root),
                "message": {"text": _plain(each.text)},
            }
            for index, each in enumerate(item.labels)
        ]
    if item.fix is not None:
        result["fixes"] = [_fix(item.fix, sources, root)]
    return result


def _told(item: Diagnostic) -> str:
    parts = [item.message]
    parts += [f"{word}: {words}" for word, words in (("why", item.why), ("help", item.help)) if words]
    return "\n".join(_plain(part) for part in parts)


def _plain(text: str) -> str:
    """Return a text in which nothing is a link: `[x](y)` would be one."""
    return visible(text).replace("](", "] (")


def _location(span: Span, sources: Mapping[str, Source], root: Root) -> dict[str, Any]:
    at = region(span, sources)
    return {"artifactLocation": _artifact(span.source, root), **({"region": _region(at)} if at is not None else {})}


def _artifact(name: str, root: Root) -> dict[str, str]:
    uri = root.uri(name)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _BASE}


def _region(at: Region) -> dict[str, int]:
    return {"startLine": at.line, "startColumn": at.column, "endLine": at.end_line, "endColumn": at.end_column}


def _fingerprint(item: Diagnostic, sources: Mapping[str, Source], root: Root) -> str:
    at, source = region(item.span, sources), sources.get(item.span.source)
    line = source.line(at.line).strip() if source is not None and at is not None else ""
    told = "\0".join((item.code, root.path(item.span.source), line))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fix(fix: Fix, sources: Mapping[str, Source], root: Root) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        at = region(edit.span, sources)
        if at is not None:
            changes.setdefault(edit.span.source, []).append(
                {"deletedRegion": _region(at), "insertedContent": {"text": edit.replacement}}
            )
    return {
        "description": {"text": _plain(fix.title)},
        "artifactChanges": [
            {"artifactLocation": _artifact(name, root), "replacements": replacements}
            for name, replacements in changes.items()
        ],
    }
