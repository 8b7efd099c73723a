"""Plays the sessions of codes: lines of a terminal in a fresh copy of the workspace that `dsl/codes/terminal.py` says.

`fullcount` runs in this process, by the same `main` as always. The few other commands that a session may have are done
here, so that no program of the host is needed; one that is unknown is an error of the test.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.support.repository import CLEAN_GIT
from tests.support.workspaces import Bench, Ended

from fullcount.dsl.codes.terminal import BEFORE, DATABASES, FILES
from fullcount.runtime.engine import Engine
from fullcount.runtime.store.store import Store

CODE = re.compile(r"\bFC\d{3}\b")
_NEWEST = "SELECT plan_id, digest FROM plans ORDER BY plan_id DESC LIMIT 2"


class Terminal(Bench):
    """The workspace of the sessions, made once and put back to its beginning for each.

    It always stands in the same folder: a plan says which database it was made over, and a copy elsewhere is another.
    """

    def __init__(self, folder: Path) -> None:
        self.uid = os.getuid()
        self.root = folder / "acme"
        self._kept = folder / "kept"
        self._played: dict[tuple[str, tuple[tuple[str, str], ...]], list[Ended]] = {}
        self.root.mkdir(parents=True)
        self._here, self._later = self.root, timedelta(0)
        self._write(FILES.items())
        for name, script in DATABASES.items():
            with contextlib.closing(sqlite3.connect(self.root / name)) as db, db:
                db.executescript(script)
        for line in BEFORE:
            ended = self._typed(line)
            assert ended is not None
            assert ended.exit == 5, ended.said
        shutil.copytree(self.root, self._kept)

    def play(self, text: str, files: Iterable[tuple[str, str]]) -> list[Ended]:
        """Type the lines of a session in a fresh workspace with these files; return how each `fullcount` ended.

        What was played before is not played again: many codes have one session as what is right.
        """
        own = tuple((path, content) for path, content in files if FILES.get(path) != content)
        if (text, own) not in self._played:
            self._played[text, own] = self._play(text, own)
        return self._played[text, own]

    def _play(self, text: str, files: Iterable[tuple[str, str]]) -> list[Ended]:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root)
        self._here, self._later = self.root, timedelta(0)
        self._write(files)
        typed = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
        assert len(typed) == len(text.splitlines()), "a session has nothing but lines with `$ `"
        return [ended for line in typed if (ended := self._typed(line)) is not None]

    def _write(self, files: Iterable[tuple[str, str]]) -> None:
        for name, text in files:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("uid:1000", f"uid:{self.uid}"), "utf-8")

    def _typed(self, line: str) -> Ended | None:
        words = [self._meant(word) for word in shlex.split(line)]
        with pytest.MonkeyPatch.context() as patch:
            if "=" in words[0]:
                name, _, value = words.pop(0).partition("=")
                patch.setenv(name, value)
            if self._later > timedelta(0):
                self._set_clocks(patch)
            return self._ran(line, words)

    def _set_clocks(self, patch: pytest.MonkeyPatch) -> None:
        """Let commands believe that it is later: nobody waits for a `sleep`."""
        later, opened = self._later, Store.open

        def now() -> datetime:
            return datetime.now(UTC) + later

        patch.setattr("fullcount.runtime.store.store.Store.open", lambda url: opened(url, clock=now))
        patch.setattr("fullcount.runtime.engine.Engine", partial(Engine, clock=now))

    def _ran(self, line: str, words: list[str]) -> Ended | None:
        match words:
            case ["fullcount", *arguments]:
                return self.run(*arguments, at=self._here)
            case ["cd", folder]:
                self._here = (self._here / folder).resolve()
            case ["sleep", length] if length.endswith("m"):
                self._later += timedelta(minutes=int(length.removesuffix("m")))
            case ["sleep", length] if length.endswith("d"):
                self._later += timedelta(days=int(length.removesuffix("d")))
            case ["mkdir", folder]:
                (self._here / folder).mkdir()
            case ["git", *arguments]:
                _git(arguments, self._here)
            case ["rm", "-r", folder]:
                shutil.rmtree(self._here / folder)
            case ["sqlite3", database, statement]:
                with contextlib.closing(sqlite3.connect(self._here / database)) as db, db:
                    db.execute(statement)
            case ["sed", "-i", change, path]:
                old, new = change.removeprefix("s/").removesuffix("/").split("/")
                text = (self._here / path).read_text("utf-8")
                assert old in text, f"`{path}` has no `{old}`"
                (self._here / path).write_text(text.replace(old, new), "utf-8")
            case ["iconv", "-t", encoding, "-o", out, path]:
                (self._here / out).write_bytes((self._here / path).read_text("utf-8").encode(encoding))
            case _:
                msg = f"a session can't have the command `{line}`"
                raise AssertionError(msg)
        return None

    def _meant(self, word: str) -> str:
        word = word.replace("uid:1000", f"uid:{self.uid}")
        if word not in {"PLAN", "DIGEST", "OLDER", "HEAD"}:
            return word
        with contextlib.closing(sqlite3.connect(self.state)) as db:
            seq, last = db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            (newest, digest), (older, _) = db.execute(_NEWEST).fetchall()
        stands_for: dict[str, str] = {"PLAN": newest, "DIGEST": digest, "OLDER": older, "HEAD": f"{seq}:{last}"}
        return stands_for[word]


def _git(arguments: Sequence[str], at: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=at, env={**kept, **CLEAN_GIT}, check=True)


def codes_said(ended: Iterable[Ended]) -> set[str]:
    """Return the codes that a session ended in, or that it says of what was not done.

    Where a command ends in an error, that is what it says: the mistakes that are shown before it have their own codes.
    """
    found: set[str] = set()
    for each in ended:
        errors = re.findall(r"^error\[(FC\d{3})\]", each.err, re.MULTILINE)
        found |= {errors[-1]} if errors else set(CODE.findall(each.said))
    return found
