"""Real git repositories for tests, made by git itself with a clean environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.sql import Read, rest_of

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell
from fullcount.runtime.connectors.base import ActCall, ActResult, Existence, Question
from fullcount.runtime.connectors.git import CONNECTOR

_WHO = {"GIT_AUTHOR_NAME": "Ana", "GIT_AUTHOR_EMAIL": "ana@example.org", "GIT_COMMITTER_NAME": "Bo"}
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_EMAIL": "bo@example.org"}
CLEAN_GIT = {**_WHO, **_ALONE}
"""What git finds around it: two people, and nothing of who runs the tests."""


@dataclass
class Repository:
    """A repository with a work tree, used the way people use one."""

    path: Path
    _clock: int = field(default=1_790_000_000)

    @classmethod
    def make(cls, path: Path) -> Repository:
        """Make one with a first commit on `main`."""
        path.mkdir(parents=True)
        made = cls(path)
        made.git("init", "--quiet", "--initial-branch=main")
        made.commit(readme="hello\n")
        return made

    def git(self, *arguments: str, given: str | None = None, check: bool = True) -> str:
        """Run git in the work tree; each call is one minute later than the one before."""
        self._clock += 60
        when = {"GIT_AUTHOR_DATE": f"{self._clock} +0000", "GIT_COMMITTER_DATE": f"{self._clock} +0000"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**kept, **CLEAN_GIT, **when},
            input=given,
            capture_output=True,
            text=True,
            check=check,
        )
        return done.stdout.strip()

    def commit(self, message: str = "change", **files: str) -> str:
        """Write files (`name="content"`), commit them, return the commit."""
        for name, content in files.items():
            (self.path / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.sha("HEAD")

    def branch(self, name: str, *commits: Mapping[str, str], start: str = "main") -> str:
        """Make a branch with commits of these files, go back to `main`, return its commit."""
        self.git("checkout", "--quiet", "-b", name, start)
        for files in commits:
            self.commit(**files)
        sha = self.sha("HEAD")
        self.git("checkout", "--quiet", "main")
        return sha

    def sha(self, name: str) -> str:
        """The commit that a name stands for."""
        return self.git("rev-parse", "--verify", name)

    def refs(self, under: str = "refs/heads") -> dict[str, str]:
        """Every ref below a folder, with its commit."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", under).splitlines()
        return {name: sha for name, _, sha in (line.rpartition(" ") for line in lines)}

    @property
    def source(self) -> Branches:
        """The repository as a source."""
        return Branches({"repository": str(self.path), "base": "main"})


@dataclass(frozen=True)
class Branches:
    """One configured git source."""

    settings: Mapping[str, Any]

    def having(self, **settings: Any) -> Branches:
        """The same with other settings."""
        return Branches({**self.settings, **settings})

    @property
    def config(self) -> Any:
        """The checked configuration."""
        return CONNECTOR.config_model.model_validate(dict(self.settings))

    @property
    def resource(self) -> Resource:
        """The declared resource."""
        return CONNECTOR.resources("vcs", self.config)["branches"]

    async def reader(self) -> Any:
        """A reader."""
        return await CONNECTOR.open_reader("vcs", self.config)

    async def read_all(self, *, page_rows: int = 100, fields: Any = None) -> Read:
        """List every branch."""
        asked = tuple(self.resource.fields) if fields is None else tuple(fields)
        reader = await self.reader()
        async with reader.scan(Question("branches", self.resource, asked, None, 0, page_rows)) as scan:
            return Read(scan.info, tuple(await rest_of(scan)))

    async def facts(self, *names: str) -> dict[str, tuple[Any, ...]]:
        """For each branch the values of these fields."""
        rows = (await self.read_all(fields=("name", *names))).rows
        return {row["name"]: tuple(row[name] for name in names) for row in rows}

    async def see(self, name: str) -> Mapping[str, Cell]:
        """Read one branch that must be there, every field."""
        reading = await (await self.reader()).read(self.resource, (name,), tuple(self.resource.fields))
        assert reading.existence is Existence.FOUND
        return reading.cells

    async def call(self, operation: str, name: str, *, seen: Any = None, **arguments: Any) -> ActCall:
        """A call on a branch as it is seen now, or was `seen` before."""
        expected = await self.see(name) if seen is None else seen
        return ActCall(self.resource, operation, (name,), {"name": name, **arguments}, expected, "key")

    async def perform(self, call: ActCall) -> ActResult:
        """Perform a call."""
        return await (await CONNECTOR.open_actor("vcs", self.config)).perform(call)

    async def took_effect(self, call: ActCall) -> bool | None:
        """Ask whether a call took effect."""
        return await (await CONNECTOR.open_actor("vcs", self.config)).took_effect(call)
