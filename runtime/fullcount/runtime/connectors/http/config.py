"""What `[sources.NAME]` may say when `connector = "http"`. Imports nothing heavy: `check` reads this."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fullcount.compiler.catalog import Closure, Effect, Idempotency
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import FieldType, Kind, Scalar
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.field_types import FieldTypeSetting
from fullcount.runtime.connectors.http.partitions import check_partitions, partitions_of
from fullcount.runtime.workspace.errors import SettingError, did_you_mean
from fullcount.runtime.workspace.secrets import RootedPath, Secret


class _Setting(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


def _a_path(text: str) -> str:
    if not text.startswith("/") or text.startswith("//"):
        msg = "a path begins with one `/`, and is below `base_url`"
        raise SettingError(msg, help='as `"/orgs/acme/repos?per_page=100"`')
    return text


_Path = Annotated[str, AfterValidator(_a_path)]
PLACE = re.compile(r"\{(\$?[A-Za-z_][A-Za-z0-9_]*)\}")
"""A place of a template: a key field, a parameter of the operation, or `{$field}`, a value seen at the recheck."""


def _an_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or parts.hostname is None:
        msg = "an address begins with `https://` and names a host"
        raise SettingError(msg, code="FC607", help='as `"https://api.example.com/v1"`')
    if parts.username is not None or parts.password is not None or parts.query != "" or parts.fragment != "":
        msg = "an address has no user, no password, no `?` and no `#`"
        raise SettingError(msg, code="FC607", help="credentials go into `auth`, parameters into a resource's path")
    return text.rstrip("/")


_Address = Annotated[str, AfterValidator(_an_address)]


def is_private(address: str) -> bool:
    """Whether what is sent to an address can be read by nobody on the way: by https, or on this very machine."""
    parts = urlsplit(address)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


class Basic(_Setting):
    """A user and a password."""

    user: str
    password: Secret


class HeaderKey(_Setting):
    """A key in a header of its own."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$")]
    value: Secret


class ClientCredentials(_Setting):
    """OAuth 2.0 client credentials: a token that is fetched, used until it expires, and fetched anew."""

    token_url: _Address
    client_id: str
    client_secret: Secret
    scope: str | None = None
    audience: str | None = None


class Auth(_Setting):
    """Who asks: exactly one of a bearer token, a key in a header, basic authentication, and client credentials."""

    bearer: Secret | None = None
    header: HeaderKey | None = None
    basic: Basic | None = None
    oauth2: ClientCredentials | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(part is not None for part in (self.bearer, self.header, self.basic, self.oauth2)) != 1:
            msg = "`auth` has exactly one of `bearer`, `header`, `basic` and `oauth2`"
            raise SettingError(msg, help='as `auth = { bearer = { env = "TOKEN" } }`')
        return self


class HttpField(_Setting):
    """One field: its type and where it stands in an object, if not under its own name."""

    type: FieldTypeSetting
    at: str | None = None
    """`metadata/labels`, `$detail/body/owner` of the object's detail, `$headers/etag` of a single read."""
    json_text: bool = Field(default=False, alias="json")
    """Whether the value is taken as JSON text, whatever it is."""
    missing: FieldState | None = None
    """What it means that the key is not there; without it what the dialect says."""

    @model_validator(mode="before")
    @classmethod
    def _from_type(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, (str, FieldType)) else value

    @model_validator(mode="after")
    def _json_is_text(self) -> Self:
        if self.json_text and self.type.type != Scalar(Kind.TEXT):
            msg = "`json = true` gives text"
            raise SettingError(msg, help='as `{ type = "text", json = true }`')
        return self


