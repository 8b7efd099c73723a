"""YAML 1.2 to plain values, out of the events of a parser: without tags, without cycles, without a bomb of aliases.

Keys are the text that stands there (`200`, `on`); plain values are read by the core schema of YAML 1.2, which is the
one that OpenAPI asks for (`no` is a text).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fullcount.runtime.audit.documents import DEPTH, NODES, AuditError, Json, broken, finite, too_deep
from fullcount.runtime.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INT: Final = re.compile(r"[-+]?[0-9]{1,4000}|0o[0-7]{1,4000}|0x[0-9a-fA-F]{1,4000}", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
_TAGS: Final = {f"tag:yaml.org,2002:{kind}": kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}
_MERGE: Final = "<<"


def read_yaml(text: str, name: str) -> Json:
    """Return what the text says. Raises `AuditError`, also when the library for YAML is not installed."""
    try:
        import yaml
    except ImportError as error:
        raise AuditError(
            "FC678",
            f"`{name}` is YAML, and what reads YAML is not installed",
            help="pip install 'fullcount[openapi]', or give the document in JSON",
        ) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Tree(name).built(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise broken(f"`{name}` is no YAML: {escaped(str(error.problem or error.context), 200)}{where}") from error
    except yaml.YAMLError as error:
        raise broken(f"`{name}` is no YAML: it holds a character that YAML does not allow") from error


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    value: list[Json] | dict[str, Json]
    anchor: str | None
    before: int
    """How many values had been counted before it."""
    line: int
    key: str | None = None
    """The key whose value comes next."""
    depth: int = 1
    merged: list[dict[str, Json]] = field(default_factory=list)


class _Tree:
    """Builds the tree. What it has counted includes what aliases stand for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Json, int, int]] = {}
        """What an anchor names, how many values it stands for, and how deep it is."""
        self._done: list[Json] = []

    def built(self, events: Iterator[Any]) -> Json:
        """Take every event of the parser and return the one document."""
        import yaml

        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                self._alias(str(event.anchor), line)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event, line)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event, line, {} if isinstance(event, yaml.MappingStartEvent) else [])
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end()
        if len(self._done) != 1:
            raise broken(f"`{self._name}` holds {len(self._done)} documents of YAML; one is meant")
        return self._done[0]

    def _spend(self, values: int) -> None:
        self._count += values
        if self._count > NODES:
            much = f"more than {NODES:,} values, aliases counted as often as they are used"
            raise broken(f"`{self._name}` stands for {much}")

    def _refused(self, line: int, what: str) -> AuditError:
        return broken(f"`{self._name}`, line {line}: {what}")

    def _alias(self, anchor: str, line: int) -> None:
        found = self._anchors.get(anchor)
        if found is None:
            raise self._refused(line, f"`*{escaped(anchor, 60)}` stands inside of what it names, or names nothing")
        value, values, depth = found
        self._spend(values)
        if len(self._open) + depth > DEPTH:
            raise too_deep(self._name)
        self._put(value, line, depth)

    def _scalar(self, event: Any, line: int) -> None:
        self._spend(1)
        kind = self._tag(event.tag, line)
        text = str(event.value)
        plain = kind is None and bool(event.implicit[0])
        value: Json = text
        if not self._awaits_key() and (plain or kind not in {None, "str"}):
            value = self._resolved(text)
        if event.anchor is not None:
            self._anchors[str(event.anchor)] = (value, 1, 0)
        self._put(value, line, 0)

    def _awaits_key(self) -> bool:
        return len(self._open) > 0 and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _resolved(self, text: str) -> Json:
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _INT.fullmatch(text):
            return int(text, 0 if text[:2] in {"0o", "0x"} else 10)
        if _NOT_FINITE.fullmatch(text):
            raise broken(f"`{self._name}` holds `{text}`, which is no finite number")
        return finite(text, self._name) if _FLOAT.fullmatch(text) else text

    def _tag(self, tag: Any, line: int) -> str | None:
        if tag is None or tag == "!":
            return None if tag is None else "str"
        if tag not in _TAGS:
            raise self._refused(line, f"the tag `{escaped(str(tag), 60)}` is none of plain data")
        return _TAGS[tag]

    def _begin(self, event: Any, line: int, value: list[Json] | dict[str, Json]) -> None:
        self._tag(event.tag, line)
        if self._awaits_key():
            raise self._refused(line, "a key that is no text")
        self._open.append(_Open(value, None if event.anchor is None else str(event.anchor), self._count, line))
        self._spend(1)
        if len(self._open) > DEPTH:
            raise too_deep(self._name)

    def _end(self) -> None:
        ended = self._open.pop()
        if isinstance(ended.value, dict):
            for each in ended.merged:
                for key, value in each.items():
                    ended.value.setdefault(key, value)
        if ended.anchor is not None:
            self._anchors[ended.anchor] = (ended.value, self._count - ended.before, ended.depth)
        self._put(ended.value, ended.line, ended.depth)

    def _put(self, value: Json, line: int, depth: int) -> None:
        if len(self._open) == 0:
            self._done.append(value)
            return
        top = self._open[-1]
        top.depth = max(top.depth, depth + 1)
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            if not isinstance(value, str):
                raise self._refused(line, "a key that is no text")
            if value in top.value:
                raise self._refused(line, f"the key `{escaped(value, 60)}` comes twice in one mapping")
            top.key = value
        elif top.key == _MERGE:
            top.merged += self._mappings(value, line)
            top.key = None
        else:
            top.value[top.key] = value
            top.key = None

    def _mappings(self, value: Json, line: int) -> list[dict[str, Json]]:
        found = value if isinstance(value, list) else [value]
        merged = [each for each in found if isinstance(each, dict)]
        if len(merged) != len(found):
            raise self._refused(line, "`<<` takes in what is no mapping")
        return merged
