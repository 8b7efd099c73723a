"""Field types as configurations write them: `text`, `timestamp?`, `map<int>?`, `list<record { port: int }>`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from fullcount.compiler.types import SCALARS, FieldType, Kind, ListOf, MapOf, RecordOf, Scalar, Type, record_of
from fullcount.runtime.workspace.errors import SettingError, did_you_mean

_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[<>{}:,?])")
_DEEPEST = 20


def parse_field_type(text: Any) -> FieldType:
    """Return the type that `text` names. Raises `SettingError`."""
    if isinstance(text, FieldType):
        return text
    reader = _Reader(text if isinstance(text, str) else "")
    found = reader.field_type(0)
    if reader.words:
        raise _no_type()
    return found


def _no_type() -> SettingError:
    msg = "expected a field type"
    return SettingError(
        msg, help='as `"text"`, `"timestamp?"`, `"list<text>"`, `"map<text>"` or `"record { a: text }"`'
    )


class _Reader:
    """Reads the words of a type from left to right."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        at, text = 0, text.rstrip()
        while at < len(text):
            word = _WORD.match(text, at)
            if word is None:
                raise _no_type()
            self.words.append(word[1])
            at = word.end()

    def field_type(self, depth: int) -> FieldType:
        """Read a type and whether it may be absent."""
        whole = self._whole(depth)
        return FieldType(whole, self._take_if("?"))

    def _whole(self, depth: int) -> Type:
        if not self.words or depth > _DEEPEST:
            raise _no_type()
        name = self.words.pop(0)
        match name:
            case "list" | "map":
                self._take("<")
                item = self._whole(depth + 1)
                self._take(">")
                if not isinstance(item, Scalar) and not (name == "list" and isinstance(item, RecordOf)):
                    msg = f"a {name} can't hold `{item}`"
                    raise SettingError(msg, help=f"as `{name}<text>`" + (", or records" if name == "list" else ""))
                return ListOf(item) if name == "list" else MapOf(item)
            case "record":
                return self._record(depth)
            case _ if name in SCALARS:
                return SCALARS[name]
            case _ if name.isidentifier():
                msg = f"there is no type `{name}`"
                raise SettingError(msg, help=did_you_mean(name, SCALARS))
            case _:
                raise _no_type()

    def _record(self, depth: int) -> RecordOf:
        self._take("{")
        parts: dict[str, FieldType] = {}
        while not self._take_if("}"):
            if not self.words or not self.words[0].isidentifier():
                raise _no_type()
            name = self.words.pop(0)
            if name.lower() in map(str.lower, parts):
                msg = f"a record has two parts `{name}`"
                raise SettingError(msg, help="capitals make no difference here; keep one of them")
            self._take(":")
            parts[name] = self.field_type(depth + 1)
            if not self._take_if(",") and self.words[:1] != ["}"]:
                raise _no_type()
        if len(parts) == 0:
            msg = "a record needs a part"
            raise SettingError(msg, help="as `record { a: text }`")
        return record_of(parts)

    def _take(self, word: str) -> None:
        if not self._take_if(word):
            raise _no_type()

    def _take_if(self, word: str) -> bool:
        if self.words[:1] != [word]:
            return False
        self.words.pop(0)
        return True


_IDENTIFYING = frozenset({Kind.TEXT, Kind.INT, Kind.BOOL, Kind.DATE, Kind.TIMESTAMP, Kind.DECIMAL})


def can_identify(field: FieldType) -> bool:
    """Whether a value of this type can tell one object from another."""
    return isinstance(field.type, Scalar) and field.type.kind in _IDENTIFYING


FieldTypeSetting = Annotated[Any, BeforeValidator(parse_field_type)]
"""A `FieldType` in a configuration model."""
