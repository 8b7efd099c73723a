"""A source or a resource that is split: regions, accounts, tenants, namespaces, each a listing of its own.

    [sources.cloud]
    connector  = "http"
    base_url   = "https://{region}.cloud.example.com"
    partitions = ["region"]                                 # of every resource
    [sources.cloud.resources.volumes]
    partitions = ["account"]                                # of this one besides
    list = "/accounts/{account}/volumes?per_page=100"

Guarantees: every request about a resource has a place for each of its partitions, so that no part is answered for
another; a value can't add a step to a path, a parameter, a header or a host. No I/O and no HTTP library here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from fullcount.compiler.catalog import Effect
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.in_parts import check_fields, check_names, not_covered
from fullcount.runtime.workspace.errors import SettingError

if TYPE_CHECKING:
    from fullcount.runtime.connectors.http.config import HttpConfig, HttpOperation, HttpResource
    from fullcount.runtime.connectors.http.forms import Dialect

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_FIXED_END = re.compile(r"[^.{}]*(\.[A-Za-z0-9-]+){2,}")
"""What a host ends with behind its last place: a domain that no value chooses."""


def partitions_of(config: HttpConfig, resource: str) -> list[str]:
    """Return what a resource is split by: as all of the source are, and it alone."""
    return [*config.partitions, *config.resources[resource].partitions]


def is_split(config: HttpConfig) -> bool:
    """Whether any resource of the source is."""
    return any(len(partitions_of(config, name)) > 0 for name in config.resources)


def check_partitions(config: HttpConfig, dialect: Dialect) -> None:
    """Raise `SettingError` for partitions that the requests do not fit, and for places that nothing fills."""
    address = config.base_url or dialect.base_url or ""
    headers = _headers(config, dialect)
    _check_host(address)
    for what, text in (("base_url", address), *((f"headers.{name}", value) for name, value in headers.items())):
        _check_holes(what, text, config.partitions)
    for auth in (config.auth, config.act_auth):
        if auth is not None and auth.oauth2 is not None and _HOLE.search(auth.oauth2.token_url) is not None:
            msg = "`oauth2.token_url` has a place for a part, and all parts are read with one credential"
            raise SettingError(msg, help="make one source for each credential")
    everywhere = {hole for text in (address, *headers.values()) for hole in _HOLE.findall(text)}
    for name, resource in config.resources.items():
        _check_resource(name, resource, dialect, partitions_of(config, name), everywhere)


def _headers(config: HttpConfig, dialect: Dialect) -> dict[str, str]:
    """Return the headers of every request. The configuration's stand before the dialect's."""
    return {**dialect.headers, **{name.lower(): value for name, value in config.headers.items()}}


def _check_host(address: str) -> None:
    parts = urlsplit(address)
    host, _, port = parts.netloc.partition(":")
    if "{" in port or "{" in parts.scheme:
        msg = "`base_url` has a place in its scheme or port, and values may only choose among hosts of one domain"
        raise SettingError(msg, help="as `https://{region}.api.example.com`")
    if "{" in host and _FIXED_END.fullmatch(host.rpartition("}")[2]) is None:
        msg = f"`base_url` leaves to a value which host is asked: `{host}`"
        raise SettingError(msg, help="end it with a domain, as `https://{region}.api.example.com`")


def _check_holes(what: str, text: str, names: list[str]) -> None:
    for hole in _HOLE.findall(text):
        if hole not in names:
            msg = f"`{what}` has `{{{hole}}}`, which `partitions` does not name"
            raise SettingError(msg, help=f'as `partitions = ["{hole}"]`')


def _check_resource(name: str, resource: HttpResource, dialect: Dialect, names: list[str], common: set[str]) -> None:
    where = f"resources.{name}"
    check_names(names)
    check_fields(name, {field: each.type for field, each in resource.fields.items()}, names)
    for path in _paths(resource):
        _check_holes(f"{where}.list", path, names)
    if len(names) == 0:
        return
    for one in names:
        if one in {resource.incarnation, resource.version}:
            msg = f"`{where}.fields.{one}` names the part that an object is in, and is the same for all in it"
            raise SettingError(msg, help="take it out of `incarnation` and `version`")
    if set(resource.key) <= set(names):
        msg = f"the key of `{where}` names parts only: within its part no object could be told from another"
        raise SettingError(msg)
    whole = {"lookup": len(resource.lookup) > 0, "count": resource.count is not None}
    whole["read_many"] = resource.read_many is not None
    for setting in (name for name, given in whole.items() if given):
        msg = f"`{where}.{setting}` asks for all parts at once, and no part of `{name}` speaks for the others"
        raise SettingError(msg, help=f"remove `{setting}`, or `partitions`")
    for operation_name, operation in resource.operations.items():
        _check_object(f"{where}.operations.{operation_name}", resource, operation, names)
    for what, holes in _requests(resource, dialect):
        lacking = [one for one in names if one not in holes | common]
        if len(lacking) > 0:
            msg = f"`{where}.{what}` has no place for `{lacking[0]}`, so each `{lacking[0]}` would be answered alike"
            raise SettingError(
                msg, help=f"put `{{{lacking[0]}}}` into its path, its parameters, a header or `base_url`"
            )


def _check_object(where: str, resource: HttpResource, operation: HttpOperation, names: list[str]) -> None:
    """Raise `SettingError` for a write that says in which part it acts, and not on what."""
    own = {*resource.key, f"${resource.incarnation}"} - set(names)
    places = set(re.findall(r"\{(\$?[A-Za-z_][A-Za-z0-9_]*)\}", f"{operation.path} {operation.body!r}"))
    if operation.effect is not Effect.CREATE and own.isdisjoint(places):
        msg = f"`{where}` names the part and does not say on which object in it the write acts"
        raise SettingError(msg, help=f"as `{{{min(own)}}}`")


def _paths(resource: HttpResource) -> list[str]:
    return [resource.list_path] if isinstance(resource.list_path, str) else list(resource.list_path)


def _requests(resource: HttpResource, dialect: Dialect) -> Iterator[tuple[str, set[str]]]:
    """Yield the requests about a resource, each with the places that it has."""
    from fullcount.runtime.connectors.http.config import places_of
    from fullcount.runtime.connectors.http.scan import operation_for
    from fullcount.runtime.connectors.http.speaking import requests_of

    own_detail = None if resource.detail is None else resource.detail.path
    for path, request in zip(_paths(resource), requests_of(resource), strict=True):
        yield "list", set(_HOLE.findall(path)) | set(_in_body(resource.body))
        rules = operation_for(dialect, request)
        if len(rules.probes) > 0 or (rules.detail is not None and own_detail is None):
            # what the dialect asks besides is made of the path alone
            yield "list", set(_HOLE.findall(path.partition("?")[0]))
    for what, template in (("read", resource.read), ("detail", own_detail)):
        if template is not None:
            yield what, set(_HOLE.findall(template))
    for name, operation in resource.operations.items():
        yield f"operations.{name}", set(_HOLE.findall(operation.path)) | set(places_of(operation.body))


def _in_body(body: Any) -> Iterator[str]:
    """Yield the places of a body: texts that are one place each. Braces within a text are its own (GraphQL)."""
    if isinstance(body, str) and (whole := _HOLE.fullmatch(body)) is not None:
        yield whole[1]
    for each in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _in_body(each)


# --- one part ---------------------------------------------------------------------------------------------------------


def of_part(config: HttpConfig, dialect: Dialect, resource: str, part: Mapping[str, str]) -> HttpConfig:
    """Return the configuration by which one part of a resource is read. Raises `SourceError` for what names none.

    Fields that name the part and have an `at` stay: an object says by them in which part it is.
    """
    names = partitions_of(config, resource)
    if set(part) != set(names):
        named = ", ".join(f"`{name}`" for name in names)
        raise SourceError(not_covered(f"a part of `{resource}` is named by {named or 'nothing'}"))
    address, headers = config.base_url or dialect.base_url or "", _headers(config, dialect)
    for name, value in part.items():
        fault = _fault(name, value, address, headers)
        if fault is not None:
            raise SourceError(not_covered(f"a `{name}` {fault} names no part"))
    settings = config.resources[resource]
    return config.model_copy(
        update={
            "partitions": [],
            "base_url": _filled(address, part),
            "headers": {name: _HOLE.sub(lambda hole: part[hole[1]], value) for name, value in headers.items()},
            "resources": {resource: _resource_of_part(settings, part)},
        }
    )


def _fault(name: str, value: str, address: str, headers: Mapping[str, str]) -> str | None:
    """Return why a value can't name a part; None if it can."""
    hole = f"{{{name}}}"
    if value in {"", ".", ".."} or not value.isprintable():
        return "that is empty, a dot or not printable"
    if hole in urlsplit(address).netloc and _LABEL.fullmatch(value) is None:
        return "that is not one word of letters, digits and `-`, as in the name of a host,"
    if hole in address and _PLAIN.fullmatch(value) is None:
        return "that is not a plain word of letters, digits, `.`, `_` and `-`"
    if any(hole in text for text in headers.values()) and not (value.isascii() and value == value.strip()):
        return "that can't stand in a header"
    return None


