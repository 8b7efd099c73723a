"""The reading side of a git source. It runs no command that writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import (
    Existence,
    Matches,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
    Total,
)
from fullcount.runtime.connectors.git.command import Git, common_folder, git_folder
from fullcount.runtime.connectors.git.content import Content
from fullcount.runtime.connectors.git.declaration import BRANCH_FIELDS, GitConfig
from fullcount.runtime.connectors.git.listing import (
    Branch,
    Listing,
    find_branch,
    is_shallow,
    is_valid_name,
    list_branches,
)
from fullcount.runtime.connectors.local_user import local_user
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness

END = "for_each_ref_twice"
"""The end marker: git listed every branch to a clean exit, twice in a row the same."""

Raw = tuple[Any, FieldState | None]


class GitReader:
    """Reads branches. See `SourceReader`."""

    def __init__(self, config: GitConfig, git: Git) -> None:
        self._config, self._git = config, git

    @classmethod
    async def open(cls, source: str, config: GitConfig) -> GitReader:
        """Look at the repository. Raises `SourceError`."""
        git = Git(git_folder(config.repository), config.timeout)
        await is_shallow(git)
        return cls(config, git)

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return identity(self._git)

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`. Every branch is listed on entry; the pages are slices of that one state."""
        listing = await list_branches(self._git, self._config)
        facts = _Facts(listing.shallow, Content(self._git, listing.base_sha))
        info = ScanInfo(Consistency.INTERVAL, visibility="all", reasons=listing.reasons)
        yield _GitScan(question, listing, facts, info)

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        (name,) = key
        if not isinstance(name, str) or not await is_valid_name(self._git, name):
            return Reading(Existence.GONE)  # git can't have such a branch
        found, base_sha = await find_branch(self._git, self._config, name)
        if found is None:
            return Reading(Existence.GONE)
        facts = _Facts(await is_shallow(self._git), Content(self._git, base_sha))
        return Reading(Existence.FOUND, await facts.cells(found, fields))

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        listing = await list_branches(self._git, self._config)
        facts = _Facts(listing.shallow, Content(self._git, listing.base_sha))
        rows = []
        for branch in listing.branches:
            raw, state = await facts.raw(branch, field)
            # what has no known value there may have the one that is asked for
            if state is not None or raw is None or raw == value:
                rows.append(await facts.cells(branch, fields))
        return Matches(tuple(rows), complete=len(listing.reasons) == 0, reasons=listing.reasons)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        listing = await list_branches(self._git, self._config)
        return len(listing.branches) + sum(int(reason.data["branches"]) for reason in listing.reasons)

    async def close(self) -> None:
        """See `SourceReader.close`: nothing is held open."""


def identity(git: Git) -> Mapping[str, str]:
    """Return which repository this is, by its real path, and who looks at it."""
    return {"target_kind": "git", "target_repository": str(common_folder(git.folder)), "user": local_user()}


@dataclass(frozen=True, slots=True)
class _Facts:
    """The fields of a branch, those that need work only when they are asked for."""

    shallow: bool
    content: Content

    async def raw(self, branch: Branch, field: str) -> Raw:
        """Return a field's natural value, and its state where that is not told by the value."""
        match field:
            case "author" | "author_email" | "last_commit":
                value = getattr(branch, field)
                return (value, FieldState.SOURCE_FAILED if value is None else None)
            case "upstream":
                failed = FieldState.SOURCE_FAILED if branch.upstream is None else None  # a name that is no text is one
                return (branch.upstream or None, failed)
            case "merged":
                return self._merged(branch.merged)
            case "merged_by_content":
                return self._merged(branch.merged or await self.content.holds(branch.sha))
            case _:
                return (getattr(branch, field), None)

    def _merged(self, found: bool) -> Raw:
        """In a shallow clone the commits that would show it may be among those left out."""
        return (None, FieldState.INDETERMINATE) if self.shallow and not found else (found, None)

    async def cells(self, branch: Branch, fields: Sequence[str]) -> Mapping[str, Cell]:
        """Return canonical cells."""
        return {name: coerce_cell(BRANCH_FIELDS[name], *await self.raw(branch, name)) for name in fields}


class _GitScan:
    """An open scan. See `Scan`."""

    def __init__(self, question: Question, listing: Listing, facts: _Facts, info: ScanInfo) -> None:
        self._question, self._listing, self._facts = question, listing, facts
        self._places: dict[str | None, int] = {None: 0}
        self.info = info

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`. The cursor is a position in the one listing that this scan holds; another is expired."""
        if cursor not in self._places:
            reason = Incompleteness(code=Reason.CURSOR_EXPIRED, detail="the cursor does not belong to this listing")
            raise SourceError(reason, continuation=Continuation(way=Way.RESTART, preserves_snapshot=False))
        start = self._places[cursor]
        following = start + self._question.page_rows
        branches = self._listing.branches[start:following]
        columns: dict[str, list[Any]] = {name: [] for name in self._question.fields}
        states: dict[str, list[FieldState | None]] = {name: [] for name in self._question.fields}
        for branch in branches:
            for name in self._question.fields:
                value, state = await self._facts.raw(branch, name)
                columns[name].append(value)
                states[name].append(state)
        more = following < len(self._listing.branches)
        if more:
            self._places[str(following)] = following
        return Page(
            columns=columns,
            rows=len(branches),
            states={name: column for name, column in states.items() if any(state is not None for state in column)},
            cursor=str(following) if more else None,
            end=None if more else END,
            total=Total(len(self._listing.branches), exact=True),
        )
