"""The journal as lines of JSON, and the check of such lines: for a third party that has neither store nor program.

Each line is the canonical JSON of one entry, its hash included; to check it, remove `hash`, take SHA-256 over the
canonical JSON (RFC 8785) of the rest, and compare; `prev` is the hash of the line before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

import rfc8785

from fullcount.runtime.journal.chain import ChainCheck
from fullcount.runtime.journal.entry import Entry, Head
from fullcount.runtime.journal.report import About, Problem, VerifyReport
from fullcount.runtime.journal.verify import entries
from fullcount.runtime.store.store import Store

_FIELDS = {"seq": int, "at": int, "kind": str, "payload": dict, "prev": str, "hash": str}


def export_jsonl(store: Store, stream: TextIO) -> Head:
    """Write every entry as one line and return the head. The order is that of the chain."""
    head = Head(seq=0, hash="")
    with store.reading() as session:
        for entry in entries(session):
            stream.write(line_of(entry) + "\n")
            head = Head(seq=entry.seq, hash=entry.hash)
    return head


def verify_jsonl(lines: Iterable[str], *, anchor: Head | None = None) -> VerifyReport:
    """Check the chain of exported lines: numbers, links and hashes. A cut tail shows only with an `anchor`."""
    chain = ChainCheck(anchor)
    unread: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        entry = _entry(line)
        if entry is None:
            unread.append(Problem(About.CHAIN, None, f"line {number} is not a journal entry"))
        else:
            chain.feed(entry)
    chain.finish()
    return VerifyReport(entries=chain.head.seq, head=chain.head, problems=(*chain.problems, *unread))


def is_export(beginning: str) -> bool:
    """Whether a file that begins like this is an exported journal: its first line says so."""
    line, end, _ = beginning.partition("\n")
    return end == "\n" and _entry(line) is not None


def line_of(entry: Entry) -> str:
    """Return the line of an entry as it is kept, right or wrong: the payload is canonical, and so is this order."""
    kind, run_id, prev, digest = (
        json.dumps(value, ensure_ascii=False) for value in (entry.kind, entry.run_id, entry.prev, entry.hash)
    )
    return (
        f'{{"at":{entry.at},"hash":{digest},"kind":{kind},"payload":{entry.payload},'
        f'"prev":{prev},"run_id":{run_id},"seq":{entry.seq}}}'
    )


def _entry(line: str) -> Entry | None:
    try:
        raw: Any = json.loads(line)
    except json.JSONDecodeError:
        return None
    if not isinstance(raw, dict) or set(raw) != {*_FIELDS, "run_id"}:
        return None
    if not all(type(raw[name]) is kind for name, kind in _FIELDS.items()):
        return None
    if raw["run_id"] is not None and not isinstance(raw["run_id"], str):
        return None
    # as it stands in the line: large integers are tagged in it, and must not be escaped once more
    try:
        payload, whole = rfc8785.dumps(raw["payload"]).decode(), rfc8785.dumps(raw).decode()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        return None
    if whole != line.rstrip("\n"):
        return None
    return Entry(
        seq=raw["seq"],
        at=raw["at"],
        kind=raw["kind"],
        run_id=raw["run_id"],
        payload=payload,
        prev=raw["prev"],
        hash=raw["hash"],
    )
