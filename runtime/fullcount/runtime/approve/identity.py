"""Who someone is: from the operating system's process credentials and from nothing else (R27).

Guarantees: the uid is the process's real uid, and the name is what the system's user database says of it. It must
never look at an environment variable, an option, a file's text or an object's data.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """An authenticated person. `uid` decides; `name` is for people to read."""

    uid: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} (uid:{self.uid})"

    @property
    def principal(self) -> str:
        """The written form that plans and journal entries carry: `uid:1000`."""
        return f"uid:{self.uid}"


def current_person() -> Person:
    """Return who runs this process."""
    uid = os.getuid()
    return Person(uid=uid, name=name_of(uid))


def name_of(uid: int) -> str:
    """Return the system's name for a uid, or `uid:N` where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid:{uid}"


def uid_of(member: str) -> int | None:
    """Return the uid that `uid:1000` or a user name stands for; None when the system does not know the name."""
    if member.startswith("uid:"):
        digits = member.removeprefix("uid:")
        return int(digits) if digits.isascii() and digits.isdecimal() else None
    try:
        return pwd.getpwnam(member).pw_uid
    except (KeyError, ValueError):
        return None
