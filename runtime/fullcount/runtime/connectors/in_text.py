"""Columns of a page that were not made: they stand in the text of the reply, where they can be read without the lock.

Guarantees: whoever asks for such a column gets what the connector would have made of it, value for value. Only a column
whose name every object has is left in the text, so that null there means null, and no state is left out. What a
connector concludes of a page rests on the decoded reply, never on this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final

import msgspec

from fullcount.compiler.types import Kind, Scalar, Type

KINDS: Final = frozenset({Kind.TEXT, Kind.INT, Kind.SIZE, Kind.BOOL, Kind.TIMESTAMP, Kind.DATE})
"""Kinds whose values JSON has as they are, or as text."""
DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)
"""Reads JSON as exactly as it is written: a number with a point or an exponent is the `Decimal` that stands there."""


def may_stay(type_: Type) -> bool:
    """Whether a column of this type may be left in the text."""
    return isinstance(type_, Scalar) and type_.kind in KINDS


class PageColumns(Mapping[str, Sequence[Any]]):
    """The columns of a page: those that were made, and those in `text`.

    `text` is JSON that `DECODER` takes and in which no object has a name twice. `place`: the names that lead to its
    list of objects; `names`: the name that each field's value has in every one of them.
    """

    def __init__(
        self, made: Mapping[str, Sequence[Any]], text: str, place: tuple[str, ...], names: Mapping[str, str]
    ) -> None:
        self.made, self.text, self.place, self.names = made, text, place, names
        self._objects: Sequence[Mapping[str, Any]] | None = None
        self._read: dict[str, Sequence[Any]] = {}

    def __getitem__(self, field: str) -> Sequence[Any]:
        if field in self.made:
            return self.made[field]
        if field not in self._read:
            self._read[field] = list(map(itemgetter(self.names[field]), self._decoded()))
        return self._read[field]

    def __iter__(self) -> Iterator[str]:
        yield from self.made
        yield from self.names

    def __len__(self) -> int:
        return len(self.made) + len(self.names)

    def __contains__(self, field: object) -> bool:
        return field in self.made or field in self.names

    def without(self, fields: Mapping[str, Any]) -> PageColumns:
        """Return the columns without some of them."""
        made = {field: column for field, column in self.made.items() if field not in fields}
        names = {field: name for field, name in self.names.items() if field not in fields}
        return PageColumns(made, self.text, self.place, names)

    def _decoded(self) -> Sequence[Mapping[str, Any]]:
        if self._objects is None:
            found = DECODER.decode(self.text)
            for name in self.place:
                found = found[name]
            self._objects = found
        return self._objects
