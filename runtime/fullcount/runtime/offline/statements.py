"""What is signed, byte for byte: an approval, and the head of a run.

Each is one line of canonical JSON that names its own kind, so that no signature of the one can stand for the other, and
everything that it is about, so that it can't stand for another of its kind.
"""

from __future__ import annotations

from fullcount.runtime.offline.canonical import canonical


def approval_statement(plan_id: str, digest: str, uid: int, signed_at: int) -> bytes:
    """Return what a person signs who approves a plan: whose yes, to which digest, at which instant (microseconds)."""
    said = {"statement": "fullcount approval 1", "plan_id": plan_id, "digest": digest, "uid": uid, "at": signed_at}
    return f"{canonical(said)}\n".encode()


def head_statement(run_id: str, seq: int, head: str, by: tuple[int, str] | None, at: int | None) -> bytes:
    """Return what is signed of a run's end: its last journal entry, whose hash stands for every entry before it.

    `by`, as uid and name, and `at` say who signs and when; None where nobody does.
    """
    who = None if by is None else {"uid": by[0], "name": by[1]}
    said = {"statement": "fullcount head 1", "run_id": run_id, "seq": seq, "hash": head, "by": who, "at": at}
    return f"{canonical(said)}\n".encode()
