"""A text with its possible line breaks, and the printer that chooses among them.

The printer works from left to right: a group goes on one line if it fits into the width and nothing in it forces a
break, and else each of its own lines breaks. It never drops a text or a comment, never writes after a comment on the
same line, and never leaves white space at the end of a line or two empty lines in a row.
"""

from __future__ import annotations

from typing import Final

from fullcount.dsl.dataclass import dataclass, field

WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A place where a broken group starts a new line, and a flat one writes `flat`."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class Break:
    """Always a new line; it also breaks the groups around it."""


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line before what follows, unless nothing precedes it in its block."""


@dataclass(frozen=True, slots=True)
class Note:
    """A comment: at the end of the line, or on a line of its own. What follows starts a new line."""

    text: str
    own: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """Lines that break inside start `by` columns further in; with None at the column where the body starts."""

    by: int | None
    body: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """What goes on one line together or not at all. `broken` if something inside forces a break."""

    body: Doc
    broken: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One text in a flat group, another in a broken one."""

    flat: str
    broken: str


Doc = str | Line | Break | Blank | Note | Nest | Group | Choice | tuple["Doc", ...]


def group(*body: Doc) -> Group:
    """Return a group, knowing whether something in it forces it to break."""
    return Group(body, _forces(body)[0])


def _forces(doc: Doc) -> tuple[bool, bool]:
    """Return whether a document forces a break inside of itself, and whether it ends in a comment."""
    match doc:
        case tuple():
            forced = after_note = False
            for part in doc:
                inside, ends = _forces(part)
                forced = forced or inside or (after_note and not _is_empty(part))
                after_note = ends or (after_note and _is_empty(part))
            return forced, after_note
        case Break() | Blank():
            return True, False
        case Note(own=own):
            return own, True
        case Nest(body=body):
            return _forces(body)
        case Group(body=body, broken=broken):
            return broken, _ends_in_note(body)
        case _:
            return False, False


def _ends_in_note(doc: Doc) -> bool:
    while isinstance(doc, tuple | Nest | Group):
        if isinstance(doc, tuple):
            filled = [part for part in doc if not _is_empty(part)]
            if not filled:
                return False
            doc = filled[-1]
        else:
            doc = doc.body
    return isinstance(doc, Note)


def _is_empty(doc: Doc) -> bool:
    return doc in ("", ())


# ---------------------------------------------------------------------------------------------- printing


@dataclass(slots=True)
class Row:
    """One printed line: where it starts, its text, and the comment at its end."""

    indent: int
    code: str = ""
    note: str | None = None
    closed: bool = False  # nothing may be written after this


@dataclass(slots=True)
class _Page:
    rows: list[Row] = field(default_factory=list)
    current: Row = field(default_factory=lambda: Row(0))
    empty_next: bool = False

    def column(self, indent: int) -> int:
        row = self.current
        return indent if row.closed or not row.code else row.indent + len(row.code)

    def write(self, text: str, indent: int) -> None:
        if self.current.closed:
            self.turn(indent)
        if not self.current.code:
            self.current.indent = indent
            text = text.lstrip(" ")
        self.current.code += text

    def comment(self, note: Note, indent: int) -> None:
        if note.own or self.current.closed or not self.current.code:
            self.turn(indent)
            self.current.indent, self.current.code = indent, note.text
        else:
            self.current.note = note.text
        self.current.closed = True

    def turn(self, indent: int) -> None:
        """Start a new line, if the current one has anything on it."""
        row = self.current
        row.code = row.code.rstrip(" ")
        if row.code:
            if self.empty_next and self.rows:
                self.rows.append(Row(0))
            self.empty_next = False
            self.rows.append(row)
        self.current = Row(indent)


def lay_out(doc: Doc) -> list[Row]:
    """Return the lines of a document within `WIDTH`, as far as its breaks allow."""
    page = _Page()
    stack: list[tuple[int, bool, Doc]] = [(0, False, doc)]  # indentation, flat, what
    while stack:
        indent, flat, item = stack.pop()
        match item:
            case str():
                if item:
                    page.write(item, indent)
            case tuple():
                stack.extend((indent, flat, part) for part in reversed(item))
            case Nest(by=by, body=body):
                stack.append((page.column(indent) if by is None else indent + by, flat, body))
            case Group(body=body, broken=broken):
                fits = not broken and _fits(body, stack, WIDTH - page.column(indent))
                stack.append((indent, fits, body))
            case Line(flat=text) if flat and not page.current.closed:
                page.write(text, indent)
            case Line() | Break():
                page.turn(indent)
            case Blank():
                page.turn(indent)
                page.empty_next = True
            case Choice():
                page.write(item.flat if flat else item.broken, indent)
            case Note():
                page.comment(item, indent)
    page.turn(0)
    return page.rows


def _fits(body: Doc, rest: list[tuple[int, bool, Doc]], room: int) -> bool:
    """Whether a flat body and what follows it up to the next possible break fit into `room` columns."""
    stack: list[tuple[bool, Doc]] = [(True, body)]
    following = len(rest)
    while room >= 0:
        if not stack:
            if following == 0:
                return True
            following -= 1
            _, flat, item = rest[following]
        else:
            flat, item = stack.pop()
        match item:
            case str():
                room -= len(item)
            case tuple():
                stack.extend((flat, part) for part in reversed(item))
            case Nest(body=inner):
                stack.append((flat, inner))
            case Group(body=inner, broken=broken):
                stack.append((flat and not broken, inner))
            case Line(flat=text) if flat:
                room -= len(text)
            case Choice():
                room -= len(item.flat if flat else item.broken)
            case Line() | Break() | Blank() | Note():
                return True
    return False
