"""Where backups lie: one file for each object as it was, named by the digest of its bytes.

Guarantees: `put` returns only once the bytes and their name are on the disk; a file under its digest is whole, is never
changed, and can be read by its owner alone; `get` hands out nothing that does not have the digest it is named by. A
backup holds whatever the object held, secrets too, so its content is never logged, printed or put into the journal.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import parse_canonical
from fullcount.runtime.offline.files import read_own
from fullcount.runtime.plan.digest import canonical_bytes, sha256_text

_NAME: Final = re.compile(r"[0-9a-f]{64}\.json")
_OURS: Final = 0o600
_FOLDER: Final = 0o700


class BackupLost(FullcountError):  # noqa: N818 - a state of the backup
    """FC789: a backup is not there, or is not what was stored."""

    exit = Exit.REFUSED_BY_EVIDENCE

    def __init__(self, message: str) -> None:
        super().__init__(
            "FC789", message, help="restore the folder of the backups from your own backup of it, if there is one"
        )


class BackupFailed(FullcountError):  # noqa: N818 - a state of the backup
    """FC788: a backup could not be stored, so what it is of must not be acted on."""

    def __init__(self, message: str) -> None:
        super().__init__("FC788", message, help="make room, or the right to write there, and apply the plan again")


class BackupFiles:
    """Content-addressed files under one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, content: Mapping[str, Any]) -> str:
        """Store an object and return its digest, `sha256:…`. Raises `BackupFailed`, and then nothing is stored."""
        data = canonical_bytes(dict(content))
        digest = sha256_text(data)
        try:
            self._write(self._place(digest), data)
        except OSError as error:
            msg = f"a backup can't be stored under `{self.root}`: {error.strerror}"
            raise BackupFailed(msg) from None
        return digest

    def get(self, digest: str) -> Mapping[str, Any]:
        """Return what is stored under a digest. Raises `BackupLost`."""
        path = self._place(digest)
        try:
            data = read_own(path)
        except FileNotFoundError:
            msg = f"the backup `{path.name}` is not there"
            raise BackupLost(msg) from None
        except OSError as error:
            msg = f"the backup `{path.name}` can't be read: {error.strerror or error}"
            raise BackupLost(msg) from None
        if sha256_text(data) != digest:
            msg = f"the backup `{path.name}` was changed after it was stored"
            raise BackupLost(msg)
        found: Mapping[str, Any] = parse_canonical(data.decode())
        return found

    def drop(self, digest: str) -> None:
        """Remove a backup whose time is over; nothing if it is gone already. Raises `OSError`."""
        self._place(digest).unlink(missing_ok=True)

    def age(self, digest: str, now: float) -> float:
        """Return for how many seconds a file has lain there; 0 for one that is gone."""
        try:
            return now - self._place(digest).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def stored(self) -> Iterator[str]:
        """Return the digests of everything that lies there, whether it is whole or not. Raises `OSError`."""
        if not self.root.exists():
            return
        for path in sorted(self.root.iterdir()):
            if _NAME.fullmatch(path.name) is not None:
                yield f"sha256:{path.stem}"

    def _place(self, digest: str) -> Path:
        name = f"{digest.removeprefix('sha256:')}.json"
        if _NAME.fullmatch(name) is None:
            msg = f"`{digest}` is not the digest of a backup"
            raise BackupLost(msg)
        return self.root / name

    def _write(self, path: Path, data: bytes) -> None:
        self.root.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        if self._is_there(path, data):
            return
        beside = path.with_suffix(f".{secrets.token_hex(8)}")
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _OURS)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _to_disk(self.root)

    def _is_there(self, path: Path, data: bytes) -> bool:
        """Whether the very same backup lies there already: of an act that was begun before."""
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            return False
        if hashlib.sha256(found).digest() != hashlib.sha256(data).digest():
            return False  # it was changed; what is stored now takes its place
        _to_disk(path)
        _to_disk(self.root)
        return True


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