class HttpOperation(_Setting):
    """One narrow write on one object."""

    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    path: _Path
    effect: Effect
    body: Any = None
    """What is sent; texts that are one `{place}` become its value, other places are put into the text."""
    parameters: dict[_Word, FieldTypeSetting] = {}
    """Parameters beside the key; those named like a field set it."""
    precondition: Literal["if_match", "in_request", "compare"] = "compare"
    """`if_match`: the version as `If-Match`; `in_request`: the request itself names it by `{$field}`; `compare`: the
    object is read and compared right before, which leaves a moment in between."""
    key_header: str | None = None
    """The header in which the API takes an idempotency key: `Idempotency-Key`."""
    sets: dict[_Word, Any] | None = None
    """Fields that it sets besides those that its body names, to a constant or a `{parameter}`; an empty one says that
    there are none. Without it, what the body does not name where a field stands may be any field."""
    undoes: list[_Word] = []
    reversible: bool | None = None
    closure: Literal[Closure.NONE] | None = None
    """`none`: what it deletes takes nothing else along. What nobody says is not known, and nothing is deleted then."""
    restores: bool = False
    """It brings back what it undoes from a backup: the object as it was read is the body that is sent."""
    set_by_source: list[str] = []
    """Members of a stored object that the API itself sets: they are neither sent back nor compared."""
    escalates: bool = False
    """Whether doing it again does more than doing it once, as a second delete that destroys. It is never repeated."""
    key_life: Annotated[float, Field(gt=0)] | None = None
    """How long the target knows an idempotency key again, in seconds. Without it no call is repeated on its key."""

    @property
    def idempotency(self) -> Idempotency:
        """What makes a repeated call harmless."""
        if self.precondition in {"if_match", "in_request"}:
            return Idempotency.PRECONDITION
        if self.method in {"PUT", "DELETE"}:
            return Idempotency.NATURAL
        return Idempotency.NONE if self.key_header is None else Idempotency.KEY


class HttpCount(_Setting):
    """A request that answers with a number, independent of the list."""

    path: _Path
    at: str | None = None
    header: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.at is None) == (self.header is None):
            msg = "a count stands at one place: `at` in the body or `header`"
            raise SettingError(msg)
        return self


class HttpDetail(_Setting):
    """A further request for each object of the list, and what it may cost. Its limits hold for one pass of a read."""

    path: _Path | None = None
    """Where, with fields of the list as places: `/things/{id}`; without it the request that the dialect makes."""
    method: Literal["GET", "HEAD"] = "GET"
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
    """How many are asked at the same time."""
    calls: Annotated[int, Field(ge=0)] | None = None
    """Requests at most, those that were made anew among them; 0: none."""
    deadline: Annotated[float, Field(gt=0)] | None = None
    """Seconds for all of them together."""
    retries: Annotated[int, Field(ge=0)] = 4
    """How often a source that throttles or asks to come back later is waited for."""

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value


class HttpMany(_Setting):
    """A list of the objects with certain keys: what is rechecked at the same moment is read by one request."""

    path: _Path
    """With the key's field as place, which becomes the keys with `separator` between them: `/things?ids={id}`."""
    most: Annotated[int, Field(ge=2, le=1000)]
    """How many keys the API takes in one request."""
    separator: Annotated[str, StringConstraints(min_length=1)] = ","
    answers_each: bool = False
    """The API speaks of every key that is named: one that a whole answer does not have is that of no object."""


