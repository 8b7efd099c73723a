"""Tampering with a journal by somebody who knows the rules of the chain: nothing but the meaning is wrong after it.

`history` is a folder `place` with an export of one run in `b` and its store in `state.db`, and the journal's `entries`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.records import relinked, rewrite_journal

from fullcount.runtime.journal.verify import verify
from fullcount.runtime.offline.bundle import check_bundle
from fullcount.runtime.offline.canonical import canonical, sha256
from fullcount.runtime.store.store import Store

Entries = list[dict[str, Any]]


def nth(entries: Entries, kind: str, number: int = 0) -> int:
    """Return where the n-th entry of a kind is."""
    return [place for place, entry in enumerate(entries) if entry["kind"] == kind][number]


def said(entries: Entries, kind: str, number: int = 0) -> Any:
    """Return what the n-th entry of a kind says."""
    return entries[nth(entries, kind, number)]["payload"]


def copy_of(entry: dict[str, Any], /, **payload: Any) -> dict[str, Any]:
    """Return an entry that says something else."""
    return entry | {"payload": entry["payload"] | payload}


def put(kind: str, number: int, /, **payload: Any) -> Callable[[Entries], None]:
    """Return a tampering that lets the n-th entry of a kind say something else."""

    def change(entries: Entries) -> None:
        at = nth(entries, kind, number)
        entries[at] = copy_of(entries[at], **payload)

    return change


def in_the_export(history: Any, lines: list[str], folder: Path) -> list[tuple[str, int, str]]:
    """Return what the stand-alone check of an export says, by entry."""
    copy = Path(shutil.copytree(history.place / "b", folder / "b"))
    (copy / "journal.jsonl").write_text("\n".join(lines) + "\n")
    manifest = json.loads((copy / "bundle.json").read_text())
    head = json.loads(lines[-1])
    manifest["files"]["journal.jsonl"] = sha256((copy / "journal.jsonl").read_bytes())
    manifest["head"] = {"seq": head["seq"], "hash": head["hash"]}
    (copy / "bundle.json").write_text(canonical(manifest) + "\n")
    return [(str(fault.about), fault.seq or 0, fault.what) for fault in check_bundle(copy).faults]


def in_the_store(history: Any, lines: list[str], folder: Path) -> list[tuple[str, int, str]]:
    """Return what `fullcount verify` says of a store whose journal says the same."""
    file = folder / "state.db"
    shutil.copyfile(history.place / "state.db", file)
    rewrite_journal(file, lines)
    with Store.open(f"sqlite:///{file}") as store:
        return [(str(problem.about), problem.seq or 0, problem.what) for problem in verify(store).problems]


def found_by_both(history: Any, folder: Path, change: Callable[[Entries], None], kind: str, what: str) -> None:
    """Assert that both say what is wrong of the same entries, the first of which is of this kind."""
    entries = list(history.entries)
    change(entries)
    lines = relinked(entries)
    found = []
    for judge in (in_the_export, in_the_store):
        said_of = [each for each in judge(history, lines, folder) if what in each[2]]
        assert said_of != [], judge(history, lines, folder / "again")
        assert json.loads(lines[said_of[0][1] - 1])["kind"] == kind
        found.append(said_of)
    assert found[0] == found[1]
