"""`file "known.csv" column "account"`: lists that stand in files of the workspace beside the rules.

The text comes in through the loader that brings imported files, and is one of the files that a workflow is made of:
who wrote it counts as an author, and its values are part of the program, so that a plan is bound to them. A list that
is missing, can't be read or has a faulty line is an error; an empty one as well, unless the rule says that it may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from fullcount.compiler import ir
from fullcount.compiler.environment import Env, Place
from fullcount.compiler.imports import Files, Loader, NotLoaded, place_problem
from fullcount.compiler.report import error
from fullcount.compiler.types import INT, TEXT, ListOf, Type
from fullcount.compiler.values import INT_MAX, INT_MIN
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Source

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker

MAX_VALUES: Final = 10_000
"""How many values a list file may have: what is larger is an inventory of its own."""
KINDS: Final = (".csv", ".json", ".txt")
_INT: Final = r"-?(?:0|[1-9][0-9]*)"


def gather_lists(files: Files, loader: Loader, sink: Diagnostics) -> Mapping[tuple[str, str], Source]:
    """Load every list file that the files of a compilation name, and report what can't be.

    Each becomes one of the sources of the compilation.
    """
    found: dict[tuple[str, str], Source] = {}
    for file, source in files.pairs():
        for node in _named(file):
            if (source.name, node.path) in found:
                continue
            loaded = _load(node, source, loader, sink)
            if loaded is not None:
                found[source.name, node.path] = loaded
    for loaded in found.values():
        files.sources.setdefault(loaded.name, loaded)
    return found


def _named(part: Any) -> Iterator[tree.ListFile]:
    """Yield the list files that stand anywhere in a part of a tree, in order."""
    if isinstance(part, tree.ListFile):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _named(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _named(getattr(part, field.name))


def _load(node: tree.ListFile, source: Source, loader: Loader, sink: Diagnostics) -> Source | None:
    problem = place_problem(node.path, KINDS)
    if problem:
        error(
            sink,
            "FC161",
            f"`{node.path}` can't be a list: {problem}",
            node.path_span,
            help='write the path from this file to a `.csv`, `.json` or `.txt` file of the workspace, as `"known.csv"`',
        )
        return None
    loaded = loader(source.name, node.path)
    match loaded:
        case Source():
            return loaded
        case NotLoaded.OUTSIDE:
            error(
                sink,
                "FC161",
                f"`{node.path}` can't be a list: it is outside of the workspace",
                node.path_span,
                why="what a clean-up means must not depend on files that its reviewers do not see",
                help="move the file into the workspace",
            )
        case NotLoaded.UNREADABLE:
            error(
                sink,
                "FC160",
                f"`{node.path}` can't be read as text",
                node.path_span,
                why="a list that can't be read is not an empty list",
                help="check that it is a file, saved as UTF-8, which this user may read",
            )
        case _:
            error(
                sink,
                "FC160",
                f"there is no file `{node.path}`",
                node.path_span,
                note="looked for beside this file",
                why="a list that is missing is not an empty list",
                help="correct the path: it starts at the folder of the file that names it",
            )
    return None


class _FaultyList(Exception):  # noqa: N818 - what is wrong with the text, to be reported at the place of use
    """What is wrong, and what to do."""

    def __init__(self, what: str, way: str) -> None:
        super().__init__(what)
        self.what, self.way = what, way


def list_from_file(checker: Checker, node: tree.ListFile, item: Type, env: Env) -> ir.ListConst | None:
    """Return the values of a list file, sorted, each once; `item` is the type that they are looked at as."""
    import hashlib  # as slow as a small module, and seldom needed

    sink = checker.context.sink
    if env.place is Place.PROTECT:
        error(
            sink,
            "FC161",
            "a protection can't look into a list file",
            node.span,
            why="a protection holds for every workflow and is read again before each act: it says itself what it keeps",
            help="name the values in `[ … ]`, or keep these objects by an exemption list",
        )
        return None
    loaded = checker.context.lists.get((node.span.source, node.path))
    if loaded is None:
        return None  # reported where it was looked for
    if item not in (TEXT, INT):
        error(
            sink,
            "FC201",
            f"a `{item}` is never in a list from a file: it holds `text` or `int`",
            node.span,
            help=f"write the values here, as `[ … ]` of `{item}`",
        )
        return None
    try:
        values = _values(node, loaded.text, item)
    except _FaultyList as fault:
        error(
            sink,
            "FC163",
            f"`{node.path}` is not a list that can be used: {fault.what}",
            node.path_span,
            why="a value that is read wrongly selects or keeps the wrong object",
            help=fault.way,
        )
        return None
    if len(values) == 0 and not node.may_be_empty:
        error(
            sink,
            "FC162",
            f"`{node.path}` has no value",
            node.path_span,
            why="a list that was emptied by mistake looks the same as one that is meant to be empty",
            help="fill it, or say that it may be empty:  file … may be empty",
        )
        return None
    digest = f"sha256:{hashlib.sha256(loaded.text.encode()).hexdigest()}"
    listed = ir.ListFile(node.path, node.column, digest)
    return ir.ListConst(tuple(ir.Const(value, item) for value in values), ListOf(item), node.span, listed)


def _values(node: tree.ListFile, text: str, item: Type) -> list[str] | list[int]:
    """Return the values of a list, sorted. Raises `_FaultyList`."""
    reader = {".csv": _csv, ".json": _json, ".txt": _lines}[node.path[node.path.rindex(".") :]]
    found: set[Any] = set()
    for place, value in reader(text.removeprefix("\ufeff"), node.column):
        found.add(_typed(value, item, place))
        if len(found) > MAX_VALUES:
            what = f"it has more than {MAX_VALUES:,} values"
            raise _FaultyList(what, "read it as an inventory, and look into that: `a.id in known.id`")
    return sorted(found)


def _typed(value: object, item: Type, place: str) -> str | int:
    if item == INT:
        number = value if type(value) is int else None
        if isinstance(value, str) and re.fullmatch(_INT, value):
            number = int(value)
        if number is not None and INT_MIN <= number <= INT_MAX:
            return number
        raise _FaultyList(f"{place} is not a whole number", "correct it, or look for a `text`")
    if type(value) is not str:
        raise _FaultyList(f"{place} is not a text", 'write it in quotes: `["4711"]`')
    return value


def _csv(text: str, column: str | None) -> Iterator[tuple[str, object]]:
    import csv
    import io

    if column is None:
        raise _FaultyList("which column holds the values is not said", 'name it:  file … column "account"')
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        if header.count(column) != 1:
            often = "no column" if column not in header else "more than one column"
            raise _FaultyList(f"it has {often} `{column}`", f"its columns are {', '.join(f'`{n}`' for n in header)}")
        at = header.index(column)
        for row in reader:
            if len(row) == 0:
                continue
            if len(row) != len(header):
                cells = f"{len(row)} cells under {len(header)} columns"
                raise _FaultyList(f"line {reader.line_num} has {cells}", "correct the line")
            if row[at].strip() == "":
                raise _FaultyList(f"line {reader.line_num} has no `{column}`", "fill the cell, or remove the line")
            yield f"`{column}` in line {reader.line_num}", row[at].strip()
    except csv.Error as fault:
        raise _FaultyList(f"line {reader.line_num}: {fault}", "save it as CSV with commas and a header line") from None


def _json(text: str, column: str | None) -> Iterator[tuple[str, object]]:
    import json

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise _FaultyList(f"it is not JSON: {fault}", "save it as JSON: one array") from None
    if not isinstance(document, list):
        raise _FaultyList("it is not one array", 'write `["a", "b"]`, or an array of objects and `column`')
    for number, entry in enumerate(document, start=1):
        if column is None:
            yield f"entry {number}", entry
        elif isinstance(entry, dict) and column in entry:
            yield f"`{column}` of entry {number}", entry[column]
        else:
            raise _FaultyList(f"entry {number} has no `{column}`", "every entry is an object that has it")


def _lines(text: str, column: str | None) -> Iterator[tuple[str, object]]:
    if column is not None:
        raise _FaultyList("a text file has no columns", "leave `column` out: it has one value on each line")
    for number, line in enumerate(text.splitlines(), start=1):
        value = line.strip()
        if value != "" and not value.startswith("#"):
            yield f"line {number}", value
