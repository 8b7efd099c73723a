"""Another name for one thing, everywhere it is meant, or the reason why not.

Whether the new name would be taken for something else, or something else for it, is not reasoned about but tried: the
changed texts are read again, and every name must mean what it meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fullcount.compiler.editor.symbols import Kind, Occurrence, Symbol
from fullcount.compiler.editor.view import View, view_of
from fullcount.compiler.imports import Loader, NotLoaded
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Edit
from fullcount.dsl.keywords import RESERVED
from fullcount.dsl.source import Source

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHARED: Final = frozenset({Kind.RECORD, Kind.DEFINITION})
_ELSEWHERE: Final = {
    Kind.FIELD: "a field is called what its source calls it",
    Kind.SOURCE: "sources, resources and operations are named in fullcount.toml",
    Kind.FILE: "a file is renamed where files are, and then in its imports",
}
_BINDINGS: Final = frozenset({Kind.PARAM, Kind.ROW, Kind.ITEM, Kind.ARGUMENT, Kind.DEFINITION})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no such renaming, for people."""

    why: str


def renameable(view: View, offset: int) -> Occurrence | Refusal:
    """Return the name at an offset, if it can have another."""
    found = view.at(offset)
    if found is None:
        return Refusal("there is no name here")
    if found.symbol.kind in _ELSEWHERE:
        return Refusal(_ELSEWHERE[found.symbol.kind])
    return found


def rename(views: Mapping[str, View], loader: Loader, at: str, offset: int, new: str) -> tuple[Edit, ...] | Refusal:
    """Return the edits that give what stands at an offset of the text `at` another name, in all texts.

    `views` are all texts of the workspace by their names; `loader` gives what they import.
    """
    found = renameable(views[at], offset)
    if isinstance(found, Refusal):
        return found
    symbol = found.symbol
    if _NAME.fullmatch(new) is None:
        return Refusal(f"`{new}` is not a name: letters, digits and `_`, not starting with a digit")
    if symbol.kind in _BINDINGS and new in RESERVED:
        return Refusal(f"`{new}` is a word of the language where a value is read")
    touched = _touched(views, symbol, at)
    broken = next((view.source.name for view in touched if not view.whole), None)
    if broken is not None:
        return Refusal(f"`{broken}` has mistakes, so not every place that means `{symbol.name}` can be found in it")
    edits = tuple(Edit(each.span, new) for view in touched for each in view.of(symbol))
    captured = _captured(touched, loader, symbol, new, edits)
    return edits if captured is None else captured


def _touched(views: Mapping[str, View], symbol: Symbol, at: str) -> list[View]:
    """Return the texts that could mean a symbol: all of them for one that is shared, else the one it stands in."""
    if symbol.kind not in _SHARED:
        return [views[at]]
    named = re.compile(rf"\b{symbol.name}\b")
    return [
        view
        for view in views.values()
        if view.of(symbol) or (not view.whole and named.search(view.source.text) is not None)
    ]


def _captured(
    touched: Sequence[View], loader: Loader, symbol: Symbol, new: str, edits: Sequence[Edit]
) -> Refusal | None:
    """Return which name would mean something else afterwards, if one would."""
    changed = {view.source.name: _edited(view.source, edits) for view in touched}

    def load(importing: str, path: str) -> Source | NotLoaded:
        loaded = loader(importing, path)
        return changed.get(loaded.name, loaded) if isinstance(loaded, Source) else loaded

    for view in touched:
        after = view_of(changed[view.source.name], load)
        before = [_meaning(each, symbol, new, edits) for each in view.names]
        now = [(each.span.start, each.symbol.kind, each.symbol.name, _at(each.symbol)) for each in after.names]
        if not after.whole or sorted(before, key=str) != sorted(now, key=str):
            return Refusal(f"`{new}` would be taken for something else in `{view.source.name}`; choose another name")
    return None


Meaning = tuple[int, Kind, str, tuple[str, int] | None]


def _meaning(each: Occurrence, symbol: Symbol, new: str, edits: Sequence[Edit]) -> Meaning:
    """Return where a name will stand, and what it must mean there."""
    name = new if each.symbol == symbol else each.symbol.name
    place = _at(each.symbol)
    moved = None if place is None else (place[0], _moved(place[0], place[1], edits))
    return _moved(each.span.source, each.span.start, edits), each.symbol.kind, name, moved


def _at(symbol: Symbol) -> tuple[str, int] | None:
    return None if symbol.place is None else (symbol.place.source, symbol.place.start)


def _moved(source: str, offset: int, edits: Iterable[Edit]) -> int:
    return offset + sum(
        len(edit.replacement) - (edit.span.end - edit.span.start)
        for edit in edits
        if edit.span.source == source and edit.span.start < offset
    )


def _edited(source: Source, edits: Iterable[Edit]) -> Source:
    text = source.text
    for edit in sorted((each for each in edits if each.span.source == source.name), key=lambda e: e.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return Source(source.name, text)
