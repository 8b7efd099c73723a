"""Test beds of our own connectors, for the conformance kit: seven objects each, over the real thing."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy.exc import OperationalError
from tests.support.http_api import Api
from tests.support.reading_http import config
from tests.support.repository import Repository
from tests.support.sql import CREATE_ACCOUNTS, File, account, sqlite_settings

from fullcount.runtime.connectors.files import CONNECTOR as FILES
from fullcount.runtime.connectors.files import folders
from fullcount.runtime.connectors.files import root as files_root
from fullcount.runtime.connectors.files.quarantine import Quarantine
from fullcount.runtime.connectors.git import CONNECTOR as GIT
from fullcount.runtime.connectors.git.command import Git
from fullcount.runtime.connectors.http import CONNECTOR as HTTP
from fullcount.runtime.connectors.sql import CONNECTOR as SQL
from fullcount.runtime.connectors.sql import scan as sql_scan
from fullcount.runtime.connectors.sql.database import Lane
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.testing import Act, Bed, Fault, faults
from fullcount.runtime.testing.front import HttpFront, only, since, to

# --- SQLite -----------------------------------------------------------------------------------------------------------

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def _lost() -> OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_IOERR, "SQLITE_IOERR"
    return OperationalError("SELECT", None, error)


@contextmanager
def _fetch_fails(number: int) -> Iterator[None]:
    real, calls = sql_scan.fetch_all, itertools.count(1)

    def fetch(connection: Any, statement: Any) -> Any:
        if next(calls) >= number:
            raise _lost()
        return real(connection, statement)

    with patch.object(sql_scan, "fetch_all", fetch):
        yield


@contextmanager
def _never_ends() -> Iterator[None]:
    def fetch(connection: Any, statement: Any) -> Any:
        return connection.exec_driver_sql(_ENDLESS).all()

    with patch.object(sql_scan, "fetch_all", fetch):
        yield


@contextmanager
def _nothing_runs() -> Iterator[None]:
    async def run(lane: Lane, work: Any) -> Any:
        raise _lost()

    with patch.object(Lane, "run", run):
        yield


def sqlite_bed(folder: Path) -> Bed:
    """Return a bed on a file, whose application may write while it is read."""
    file = File(folder / "directory.db", "PRAGMA journal_mode = WAL", CREATE_ACCOUNTS)
    numbers = itertools.count(100)
    file.insert(*(account(index) for index in range(7)))
    names = ("id", "entry_uuid", "row_version", "owner", "environment")

    def rows() -> dict[Any, Any]:
        found = file.rows(f"SELECT {', '.join(names)}, locked FROM accounts")
        return {(row[0],): {**dict(zip(names, row, strict=False)), "locked": bool(row[-1])} for row in found}

    def put() -> tuple[str]:
        number = next(numbers)
        file.insert(account(number))
        return (f"a{number:04}",)

    def remove(key: Any) -> None:
        file.write(f"DELETE FROM accounts WHERE id = '{key[0]}'")

    def recreate(key: Any) -> None:
        remove(key)
        file.insert(account(int(key[0][1:]), entry_uuid=f"again-{next(numbers)}"))

    settings = sqlite_settings(file.path)
    return Bed(
        connector=SQL,
        config=SQL.config_model.model_validate(settings),
        resource="accounts",
        rows=rows,
        put=put,
        remove=remove,
        change=lambda key: file.write(
            f"UPDATE accounts SET owner = 'changed', row_version = row_version + 1 WHERE id = '{key[0]}'"
        ),
        faults=[Fault(name="the disk fails", begin=_fetch_fails, reasons=frozenset({Reason.SOURCE_UNAVAILABLE}))],
        empty=lambda: file.write("DELETE FROM accounts"),
        recreate=recreate,
        hang=_never_ends,
        outage=_nothing_runs,
        nothing_hides="whoever may read the file may read all of it",
        capped=SQL.config_model.model_validate({**settings, "max_rows": 3}),
        act=Act(operation="update", arguments=lambda key: {"locked": True}),
    )


# --- git --------------------------------------------------------------------------------------------------------------


def git_bed(folder: Path) -> Bed:
    """Return a bed on a repository: six branches beside `main`."""
    repository = Repository.make(folder / "work")
    numbers = itertools.count(100)
    main = repository.sha("main")

    def commit(message: str) -> str:
        return repository.git("commit-tree", "-p", main, "-m", message, f"{main}^{{tree}}")

    def put(name: str | None = None) -> tuple[str]:
        made = f"topic-{next(numbers)}" if name is None else name
        repository.git("update-ref", f"refs/heads/{made}", commit(f"{made} {next(numbers)}"))
        return (made,)

    for number in range(6):
        put(f"topic-{number}")

    def rows() -> dict[Any, Any]:
        found = {name.removeprefix("refs/heads/"): sha for name, sha in repository.refs().items()}
        return {
            (name,): {"name": name, "sha": sha, "upstream": None, "is_base": name == "main"}
            for name, sha in found.items()
        }

    def remove(key: Any) -> None:
        # of `main` everything hangs: the last branch goes in its place
        name = max(repository.refs()).removeprefix("refs/heads/") if key[0] == "main" else key[0]
        repository.git("update-ref", "-d", f"refs/heads/{name}")

    @contextmanager
    def broken(number: int) -> Iterator[None]:
        file = repository.path / ".git/refs/heads/broken"
        file.write_text("nothing\n")
        yield
        file.unlink()

    @contextmanager
    def moved(number: int = 1) -> Iterator[None]:
        away = repository.path.rename(folder / "away")
        yield
        away.rename(repository.path)

    @contextmanager
    def silent() -> Iterator[None]:
        async def run(git: Git, *arguments: str, **more: Any) -> Any:
            await asyncio.Event().wait()

        with patch.object(Git, "run", run):
            yield

    return Bed(
        connector=GIT,
        config=GIT.config_model.model_validate({"repository": str(repository.path), "base": "main"}),
        resource="branches",
        rows=rows,
        put=put,
        remove=remove,
        change=lambda key: put(key[0]) if key[0] != "main" else None,
        faults=[
            Fault(
                name="a damaged ref",
                begin=broken,
                reasons=frozenset({Reason.MALFORMED_RESPONSE}),
                by_page=False,
            ),
            Fault(
                name="no repository",
                begin=moved,
                reasons=frozenset({Reason.SOURCE_UNAVAILABLE}),
                by_page=False,
            ),
        ],
        recreate=lambda key: (remove(key), put(key[0])),
        hang=silent,
        outage=moved,
        nothing_hides="a folder that can't be entered is an error, and a file that can't be read as well",
        act=Act(operation="delete", arguments=lambda key: {}),
    )


# --- HTTP -------------------------------------------------------------------------------------------------------------

_LIST = to("/cursor", "GET")
_TOKEN = "t0k3n-of-the-bed"
_RESOURCE = {
    "fields": {
        "id": "text",
        "owner": "text",
        "n": "int",
        "etag": {"type": "text", "at": "$headers/etag"},
    },
    "read": "/cursor/{id}",
    "not_found_is_gone": True,
    "version": "etag",
    "count": {"path": "/cursor/count", "at": "count"},
    "lookup": {"owner": "/cursor?owner={owner}"},
    "operations": {
        "assign": {
            "method": "PATCH",
            "path": "/cursor/{id}",
            "body": {"owner": "{owner}"},
            "parameters": {"owner": "text"},
            "effect": "update",
            "precondition": "if_match",
        }
    },
}


def _fault(name: str, front: HttpFront, action: Any, *reasons: Reason, at: Any = only) -> Fault:
    return Fault(
        name=name,
        begin=lambda number: front.fault(action, when=_LIST, at=at(number)),
        reasons=frozenset(reasons),
    )


@contextmanager
def http_bed() -> Iterator[Bed]:
    """Return a bed on a server of this machine, behind the front."""
    lock, numbers = threading.Lock(), itertools.count(100)
    with ExitStack() as stack:
        things = [{"id": f"t{number:04}", "owner": f"p{number % 3}", "n": number} for number in range(7)]
        api = stack.enter_context(Api(things, token=_TOKEN))
        front = stack.enter_context(HttpFront(api.url))
        stack.enter_context(patch.dict("os.environ", {"BED_TOKEN": _TOKEN}))

        def moved() -> None:
            api.snapshot = f"s{next(numbers)}"

        def put(key: str | None = None) -> tuple[str]:
            with lock:
                number = next(numbers)
                made = f"t{number:04}" if key is None else key
                api.objects[made] = {"id": made, "owner": "p1", "n": number}
                api.versions[made] = number
                moved()
            return (made,)

        def remove(key: Any) -> None:
            with lock:
                del api.objects[key[0]]
                moved()

        def change(key: Any) -> None:
            with lock:
                api.change(key[0], owner="changed")
                moved()

        def gone_cursor(body: Any) -> Any:
            return {name: value for name, value in body.items() if name != "next_cursor"}

        def no_row(body: Any) -> Any:
            return {**body, "items": body["items"][:-1]}

        def shard(body: Any) -> Any:
            return {**body, "items": [], "unreachable": ["shard-3"]}

        yield Bed(
            connector=HTTP,
            config=config(front, "cursor", _RESOURCE, auth={"bearer": {"env": "BED_TOKEN"}}),
            resource="things",
            rows=lambda: {(key,): dict(thing) for key, thing in api.objects.items()},
            put=put,
            remove=remove,
            change=change,
            faults=[
                _fault("a reset", front, faults.reset(), Reason.SOURCE_UNAVAILABLE),
                _fault("a throttle", front, faults.throttle(60), Reason.RATE_LIMITED),
                _fault("a withdrawn permission", front, faults.forbid(), Reason.VISIBILITY_RESTRICTED, at=since),
                _fault("an expired credential", front, faults.log_out(), Reason.AUTH_FAILED, at=since),
                _fault("a page for people", front, faults.html(), Reason.MALFORMED_RESPONSE),
                _fault("half a body", front, faults.truncate(), Reason.MALFORMED_RESPONSE),
                _fault("an expired cursor", front, faults.answer(410, {"error": "cursor"}), Reason.CURSOR_EXPIRED),
                _fault("a lost cursor", front, faults.edit(gone_cursor), Reason.COMPLETENESS_UNPROVABLE),
                _fault("a shard that is down", front, faults.edit(shard), Reason.SOURCE_UNAVAILABLE),
            ],
            page_rows=(3,),
            empty=api.objects.clear,
            recreate=lambda key: put(key[0]),
            hang=lambda: front.fault(faults.hang()),
            outage=lambda: front.fault(faults.unavailable()),
            act=Act(
                operation="assign",
                arguments=lambda key: {"owner": "clerk"},
                lose_reply=lambda: front.fault(faults.lose_reply(), when=lambda asked: asked.writes),
            ),
            secrets=(_TOKEN,),
        )


# --- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def _open_to_all(folder: Path) -> Iterator[None]:
    folder.chmod(0o777)
    yield
    folder.chmod(0o700)


def files_bed(folder: Path) -> Bed:
    """Return a bed on a folder: seven files in three folders."""
    root, numbers = folder / "root", itertools.count(100)
    (folder / "quarantine").mkdir(mode=0o700)

    def put(path: str | None = None) -> tuple[str]:
        number = next(numbers)
        made = f"sub-{number % 3}/f{number:04}.txt" if path is None else path
        place = root / made
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"content {number}")
        return (made,)

    for _ in range(7):
        put()

    def rows() -> dict[Any, Any]:
        found = {path.relative_to(root): path.stat() for path in root.rglob("*") if path.is_file()}
        return {
            (str(path),): {
                "path": str(path),
                "name": path.name,
                "folder": str(path.parent),
                "extension": "txt",
                "size": seen.st_size,
                "modified": seen.st_mtime_ns // 1000,
                "incarnation": f"{seen.st_dev}:{seen.st_ino}",
            }
            for path, seen in found.items()
        }

    @contextmanager
    def closed(number: int = 1) -> Iterator[None]:
        real = folders.open_folder

        def open_folder(above: int, name: str, flags: int) -> int:
            if name == "sub-1":
                raise PermissionError(13, "denied")
            return real(above, name, flags)

        with patch.object(folders, "open_folder", open_folder), patch.object(files_root, "open_folder", open_folder):
            yield

    @contextmanager
    def moved(number: int = 1) -> Iterator[None]:
        away = root.rename(folder / "away")
        yield
        away.rename(root)

    @contextmanager
    def silent() -> Iterator[None]:
        go_on = threading.Event()

        def entries(listing: Any) -> Iterator[Any]:
            go_on.wait(30)
            yield from ()

        with patch.object(folders.Listing, "entries", entries):
            yield
        go_on.set()

    @contextmanager
    def lost() -> Iterator[None]:
        def keep(quarantine: Quarantine, entry: Any) -> None:
            raise OSError(5, "I/O error")

        with patch.object(Quarantine, "keep", keep):
            yield

    def empty() -> None:
        for key in rows():
            (root / key[0]).unlink()

    settings = {
        "root": str(root),
        "quarantine": str(folder / "quarantine"),
        "resources": {"texts": {"kind": "file", "patterns": ["**"], "depth": "all", "delete": "quarantine"}},
    }
    return Bed(
        connector=FILES,
        config=FILES.config_model.model_validate(settings),
        resource="texts",
        rows=rows,
        put=put,
        remove=lambda key: (root / key[0]).unlink(),
        change=lambda key: (root / key[0]).write_text(f"changed {next(numbers)}"),
        faults=[
            Fault(
                name="a folder that can't be entered",
                begin=closed,
                reasons=frozenset({Reason.VISIBILITY_RESTRICTED}),
                by_page=False,
            ),
            Fault(name="no root", begin=moved, reasons=frozenset({Reason.EXISTENCE_UNKNOWN}), by_page=False),
        ],
        empty=empty,
        recreate=lambda key: ((root / key[0]).unlink(), put(key[0])),
        hang=silent,
        outage=moved,
        unfit=lambda: _open_to_all(folder / "quarantine"),
        hide=closed,
        capped=FILES.config_model.model_validate({**settings, "max_entries": 3}),
        act=Act(operation="delete", arguments=lambda key: {}, lose_reply=lost),
    )
