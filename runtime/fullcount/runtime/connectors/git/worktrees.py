"""The branches that somebody works on: checked out in a work tree, or held by a rebase or bisect in one."""

from __future__ import annotations

from pathlib import Path

from fullcount.runtime.connectors.git.command import Git, common_folder

_HELD = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")


async def branches_in_use(git: Git) -> frozenset[str]:
    """Return full names of refs. HEAD of a bare repository counts: clones check it out. Raises `SourceError`."""
    output = await git.ask("worktree", "list", "--porcelain", "-z")
    found = {
        line.removeprefix(b"branch ").decode(errors="surrogateescape")
        for line in output.split(b"\0")
        if line.startswith(b"branch ")
    }
    head = await git.run("symbolic-ref", "--quiet", "HEAD")
    if head.code == 0:
        found.add(head.output.decode(errors="surrogateescape").strip())
    for folder in _git_folders(git.folder):
        found.update(_held(folder))
    return frozenset(found)


def _git_folders(folder: Path) -> list[Path]:
    common = common_folder(folder)
    linked = common / "worktrees"
    return [common, *(sorted(linked.iterdir()) if linked.is_dir() else [])]


def _held(folder: Path) -> set[str]:
    found = set()
    for name in _HELD:
        path = folder / name
        if path.is_file():
            held = path.read_text(errors="surrogateescape").strip()
            found.add(held if held.startswith("refs/") else f"refs/heads/{held}")
    return found
