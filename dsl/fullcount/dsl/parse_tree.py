"""What a text is parsed into: tokens, and trees of them as the rules of the grammar join them.

Every token is kept, in order, so that the formatter and the editor find what stands where. `tree.py` is what was meant.
"""

from __future__ import annotations

from typing import Self


class Token(str):
    """A word, sign or literal as written: its terminal, and the offsets `[start_pos, end_pos)` in code points."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int

    def __new__(cls, type_: str, text: str, start_pos: int) -> Self:
        """Make the token of a text that begins at an offset."""
        token = str.__new__(cls, text)
        token.type = type_
        token.start_pos = start_pos
        token.end_pos = start_pos + len(text)
        return token


class Tree:
    """A rule that was matched, called `data`. Without any token below it, both of its offsets are -1."""

    __slots__ = ("children", "data", "end_pos", "start_pos")

    def __init__(self, data: str, children: list[Tree | Token], start_pos: int, end_pos: int) -> None:
        self.data = data
        self.children = children
        self.start_pos = start_pos
        self.end_pos = end_pos
