"""Checking the chain alone: numbers, links and hashes. Needs the entries and nothing else, so anyone can do it."""

from __future__ import annotations

from fullcount.runtime.journal.entry import GENESIS, Entry, Head, entry_hash
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.plan.digest import CanonicalError


class ChainCheck:
    """Takes entries in the order they are kept. After a bad one it goes on from what that entry claims to be."""

    def __init__(self, anchor: Head | None = None) -> None:
        self.head = Head(seq=0, hash=GENESIS)
        self.problems: list[Problem] = []
        self._anchor = anchor

    def feed(self, entry: Entry) -> bool:
        """Check one entry; return whether it stands."""
        what = self._wrong(entry)
        if what is not None:
            self.problems.append(Problem(About.CHAIN, entry.seq, what))
        self.head = Head(seq=entry.seq, hash=entry.hash)
        return what is None

    def finish(self) -> None:
        """Compare with the head that was noted elsewhere."""
        anchor = self._anchor
        if anchor is not None and anchor.seq > self.head.seq:
            what = f"the journal ends here, but entry {anchor.seq} was seen in it before"
            self.problems.append(Problem(About.CHAIN, self.head.seq, what))

    def compare_head(self, kept_head: Head | None) -> None:
        """Compare with the head that is kept apart."""
        if kept_head is None:
            self.problems.append(Problem(About.CHAIN, self.head.seq, "the journal's head was removed"))
        elif kept_head != self.head:
            found: object = kept_head.seq  # somebody with the file may have put anything there
            if not isinstance(found, int):
                what = "the journal's head does not name an entry"
            elif kept_head.seq > self.head.seq:
                what = f"the journal ends here, and {kept_head.seq - self.head.seq} later entries were removed"
            else:
                what = "the last entry is not the one that the journal's head names"
            self.problems.append(Problem(About.CHAIN, self.head.seq, what))

    def _wrong(self, entry: Entry) -> str | None:
        expected = self.head.seq + 1
        if entry.seq != expected:
            gap = entry.seq - expected
            return f"entry {expected} is missing" if gap == 1 else f"entries {expected} to {entry.seq - 1} are missing"
        if entry.prev != self.head.hash:
            return "it does not follow from the entry before it: one of the two was changed, removed or moved"
        try:
            entry.data()  # in canonical form, or it can't be hashed as it stands
            found = entry_hash(
                seq=entry.seq,
                at=entry.at,
                kind=entry.kind,
                run_id=entry.run_id,
                payload=entry.payload,
                prev=entry.prev,
            )
        except (CanonicalError, ValueError) as error:
            return f"its content can't be read: {error}"
        if found != entry.hash:
            return "its content does not fit its hash: it was changed after it was written"
        if self._anchor is not None and entry.seq == self._anchor.seq and entry.hash != self._anchor.hash:
            return "it is not the entry that was seen in this place before: the journal was rewritten"
        return None
