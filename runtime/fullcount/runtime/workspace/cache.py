"""What is kept between commands: catalogues, in a private folder of the user, by the digest of what they follow from.

An entry is believed only if it stands under the digest of these very bytes and of this very code, is whole, and
belongs to this user in a folder that nobody else can write to. Losing it costs time and nothing else, so what can't be
read or written here is passed over. Nothing of it is executed: the content is JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from fullcount.compiler import catalog
from fullcount.runtime import __version__

MOST: Final = 64
"""How many catalogues are kept; the oldest go first."""

_DIGEST_LENGTH: Final = 64


def get(content: bytes) -> Any | None:
    """Return what was kept for the bytes of a `fullcount.toml`; None if there is nothing that can be believed."""
    folder = _folder()
    try:
        if not _private(folder.stat()):
            return None
        descriptor = os.open(folder / _key(content), os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            kept = file.read() if stat.S_ISREG(status.st_mode) and _private(status) else b""
    except OSError:
        return None
    digest, document = kept[:_DIGEST_LENGTH], kept[_DIGEST_LENGTH:]
    return json.loads(document) if digest == hashlib.sha256(document).hexdigest().encode() else None


def put(content: bytes, document: Any) -> None:
    """Keep a document for the bytes of a `fullcount.toml`."""
    folder = _folder()
    text = json.dumps(document).encode()
    beside = folder / f".{os.getpid()}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(text).hexdigest().encode() + text)
        beside.replace(folder / _key(content))
        kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MOST]:
            path.unlink()
    except OSError:
        return


def _private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) == 0


def _folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("fullcount", appauthor=False) / "catalogues"


def _key(content: bytes) -> str:
    return hashlib.sha256(_code() + content).hexdigest()


@cache
def _code() -> bytes:
    """Return a digest of what makes a catalogue of a configuration: a change of any of it is another key."""
    made = hashlib.sha256(f"{__version__} {sys.version}".encode())
    here = Path(__file__).parent
    for folder in (Path(catalog.__file__).parent, here.parent / "connectors", here):
        for entry in sorted(_modules(folder), key=lambda each: each.path):
            status = entry.stat()
            made.update(f"{entry.path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return made.digest()


def _modules(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _modules(entry.path)
        elif entry.name.endswith((".py", ".toml")):  # shipped dialects are code in another form
            yield entry
