"""The form of a dialect: what one HTTP API says, in which place, and what that means for completeness.

A dialect is data. These models are its grammar; they hold no knowledge of any API, and no rule that decides. Unknown
keys are refused, so that a misspelt rule is found when the dialect is loaded and not when it fails to protect.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

Scalar = bool | int | float | str
Kind = Literal["flag", "number", "text", "key", "mapping", "list", "address"]
"""What may stand at a place. `flag` and `number` also as text, `key`: text or number, `address` also in an object."""


class Form(BaseModel):
    """The base of every part: frozen and closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Check(Form):
    """A test of one value; every key that is given must hold. Numbers and booleans given as text are the same."""

    is_: Scalar | None = Field(default=None, alias="is")
    one_of: list[Scalar] | None = Field(default=None, alias="in")
    none_of: list[Scalar] | None = Field(default=None, alias="not_in")
    matches: str | None = None
    """A regular expression that is found in the value, upper and lower case alike."""
    present: bool | None = None
    """Whether there is a value, null included."""
    empty: bool | None = None
    """Whether it is missing, null, or has nothing in it."""
    over: float | None = None
    under: float | None = None
    none_over: float | None = None
    """That there are numbers, and none of them is over it."""


Predicate = Check | list[Scalar] | Scalar
"""A value that must be equal, a list of which it must be one, or a test."""


class Filled(Form):
    """Whether the reply has as many items as were asked for."""

    query: str | None = None
    body: str | None = None
    reply: str | None = None
    """Where the reply itself says how many it gives at most."""
    default: int | None = None
    """What the API takes if nothing is asked for."""


class When(Form):
    """A condition on one exchange; every part that is given must hold."""

    method: Predicate | None = None
    path: str | list[str] | None = None
    """The end of the path, `*` for one step and `**` for several."""
    operation: Predicate | None = None
    """The operation of an API that names it beside the path (`X-Amz-Target`)."""
    query: dict[str, Predicate] = {}
    sent: dict[str, Predicate] = {}
    """Places in the body that was sent."""
    sent_header: dict[str, Predicate] = {}
    status: Predicate | None = None
    header: dict[str, Predicate] = {}
    body: dict[str, Predicate] = {}
    no_member: str | None = None
    """Names of members, upper and lower case alike: the body is a mapping, and none of them has a value but false."""
    failed: Predicate | None = None
    """The name of the error with which the exchange ended instead of a reply."""
    resumed: bool | None = None
    """Whether the request carried a cursor."""
    cursor: bool | None = None
    """Whether the reply gives a way to a next page."""
    items: Predicate | None = None
    """How many items the reply has."""
    filled: Filled | None = None
    fewer: dict[str, str] = {}
    """Places of the body whose number is below that at another place: `{ successful = "total" }`."""
    below_total: bool | None = None
    """Whether fewer were collected than the source counts, or than it does not count exactly."""
    fact: str | None = None
    """A fact that an earlier probe found."""
    asked: str | None = None
    """A field that the question asks for."""
    elsewhere: bool | None = None
    """Whether the reply redirects to another host."""
    wait: Predicate | None = None
    """The seconds that the reply says to wait."""
    any: list[When] = []
    """Of these, one must hold as well."""


class Finding(Form):
    """What a reply that fits says: reasons, warnings, states of fields."""

    when: When = When()
    each: str | None = None
    """The list or mapping whose members are judged one by one: `body` is then a place inside the member."""
    reason: Reason | list[Reason] | None = None
    way: Way | Literal["none"] | None = None
    """The way on; without it the usual one of the reason, `none`: nothing to do but ask."""
    warning: WarningCode | list[WarningCode] | None = None
    part: str | None = None
    """Where the parts that did not answer are named; `$name`: the member's own name."""
    fields: dict[str, FieldState] = {}
    unless_continued: bool = False
    """It only holds if the next page is not read."""
    last: bool = False
    """It is only judged on the last page."""
    detail: str = ""


class Fact(Form):
    """What a probe's reply says of the list."""

    name: str
    when: When = When()


