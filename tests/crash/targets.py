"""The targets of the seeded kills: each counts, by its own means, how often each of its objects was changed.

A target is made once with an approved plan over it, and put back as it was for each trial, at the same place: the same
files elsewhere would be another target than the plan's.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash import preparing
from tests.crash.watching import Watch
from tests.crash.web import FREE, TAKEN, LossyApi
from tests.crash.webs import WAYS, prepare_web

OBJECTS = 24


@dataclass
class Effects:
    """What a target saw: how often each object was changed by the act, and changed back."""

    done: Counter[str]
    undone: Counter[str] = field(default_factory=Counter)


class Target:
    """A workspace over a target, with an approved plan of `OBJECTS` of its objects."""

    reversible = True
    telling = True
    """Whether every outcome is known in the end."""

    def __init__(self, folder: Path, prepare: Callable[[Path], None]) -> None:
        self.folder, self._kept = folder / "workspace", folder / "kept"
        self.folder.mkdir(parents=True)
        prepare(self.folder)
        self.plan_id = asyncio.run(preparing.approved_plan(self.folder, OBJECTS))
        shutil.copytree(self.folder, self._kept)

    undo_id: str | None = None
    """The plan that takes back what was done, once there is one."""

    def anew(self, seed: int | None) -> None:
        """Put everything back. `seed`: what goes wrong at the target itself follows from it; None: nothing does."""
        self.undo_id = None
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)

    def settle(self, *, everything: bool = False) -> bool:
        """Let a turn pass at the target; return whether something took effect by it."""
        return False

    def effects(self) -> Effects:
        """Return what was changed so far."""
        raise NotImplementedError

    def changed(self) -> set[str]:
        """Return the objects that now are as the act leaves them, also such as it must not touch."""
        raise NotImplementedError

    def may_stay_unknown(self, key: str) -> bool:
        """Whether nobody can ever tell what became of the act on an object."""
        return not self.telling

    def close(self) -> None:
        """Release what it holds."""


class SqlTarget(Target):
    """A SQLite database; a trigger notes each write."""

    def effects(self) -> Effects:
        """See `Target.effects`."""
        written = preparing.sql_writes(self.folder)
        return Effects(
            Counter({key: sum(values) for key, values in written.items() if any(values)}),
            Counter({key: values.count(0) for key, values in written.items() if 0 in values}),
        )

    def changed(self) -> set[str]:
        """See `Target.changed`."""
        with preparing.database(self.folder) as db:
            return {key for (key,) in db.execute("SELECT id FROM accounts WHERE locked")}


class GitTarget(Target):
    """A bare repository; a hook notes each change of a ref."""

    def effects(self) -> Effects:
        """See `Target.effects`."""
        log = self.folder / "changes.log"
        if not log.exists():
            return Effects(Counter())
        return Effects(preparing.git_deletions(self.folder), preparing.git_creations(self.folder))

    def changed(self) -> set[str]:
        """See `Target.changed`."""
        there = preparing.git_branches(self.folder)
        return {f"topic-{n:03}" for n in range(OBJECTS)} - there | {name for name in ("main",) if name not in there}


class WebTarget(Target):
    """An HTTP API that loses responses."""

    def __init__(self, folder: Path, name: str, concurrency: int) -> None:
        self._way = WAYS[name]
        self.reversible, self.telling = self._way.undo is not None, self._way.telling
        self._stack = ExitStack()
        self.api = self._stack.enter_context(LossyApi(tuple(f"t{n:03}" for n in range(OBJECTS))))
        super().__init__(folder, lambda where: prepare_web(where, self._way, self.api.url, concurrency))

    def anew(self, seed: int | None) -> None:
        """See `Target.anew`."""
        super().anew(seed)
        self.api.begin(seed)

    def settle(self, *, everything: bool = False) -> bool:
        """See `Target.settle`."""
        return self.api.settle(everything=everything)

    def effects(self) -> Effects:
        """See `Target.effects`."""
        done = Counter(key for owner, key in self.api.effects if owner != FREE)
        return Effects(done, Counter(key for owner, key in self.api.effects if owner == FREE))

    def changed(self) -> set[str]:
        """See `Target.changed`."""
        there = self.api.owner
        return {key for key in (*self.api.keys, "kept") if there.get(key, TAKEN) == TAKEN}

    def may_stay_unknown(self, key: str) -> bool:
        """See `Target.may_stay_unknown`."""
        return super().may_stay_unknown(key) or key in self.api.forgotten

    def close(self) -> None:
        """See `Target.close`."""
        self._stack.close()


class FilesTarget(Target):
    """A folder of files; the system itself notes each name that goes from it or comes to it.

    A file that is put back is another one to whoever looks closely, so each trial has a plan of its own.
    """

    def __init__(self, folder: Path, prepare: Callable[[Path], None]) -> None:
        self.folder, self._prepare, self._watch = folder / "workspace", prepare, Watch()
        self.folder.mkdir(parents=True)
        self.anew(None)

    def anew(self, seed: int | None) -> None:
        """See `Target.anew`."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self._prepare(self.folder)
        self.plan_id = asyncio.run(preparing.approved_plan(self.folder, OBJECTS))
        self._watch.close()
        self._watch = Watch(self.folder / "uploads")

    def effects(self) -> Effects:
        """See `Target.effects`."""
        went, came = self._watch.names()
        return Effects(went, came)

    def changed(self) -> set[str]:
        """See `Target.changed`."""
        there = {path.name for path in (self.folder / "uploads").iterdir()}
        return {*(f"f{n:03}" for n in range(OBJECTS)), "kept"} - there

    def close(self) -> None:
        """See `Target.close`."""
        self._watch.close()


