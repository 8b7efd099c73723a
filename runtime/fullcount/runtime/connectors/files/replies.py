"""What the answers of a file system say of a walk and of a write. Pure.

Facts: a folder that can't be entered hides what is in it; an empty folder where a mount should be is the parent's; a
folder that vanished or changed while it was walked makes the walk one of no single state; names with one inode are one
file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullcount.runtime.connectors.judged import Judged
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

_READ: Mapping[str, Reason] = {
    "EACCES": Reason.VISIBILITY_RESTRICTED,
    "EPERM": Reason.VISIBILITY_RESTRICTED,
    "ENOENT": Reason.SNAPSHOT_CHANGED,
    "ENOTDIR": Reason.SNAPSHOT_CHANGED,
    "ELOOP": Reason.SCOPE_NOT_COVERED,
    "ENAMETOOLONG": Reason.SCOPE_NOT_COVERED,
    "EXDEV": Reason.SCOPE_NOT_COVERED,
    "EMFILE": Reason.CLIENT_LIMIT_REACHED,
    "ENFILE": Reason.CLIENT_LIMIT_REACHED,
    "EBADMSG": Reason.MALFORMED_RESPONSE,
    "EILSEQ": Reason.MALFORMED_RESPONSE,
    "EUCLEAN": Reason.MALFORMED_RESPONSE,
    "EKEYEXPIRED": Reason.AUTH_FAILED,
    "EKEYREJECTED": Reason.AUTH_FAILED,
    "ENOKEY": Reason.AUTH_FAILED,
}
"""Any other answer (`ESTALE`, `EIO`, `ETIMEDOUT` of a mount, …) is one of a disk or server that is not there."""
_FOLDER = frozenset({"dir", "directory"})

_WORDS: Mapping[str, str] = {
    "EACCES": "its reader may not enter it, or may not see what it is (EACCES)",
    "EPERM": "its reader may not enter it (EPERM)",
    "ENOENT": "it is not there (ENOENT)",
    "ENOTDIR": "it is not a folder (ENOTDIR)",
    "ELOOP": "it is a link, and links are not followed (ELOOP)",
    "EILSEQ": "its name is not UTF-8 text, so that no rule and no act can name it (EILSEQ)",
    "EIO": "the disk or server behind it failed (EIO)",
    "ESTALE": "the server no longer knows it (ESTALE)",
    "EMFILE": "this process may open no more files (EMFILE)",
    "ENOSPC": "no space is left there: free some (ENOSPC)",
    "EDQUOT": "its owner may use no more space there: free some, or raise the quota (EDQUOT)",
}

FULL = frozenset({"ENOSPC", "EDQUOT"})
"""The disk is full: what was asked for was not done, and can be once there is space."""


def in_words(error: str) -> str:
    """Return what the name of an error of the system says to a person."""
    return _WORDS.get(error, error)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a path. `error` is the name of an `errno`; `entries` None: the folder was not listed."""

    operation: str
    path: str
    error: str | None = None
    entries: Sequence[Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was seen: `st_dev`, `ino`, `mtime_ns`, `is_mount`, …"""
    expected: Mapping[str, Any] = field(default_factory=dict)
    """What had to be so: `mountpoint`, or facts of an earlier look."""


def judge_walk(looks: Sequence[Look]) -> Judged:
    """Return what a walk amounts to."""
    judged = Judged()
    judged.warn(WarningCode.NO_SNAPSHOT, WarningCode.TOTAL_ABSENT)
    root = looks[0]
    before: dict[str, Any] = {}
    inodes: set[Any] = set()
    for look in looks:
        if look.error is not None:
            _note_error(look, root, judged)
            continue
        if look.operation == "scandir" and look.entries is None:
            judged.because(Reason.MALFORMED_RESPONSE, detail=f"`{look.path}` was listed, and no list came")
        _note_place(look, root, judged)
        changed = _changed(look, before)
        if changed:
            judged.because(Reason.SNAPSHOT_CHANGED, detail=f"`{look.path}` changed while it was walked")
        _note_names(look, inodes, judged)
    unseen = _folders(looks) - {look.path for look in looks}
    if len(unseen) > 0 and len(judged.reasons) == 0:
        judged.because(Reason.SCOPE_NOT_COVERED, detail=f"`{min(unseen)}` is a folder that was not walked")
    return judged


def _folders(looks: Sequence[Look]) -> set[str]:
    """Return the paths of what is called a folder by the list of the one that it is in."""
    return {
        f"{look.path.rstrip('/')}/{entry.get('name')}"
        for look in looks
        for entry in look.entries or ()
        if isinstance(entry, Mapping) and entry.get("type") in _FOLDER
    }


def _note_error(look: Look, root: Look, judged: Judged) -> None:
    name = look.error or ""
    reason = _READ.get(name, Reason.SOURCE_UNAVAILABLE)
    if reason is Reason.SNAPSHOT_CHANGED and look.path == root.path:
        reason = Reason.EXISTENCE_UNKNOWN
    if reason is Reason.VISIBILITY_RESTRICTED and look.operation in {"stat", "lstat"} and look.path == root.path:
        reason = Reason.EXISTENCE_UNKNOWN  # what is asked for by name may be there, behind a folder that is closed
    way = Way.NEXT_CURSOR if reason is Reason.CLIENT_LIMIT_REACHED else None
    judged.because(reason, way, f"`{look.path}`: {_WORDS.get(name, name)}")


def _note_place(look: Look, root: Look, judged: Judged) -> None:
    wants_mount = look.expected.get("mountpoint") is True or look.expected.get("is_mount") is True
    told = look.operation in {"stat", "lstat"} and look.error is None
    if wants_mount and (told or "is_mount" in look.facts) and look.facts.get("is_mount") is not True:
        judged.because(Reason.SOURCE_UNAVAILABLE, detail=f"nothing is mounted at `{look.path}`")
    differs = [
        name for name in ("st_dev", "ino") if look.expected.get(name, look.facts.get(name)) != look.facts.get(name)
    ]
    if len(differs) > 0:
        judged.because(Reason.SOURCE_UNAVAILABLE, detail=f"`{look.path}` is not the place that was meant: {differs[0]}")
    wanted = look.expected.get("marker")
    if wanted is not None and look.facts.get("marker") is not True:
        detail = f"`{look.path}` has no file `{wanted}` (`marker`), so it is not the folder that is meant"
        judged.because(Reason.SOURCE_UNAVAILABLE, detail=detail)
    device, first = look.facts.get("st_dev"), root.facts.get("st_dev")
    if device is not None and first is not None and device != first and look.entries is None:
        judged.because(Reason.SCOPE_NOT_COVERED, detail=f"`{look.path}` lies on another device, which was not walked")


def _changed(look: Look, before: dict[str, Any]) -> bool:
    """Whether a folder is not what it was when it was first looked at."""
    changed = False
    for fact in ("mtime_ns", "ctime_ns", "ino"):
        place = f"{look.path}\0{fact}"
        value = look.facts.get(fact)
        if value is not None:
            changed = changed or before.setdefault(place, value) != value
    return changed


def _note_names(look: Look, inodes: set[Any], judged: Judged) -> None:
    for entry in look.entries or ():
        if not isinstance(entry, Mapping):
            continue
        inode, links = entry.get("ino"), entry.get("nlink")
        linked = isinstance(links, int) and links > 1 and entry.get("type") not in _FOLDER
        if linked or (inode is not None and inode in inodes):
            judged.warn(WarningCode.SHARED_IDENTITY)
        if inode is not None:
            inodes.add(inode)


_GONE = frozenset({"ENOENT", "ENOTDIR"})
_BUSY = frozenset({"EBUSY", "ETXTBSY", "ENOTEMPTY", "EEXIST", "EISDIR", "ELOOP", "EXDEV"})
_DENIED = frozenset({"EACCES", "EPERM", "EROFS"})


def judge_write(looks: Sequence[Look]) -> Judged:
    """Return what a removal or a move, with the looks around it, amounts to."""
    judged = Judged()
    for look in looks:
        differs = [name for name, value in look.expected.items() if name in look.facts and look.facts[name] != value]
        is_look = look.operation in {"stat", "lstat", "fstat", "scandir", "open"}
        if len(differs) > 0:
            judged.because(ActReason.PRECONDITION_FAILED, detail=f"`{look.path}`: {', '.join(differs)} differ")
        elif look.error is None or (look.error in _GONE and not is_look):
            continue
        elif look.error in _GONE:
            if look is not looks[-1]:
                judged.because(ActReason.PRECONDITION_FAILED, detail=f"`{look.path}` is gone")
        elif look.error in _BUSY:
            judged.because(ActReason.PRECONDITION_FAILED, detail=f"`{look.path}`: {look.error}")
        elif look.error in _DENIED:
            judged.because(Reason.VISIBILITY_RESTRICTED, detail=f"`{look.path}`: {look.error}")
        elif is_look:
            judged.because(Reason.SOURCE_UNAVAILABLE, detail=f"`{look.path}`: {look.error}")
        else:
            judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, f"`{look.path}`: {look.error}")
    return judged
