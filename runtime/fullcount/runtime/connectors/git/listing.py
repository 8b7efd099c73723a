"""All branches of a repository, as one state: listed until two listings in a row are equal.

Guarantees: a ref that git skips with a warning, a folder of refs that can't be entered, and a name that is not text
are told, never left out without a word. What is derived from commits (merged or not) is derived from the commits of
that one state.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.git.command import Git, common_folder, complaint
from fullcount.runtime.connectors.git.declaration import GitConfig
from fullcount.runtime.connectors.git.worktrees import branches_in_use
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness
from fullcount.runtime.text import shown_bytes

HEADS = "refs/heads/"

_ATOMS = (
    "refname",
    "objectname",
    "objecttype",
    "symref",
    "authorname",
    "authoremail:trim",
    "committerdate:unix",
    "upstream:short",
)
_FORMAT = "%00".join(f"%({atom})" for atom in _ATOMS) + "%00"
_TRIES = 5
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch. None in `author`, `author_email`, `upstream`, `last_commit`: git has no text there, or no date."""

    name: str
    sha: str
    symref: str
    author: str | None
    author_email: str | None
    last_commit: datetime | None
    upstream: str | None
    is_base: bool = False
    checked_out: bool = False
    protected: bool = False
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The branches of one state. `base_sha` is the commit of the base branch in it."""

    branches: tuple[Branch, ...]
    base_sha: str
    shallow: bool
    reasons: tuple[Incompleteness, ...] = ()


async def list_branches(git: Git, config: GitConfig) -> Listing:
    """Return every branch. Raises `SourceError` if the state keeps changing, has no base branch, or is damaged."""
    await asyncio.to_thread(_every_folder_opens, git.folder)
    shallow = await is_shallow(git)
    for _ in range(_TRIES):
        state = await _read(git)
        in_use = await branches_in_use(git)
        base = _base(state, config)
        merged = await _merged(git, base.sha)
        if await _read(git) == state and await branches_in_use(git) == in_use:
            branches, reasons = _named(state)
            aliased = {branch.symref for branch in branches}
            return Listing(
                tuple(_complete(branch, config, in_use, aliased, merged) for branch in branches),
                base.sha,
                shallow,
                reasons,
            )
    detail = f"the branches changed during each of {_TRIES} attempts to list them twice alike"
    way = Continuation(way=Way.RESTART, preserves_snapshot=False)
    raise SourceError(Incompleteness(code=Reason.SNAPSHOT_CHANGED, detail=detail), retryable=True, continuation=way)


async def find_branch(git: Git, config: GitConfig, name: str) -> tuple[Branch | None, str]:
    """Return one branch as it is now (None: there is none) and the commit of the base branch. Raises `SourceError`."""
    in_use = await branches_in_use(git)
    state = await _read(git, HEADS + name, HEADS + config.base)
    base = _base(state, config)
    wanted = (HEADS + name).encode()
    row = next((row for row in state if row[0] == wanted), None)
    if row is None:
        return None, base.sha
    symrefs = (await git.ask("for-each-ref", "--format=%(symref)", "refs/heads")).decode(errors="surrogateescape")
    found = _branch(row, name)
    merged = await is_ancestor(git, found.sha, base.sha)
    ancestors = frozenset({found.sha} if merged else ())
    return _complete(found, config, in_use, set(symrefs.split()), ancestors), base.sha


async def is_ancestor(git: Git, sha: str, of: str) -> bool:
    """Whether a commit is reachable from another. Raises `SourceError`."""
    ended = await git.run("merge-base", "--is-ancestor", sha, of)
    if ended.code not in {0, 1} or ended.errors:
        raise complaint(ended)
    return ended.code == 0


async def is_valid_name(git: Git, name: str) -> bool:
    """Whether git could have a branch of this name at all."""
    if "\0" in name or "\n" in name:
        return False
    return (await git.run("check-ref-format", HEADS + name)).code == 0


async def is_shallow(git: Git) -> bool:
    """Whether history was cut off when the repository was cloned."""
    return (await git.ask("rev-parse", "--is-shallow-repository")).strip() == b"true"


def refuses_delete(branch: Branch) -> str | None:
    """Return why a branch is never deleted, or None."""
    if branch.is_base:
        return "it is the base branch"
    if branch.checked_out:
        return "it is checked out, or in use by a rebase or bisect"
    return "it is protected by the configuration, or another name stands for it" if branch.protected else None


async def _read(git: Git, *refs: str) -> tuple[tuple[bytes, ...], ...]:
    """Return the rows of all branches, or of those named and what is below them."""
    output = await git.ask("for-each-ref", f"--format={_FORMAT}", *(refs or ("refs/heads",)))
    parts = output.split(b"\0")
    width = len(_ATOMS)
    if len(parts) % width != 1 or parts[-1].strip() != b"":
        detail = "the list of branches is not of the expected shape"
        raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))
    # each record but the first begins with the line feed that ends the one before
    rows = (parts[start : start + width] for start in range(0, len(parts) - 1, width))
    found = tuple((row[0].removeprefix(b"\n"), *row[1:]) for row in rows)
    for name, _, kind, *_ in found:
        if kind != b"commit":
            detail = f"the branch `{name.decode(errors='replace')}` does not name a commit"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))
    return found


async def _merged(git: Git, base_sha: str) -> frozenset[str]:
    """Return the commits among the branches that are ancestors of the base's commit."""
    output = await git.ask("for-each-ref", "--format=%(objectname)", f"--merged={base_sha}", "refs/heads")
    return frozenset(output.decode().split())


