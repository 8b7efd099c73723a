"""The operations of a document: what is sent, and what may come back. Reads the document's frame, judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fullcount.runtime.audit import words
from fullcount.runtime.audit.documents import Json
from fullcount.runtime.audit.schemas import Raw, Reader, Shape, mapping, sequence, text

METHODS: Final = ("get", "query", "post", "put", "patch", "delete", "head", "options", "trace")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a caller may send: a parameter, or a property of the body at the top."""

    name: str
    place: str
    """`query`, `header`, `body`, …"""
    shape: Shape

    @property
    def plain(self) -> str:
        """Return the name as families of names are compared."""
        return words.plain_name(self.name)


@dataclass(frozen=True, slots=True)
class Content:
    """One form of a reply: its media type, and its schema; `each` says that the schema is of one member of a stream."""

    media: str
    schema: Json
    each: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What may come back under one status."""

    status: str
    contents: tuple[Content, ...]
    headers: Raw
    unread: str = ""

    @property
    def good(self) -> bool:
        """Whether it is the answer to what was asked."""
        return self.status[:1] == "2"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the document."""

    method: str
    path: str
    name: str
    prose: str
    parameters: tuple[Parameter, ...]
    replies: tuple[Reply, ...]

    @property
    def last_step(self) -> str:
        """Return the last step of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def of_one(self) -> bool:
        """Whether the path names one object."""
        return self.last_step.startswith("{") and "=" not in self.last_step

    @property
    def words(self) -> frozenset[str]:
        """Return what the operation is called: by its name and the last step of its path."""
        return words.words_of(self.name) | words.words_of(self.last_step.replace("{", " {").partition("{")[0])

    def sent(self, family: frozenset[str]) -> tuple[Parameter, ...]:
        """Return the parameters of a family of names."""
        return tuple(each for each in self.parameters if each.plain in family and each.place != "path")


def frames(document: Raw, reader: Reader) -> Iterator[tuple[str, str, Raw, Raw]]:
    """Go through the operations as they stand: method, path, the operation and what it shares with its neighbours."""
    for path, item in mapping(document.get("paths")).items():
        if not path.startswith("/"):
            continue
        shared = reader.object(item)
        further = mapping(shared.get("additionalOperations"))
        for method in (*METHODS, *further):
            own = further[method] if method in further else shared.get(method)
            if isinstance(own, dict):
                yield method.upper(), path, own, shared


def operation(method: str, path: str, own: Raw, shared: Raw, reader: Reader, document: Raw) -> Operation:
    """Return one operation, read."""
    old = "swagger" in document
    parameters = [*_parameters(shared.get("parameters"), reader), *_parameters(own.get("parameters"), reader)]
    parameters += _body(own.get("requestBody"), reader)
    produces = sequence(own.get("produces", document.get("produces")))
    media = [each for each in produces if isinstance(each, str)] or ["application/json"]
    replies = tuple(
        _reply(status, reply, reader, media if old else None)
        for status, reply in mapping(own.get("responses")).items()
        if not status.startswith("x-")
    )
    prose = " ".join(filter(None, (text(own.get("summary")), text(own.get("description")))))
    distinct = {(each.place, each.name): each for each in parameters}
    return Operation(method, path, text(own.get("operationId")), prose, tuple(distinct.values()), replies)


def _parameters(found: Json | None, reader: Reader) -> list[Parameter]:
    parameters: list[Parameter] = []
    for each in sequence(found):
        one = reader.object(each)
        if one.get("in") == "body":
            parameters += _properties(one.get("schema"), reader)
        elif isinstance(one.get("name"), str):
            # Before version 3 a parameter says itself what a schema says later.
            schema: Json = one["schema"] if "schema" in one else dict(one)
            said = reader.shape(schema if isinstance(schema, dict) else True)
            parameters.append(Parameter(text(one["name"]), text(one.get("in")), said))
    return parameters


def _body(found: Json | None, reader: Reader) -> list[Parameter]:
    for media, content in mapping(reader.object(found).get("content")).items():
        if words.JSON_TYPE.fullmatch(media) or media.startswith("application/x-www-form-urlencoded"):
            schema = mapping(content).get("schema")
            return _properties(schema, reader) if schema is not None else []
    return []


def _properties(schema: Json | None, reader: Reader) -> list[Parameter]:
    properties = reader.shape(schema).properties
    return [Parameter(name, "body", reader.shape(each.schema)) for name, each in list(properties.items())[:200]]


def _reply(status: str, reply: Json, reader: Reader, produces: list[str] | None) -> Reply:
    found, wrong = reader.target(reply)
    one = mapping(found)
    headers = {name.lower(): reader.object(each) for name, each in mapping(one.get("headers")).items()}
    if produces is None:
        contents = tuple(
            Content(media, content.get("itemSchema", content.get("schema")), "itemSchema" in content)
            for media, content in ((media, reader.object(each)) for media, each in mapping(one.get("content")).items())
        )
    else:
        contents = tuple(Content(media, one["schema"]) for media in produces) if "schema" in one else ()
    return Reply(status, contents, {name: dict(header) for name, header in headers.items()}, wrong)