class HttpResource(_Setting):
    """One list, and what of its objects may be read and written."""

    partitions: list[_Word] = []
    """What this resource is split by, besides what all of the source are: each part is a list of its own."""
    list_path: _Path | list[_Path] = Field(alias="list")
    """One path, or several that make one list together; parameters of the API go behind a `?`."""
    method: Literal["GET", "POST"] = "GET"
    body: Any = None
    operation: str | None = None
    """The operation of an API that names it beside the path (`X-Amz-Target`)."""
    key: Annotated[list[_Word], Field(min_length=1)]
    incarnation: _Word | None = None
    version: _Word | None = None
    fields: dict[_Word, HttpField]
    read: _Path | None = None
    """The path of one object, with the key's fields as places: `/things/{id}`. Without it nothing can be acted on."""
    read_at: str = ""
    read_many: HttpMany | None = None
    """Only of a list that is as current as `read`: what it returns is taken for the object as it is."""
    not_found_is_gone: bool = False
    """Whether 404 on one object means that it is gone, for this reader, and never that it may not be seen."""
    detail: HttpDetail | None = None
    """A further request for each object of the list, for fields that stand at `$detail/…`: its path, or more."""
    lookup: dict[_Word, _Path] = {}
    """Lists of the objects with a value in a field, the value as a place: `{ owner = "/things?owner={owner}" }`."""
    count: HttpCount | None = None
    consistency: Literal[Consistency.INTERVAL, Consistency.UNSTABLE] | None = None
    """What is known of this list's pages instead of what the dialect says. `interval` spares the second pass."""
    operations: dict[_Word, HttpOperation] = {}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        named = [("key", name) for name in self.key] + [("lookup", name) for name in self.lookup]
        named += [(role, name) for role in ("incarnation", "version") if (name := getattr(self, role)) is not None]
        for role, name in named:
            if name not in self.fields:
                msg = f"`{role}` names `{name}`, which `fields` does not have"
                raise SettingError(msg, help=did_you_mean(name, self.fields))
            field = self.fields[name].type
            if role in {"key", "incarnation", "lookup"} and (field.optional or not isinstance(field.type, Scalar)):
                msg = f"`{name}` is `{field}`, and a {role} must be one value that is always there"
                raise SettingError(msg)
        self._check_places("read", self.read, [])
        self._check_places("detail", None if self.detail is None else self.detail.path, [])
        for name, path in self.lookup.items():
            self._check_places(f"lookup.{name}", path, [name])
        if self.read_many is not None:
            if len(self.key) > 1:
                msg = "`read_many` names each object by one value, and the key has several fields"
                raise SettingError(msg, help="remove `read_many`: each object is read by itself then")
            self._check_places("read_many.path", self.read_many.path, self.key)
        if self.operations and self.read is None:
            msg = "an object that is acted on is read again right before: say `read`"
            raise SettingError(msg, help='as `read = "/things/{id}"`')
        for name, operation in self.operations.items():
            self._check_operation(name, operation)
        return self

    def check_read(self, names: Collection[str]) -> None:
        """Raise `SettingError` if a single read does not say which object it is; `names` says in which part."""
        self._check_places("read", self.read, [name for name in self.key if name not in names])

    def _check_places(self, what: str, template: str | None, needed: list[str]) -> None:
        places = [] if template is None else PLACE.findall(template)
        if template is not None and any(place not in places for place in needed):
            msg = f"`{what}` has no place for {', '.join(f'`{name}`' for name in needed if name not in places)}"
            raise SettingError(msg, help=f"as `{{{needed[0]}}}`")
        unknown = [place for place in places if place.lstrip("$") not in self.fields]
        if unknown:
            msg = f"`{what}` names `{unknown[0]}`, which `fields` does not have"
            raise SettingError(msg, help=did_you_mean(unknown[0].lstrip("$"), self.fields))

    def _check_operation(self, name: str, operation: HttpOperation) -> None:
        places = set(places_of(operation.path)) | set(places_of(operation.body))
        known = {*self.key, *operation.parameters, *(f"${field}" for field in self.fields)}
        if not places <= known:
            unknown = min(places - known)
            msg = f"`operations.{name}` names `{unknown}`, which is no key field, parameter or `$field`"
            raise SettingError(msg, help=did_you_mean(unknown, known))
        names = set(self.key)
        if operation.precondition == "in_request" and self.incarnation is not None:
            names.add(f"${self.incarnation}")  # it stands for one object alone, as the key does
        if operation.effect is not Effect.CREATE and names.isdisjoint(places):
            msg = f"`operations.{name}` does not say on which object it acts: it has no place for the key"
            raise SettingError(msg, help=f"as `{{{self.key[0]}}}`")
        unused = set(operation.parameters) - places
        if unused:
            msg = f"`operations.{name}.parameters.{min(unused)}` is not used: neither path nor body has a place for it"
            raise SettingError(msg)
        if operation.precondition == "if_match" and self.version is None:
            msg = f"`operations.{name}`: `if_match` sends the version, and the resource has none"
            raise SettingError(msg, help='as `version = "etag"`')
        if operation.precondition == "in_request" and not any(place.startswith("$") for place in places):
            msg = f"`operations.{name}`: the request names nothing that was seen"
            raise SettingError(msg, help="as `?ifGenerationMatch={$generation}`")
        if operation.restores and (operation.effect is not Effect.CREATE or operation.body is not None):
            msg = f"`operations.{name}` restores an object: its effect is `create`, and its body the object as stored"
            raise SettingError(msg, help='remove `body`, and write `effect = "create"`')
        if operation.set_by_source and not operation.restores:
            msg = f"`operations.{name}`: `set_by_source` is about what is restored, and nothing is"
            raise SettingError(msg, help="add `restores = true`, or remove it")
        for field, value in ({} if operation.sets is None else operation.sets).items():
            self._check_set(name, operation, field, value)
        missing = [other for other in operation.undoes if other not in self.operations]
        if missing:
            msg = f"`operations.{name}.undoes` names `{missing[0]}`, which is no operation here"
            raise SettingError(msg, help=did_you_mean(missing[0], self.operations))

    def _check_set(self, name: str, operation: HttpOperation, field: str, value: Any) -> None:
        if operation.effect is not Effect.UPDATE:
            msg = f"`operations.{name}.sets` is about an update, and its effect is `{operation.effect}`"
            raise SettingError(msg, help="remove `sets`")
        if field not in self.fields or field in {*self.key, self.incarnation, self.version}:
            msg = f"`operations.{name}.sets` names `{field}`, which is no field that an operation can set"
            raise SettingError(msg, help=did_you_mean(field, self.fields))
        of = self.fields[field].type.type
        places = places_of(value)
        if any(value != f"{{{place}}}" or place not in operation.parameters for place in places) or (
            places and operation.parameters[places[0]].type != of
        ):
            msg = f"`operations.{name}.sets.{field}` is `{value}`, which is no constant and no parameter of type `{of}`"
            raise SettingError(msg)
        if len(places) == 0 and isinstance(of, Scalar) and not isinstance(value, _WRITTEN.get(of.kind, str)):
            msg = f"`operations.{name}.sets.{field}` is not of the field's type `{of}`"
            raise SettingError(msg)
        if of == Scalar(Kind.INT) and isinstance(value, bool):
            msg = f"`operations.{name}.sets.{field}` is not of the field's type `{of}`"
            raise SettingError(msg)