class Offset(Form):
    """Paging by position: the place of the first item of this page, how many there are, and how many in all."""

    start: str | None = None
    asked: str | None = None
    """The query parameter or place of the request that says where this page begins."""
    count: str | None = None
    """How many the page has, by its own word; without it as many as there are items."""
    total: str | list[str]
    first: int = 1


class Cursor(Form):
    """One way in which a reply leads to the next page. The first of a dialect's ways that yields one is taken."""

    at: str | list[str] | None = None
    header: str | None = None
    link: str | None = None
    """A relation of the `Link` header."""
    url: str | list[str] | None = None
    """Where the body has the address of the next page."""
    last: str | None = None
    """A place in the last item, for paging by key."""
    offset: Offset | None = None
    more: When | None = None
    """What says that there is more. Without it: there is more where a cursor is given."""
    query: str | None = None
    """The query parameter in which the cursor is sent."""
    body: str | None = None
    """The place in the body in which it is sent."""
    query_too: dict[str, str] = {}
    """Further query parameters, and the places of this reply from which they are filled."""
    carry: dict[str, str] = {}
    """Places of the next request's body, and the places of this reply from which they are filled."""
    hold: dict[str, str] = {}
    """As `carry`, but filled from the first reply only: what pins every page to one state."""
    successor: bool = False
    """The value is a key in base64; what is sent is the first key behind it."""
    keeps: Consistency = Consistency.UNSTABLE
    """How well the pages belong together."""
    shifts: bool | Literal["uncounted"] = False
    """Whether rows move between pages when the collection changes, so that a row seen twice tells of one missed.

    `uncounted`: only where no total tells it better."""


class End(Form):
    """An affirmative sign of the end."""

    name: str
    when: When = When()


class Total(Form):
    """What the source says how many there are."""

    at: str | list[str] | None = None
    header: str | None = None
    exact: bool = True
    exact_when: When | None = None
    short: Finding | None = None
    """What it means that fewer were collected than an inexact total says."""
    remaining: bool = False
    """Whether it counts what is still to come, not all."""
    from_here: bool = False
    """Whether it counts this page and what comes after it, not what came before."""


class PageCount(Form):
    """Where a reply says how many items this one page has, and what else is among them."""

    at: str
    also: list[str] = []


class FieldRule(Form):
    """What is known of one field of an API."""

    at: str | None = None
    missing: FieldState | None = None
    """What it means that the field is not there."""
    lag: str | None = None
    """The documented delay of a usage signal."""
    window: str | None = None
    """What a missing value does not say, because nothing is recorded before or outside of it."""


class Projection(Form):
    """Where a request names the fields that it wants."""

    query: str | list[str] | None = None
    body: str | list[str] | None = None
    without: list[str] = []
    """Query parameters or places of the body that name the fields which are to be left out."""
    header: str | None = None
    prefix: str | None = None
    """With `when`: only fields below this one are given."""
    when: When | None = None


class Masked(Form):
    """Items of which only the given fields have a value: the others are hidden, not empty."""

    but: list[str]
    state: FieldState = FieldState.FORBIDDEN


class GraphQL(Form):
    """Where errors stand beside data, and what their types mean."""

    errors: str = "errors"
    type: list[str] = ["type", "extensions/code"]
    reasons: dict[str, Reason] = {}
    ways: dict[str, Way] = {}
    forbidden: list[str] = []
    """Types that mean `forbidden` for a single field; others mean that the source failed."""


class Wait(Form):
    """Where a reply says how long to wait."""

    header: str
    kind: Literal["seconds", "epoch", "clock"] = "seconds"


class Shared(Form):
    """What tells that several names stand for one object."""

    same: str | None = None
    """A place in the items whose equal values mean that they are names of one object."""
    names: str | None = None
    """A list in one item that holds its names."""


class Detail(Form):
    """A further request for each item. Its reply is put into the item as `$detail`: `status`, `headers`, `body`."""

    path: str
    """`{stem}` is the list's path without the operation's `stem`, `{PLACE}` what stands at a place of the item."""
    method: str = "GET"


class ActRule(Form):
    """What the reply to a write means."""

    when: When = When()
    outcome: Outcome
    reason: ActReason | Reason | None = None
    way: Way | None = None
    warning: WarningCode | None = None
    detail: str = ""


