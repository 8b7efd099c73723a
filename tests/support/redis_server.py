"""A real Redis server of one's own, and a client that goes around the connector.

    with running_redis() as server:
        server.run("SET", "a", "1")
        server.many([("SET", f"k{n}", "x") for n in range(1000)])

The library `redis` is needed as well as the server: without either, tests skip with that reason, or fail on CI.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.services import free_port, require_program, running


class RedisServer:
    """A running server."""

    def __init__(self, port: int) -> None:
        import redis

        self.port = port
        self._client = redis.Redis("127.0.0.1", port, socket_timeout=10, decode_responses=True)
        self._down = redis.RedisError

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    def answers(self) -> bool:
        """Whether it is up."""
        try:
            return bool(self._client.ping())
        except self._down:
            return False

    def run(self, *command: Any) -> Any:
        """Run one command."""
        return self._client.execute_command(*command)

    def many(self, commands: Sequence[tuple[Any, ...]]) -> None:
        """Run many commands together."""
        with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            pipeline.execute()

    def clear(self) -> None:
        """Forget keys, users and settings of tests."""
        self.run("REPLICAOF", "NO", "ONE")
        self.run("FLUSHALL")
        for user in self.run("ACL", "USERS"):
            if user != "default":
                self.run("ACL", "DELUSER", user)
        self.run("CONFIG", "SET", "maxmemory-policy", "noeviction", "timeout", "0")


@contextmanager
def running_redis(*settings: str) -> Iterator[RedisServer]:
    """Start an empty server that writes nothing to disk, and end it."""
    program = require_program("redis-server", "redis-server")
    try:
        import redis  # noqa: F401 - to say what is missing
    except ModuleNotFoundError:
        missing = "the package `redis` is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    folder, port = Path(tempfile.mkdtemp(prefix="fullcount-redis-")), free_port()
    server = RedisServer(port)
    plain = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder))
    try:
        with running([program, "--port", str(port), *plain, *settings], folder / "log", server.answers):
            yield server
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
