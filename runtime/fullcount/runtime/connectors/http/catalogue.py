"""From the name of a dialect to its checked form: the shipped ones, and files of one's own.

Guarantees: an operation is made of the dialect it extends, the dialect's common part and its own, in this order; rules
of the particular stand before those of the general and so are asked first. A dialect that does not fit its form is an
error that names the place; nothing of it is used.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fullcount.runtime.connectors.http.forms import Dialect, Raw
from fullcount.runtime.workspace.errors import SettingError, did_you_mean

_FOLDER = "fullcount.runtime.connectors.http.dialects"
_ENDING = ".toml"
_JOINED = ("error", "finding", "act", "empty_on", "wait")
"""Lists of rules: the particular ones are put before the general ones. Every other key replaces the general one."""
_OF_DIALECT = frozenset(
    {"name", "title", "source", "aliases", "family", "base_url", "headers", "extends", "remaining", "visibility"}
)


_OF_NO_API = frozenset({"http", "generic_http"})
"""Dialects of which no name within another one tells anything."""


class UnknownDialectError(LookupError):
    """No dialect has this name."""


@cache
def shipped() -> Mapping[str, Dialect]:
    """Return every dialect that comes with the connector, by name and by alias: what tests look through."""
    return {known: _built(stem) for known, stem in _index().items()}


def dialect_named(name: str) -> Dialect:
    """Return a shipped dialect; only its file is read. Raises `UnknownDialectError`, which says what is near."""
    if name in _stems():
        return _built(name)
    stem = _index().get(name)
    if stem is None:
        raise UnknownDialectError(f"there is no dialect `{name}`; {did_you_mean(name, _index())}")
    return _built(stem)


def dialect_for(api: str) -> Dialect:
    """Return the dialect of an API: its own, its family's, one named within (`grafana_loki`), or else the plain one."""
    return _built(_stem_for(api) or "generic_http")


def is_known(api: str) -> bool:
    """Whether an API has a dialect, its own or that of its family; `dialect_for` takes the plain one otherwise."""
    return _stem_for(api) is not None


def _stem_for(called: str) -> str | None:
    api = called.lower().replace("-", "_")
    if api in _stems():
        return api
    if api in _index():
        return _index()[api]
    families = [
        (prefix, stem) for stem in _stems() for prefix in _raw(stem).get("family", []) if api.startswith(prefix)
    ]
    if len(families) > 0:
        return max(families, key=lambda pair: len(pair[0]))[1]
    words = api.split("_")
    parts = ("_".join(words[first:last]) for first in range(len(words)) for last in range(first + 1, len(words) + 1))
    named = [part for part in parts if part in _index() and _index()[part] not in _OF_NO_API]
    return _index()[max(named, key=len)] if len(named) > 0 else None


def load_dialect(path: Path) -> Dialect:
    """Return the dialect of a file of one's own. Raises `SettingError`."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"the dialect `{path}` can't be read: {error.strerror}"
        raise SettingError(msg) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"the dialect `{path}` is not TOML: {error}"
        raise SettingError(msg) from None
    return _build(str(path), {"name": path.stem, "title": path.stem, **raw})


@cache
def _stems() -> frozenset[str]:
    names = (entry.name for entry in files(_FOLDER).iterdir())
    return frozenset(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING))


@cache
def _raw(stem: str) -> Raw:
    return {"name": stem, **tomllib.loads((files(_FOLDER) / f"{stem}{_ENDING}").read_text(encoding="utf-8"))}


@cache
def _built(stem: str) -> Dialect:
    return _build(stem, _raw(stem))


@cache
def _index() -> Mapping[str, str]:
    """Return the file of every name and alias. Two dialects with one name are an error."""
    found: dict[str, str] = {}
    for stem in sorted(_stems()):
        for known in (stem, *_raw(stem).get("aliases", [])):
            if known in found:
                msg = f"two dialects are called `{known}`"
                raise SettingError(msg)
            found[known] = stem
    return found


def _build(place: str, own: Raw) -> Dialect:
    chain = _ancestry(place, own)
    common: Raw = {}
    for raw in chain:
        common = _joined(common, {key: value for key, value in raw.items() if key not in _OF_DIALECT | {"operation"}})
    operations: list[Raw] = []
    for raw in reversed(chain):
        operations += [_joined(common, entry) for entry in raw.get("operation", [])]
    operations.append({**common, "name": "any", "when": {}})
    head: Raw = {}
    for raw in chain:
        inherited = {"headers", "base_url", "remaining", "visibility"}
        head = {key: value for key, value in head.items() if key in inherited}
        head |= {key: value for key, value in raw.items() if key in _OF_DIALECT - {"extends"}}
    try:
        return Dialect.model_validate({**head, "operations": operations})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(step) for step in first["loc"])
        msg = f"the dialect `{place}` does not fit its form at `{where}`: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise SettingError(msg) from None


def _ancestry(place: str, own: Raw) -> list[Raw]:
    """Return the dialect behind those it extends, the most general first."""
    chain, names = [own], [own.get("name")]
    while (parent := chain[0].get("extends", "http" if chain[0].get("name") != "http" else None)) is not None:
        if parent not in _stems() or parent in names:
            msg = f"the dialect `{place}` extends `{parent}`, which is not there or leads back to it"
            raise SettingError(msg)
        chain.insert(0, _raw(parent))
        names.append(parent)
    return chain


def _joined(general: Raw, particular: Raw) -> Raw:
    joined: dict[str, Any] = {**general, **particular}
    for key in _JOINED:
        if key in general and key in particular:
            joined[key] = [*particular[key], *general[key]]
    for key in ("fields", "shape"):
        if key in general and key in particular:
            joined[key] = {**general[key], **particular[key]}
    return joined
