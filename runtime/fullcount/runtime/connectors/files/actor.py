"""The writing side of a file system: one object at a time, moved away only while it is what was seen, or brought back.

Guarantees: nothing is acted on outside of the root and of the patterns of the resource, through a link, or where the
root is not what it has to be. What a process left behind that was killed is found out when a source is opened for
acting, before anything else is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome, SourceError
from fullcount.runtime.connectors.files.acting import Act, GiveUpError, UnderWayError, archived, in_archive, whole
from fullcount.runtime.connectors.files.config import Delete, FilesConfig
from fullcount.runtime.connectors.files.folders import Entry
from fullcount.runtime.connectors.files.looking_in import meant_by
from fullcount.runtime.connectors.files.objects import Mark
from fullcount.runtime.connectors.files.patterns import parts_of
from fullcount.runtime.connectors.files.quarantine import entered
from fullcount.runtime.connectors.files.reader import troubles_of
from fullcount.runtime.connectors.files.replies import Look, judge_walk
from fullcount.runtime.connectors.files.root import Root, identity, looking, named, opened, refused
from fullcount.runtime.connectors.files.walk import found_at
from fullcount.runtime.connectors.files.worker import Worker
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

T = TypeVar("T")
_AWAY = frozenset({"delete", "move"})
_BACK = frozenset({"put_back", "restore", "move_back"})


class FilesActor:
    """Moves files and folders away, and back. See `SourceActor`."""

    def __init__(self, config: FilesConfig) -> None:
        self._config, self._worker = config, Worker()

    @classmethod
    async def open(cls, config: FilesConfig) -> FilesActor:
        """Look at the root and the quarantine folder, and settle what was left in the middle. Raises `SourceError`."""
        actor = cls(config)
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(actor.close)
            await actor._worker.run(actor._settle)
            unfinished.pop_all()
        return actor

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""

        def work() -> Mapping[str, str]:
            with looking(self._config) as root:
                return identity(root, self._config.resources)

        return await self._worker.run(work)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        if call.operation not in call.resource.operations:
            return ActResult(Outcome.REFUSED, None, f"`{call.resource.name}` has no operation `{call.operation}`")
        try:
            return await self._acting(call, _performed)
        except SourceError as error:
            return _not_done(error)
        except UnderWayError:
            return await self._after_another(call)

    async def _after_another(self, call: ActCall) -> ActResult:
        """Act once more, if whoever left an entry of this act is not there any more: it is settled before."""
        try:
            if await self._worker.run(self._settle):
                return await self._acting(call, _performed)
        except SourceError as error:
            return _not_done(error)
        except UnderWayError:
            pass
        return Act.later("nothing was done: another process is acting on it").result

    def _settle(self) -> bool:
        """Find out what was left in the middle; False: others act right now, and nothing of theirs is looked into."""
        with looking(self._config) as root, entered(self._config, root, alone=True) as quarantine:
            if quarantine is not None:
                quarantine.settle_pending()
            return quarantine is not None

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """See `TakesBackups.back_up`. The object itself is kept in the quarantine folder; this names it."""

        def work() -> Mapping[str, Any] | None:
            with looking(self._config) as root:
                return _whole(self._config, root, call)

        return await self._worker.run(work)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the file system can't be asked."""
        return await self._acting(call, _took_effect)

    async def _acting(self, call: ActCall, work: Callable[[Act], T]) -> T:
        def run() -> T:
            with opened(self._config) as root, entered(self._config, root) as quarantine:
                if quarantine is None:
                    detail = "the quarantine folder is held by another process"
                    raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))
                return work(Act(self._config, root, quarantine, call))

        return await self._worker.run(run)

    async def close(self) -> None:
        """See `SourceActor.close`."""
        self._worker.close()


def _not_done(error: SourceError) -> ActResult:
    """Return the end of an act before which a folder could not be opened: what is not there now may be there later."""
    detail = f"nothing was done: {error.reason.detail}"
    if error.reason.code is Reason.SOURCE_UNAVAILABLE:
        return Act.later(detail).result
    return ActResult(Outcome.FAILED, None, detail)


def _performed(act: Act) -> ActResult:
    if act.call.operation in _AWAY:
        return act.away()
    is_meant = meant_by(act.call)
    if is_meant is None:
        return ActResult(Outcome.REFUSED, None, "nothing says which object it is that is to be brought back")
    return act.back(is_meant)


def _whole(config: FilesConfig, root: Root, call: ActCall) -> Mapping[str, Any] | None:
    settings, key = config.resources[call.resource.name], call.key[0]
    parts = parts_of(key) if isinstance(key, str) else None
    if parts is None or not settings.holds(parts):
        return None
    troubles = troubles_of(root, config)
    try:
        found = found_at(root, parts, settings.kind, troubles, keeps_access=True)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused(judge_walk([root.look, Look("stat", f"{root.path}/{key}", error=named(error))])) from None
    if isinstance(found, Entry):
        return None  # something of another kind stands there: the object is gone
    if len(troubles.reasons) > 0:
        raise SourceError(next(iter(troubles.reasons.values())))
    return whole(found)


def _took_effect(act: Act) -> bool | None:
    try:
        if act.call.operation in _AWAY:
            return _went(act)
        return _came_back(act)
    except GiveUpError:
        return False  # no object of this resource, so nothing was done
    except OSError as error:
        raise refused(judge_walk([act.root.look, Look("stat", str(act.root.path), error=named(error))])) from None


def _went(act: Act) -> bool | None:
    about = act.about(Mark("", 0, 0))
    if act.quarantine.is_pending(about):
        return None  # settled when the source is opened for acting the next time
    version, incarnation = (act.call.expected.get(name) for name in ("version", "incarnation"))
    seen = None if version is None else version.value
    of = None if incarnation is None else incarnation.value
    if not isinstance(seen, str):
        return None
    if act.call.operation == "move":
        try:
            with archived(act.config, act.parts[:-1]) as there:
                mark = in_archive(act, there)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return mark is not None and mark.is_of(seen, of if isinstance(of, str) else None)
    if act.settings.delete is Delete.QUARANTINE:
        return act.quarantine.is_kept(about)
    now = act.stands_there()
    if now is None:
        return True
    return False if now.is_of(seen) else None


def _came_back(act: Act) -> bool | None:
    is_meant = meant_by(act.call)
    if is_meant is None:
        return None
    now = act.stands_there()
    if now is not None:
        return True if is_meant(now) else None
    return False
