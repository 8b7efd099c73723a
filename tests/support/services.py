"""Servers that tests start themselves: found or missing, on a free port, waited for, ended.

Where a program is missing tests skip with that reason; on CI they fail, because there nobody would notice that they
were never run.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

_STARTS_WITHIN = 20.0


def require_program(name: str, package: str) -> str:
    """Return the path of a program; without it skip, or fail on CI."""
    found = shutil.which(name)
    if found is not None:
        return found
    missing = f"`{name}` is not installed (the Debian package is `{package}`)"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


def free_port() -> int:
    """Return a port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], log: Path, ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it is ready, and end it. Raises `RuntimeError` with its log if it never is."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=log.parent)
    try:
        until = time.monotonic() + _STARTS_WITHIN
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                said = log.read_text(errors="replace")[-2000:]
                msg = f"`{command[0]}` did not start: {said}"
                raise RuntimeError(msg)
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