class Operation(Form):
    """How one kind of request is read. Made of the dialect's common part and the operation's own."""

    name: str
    kind: Literal["list", "object", "probe"] = "list"
    when: When = When()
    items: str | list[str] = ""
    of: Literal["list", "mapping", "csv"] = "list"
    unwrap: str | None = None
    """Where inside a member of the list the item stands (`node` of an edge)."""
    not_items: list[str] = []
    """Members that `[]` and `*` must not take for items."""
    missing: Literal["malformed", "empty"] = "malformed"
    beside: list[str] = []
    """With `missing = "empty"`: what may stand in a reply without the list. With anything else it is no empty list."""
    members: Literal["any", "words", "mapping"] = "any"
    """With `of = "mapping"`: of what kind each member's value is; `words`: a list of texts."""
    opens: bool = False
    """Whether it only begins what a later request fetches."""
    proof: list[str] = []
    """With `kind = "object"`: places of which one has a value in every object of this kind; without it `key`."""
    named_by_request: bool = False
    """With `kind = "object"`: an object does not repeat its name, so that only `proof` tells it from something else."""
    null: Literal["malformed", "empty"] = "malformed"
    null_item: Reason = Reason.MALFORMED_RESPONSE
    """What a null in the place of an item means."""
    key: list[str] = ["id"]
    """The places at which an item's name may stand, the best first."""
    accepts: list[int] = [200]
    needs: list[str] = []
    """With `kind = "list"`: places that have a value in every reply. Without one of them it is none of this API."""
    shape: dict[str, Kind] = {}
    """What stands at a place, if anything does. Something else there is neither a yes nor a no."""
    empty_on: list[End] = []
    """Replies that positively say: there is nothing."""
    cursor: list[Cursor] = []
    end: list[End] = []
    total: Total | None = None
    page_count: PageCount | None = None
    pin: str | list[str] | None = None
    """Where a reply names the state of the collection that it belongs to."""
    pinned_when: When | None = None
    """Or: what says that the pages are pinned to one state, though no reply names it."""
    size: list[str] = []
    """The query parameters or places of the body that ask for a number of items."""
    order: list[str] = []
    """The query parameters that ask for an order by a field."""
    wanted: list[str] = []
    """Places of the request that list the objects asked for by name."""
    parts: bool = False
    """Whether several requests of this kind make one list."""
    error: list[Finding] = []
    """Replies that are no page. The first that fits is taken."""
    finding: list[Finding] = []
    """What pages say besides their items. All that fit hold."""
    fact: list[Fact] = []
    steady_header: list[str] = []
    """Headers that list what the caller may do; a page on which one of them lost an entry hides objects."""
    fields: dict[str, FieldRule] = {}
    within: list[str] = []
    """Where in an item its fields stand, besides at its top (`attributes`, `_source`)."""
    missing_field: FieldState = FieldState.INDETERMINATE
    projection: Projection | None = None
    masked: Masked | None = None
    nested: str | None = None
    """Where a field that is a list of its own says that it goes on (`pageInfo/hasNextPage`): true, or an address."""
    nested_beside: str | None = None
    """The ending of the key beside such a field that says it (`@odata.nextLink`)."""
    graphql: GraphQL | None = None
    shared: Shared | None = None
    wait: list[Wait] = []
    xml_lists: list[str] = []
    stem: str = ""
    """The ending of the path that `{stem}` leaves out."""
    probes: list[str] = []
    """Requests to make before the list; `{path}` is its path, `{parent}` the path above it."""
    detail: Detail | None = None
    act: list[ActRule] = []


class Dialect(Form):
    """One API: its operations, the most particular first; the last one fits everything."""

    name: str
    title: str
    source: str = ""
    """Where these facts can be read."""
    aliases: list[str] = []
    family: list[str] = []
    """Beginnings of names that this dialect serves if no other does."""
    base_url: str | None = None
    headers: dict[str, str] = {}
    remaining: list[str] = ["x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining"]
    """The headers that say how many requests are left."""
    visibility: Literal["all", "unknown"] = "unknown"
    operations: tuple[Operation, ...]

    def __hash__(self) -> int:
        return hash(self.name)


Raw = dict[str, Any]
"""A dialect as it stands in its file, before its parts are joined."""