def _resource_of_part(settings: HttpResource, part: Mapping[str, str]) -> HttpResource:
    listed = settings.list_path
    detail = settings.detail
    if detail is not None and detail.path is not None:
        detail = detail.model_copy(update={"path": _filled(detail.path, part)})
    return settings.model_copy(
        update={
            "partitions": [],
            "list_path": _filled(listed, part) if isinstance(listed, str) else [_filled(one, part) for one in listed],
            "body": _filled_body(settings.body, part),
            "read": None if settings.read is None else _filled(settings.read, part),
            "detail": detail,
            "key": [name for name in settings.key if name not in part],
            "fields": {name: of for name, of in settings.fields.items() if name not in part or of.at is not None},
            "operations": {
                name: each.model_copy(
                    update={"path": _filled(each.path, part), "body": _filled_body(each.body, part, within=True)}
                )
                for name, each in settings.operations.items()
            },
        }
    )


def _filled(template: str, part: Mapping[str, str]) -> str:
    """Return a path or an address with the part's values, percent-encoded; other places stay."""
    return _HOLE.sub(lambda hole: quote(part[hole[1]], safe="") if hole[1] in part else hole[0], template)


def _filled_body(body: Any, part: Mapping[str, str], *, within: bool = False) -> Any:
    """Return a body with the part's values; `within`: also inside of longer texts, as an operation's are."""
    if isinstance(body, dict):
        return {name: _filled_body(value, part, within=within) for name, value in body.items()}
    if isinstance(body, list):
        return [_filled_body(value, part, within=within) for value in body]
    if within and isinstance(body, str):
        return _HOLE.sub(lambda hole: part.get(hole[1], hole[0]), body)
    whole = _HOLE.fullmatch(body) if isinstance(body, str) else None
    return part[whole[1]] if whole is not None and whole[1] in part else body