def _base(state: tuple[tuple[bytes, ...], ...], config: GitConfig) -> Branch:
    wanted = (HEADS + config.base).encode()
    for row in state:
        if row[0] == wanted:
            return _branch(row, config.base)
    detail = f"there is no branch `{config.base}` (`base` in the configuration), so nothing can be said to be merged"
    raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail, data={"finding": "FC613"}))


def _named(state: tuple[tuple[bytes, ...], ...]) -> tuple[list[Branch], tuple[Incompleteness, ...]]:
    branches, unreadable = [], list[str]()
    for row in state:
        name = _text(row[0].removeprefix(HEADS.encode()))
        if name is None:
            unreadable.append(shown_bytes(row[0].removeprefix(HEADS.encode())))
        else:
            branches.append(_branch(row, name))
    if len(unreadable) == 0:
        return branches, ()
    named = ", ".join(f"`{name}`" for name in unreadable[:_NAMED])
    detail = f"{len(unreadable):,} branches have names that are not UTF-8 text, and can't be listed, such as {named}"
    return branches, (
        Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail, data={"branches": len(unreadable)}),
    )


def _branch(row: tuple[bytes, ...], name: str) -> Branch:
    _, sha, _, symref, author, email, date, upstream = row
    return Branch(
        name=name,
        sha=sha.decode(),
        symref=symref.decode(errors="surrogateescape"),
        author=_text(author),
        author_email=_text(email),
        last_commit=_instant(date),
        upstream=_text(upstream),
    )


def _complete(
    branch: Branch, config: GitConfig, in_use: frozenset[str], aliased: set[str], merged: frozenset[str]
) -> Branch:
    ref = HEADS + branch.name
    is_base, checked_out = branch.name == config.base, ref in in_use
    listed = any(fnmatchcase(branch.name, pattern) for pattern in config.protected)
    stands_for_another = branch.symref != "" or ref in aliased
    return replace(
        branch,
        is_base=is_base,
        checked_out=checked_out,
        protected=is_base or checked_out or listed or stands_for_another,
        merged=branch.sha in merged,
    )


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _instant(raw: bytes) -> datetime | None:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(raw))
    except (ValueError, OverflowError):
        return None


def _every_folder_opens(folder: Path) -> None:
    """Raise `SourceError` for a folder of refs that can't be listed: git skips it without a word."""
    common = common_folder(folder)
    stack = [common / "refs" / "heads"]
    while stack:
        current = stack.pop()
        try:
            with os.scandir(current) as entries:
                stack.extend(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=True))
        except NotADirectoryError:
            continue  # the reftable format keeps a file in its place
        except FileNotFoundError:
            continue  # git removes folders that became empty
        except OSError as error:
            detail = f"the branches under `{current.relative_to(common)}` can't be listed: {error.strerror}"
            raise SourceError(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail)) from None
