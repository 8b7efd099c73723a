"""A real PostgreSQL cluster of one's own: made in a temporary folder, started on a free port, thrown away after.

PostgreSQL refuses to run as root, so a session of root starts it as the user `postgres`. Where the binaries are
missing, tests skip with that reason; on CI they fail, because there nobody would notice that they were never run.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SUPERUSER = "fullcount_admin"


@dataclass(frozen=True)
class Cluster:
    """A running server. Every log-in by TCP needs the password `secret`; the superuser has it too."""

    port: int
    folder: Path

    def url(self, user: str = SUPERUSER, database: str = "postgres") -> str:
        """The address without a password, as it may stand in a configuration."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def full_url(self, user: str = SUPERUSER, database: str = "postgres") -> str:
        """The address with the password, for SQLAlchemy and psycopg."""
        return f"postgresql://{user}:secret@127.0.0.1:{self.port}/{database}"

    def execute(self, *statements: str, user: str = SUPERUSER, database: str = "postgres") -> list[Any]:
        """Run statements one by one, committed at once; return the rows of the last one that has any."""
        import psycopg

        rows: list[Any] = []
        with psycopg.connect(self.full_url(user, database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
                if cursor.description is not None:
                    rows = cursor.fetchall()
        return rows

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """A fresh database, dropped after with whoever is still connected."""
        self.execute(f'CREATE DATABASE "{name}"')
        try:
            yield name
        finally:
            self.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def find_binaries() -> Path | None:
    """Return the folder of the newest installed server, or None."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if versions:
        return versions[-1].parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


def require_binaries() -> Path:
    """Return the folder of the binaries; without them skip, or fail on CI."""
    found = find_binaries()
    if found is not None:
        return found
    missing = "no PostgreSQL server is installed (looked for initdb in /usr/lib/postgresql and on PATH)"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


@contextmanager
def running_cluster(*, durable: bool = False) -> Iterator[Cluster]:
    """Make, start and at the end remove a cluster. `durable`: it writes to disk at each commit, as a real one does."""
    binaries = require_binaries()
    owner = pwd.getpwnam("postgres") if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="fullcount-pg-"))
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        yield from _serve(binaries, folder, owner, durable=durable)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def standby_of(cluster: Cluster) -> Iterator[Cluster]:
    """A physical replica of a running cluster, with all its databases, on a port of its own."""
    binaries = require_binaries()
    owner = pwd.getpwnam("postgres") if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="fullcount-pg-standby-"))
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        source = cluster.full_url().removesuffix("/postgres")
        copied = ("--checkpoint", "fast", "--write-recovery-conf", "--no-sync")
        _run(owner, binaries / "pg_basebackup", "--dbname", source, "--pgdata", folder / "data", *copied)
        yield from _start(binaries, folder, owner)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(binaries: Path, folder: Path, owner: pwd.struct_passwd | None, *, durable: bool) -> Iterator[Cluster]:
    data, password = folder / "data", folder / "password"
    password.write_text("secret\n")
    password.chmod(0o644)
    initdb = ["--username", SUPERUSER, "--pwfile", password, "--auth", "scram-sha-256", "--encoding", "UTF8"]
    _run(owner, binaries / "initdb", "--pgdata", data, "--no-sync", "--locale", "C.UTF-8", *initdb)
    yield from _start(binaries, folder, owner, durable=durable)


def _start(
    binaries: Path, folder: Path, owner: pwd.struct_passwd | None, *, durable: bool = False
) -> Iterator[Cluster]:
    data, port = folder / "data", _free_port()
    sync = "on" if durable else "off"
    settings = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync={sync} -c max_connections=60 -c shared_buffers=32MB"
    control = (binaries / "pg_ctl", "--pgdata", data, "--wait")
    _run(owner, *control, "--log", folder / "log", "--options", settings, "start")
    try:
        yield Cluster(port, folder)
    finally:
        _run(owner, *control, "--mode", "immediate", "stop")


def _run(owner: pwd.struct_passwd | None, *command: object) -> None:
    as_owner: dict[str, Any] = {}
    if owner is not None:
        as_owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    # output goes to a file: a server that inherited a pipe would keep it open for as long as it runs
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [str(part) for part in command], stdout=output, stderr=output, check=False, cwd="/", timeout=120, **as_owner
        )
        if done.returncode != 0:
            output.seek(0)
            raise RuntimeError(f"{command[0]} failed: {output.read().decode(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
