"""Comments at the ends of lines, put into a column.

Lines that start in the same column and belong together (no empty line and no line further out between them) have their
comments in one column, right of the longest of them. A very long line neither moves the column nor is moved into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fullcount.dsl.fmt.document import Row

#: A line that ends further right than this keeps its comment right behind it.
FARTHEST: Final = 60


def text_of(rows: Sequence[Row]) -> str:
    """Return the text of printed lines, with the comments at their ends in columns."""
    columns = _columns(rows)
    return "".join(f"{_line(row, columns.get(index))}\n" for index, row in enumerate(rows))


def _line(row: Row, column: int | None) -> str:
    code = " " * row.indent + row.code if row.code else ""
    if row.note is None:
        return code
    return f"{code} {row.note}" if column is None else f"{code:<{column}} {row.note}"


def _columns(rows: Sequence[Row]) -> dict[int, int]:
    """Return for each line with a comment to be moved where the longest of its neighbours ends."""
    found: dict[int, int] = {}
    together: dict[int, list[int]] = {}  # by indentation, the lines of the group that is still open
    for index, row in enumerate(rows):
        if not row.code:
            together = {}
            continue
        together = {indent: lines for indent, lines in together.items() if indent <= row.indent}
        if row.indent + len(row.code) > FARTHEST or (row.closed and row.note is None):
            continue
        lines = together.setdefault(row.indent, [])
        lines.append(index)
        column = max(rows[each].indent + len(rows[each].code) for each in lines)
        found.update((each, column) for each in lines if rows[each].note is not None)
    return found
