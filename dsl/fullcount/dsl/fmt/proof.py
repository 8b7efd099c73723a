"""What the formatter must have kept: every meaning and every comment.

Two trees are the same if they differ in nothing but places. The formatter hands out no text for which this was not
seen.
"""

from __future__ import annotations

import dataclasses

from fullcount.dsl import tree
from fullcount.dsl.source import Span


def same_meaning(one: object, other: object) -> bool:
    """Whether two trees, or parts of them, differ in nothing but places. Comments are not compared."""
    stack = [(one, other)]
    while stack:
        left, right = stack.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, Span):
            continue
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            stack.extend(zip(left, right, strict=True))
        elif dataclasses.is_dataclass(left):
            names = [part.name for part in dataclasses.fields(left) if part.name != "comments"]
            stack.extend((getattr(left, name), getattr(right, name)) for name in names)
        elif left != right:
            return False
    return True


def same_comments(one: tree.File, other: tree.File) -> bool:
    """Whether two files have the same comments in the same order, but for white space at their ends."""
    return [each.text.rstrip() for each in one.comments] == [each.text.rstrip() for each in other.comments]