def _edited(prepare: Callable[[Path, int], None], *changes: tuple[str, str]) -> Callable[[Path], None]:
    """Return the preparation with changes to its workflow."""

    def prepared(folder: Path) -> None:
        prepare(folder, OBJECTS)
        workflow = folder / "workflow.fcw"
        text = workflow.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        workflow.write_text(text)

    return prepared


def _groups(number: int) -> tuple[str, str]:
    return "concurrency 4", f"concurrency {number}"


TARGETS: dict[str, Callable[[Path], Target]] = {
    "sql-1": lambda folder: SqlTarget(folder, _edited(preparing.prepare_sql, _groups(1))),
    "sql-4": lambda folder: SqlTarget(folder, _edited(preparing.prepare_sql, _groups(4))),
    "sql-50": lambda folder: SqlTarget(folder, _edited(preparing.prepare_sql, _groups(50))),
    "sql-canary": lambda folder: SqlTarget(
        folder,
        _edited(preparing.prepare_sql, ("concurrency 4", "concurrency 4\n    canary 5 then wait 2s")),
    ),
    "git-1": lambda folder: GitTarget(folder, _edited(preparing.prepare_git, _groups(1))),
    "files-1": lambda folder: FilesTarget(folder, _edited(preparing.prepare_files, _groups(1))),
    "files-8": lambda folder: FilesTarget(folder, _edited(preparing.prepare_files, _groups(8))),
    "git-8": lambda folder: GitTarget(folder, _edited(preparing.prepare_git, _groups(8))),
}
"""Each target by its name. The number is the act's concurrency, which the size of the groups follows."""


def _web(name: str, concurrency: int) -> Callable[[Path], Target]:
    return lambda folder: WebTarget(folder, name, concurrency)


TARGETS |= {f"{name}-{number}": _web(name, number) for name in WAYS for number in (3, 16)}


class Kept:
    """The targets that were made so far, for all trials of a process."""

    def __init__(self, folder: Path, more: dict[str, Callable[[Path], Target]] | None = None) -> None:
        self._folder, self._makers = folder, TARGETS | (more or {})
        self._made: dict[str, Target] = {}

    def of(self, name: str) -> Target:
        """Return a target, made if it is not there."""
        if name not in self._made:
            self._made[name] = self._makers[name](self._folder / name)
        return self._made[name]

    def close(self) -> None:
        """Release them."""
        for target in self._made.values():
            target.close()


__all__: list[Any] = ["OBJECTS", "TARGETS", "Effects", "Kept", "Target"]
