"""Calls of the operating system that may never come back, made where nobody has to wait for them.

A server behind a mount that went away can hold a call for ever, and nothing ends it. So each call is made in a thread
that a process may leave behind when it ends, unlike those of the standard library's pools. Whoever gives up waiting
goes on; the thread ends when its call does, and the next call gets a thread of its own.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Thread:
    """One thread and what it is to do; None: end."""

    todo: queue.SimpleQueue[Callable[[], None] | None] = field(default_factory=queue.SimpleQueue)

    def begin(self) -> None:
        threading.Thread(target=self._live, name="fullcount-files", daemon=True).start()

    def _live(self) -> None:
        while (work := self.todo.get()) is not None:
            work()


class Worker:
    """Makes one call after the other."""

    def __init__(self) -> None:
        self._thread: _Thread | None = None
        self._lost: list[_Thread] = []
        """Those whose call nobody waits for any more."""
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Make a call and return what it returns. Raises what it raises."""
        async with self._turn:
            if self._thread is None:
                self._thread = _Thread()
                self._thread.begin()
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[T] = loop.create_future()

            def call() -> None:
                settle: Callable[[Any], None]
                try:
                    found: Any = work()
                    settle = answer.set_result
                except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
                    found, settle = error, answer.set_exception
                with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
                    loop.call_soon_threadsafe(_settle, answer, settle, found)

            self._thread.todo.put(call)
            try:
                return await answer
            except asyncio.CancelledError:
                self._lost.append(self._thread)  # its call may never come back
                self._thread = None
                raise

    @property
    def is_lost(self) -> bool:
        """Whether somebody gave up waiting for one of the calls."""
        return len(self._lost) > 0

    def close(self, last: Callable[[], None] | None = None) -> None:
        """Let the threads end once they have nothing more to do; `last` is done in the first of them."""
        threads = [*self._lost, *([] if self._thread is None else [self._thread])]
        self._lost, self._thread = [], None
        for thread in threads:
            if last is not None:
                thread.todo.put(last)
                last = None
            thread.todo.put(None)


def _settle(answer: asyncio.Future[Any], settle: Callable[[Any], None], value: Any) -> None:
    if not answer.done():
        settle(value)


_UNANSWERED: dict[str, threading.Thread] = {}
"""What was given up on and has not come back, by what it was about: it is not asked again meanwhile."""


def within(seconds: float, about: str, work: Callable[[], T]) -> T | None:
    """Make a call outside of any event loop; None if it takes longer, or one about the same has not come back yet.

    Raises what the call raises.
    """
    before = _UNANSWERED.get(about)
    if before is not None and before.is_alive():
        return None
    ended: list[tuple[T | None, BaseException | None]] = []

    def call() -> None:
        try:
            ended.append((work(), None))
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            ended.append((None, error))

    thread = threading.Thread(target=call, name="fullcount-files", daemon=True)
    thread.start()
    thread.join(seconds)
    if len(ended) == 0:
        _UNANSWERED[about] = thread
        return None
    found, error = ended[0]
    if error is not None:
        raise error
    return found
