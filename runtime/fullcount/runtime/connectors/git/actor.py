"""The writing side of a git source: one branch, removed only at the commit that was seen, or made where there is none.

Guarantees: a delete and the ref that keeps its commit are one transaction of git, with the commit that was seen as its
condition; a restore never moves a branch that is there. The base branch, what is checked out or held by a rebase, and
what the configuration protects are refused here too, whatever a plan says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome, SourceError
from fullcount.runtime.connectors.git.command import Ended, Git, git_folder
from fullcount.runtime.connectors.git.declaration import GitConfig
from fullcount.runtime.connectors.git.listing import (
    HEADS,
    Branch,
    find_branch,
    is_shallow,
    is_valid_name,
    refuses_delete,
)
from fullcount.runtime.connectors.git.reader import identity
from fullcount.runtime.evidence.codes import ActReason, Reason

KEPT = "refs/fullcount/kept/"
"""`refs/fullcount/kept/<commit>/<branch, percent-encoded>`: what a deleted branch named, so that it can be restored."""

_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME_LENGTH = 150
"""A component of a ref is a file name; longer names are cut, which the commit before them makes harmless."""


class GitActor:
    """Deletes and restores branches. See `SourceActor`."""

    def __init__(self, config: GitConfig, git: Git) -> None:
        self._config, self._git = config, git

    @classmethod
    async def open(cls, source: str, config: GitConfig) -> GitActor:
        """Look at the repository. Raises `SourceError`."""
        git = Git(git_folder(config.repository), config.timeout)
        await is_shallow(git)
        return cls(config, git)

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return identity(self._git)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        name = _name(call)
        if name is None or not await is_valid_name(self._git, name):
            return ActResult(Outcome.REFUSED, None, "the call does not name a branch that git could have")
        try:
            if call.operation == "delete":
                return await self._delete(call, name)
            if call.operation == "restore":
                return await self._restore(call, name)
        except SourceError as error:
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        return ActResult(Outcome.REFUSED, None, f"`{call.resource.name}` has no operation `{call.operation}`")

    async def _delete(self, call: ActCall, name: str) -> ActResult:
        seen = call.expected.get("sha")
        if seen is None or not isinstance(seen.value, str) or _SHA.fullmatch(seen.value) is None:
            detail = "the branch's commit was not seen, so nothing can be compared"
            return ActResult(Outcome.REFUSED, ActReason.PRECONDITION_FAILED, detail)
        found, _ = await find_branch(self._git, self._config, name)
        refused = _refused(found, seen.value)
        if refused is not None or found is None:
            return refused or ActResult(Outcome.ALREADY_GONE)
        kept = f"{KEPT}{found.sha}/{quote(name, safe='').replace('.', '%2E')[:_NAME_LENGTH]}"
        # the ref that keeps the commit and the delete: both or neither
        result = await self._update_refs(f"update {kept}\0{found.sha}\0\0", f"delete {HEADS}{name}\0{found.sha}\0")
        if isinstance(result, ActResult):
            return result
        if result.code == 0:
            return ActResult(Outcome.DONE, before={"sha": found.sha, "upstream": found.upstream, "kept": kept})
        now, _ = await find_branch(self._git, self._config, name)
        return _refused(now, found.sha) or _failed(result)

    async def _restore(self, call: ActCall, name: str) -> ActResult:
        sha = call.arguments.get("sha")
        if not isinstance(sha, str) or _SHA.fullmatch(sha) is None:
            return ActResult(Outcome.REFUSED, None, "`sha` is not the full id of a commit")
        found, _ = await find_branch(self._git, self._config, name)
        there = _already(found, sha)
        if there is not None:
            return there
        kind = await self._git.run("cat-file", "-t", sha)
        if kind.code != 0 or kind.output.strip() != b"commit":
            return ActResult(Outcome.REFUSED, None, f"the repository has no commit `{sha}` any more")
        result = await self._update_refs(f"create {HEADS}{name}\0{sha}\0")
        if isinstance(result, ActResult):
            return result
        if result.code == 0:
            return ActResult(Outcome.DONE, before={})
        now, _ = await find_branch(self._git, self._config, name)
        return _already(now, sha) or _failed(result)

    async def _update_refs(self, *commands: str) -> Ended | ActResult:
        """Run one transaction of git; an `ActResult` if nobody knows how it ended."""
        try:
            return await self._git.run("update-ref", "--no-deref", "--stdin", "-z", given="".join(commands).encode())
        except SourceError as error:
            if error.reason.code is Reason.TIME_BUDGET_EXCEEDED:
                return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, error.reason.detail)
            raise

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the repository can't be read."""
        name = _name(call)
        if name is None or not await is_valid_name(self._git, name):
            return False
        found, _ = await find_branch(self._git, self._config, name)
        if call.operation == "delete":
            seen = call.expected.get("sha", Cell(FieldState.NOT_REQUESTED, None)).value
            if found is None:
                return True
            return False if found.sha == seen else None
        if found is None:
            return False
        return True if found.sha == call.arguments.get("sha") else None

    async def close(self) -> None:
        """See `SourceActor.close`: nothing is held open."""


def _name(call: ActCall) -> str | None:
    """Return the branch that a call names, if its key and its argument agree on it."""
    (name,) = call.key
    return name if isinstance(name, str) and call.arguments.get("name", name) == name else None


def _refused(found: Branch | None, seen: str) -> ActResult | None:
    """Return why a branch is not deleted, as it is now; None: nothing stands against it."""
    if found is None:
        return ActResult(Outcome.ALREADY_GONE)
    if found.sha != seen:
        detail = f"it moved since it was seen: now at {found.sha[:12]}"
        return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, detail)
    why = refuses_delete(found)
    return None if why is None else ActResult(Outcome.REFUSED, None, why)


def _already(found: Branch | None, sha: str) -> ActResult | None:
    if found is None:
        return None
    if found.sha == sha:
        return ActResult(Outcome.DONE, None, "the branch is there, at this commit")
    detail = f"a branch of this name is there, at {found.sha[:12]}"
    return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, detail)


def _failed(ended: Ended) -> ActResult:
    said = ended.errors.splitlines()
    return ActResult(Outcome.FAILED, None, f"nothing was written: {said[0] if said else 'git said nothing'}")
