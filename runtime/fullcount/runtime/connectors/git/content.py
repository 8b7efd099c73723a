"""Whether the changes of a branch are in the base branch under other commits, as after a squash or a rebase.

**The method.** From the commit where branch and base parted, each commit of both sides is turned into the fingerprint
of its patch: the exact text of `git log -p`, blanks included, without line numbers and object ids. A branch is merged
by content if (squash) the one patch from the parting to the branch's end is the patch of some commit of the base, or
(rebase, cherry-pick) each of its commits' patches is, and none of its commits is a merge, whose own changes a patch
does not show. A branch that parted and changed nothing is merged.

It can say no where a person would say yes (the squash was edited, context moved), never yes where content is missing:
a later revert in the base does not make a merged branch unmerged. git's own patch ids are not used, because they ignore
blanks. Nothing is written to the repository.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from fullcount.runtime.connectors.git.command import Git, complaint

_PATCH = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--binary", "--full-index", "-U3", "-p")
_HUNK = re.compile(rb"@@ -[0-9,]+ \+[0-9,]+ @@.*")
_MARK = b"\0"
"""Begins the line that names a commit; no line of a patch begins with it."""

_EMPTY = b""
"""The fingerprint of a patch that changes nothing."""


@dataclass(slots=True)
class Content:
    """Answers for many branches against one commit of the base; each commit's patch is made once."""

    git: Git
    base_sha: str
    _prints: dict[str, bytes] = field(default_factory=dict)

    async def holds(self, sha: str) -> bool:
        """Whether the base has the content of a branch that ends at `sha`. Raises `SourceError`."""
        parting = await self._parting(sha)
        if parting is None:
            return False
        whole = await self._whole(parting, sha)
        if parting == sha or whole == _EMPTY:
            return True
        in_base = await self._patches(parting, self.base_sha)
        if whole in in_base:
            return True
        merges = await self.git.ask("rev-list", "--merges", "--max-count=1", f"{parting}..{sha}", "--")
        return merges.strip() == b"" and await self._patches(parting, sha) - {_EMPTY} <= in_base

    async def _parting(self, sha: str) -> str | None:
        """Return the commit where the two parted; None if they share no history, or parted more than once."""
        ended = await self.git.run("merge-base", "--all", self.base_sha, sha)
        if ended.code not in {0, 1} or ended.errors:
            raise complaint(ended)
        found = ended.output.decode().split()
        return found[0] if len(found) == 1 else None

    async def _whole(self, start: str, end: str) -> bytes:
        reading = _Patches()
        await self._stream(reading, "diff", *_PATCH, start, end, "--")
        return reading.finish().get("", _EMPTY)

    async def _patches(self, start: str, end: str) -> set[bytes]:
        """Return the fingerprints of the commits that `end` has and `start` has not, merges left out."""
        listed = (await self.git.ask("rev-list", "--no-merges", f"{start}..{end}", "--")).decode().split()
        missing = [sha for sha in listed if sha not in self._prints]
        if missing:
            reading = _Patches()
            arguments = ("log", "--no-walk=unsorted", "--stdin", "--format=%x00%H", *_PATCH)
            await self._stream(reading, *arguments, given="".join(f"{sha}\n" for sha in missing).encode())
            self._prints.update(reading.finish())
        return {self._prints[sha] for sha in listed}

    async def _stream(self, reading: _Patches, *arguments: str, given: bytes = b"") -> None:
        ended = await self.git.stream(reading.feed, *arguments, given=given)
        if ended.code != 0 or ended.errors:
            raise complaint(ended)


class _Patches:
    """Fingerprints of the patches in a stream, by the commit that the line before each names (`""`: none was named)."""

    def __init__(self) -> None:
        self._found: dict[str, bytes] = {}
        self._rest = b""
        self._commit, self._digest, self._empty = "", hashlib.sha256(), True

    def feed(self, piece: bytes) -> None:
        """Take the next piece of the stream."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._line(line)

    def finish(self) -> dict[str, bytes]:
        """Return what was found, after the last piece."""
        self._line(self._rest)
        self._end_patch()
        return self._found

    def _line(self, line: bytes) -> None:
        if line.startswith(_MARK):
            self._end_patch()
            self._commit = line.removeprefix(_MARK).decode()
        elif line != b"" and not line.startswith(b"index "):
            self._empty = False
            self._digest.update(b"@@" if _HUNK.fullmatch(line) else line)
            self._digest.update(b"\n")

    def _end_patch(self) -> None:
        if self._commit or not self._empty:
            self._found[self._commit] = _EMPTY if self._empty else self._digest.digest()
        self._digest, self._empty = hashlib.sha256(), True