_WRITTEN: dict[Kind, type | tuple[type, ...]] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.SIZE: int,
    Kind.DECIMAL: (int, float),
}
"""How a constant is written; anything else as text."""


def places_of(template: Any) -> list[str]:
    """Return the places of a template: of a text, or of every text in a body."""
    if isinstance(template, str):
        return PLACE.findall(template)
    if isinstance(template, dict):
        return [place for value in template.values() for place in places_of(value)]
    if isinstance(template, list):
        return [place for value in template for place in places_of(value)]
    return []


class HttpTenant(_Setting):
    """Where the API says whose credential it is: the account, the organisation, the tenant."""

    path: _Path
    at: str
    """The place in the reply: `login`, `account/id`."""


class HttpConfig(_Setting):
    """One API, with a credential for reading and, where there is one, another for acting."""

    dialect: str | None = None
    dialect_file: RootedPath | None = None
    """A dialect of one's own, in place of `dialect`."""
    base_url: _Address | None = None
    """The API's address; without it the dialect's."""
    plain_http: bool = False
    """Whether credentials may go over a connection that others can read. Never needed on the same machine."""
    auth: Auth | None = None
    act_auth: Auth | None = None
    """Who writes; by default the same as `auth`."""
    tenant: HttpTenant | None = None
    """Asked with the credential for reading and with that for acting: a plan is for one tenant."""
    headers: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$")], str] = {}
    ca_file: RootedPath | None = None
    proxy: _Address | None = None
    timeout: Annotated[float, Field(gt=0)] = 30.0
    """The longest that one reply may take, in seconds."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Requests a second at most."""
    reserve: Annotated[int, Field(ge=0)] = 0
    """Requests of the API's allowance that are left to others: a read stops before it uses them up."""
    partitions: list[_Word] = []
    """What every resource is split by; the values have their places in `base_url`, `headers` or each request."""
    resources: Annotated[dict[_Word, HttpResource], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.dialect is None) == (self.dialect_file is None):
            msg = "a source speaks exactly one of `dialect` and `dialect_file`"
            raise SettingError(msg, help='as `dialect = "generic_http"`')
        from fullcount.runtime.connectors.http.speaking import spoken

        dialect = spoken(self)
        address = self.base_url or dialect.base_url
        if address is None:
            msg = f"the dialect `{dialect.name}` has no address of its own: say `base_url`"
            raise SettingError(msg, help='as `base_url = "https://api.example.com"`')
        secret = [auth for auth in (self.auth, self.act_auth) if auth is not None]
        addresses = [address, *(auth.oauth2.token_url for auth in secret if auth.oauth2 is not None)]
        if secret and not self.plain_http and not all(map(is_private, addresses)):
            msg = "credentials would go over a connection that others can read"
            raise SettingError(msg, code="FC607", help="use https, or say `plain_http = true` if you must")
        reserved = {"authorization", "cookie", "proxy-authorization"} & {name.lower() for name in self.headers}
        if reserved:
            msg = f"`headers.{min(reserved)}` would be a secret in this file"
            raise SettingError(msg, help="use `auth`")
        check_partitions(self, dialect)
        from fullcount.runtime.connectors.http.targets import check_lists

        check_lists(self)
        if self.tenant is not None and any(len(partitions_of(self, name)) > 0 for name in self.resources):
            msg = "a source that is split has no one `tenant`: each of its parts may be of another"
            raise SettingError(msg, help="remove `tenant`, or make each tenant a source of its own")
        for name, resource in self.resources.items():
            resource.check_read(partitions_of(self, name))
        return self

    @property
    def address(self) -> str:
        """The API's address."""
        from fullcount.runtime.connectors.http.speaking import spoken

        return self.base_url or spoken(self).base_url or ""
