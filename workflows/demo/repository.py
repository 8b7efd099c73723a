"""A real git repository with branches in every state that the rule tells apart."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timedelta
from pathlib import Path


class Repository:
    """A bare repository, filled through a work tree that is thrown away."""

    def __init__(self, bare: Path, scratch: Path, now: datetime) -> None:
        self.bare = bare
        self._scratch = scratch
        self._now = now

    def make(self) -> None:
        """Make the main line and its branches."""
        self._run("init", "--quiet", "--initial-branch=main", str(self._scratch), where=None)
        self._commit("README.md", "a service\n", "first commit", days=400)
        for topic, days in (("login-form", 120), ("retry-queue", 95), ("csv-export", 61), ("dark-mode", 45)):
            self._branch(f"feature/{topic}", f"{topic}.txt", days)
            self._git("merge", "--quiet", "--no-ff", "-m", f"merge {topic}", f"feature/{topic}", days=days - 1)
        for topic, days in (("cache-keys", 80), ("rate-limits", 50)):
            self._branch(f"feature/{topic}", f"{topic}.txt", days)
            self._git("merge", "--quiet", "--squash", f"feature/{topic}", days=days - 1)
            self._git("commit", "--quiet", "-m", f"{topic} (squashed)", days=days - 1)
        self._branch("feature/payment-v2", "payment.txt", 70)  # old, but its content is nowhere else
        self._branch("release/2.4", "release.txt", 90)
        self._git("merge", "--quiet", "--no-ff", "-m", "merge release/2.4", "release/2.4", days=89)
        self._branch("feature/fresh", "fresh.txt", 3)
        self._git("merge", "--quiet", "--no-ff", "-m", "merge fresh", "feature/fresh", days=2)
        self._run("clone", "--quiet", "--bare", str(self._scratch), str(self.bare), where=None)
        self._run("remote", "remove", "origin", where=self.bare)

    def push_new_commit(self, branch: str) -> None:
        """Somebody goes on working on a branch after it was planned for deletion."""
        self._git("checkout", "--quiet", branch, days=0)
        self._commit("late.txt", "one more thing\n", "go on", days=0)
        self._run("push", "--quiet", str(self.bare), branch, where=self._scratch)

    def branches(self) -> list[str]:
        """Return the branches that are there now."""
        out = self._run("for-each-ref", "--format=%(refname:short)", "refs/heads", where=self.bare)
        return out.split()

    def _branch(self, name: str, file: str, days: int) -> None:
        self._git("checkout", "--quiet", "-b", name, "main", days=days)
        self._commit(file, f"{name}\n", f"work on {name}", days=days)
        self._git("checkout", "--quiet", "main", days=days)

    def _commit(self, file: str, text: str, message: str, *, days: int) -> None:
        (self._scratch / file).write_text(text, encoding="utf-8")
        self._git("add", file, days=days)
        self._git("commit", "--quiet", "-m", message, days=days)

    def _git(self, *arguments: str, days: int) -> str:
        return self._run(*arguments, where=self._scratch, at=self._now - timedelta(days=days))

    def _run(self, *arguments: str, where: Path | None, at: datetime | None = None) -> str:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._scratch.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Dina Kaya",
            "GIT_AUTHOR_EMAIL": "dina@example.com",
            "GIT_COMMITTER_NAME": "Dina Kaya",
            "GIT_COMMITTER_EMAIL": "dina@example.com",
        }
        if at is not None:
            environment["GIT_AUTHOR_DATE"] = environment["GIT_COMMITTER_DATE"] = at.isoformat(timespec="seconds")
        done = subprocess.run(
            ["git", *arguments], cwd=where, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout
