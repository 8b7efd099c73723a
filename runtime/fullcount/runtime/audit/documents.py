"""Bytes to a plain tree of JSON values, whatever the bytes are: JSON or YAML that can be trusted to mean one thing.

Guarantees: a tree without cycles, at most `DEPTH` deep, with text keys, finite numbers and no key twice; anything else
is an `AuditError` that says what and where. Never recursive, so that nesting can't end the program, and an alias counts
as often as it is used, so that a small file can't stand for a huge one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.text import escaped

SIZE: Final = 64 * 1024 * 1024
"""Bytes of a document; the largest public ones have a quarter of it."""
DEPTH: Final = 200
NODES: Final = 3_000_000

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class AuditError(FullcountError):
    """The document can't be read, or is none that can be audited."""


def broken(what: str, *, help: str = "") -> AuditError:  # noqa: A002
    """Return the error for bytes that are no document."""
    return AuditError("FC676", what, help=help or "give an OpenAPI document in JSON or YAML, UTF-8")


def read_document(data: bytes, name: str) -> Json:
    """Return what the bytes say. Raises `AuditError`."""
    if len(data) > SIZE:
        raise broken(f"`{name}` has {len(data):,} bytes, more than the {SIZE:,} that are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise broken(f"`{name}` is not UTF-8 text, from byte {error.start} on") from error
    if "\0" in text:
        raise broken(f"`{name}` holds a zero byte and is no text")
    if text.strip() == "":
        raise broken(f"`{name}` is empty")
    suffix = name.lower().rpartition(".")[2]
    if suffix == "json" or (text.lstrip()[0] in "{[" and suffix not in {"yaml", "yml"}):
        return _json(text, name)
    from fullcount.runtime.audit.yaml_text import read_yaml

    return read_yaml(text, name)


def _json(text: str, name: str) -> Json:
    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        whole = dict(found)
        if len(whole) != len(found):
            keys = [key for key, _ in found]
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise broken(f"`{name}` has the key `{escaped(twice, 60)}` twice in one object; readers keep one of them")
        return whole

    def constant(word: str) -> Json:
        raise broken(f"`{name}` holds `{word}`, which is no number of JSON")

    try:
        tree: Json = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=_float(name))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise broken(f"`{name}` is no JSON: {error.msg[:1].lower()}{error.msg[1:]}, {where}") from error
    except RecursionError as error:
        raise too_deep(name) from error
    except ValueError as error:
        raise broken(f"`{name}` holds a number that is too long to read") from error
    _check_depth(tree, name)
    return tree


def _float(name: str) -> Callable[[str], float]:
    def read(digits: str) -> float:
        return finite(digits, name)

    return read


def finite(digits: str, name: str) -> float:
    """Return the number. Raises `AuditError` for one that is none, or infinite."""
    number = float(digits)
    if number - number != 0:
        raise broken(f"`{name}` holds `{digits[:40]}`, which is no finite number")
    return number


def too_deep(name: str) -> AuditError:
    """Return the error for nesting that no description of an API has."""
    return broken(f"`{name}` is nested more than {DEPTH} deep")


def _check_depth(tree: Json, name: str) -> None:
    level: list[Json] = [tree]
    for _ in range(DEPTH + 1):
        level = [child for node in level for child in _children(node)]
        if len(level) == 0:
            return
    raise too_deep(name)


def _children(node: Json) -> list[Json]:
    if isinstance(node, dict):
        return [each for each in node.values() if isinstance(each, (dict, list))]
    return [each for each in node if isinstance(each, (dict, list))] if isinstance(node, list) else []


VERSION: Final = re.compile(r"3\.\d{1,3}(\.\d{1,5})?(-[0-9A-Za-z.-]{1,40})?")


def version_of(tree: Json, name: str) -> str:
    """Return the version of OpenAPI or Swagger that a document says it is in. Raises `AuditError`."""
    if not isinstance(tree, dict):
        raise not_openapi(f"`{name}` holds {_named(tree)} where an OpenAPI document has an object")
    said = tree.get("openapi", tree.get("swagger"))
    if said is None:
        raise not_openapi(f"`{name}` has neither `openapi` nor `swagger`, so it is no OpenAPI document")
    # A version without quotes is a number in YAML; `3.10` would be `3.1` then, but there is no such version.
    word = said if isinstance(said, str) else str(said) if isinstance(said, float) else ""
    if "openapi" in tree and VERSION.fullmatch(word):
        return word
    if "openapi" not in tree and word == "2.0":
        return word
    raise not_openapi(f"`{name}` says it is in version `{escaped(str(said), 40)}`; 3.x and Swagger 2.0 are read")


def not_openapi(what: str) -> AuditError:
    """Return the error for a document that is none of OpenAPI."""
    return AuditError("FC677", what, help="give the OpenAPI document of the API, with `openapi: 3.x` at its top")


def _named(value: Json) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")
