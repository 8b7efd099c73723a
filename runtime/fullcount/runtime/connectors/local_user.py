"""The user of the operating system on whose behalf files are opened: what it is called, or its number."""

from __future__ import annotations

import os
import pwd


def local_user() -> str:
    """Return the effective user's name; `uid:1000` if the system has no name for it."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid:{uid}"
