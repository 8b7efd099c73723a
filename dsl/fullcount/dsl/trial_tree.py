"""The part of the syntax tree that tests of workflows are made of.

In code such a test is called a *trial*, so that nobody takes it for one of the project's own. Like the rest of the tree
it says what was written and nothing more.
"""

from __future__ import annotations

from typing import Final

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Span
from fullcount.dsl.tree import Dotted, Expr, ListLiteral, Literal, Name

#: How a field may be known or not, as a test writes it in the place of a value.
STATES: Final = ("absent", "not_requested", "forbidden", "failed", "truncated", "indeterminate")

#: How the act on an object may end, as a test writes it.
OUTCOMES: Final = (
    "done", "gone", "changed", "recreated", "undecided", "refused", "failed", "unknown", "not_started",
)  # fmt: skip

Key = Literal | ListLiteral
"""The key of an object: a literal, or a list of them where the key has several fields."""


@dataclass(frozen=True, slots=True)
class State:
    """`forbidden`: one of `STATES` in the place of a value."""

    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class MapEntry:
    """`"env": "prod"` of a map."""

    key: Literal
    value: SampleValue
    span: Span


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """`{ "env": "prod" }`."""

    entries: tuple[MapEntry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RecordLiteral:
    """`{ port: 22, cidr: absent }`: the parts of a record."""

    fields: tuple[SampleField, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SampleList:
    """`[{ port: 22 }, { port: 80 }]`: a list of records."""

    items: tuple[MapLiteral | RecordLiteral, ...]
    span: Span


SampleValue = Expr | State | MapLiteral | RecordLiteral | SampleList


@dataclass(frozen=True, slots=True)
class SampleField:
    """`owner: absent` of a row."""

    name: Name
    value: SampleValue
    span: Span


@dataclass(frozen=True, slots=True)
class Sample:
    """`{ id: "a1", owner: absent }`: what a test says of one object."""

    fields: tuple[SampleField, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Defaults:
    """`test defaults accounts { … }`: what the rows of every test say where they say nothing themselves."""

    inventory: Name
    sample: Sample
    span: Span


@dataclass(frozen=True, slots=True)
class More:
    """`and 40 more { active: false }`: as many objects besides, with made-up keys. `span` is that of the number."""

    count: int
    sample: Sample | None
    span: Span


@dataclass(frozen=True, slots=True)
class GivenRows:
    """`given people partial RESULT_LIMIT_REACHED stale 26h [ … ] and 40 more and 2 more { … }`.

    `stale` (microseconds) is how old the answer is; `previously` how many rows the reading before it had. Without
    `reasons` the answer is complete.
    """

    inventory: Name
    reasons: tuple[Name, ...]
    warnings: tuple[Name, ...]
    stale: int | None
    previously: int | None
    samples: tuple[Sample, ...]
    more: tuple[More, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class GivenFailed:
    """`given people failed SOURCE_UNAVAILABLE`: there was no answer at all."""

    inventory: Name
    reason: Name
    span: Span


@dataclass(frozen=True, slots=True)
class GivenParam:
    """`given param idle = 30d`."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class GivenCount:
    """`given count hr.headcount = 4212`: what an independent count says."""

    resource: Dotted
    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class GivenList:
    """`given list exemptions = ["svc-billing"]`."""

    name: Name
    keys: tuple[Key, ...]
    span: Span


Given = GivenRows | GivenFailed | GivenParam | GivenCount | GivenList


@dataclass(frozen=True, slots=True)
class Changed:
    """`before act change accounts "a1" { owner: "p1" }`; `recreate`: another object under the same key."""

    inventory: Name
    key: Key
    sample: Sample
    recreated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Removed:
    """`before act remove accounts "a1"`."""

    inventory: Name
    key: Key
    span: Span


@dataclass(frozen=True, slots=True)
class Added:
    """`before act add people { … }`."""

    inventory: Name
    sample: Sample
    span: Span


@dataclass(frozen=True, slots=True)
class Exempted:
    """`before act exempt "a1" in exemptions`."""

    key: Key
    list_name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Waited:
    """`before act wait 4h`, in microseconds."""

    duration: int
    span: Span


Before = Changed | Removed | Added | Exempted | Waited


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key, and a part of the reason that must be given for it, if one must."""

    key: Key
    because: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectPlan:
    """`expect plan ["a1"]`: exactly these objects are proposed; `expect plan empty`: none."""

    keys: tuple[Key, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectCount:
    """`expect count 3`: so many objects are proposed."""

    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectRefused:
    """`expect refused RESULT_LIMIT_REACHED`: the run is refused, for exactly these reasons."""

    codes: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectUndecided:
    """`expect undecided ["a1" because "owner"]`: exactly these objects are undecided."""

    keys: tuple[KnownKey, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectKept:
    """`expect kept ["a1" because "excepted"]`: these objects are kept, among others."""

    keys: tuple[KnownKey, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectOutcome:
    """`expect outcome "a1" = changed`: how the act on one object ends; `code` is the reason of a `refused`."""

    key: Key
    outcome: Name
    code: Name | None
    span: Span


Expectation = ExpectPlan | ExpectCount | ExpectRefused | ExpectUndecided | ExpectKept | ExpectOutcome


@dataclass(frozen=True, slots=True)
class Trial:
    """`test "name" { … }`. `proposal` is named by `of`; `now` in microseconds since the Unix epoch.

    `head_span` is `test "name"`; `name` is the text with its place.
    """

    name: Name
    proposal: Name | None
    now: int | None
    givens: tuple[Given, ...]
    befores: tuple[Before, ...]
    expects: tuple[Expectation, ...]
    span: Span
    head_span: Span
