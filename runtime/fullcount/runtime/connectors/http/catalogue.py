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
_JOINED = ("error", "finding", "act", "empty_on", "wait")
"""Lists of rules: the particular ones are put before the general ones. Every other key replaces the general one."""
_OF_DIALECT = frozenset(
    {"name", "title", "source", "aliases", "family", "base_url", "headers", "extends", "tokens", "visibility"}
)


class UnknownDialectError(LookupError):
    """No dialect has this name."""


@cache
def shipped() -> Mapping[str, Dialect]:
    """Return the dialects that come with the connector, by name and by alias."""
    raw = _raw_files()
    found: dict[str, Dialect] = {}
    for name in raw:
        dialect = _build(name, raw[name], raw)
        for known in (dialect.name, *dialect.aliases):
            if known in found:
                msg = f"two dialects are called `{known}`"
                raise SettingError(msg)
            found[known] = dialect
    return found


def dialect_named(name: str) -> Dialect:
    """Return a shipped dialect. Raises `UnknownDialectError`, which says what is near."""
    found = shipped().get(name)
    if found is None:
        raise UnknownDialectError(f"there is no dialect `{name}`; {did_you_mean(name, shipped())}")
    return found


def dialect_for(api: str) -> Dialect:
    """Return the dialect of an API: its own, that of its family, or else the plain one, which proves the least."""
    known = shipped()
    if api in known:
        return known[api]
    families = [(prefix, dialect) for dialect in known.values() for prefix in dialect.family if api.startswith(prefix)]
    if len(families) > 0:
        return max(families, key=lambda pair: len(pair[0]))[1]
    return known["generic_http"]


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
    return _build(str(path), {"name": path.stem, "title": path.stem, **raw}, _raw_files())


@cache
def _raw_files() -> Mapping[str, Raw]:
    raw: dict[str, Raw] = {}
    for entry in files(_FOLDER).iterdir():
        if entry.name.endswith(".toml"):
            name = entry.name.removesuffix(".toml")
            raw[name] = {"name": name, **tomllib.loads(entry.read_text(encoding="utf-8"))}
    return dict(sorted(raw.items()))


def _build(place: str, own: Raw, known: Mapping[str, Raw]) -> Dialect:
    chain = _ancestry(place, own, known)
    common: Raw = {}
    for raw in chain:
        common = _joined(common, {key: value for key, value in raw.items() if key not in _OF_DIALECT | {"operation"}})
    operations: list[Raw] = []
    for raw in reversed(chain):
        operations += [_joined(common, entry) for entry in raw.get("operation", [])]
    operations.append({**common, "name": "any", "when": {}})
    head: Raw = {}
    for raw in chain:
        inherited = {"headers", "base_url", "tokens", "visibility"}
        head = {key: value for key, value in head.items() if key in inherited}
        head |= {key: value for key, value in raw.items() if key in _OF_DIALECT - {"extends"}}
    try:
        return Dialect.model_validate({**head, "operations": operations})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(step) for step in first["loc"])
        msg = f"the dialect `{place}` does not fit its form at `{where}`: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise SettingError(msg) from None


def _ancestry(place: str, own: Raw, known: Mapping[str, Raw]) -> list[Raw]:
    """Return the dialect behind those it extends, the most general first."""
    chain, names = [own], [own.get("name")]
    while (parent := chain[0].get("extends", "http" if chain[0].get("name") != "http" else None)) is not None:
        if parent not in known or parent in names:
            msg = f"the dialect `{place}` extends `{parent}`, which is not there or leads back to it"
            raise SettingError(msg)
        chain.insert(0, known[parent])
        names.append(parent)
    return chain


def _joined(general: Raw, particular: Raw) -> Raw:
    joined: dict[str, Any] = {**general, **particular}
    for key in _JOINED:
        if key in general and key in particular:
            joined[key] = [*particular[key], *general[key]]
    if "fields" in general and "fields" in particular:
        joined["fields"] = {**general["fields"], **particular["fields"]}
    return joined
