"""The reading side of a file system. It makes no call that writes, and opens no file."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import (
    ActCall,
    ClosureFound,
    Existence,
    Matches,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
)
from fullcount.runtime.connectors.files.config import FilesConfig, Kind
from fullcount.runtime.connectors.files.folders import Entry, Troubles
from fullcount.runtime.connectors.files.looking_in import OF_THE_QUARANTINE, ClosedError, meant_by, why_not_kept
from fullcount.runtime.connectors.files.objects import FIELDS, Found
from fullcount.runtime.connectors.files.patterns import Parts, parts_of
from fullcount.runtime.connectors.files.quarantine import look_at_place
from fullcount.runtime.connectors.files.replies import Look, judge_walk
from fullcount.runtime.connectors.files.root import Root, identity, looking, named, reasons_of
from fullcount.runtime.connectors.files.walk import EnoughError, StoppedError, Walking, found_at
from fullcount.runtime.connectors.files.worker import Worker
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice

END = "every_folder_listed"
"""The end marker: the system said of each folder that it has no more names."""
MOST_KEYS = 500
_RELATIME = getattr(os, "ST_RELATIME", 4096)
_NOATIME = getattr(os, "ST_NOATIME", 1024)


class FilesReader:
    """Lists and looks at files and folders. See `SourceReader`."""

    def __init__(self, config: FilesConfig) -> None:
        self._config, self._worker = config, Worker()

    @classmethod
    async def open(cls, config: FilesConfig) -> FilesReader:
        """Look at the root. Raises `SourceError`."""
        reader = cls(config)
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(reader.close)
            await reader.identity()
            unfinished.pop_all()
        return reader

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""

        def work() -> Mapping[str, str]:
            with looking(self._config) as root:
                return identity(root, self._config.resources)

        return await self._worker.run(work)

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`. A directory has no snapshot, so a list counts only once two of them were equal."""
        worker = Worker()
        try:
            scan = await worker.run(lambda: _FilesScan(self._config, question, worker))
        except BaseException:
            worker.close()
            raise
        try:
            yield scan
        finally:
            await scan.end()

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""

        def work() -> Reading:
            with looking(self._config) as root:
                return look_at(root, self._config, resource.name, key, fields)

        return await self._worker.run(work)

    async def why_not_kept(self, call: ActCall) -> str | None:
        """See `LooksAtKept.why_not_kept`: of what lies in the quarantine folder."""
        is_meant = meant_by(call) if call.operation in OF_THE_QUARANTINE else None
        path = call.key[0] if len(call.key) == 1 else None
        if is_meant is None or not isinstance(path, str):
            return None  # another operation; or nothing says which object it is, which the act itself refuses

        def work() -> str | None:
            try:
                return why_not_kept(self._config, [(path, is_meant)])[0]
            except ClosedError:
                return None

        return await self._worker.run(work)

    def most_keys(self, resource: Resource) -> int:
        """See `ReadsMany.most_keys`."""
        return MOST_KEYS

    async def read_many(
        self, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
    ) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
        """See `ReadsMany.read_many`."""

        def work() -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
            with looking(self._config) as root:
                looked = {key: look_at(root, self._config, resource.name, key, fields) for key in keys}
            return {key: each.cells for key, each in looked.items() if each.existence is Existence.FOUND}

        return await self._worker.run(work)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`: by the path, which one look answers."""
        return _matches(await self.read(resource, (value,), fields))

    def most_values(self, resource: Resource, field: str) -> int:
        """See `LooksUpMany.most_values`."""
        return MOST_KEYS

    async def lookup_many(
        self, resource: Resource, field: str, values: Sequence[Value], fields: Sequence[str]
    ) -> Mapping[Value, Matches]:
        """See `LooksUpMany.lookup_many`: a look for each path, all at one root."""

        def work() -> Mapping[Value, Matches]:
            with looking(self._config) as root:
                return {
                    value: _matches(look_at(root, self._config, resource.name, (value,), fields)) for value in values
                }

        return await self._worker.run(work)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`: a file system counts its inodes, and no folder its files."""
        detail = f"nothing counts `{resource.name}` independently of the list"
        raise SourceError(Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail=detail))

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """See `ForeseesClosure.closures`: with a folder goes everything in it."""

        def work() -> list[ClosureFound]:
            with looking(self._config) as root:
                return [_goes_along(root, self._config, resource.name, key) for key in keys]

        return await self._worker.run(work)

    async def unfit(self, resource: Resource, operation: str) -> Incompleteness | None:
        """See `ForeseesActing.unfit`: every operation goes through the quarantine folder."""

        def work() -> Incompleteness | None:
            with looking(self._config) as root:
                try:
                    look_at_place(self._config, root)
                except SourceError as error:
                    return error.reason
            return None

        return await self._worker.run(work) if operation in resource.operations else None

    async def close(self) -> None:
        """See `SourceReader.close`."""
        self._worker.close()


def _matches(reading: Reading) -> Matches:
    if reading.existence is Existence.UNKNOWN:
        return Matches((), complete=False, reasons=reading.reasons)
    rows: tuple[Mapping[str, Cell], ...] = (reading.cells,) if reading.existence is Existence.FOUND else ()
    return Matches(rows, complete=True)


def troubles_of(root: Root, config: FilesConfig) -> Troubles:
    """Return what a walk below the root notes its troubles in."""
    return Troubles(root.look, None if config.cross_devices else root.device)


def look_at(root: Root, config: FilesConfig, resource: str, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
    """Look at one object, and say what is known of it."""
    settings = config.resources[resource]
    parts = parts_of(key[0]) if isinstance(key[0], str) else None
    if parts is None or not settings.holds(parts):
        return Reading(Existence.GONE)  # no object of this resource can have such a path
    troubles = troubles_of(root, config)
    found = _looked_up(root, config, resource, parts, troubles)
    if isinstance(found, Reading):
        return found
    if len(troubles.reasons) > 0:
        return Reading(Existence.UNKNOWN, reasons=tuple(troubles.reasons.values()))
    types = FIELDS[settings.kind]
    return Reading(Existence.FOUND, {name: coerce_cell(types[name], *found.raw(name)) for name in fields})


def _looked_up(root: Root, config: FilesConfig, resource: str, parts: Parts, troubles: Troubles) -> Found | Reading:
    settings, path = config.resources[resource], f"{root.path}/{'/'.join(parts)}"
    try:
        found = found_at(root, parts, settings.kind, troubles, keeps_access=keeps_access(root))
    except OSError as error:
        left_out = named(error) == "ELOOP" and settings.links == "left_out"
        if left_out or named(error) in {"ENOENT", "ENOTDIR", "ENAMETOOLONG"}:
            return Reading(Existence.GONE)
        return Reading(Existence.UNKNOWN, reasons=_judged(root, Look("stat", path, error=named(error))))
    if isinstance(found, Entry):
        if found.is_link and settings.links == "refused":
            return Reading(Existence.UNKNOWN, reasons=_judged(root, Look("stat", path, error="ELOOP")))
        return Reading(Existence.GONE)  # something of another kind stands there
    if troubles.elsewhere(found.stat.st_dev, path):
        return Reading(Existence.UNKNOWN, reasons=tuple(troubles.reasons.values()))
    return found


def _judged(root: Root, look: Look) -> tuple[Incompleteness, ...]:
    return reasons_of(judge_walk([root.look, look]))


def _goes_along(root: Root, config: FilesConfig, resource: str, key: tuple[Value, ...]) -> ClosureFound:
    if config.resources[resource].kind is Kind.FILE:
        return ClosureFound()
    parts = parts_of(str(key[0]))
    if parts is None:
        return ClosureFound(unknown="it has no path below the root")
    troubles = troubles_of(root, config)
    found = _looked_up(root, config, resource, parts, troubles)
    if isinstance(found, Reading) or found.tree is None:
        reasons = found.reasons if isinstance(found, Reading) else tuple(troubles.reasons.values())
        why = ", ".join(reason.detail for reason in reasons) or "it is not there any more"
        return ClosureFound(unknown=why)
    return ClosureFound(counts=goes_along(found))


def goes_along(found: Found) -> dict[str, int]:
    """Return what goes with a folder, by its kind."""
    tree = found.tree
    if tree is None:
        return {}
    counts = {
        "takes files in it": tree.files,
        "takes folders in it": tree.folders,
        "takes other things in it": tree.others,
    }
    return {what: number for what, number in counts.items() if number > 0}


def keeps_access(root: Root) -> bool:
    """Whether the file system records when a file is read, at all."""
    return not os.fstatvfs(root.fd).f_flag & _NOATIME


@dataclass(slots=True)
class _FilesScan:
    """An open scan. See `Scan`. Made, and gone on with, in the thread of its worker alone."""

    config: FilesConfig
    question: Question
    worker: Worker
    info: ScanInfo = field(init=False)
    _walking: Walking = field(init=False)
    _objects: Iterator[Found] = field(init=False)
    _stack: ExitStack = field(init=False)
    _cursor: str | None = None
    _asked: str | None = None
    _page: Page | None = None
    _pages: int = 0
    _told: set[Reason | WarningCode] = field(default_factory=set)
    _ended: bool = False

    def __post_init__(self) -> None:
        with ExitStack() as stack:
            self._begin(stack.enter_context(looking(self.config)))
            self._stack = stack.pop_all()

    def _begin(self, root: Root) -> None:
        settings = self.config.resources[self.question.resource.name]
        troubles = troubles_of(root, self.config)
        fields = self.question.fields
        self._walking = Walking(root, self.config, settings, fields, keeps_access(root), troubles)
        self._objects = self._walking.objects()
        relative = os.fstatvfs(root.fd).f_flag & _RELATIME
        warnings = (_RELATIVE,) if "accessed" in fields and relative else ()
        self.info = ScanInfo(Consistency.UNSTABLE, visibility="all", warnings=warnings, confirm=True)

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`. It may go on where it stands, and give its last page once more."""
        if self._page is not None and cursor == self._asked:
            return self._page
        if cursor != self._cursor or self._ended:
            reason = Incompleteness(code=Reason.CURSOR_EXPIRED, detail="the cursor does not belong to this walk")
            raise SourceError(reason, continuation=Continuation(way=Way.RESTART, preserves_snapshot=False))
        page = await self.worker.run(self._next)
        self._asked, self._cursor, self._page = cursor, page.cursor, page
        return page

    def _next(self) -> Page:
        rows, reasons, ended = list[Found](), list[Incompleteness](), False
        try:
            for found in self._objects:
                rows.append(found)
                if len(rows) == self.question.page_rows:
                    break
            else:
                ended = True
        except EnoughError:
            reasons.append(self._enough())
            self._ended = True
        except StoppedError:
            self._ended = True
            reasons.append(Incompleteness(code=Reason.CURSOR_EXPIRED, detail="the walk was given up"))
        self._ended = self._ended or ended
        self._pages += 1
        reasons += [each for code, each in self._walking.troubles.reasons.items() if code not in self._told]
        self._told |= {reason.code for reason in reasons}
        names = self.question.fields
        raw = [[found.raw(name) for name in names] for found in rows]
        columns = {name: [row[at][0] for row in raw] for at, name in enumerate(names)}
        states: dict[str, list[FieldState | None]] = {
            name: [row[at][1] for row in raw] for at, name in enumerate(names)
        }
        return Page(
            columns=columns,
            rows=len(rows),
            states={name: column for name, column in states.items() if any(state is not None for state in column)},
            cursor=None if self._ended else str(self._pages),
            end=END if ended else None,
            reasons=tuple(reasons),
            warnings=self._warnings(),
        )

    def _warnings(self) -> tuple[Notice, ...]:
        shared = self._walking.troubles.shared
        if shared is None or WarningCode.SHARED_IDENTITY in self._told:
            return ()
        self._told.add(WarningCode.SHARED_IDENTITY)
        detail = f"`{shared}` is one of several names of one file: the file stays when one of them goes"
        return (Notice(code=WarningCode.SHARED_IDENTITY, detail=detail),)

    def _enough(self) -> Incompleteness:
        detail = f"our own limit of {self.config.max_entries:,} entries (`max_entries`) was reached before the end"
        data = {"limit": "max_entries", "value": self.config.max_entries}
        return Incompleteness(code=Reason.CLIENT_LIMIT_REACHED, detail=detail, data=data)

    async def end(self) -> None:
        """Stop, in the thread that walks; if that does not come back, nobody waits for it."""
        self._walking.stopped, self._ended = True, True
        if self.worker.is_lost:
            self.worker.close(self._close)
        else:
            await self.worker.run(self._close)
            self.worker.close()

    def _close(self) -> None:
        objects: Any = self._objects
        objects.close()
        self._stack.close()


_RELATIVE = Notice(
    code=WarningCode.USAGE_DATA_LAG,
    detail="the file system notes when a file is read only once a day (relatime), or after it was changed",
)
