"""The one door to git: a fixed program with a list of arguments, a clean environment, no shell.

Guarantees: nothing in a name, a configuration of the user or a variable of the environment changes what a command
means: names are passed as full refs or object ids only, every `GIT_…` variable is dropped, replacement objects and
grafts (which can make any commit look like an ancestor) are ignored, nothing is fetched.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_PIECE = 1 << 16
_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    output: bytes
    errors: str


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git on one repository. `folder` is its git directory."""

    folder: Path
    timeout: float

    async def run(self, *arguments: str, given: bytes = b"") -> Ended:
        """Run a command to its end. Raises `SourceError` when it can't be run or takes too long; then it is killed."""
        output = bytearray()
        ended = await self.stream(output.extend, *arguments, given=given)
        return Ended(ended.code, bytes(output), ended.errors)

    async def stream(self, take: Callable[[bytes], object], *arguments: str, given: bytes = b"") -> Ended:
        """Run a command and hand over its output in pieces as it comes. Raises `SourceError`, see `run`."""
        process = await self._start(arguments)
        if process.stdin is None or process.stdout is None or process.stderr is None:
            msg = "a process was started without its pipes"
            raise RuntimeError(msg)
        try:
            async with asyncio.timeout(self.timeout), asyncio.TaskGroup() as group:
                errors = group.create_task(process.stderr.read())
                group.create_task(_feed(process.stdin, given))
                while piece := await process.stdout.read(_PIECE):
                    take(piece)
                code = await process.wait()
        except TimeoutError:
            detail = f"git took longer than {self.timeout:g} s (`{arguments[0]}`)"
            raise SourceError(Incompleteness(code=Reason.TIME_BUDGET_EXCEEDED, detail=detail)) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Ended(code, b"", errors.result().decode(errors="replace").strip())

    async def _start(self, arguments: tuple[str, ...]) -> asyncio.subprocess.Process:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                f"--git-dir={self.folder}",
                "--no-pager",
                # naming a grafts file, even an empty one, makes git give advice
                "-c",
                "advice.graftFileDeprecated=false",
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.folder,
                env={**kept, **_FIXED},
            )
        except OSError as error:
            detail = f"git can't be run on `{self.folder}`: {error.strerror}"
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail)) from None

    async def ask(self, *arguments: str, given: bytes = b"") -> bytes:
        """Return what a command says that must succeed and has nothing to complain of. Raises `SourceError`."""
        ended = await self.run(*arguments, given=given)
        if ended.code != 0 or ended.errors:
            raise complaint(ended)
        return ended.output


async def _feed(pipe: asyncio.StreamWriter, given: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended before it had read all: its exit code says why
        pipe.write(given)
        await pipe.drain()
    pipe.close()


def complaint(ended: Ended) -> SourceError:
    """Return the error of a command that failed, or that said something was wrong."""
    said = ended.errors.splitlines()
    detail = f"git said: {said[0]}" if said else f"git ended with {ended.code} and said nothing"
    code = Reason.VISIBILITY_RESTRICTED if "Permission denied" in ended.errors else Reason.MALFORMED_RESPONSE
    return SourceError(Incompleteness(code=code, detail=detail, data={"exit": ended.code, "lines": len(said)}))


def git_folder(repository: Path) -> Path:
    """Return the git directory of a work tree's top folder, or of a bare repository.

    Nothing is searched upwards: a folder that lost its `.git` must not become the repository around it. Raises
    `SourceError` (FC613).
    """
    try:
        found = _git_folder(repository.resolve())
        why = "it is not a git repository"
    except OSError as error:
        found, why = None, str(error.strerror)
    if found is None:
        detail = f"`{repository}` can't be read: {why}"
        raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail, data={"finding": "FC613"}))
    return found


def _git_folder(top: Path) -> Path | None:
    dot = top / ".git"
    if dot.is_file():
        target = dot.read_text(errors="surrogateescape").removeprefix("gitdir:").strip()
        return (top / target).resolve()
    folder = dot if dot.is_dir() else top
    return folder if (folder / "HEAD").is_file() and (folder / "objects").is_dir() else None


def common_folder(folder: Path) -> Path:
    """Return the folder that all work trees of a repository share; its branches are there."""
    pointer = folder / "commondir"
    return (folder / pointer.read_text().strip()).resolve() if pointer.is_file() else folder
