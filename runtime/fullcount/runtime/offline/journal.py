"""The journal's lines: each entry's hash, its link to the one before, and what its kind says.

An entry's hash is SHA-256 over the canonical JSON of `{seq, at, kind, run_id, payload, prev}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fullcount.runtime.offline.canonical import NotCanonical, canonical, read_canonical_text, sha256
from fullcount.runtime.offline.kinds import KINDS, shape_wrong

GENESIS: Final = "sha256:" + "0" * 64
_FIELDS: Final = {"seq": int, "at": int, "kind": str, "payload": dict, "prev": str, "hash": str}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong. `about` as `fullcount verify` has it; `seq`: the journal entry, if it is about one."""

    about: str
    seq: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.seq is None else f"entry {self.seq}: {self.what}"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the journal. `said` is its payload."""

    seq: int
    at: int
    kind: str
    run_id: str | None
    said: dict[str, Any]
    prev: str
    hash: str


@dataclass(slots=True)
class Chain:
    """Takes lines in their order. After a bad one it goes on from what that one claims to be."""

    seq: int = 0
    hash: str = GENESIS
    faults: list[Fault] = field(default_factory=list)

    def read(self, lines: Iterable[str]) -> Iterator[Line]:
        """Yield the entries that stand."""
        for number, text in enumerate(lines, start=1):
            try:
                line = _entry_line(text)
            except NotCanonical as error:
                self.faults.append(Fault("chain", None, f"line {number} is not a journal entry: {error}"))
                continue
            gap = self._gap(line)
            what = self._wrong(line, after_a_gap=gap is not None)
            self.seq, self.hash = line.seq, line.hash
            self.faults += [Fault("chain", line.seq, each) for each in (gap, what) if each is not None]
            if what is None:
                yield line  # also after a gap: what it says itself is whole, and what is missing is told by name then

    def _gap(self, line: Line) -> str | None:
        if line.seq == self.seq + 1:
            return None
        if line.seq <= self.seq:
            return "it is out of its place: an entry of this number, or a later one, came before it"
        first, last = self.seq + 1, line.seq - 1
        if first == last:
            return f"entry {first} of the journal is missing before it"
        return f"the entries {first} to {last} of the journal are missing before it"

    def _wrong(self, line: Line, *, after_a_gap: bool) -> str | None:
        if line.prev != self.hash and not after_a_gap:
            return "it does not follow from the entry before it: one of the two was changed, removed or moved"
        whole = {
            "seq": line.seq, "at": line.at, "kind": line.kind, "run_id": line.run_id, "payload": line.said,
            "prev": line.prev,
        }  # fmt: skip
        if sha256(canonical(whole)) != line.hash:
            return "its content does not fit its hash: it was changed after it was written"
        if line.kind not in KINDS:
            return f"`{line.kind}` is not a kind of entry that this version knows"
        what = shape_wrong(line.said, KINDS[line.kind])
        return None if what is None else f"it does not say what an entry `{line.kind}` says: {what}"


def _entry_line(text: str) -> Line:
    raw = read_canonical_text(text.removesuffix("\n"))
    if not isinstance(raw, dict) or set(raw) != {*_FIELDS, "run_id"}:
        raise NotCanonical("it has other fields")
    if not all(type(raw[name]) is kind for name, kind in _FIELDS.items()):
        raise NotCanonical("a field is of another type")
    if raw["run_id"] is not None and not isinstance(raw["run_id"], str):
        raise NotCanonical("a field is of another type")
    return Line(raw["seq"], raw["at"], raw["kind"], raw["run_id"], raw["payload"], raw["prev"], raw["hash"])
