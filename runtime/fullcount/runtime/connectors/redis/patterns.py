"""Whether a key fits a pattern of Redis, where that can be told here just as the server tells it. Pure."""

from __future__ import annotations

import re
from functools import lru_cache


def fits(pattern: str, key: str) -> bool | None:
    """Return whether `MATCH pattern` lets a key through; None for patterns with `[…]`, which is left to the server."""
    if key == "":
        return pattern == "*"  # for Redis the name of no letters fits nothing else, not even `**`
    compiled = _compiled(pattern)
    return None if compiled is None else compiled.fullmatch(key.encode()) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[bytes] | None:
    if "[" in pattern:
        return None
    parts: list[bytes] = []
    steps = iter(re.findall(rb"\\.|\*+|.|\\", pattern.encode(), re.DOTALL))  # a run of stars is one
    for step in steps:
        if step.startswith(b"*"):
            parts.append(b".*")
        elif step == b"?":  # one byte, not one letter
            parts.append(b".")
        else:
            parts.append(re.escape(step[1:] if len(step) > 1 else step))
    return re.compile(b"".join(parts), re.DOTALL)
