"""A checked test of a workflow: values that the run time can put a stage up from.

Rows are complete: every field of the inventory has a cell. Spans are for messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fullcount.compiler.source_codes import Reason, WarningCode
from fullcount.compiler.values import Row, Value
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Span

Key = tuple[Value, ...]

DEFAULT_NOW: Final = 1_767_258_000_000_000
"""The instant of a test that does not say `now`, in microseconds: 2026-01-01T09:00:00Z."""


@dataclass(frozen=True, slots=True)
class Filler:
    """So many objects with these cells; their key and incarnation are made up."""

    count: int
    cells: Row


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source answers for one inventory. `stale` in microseconds; `failed`: there was no answer at all.

    Further objects are made up: as many as each filler says, alike in everything but their key.
    `previous_rows`: how many rows the certified reading before this one had; None: there was none.
    """

    rows: tuple[Row, ...] = ()
    more: tuple[Filler, ...] = ()
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[WarningCode, ...] = ()
    stale: int = 0
    previous_rows: int | None = None
    failed: Reason | None = None


@dataclass(frozen=True, slots=True)
class Altered:
    """An object has other values before the act; `recreated`: it is another object under the same key."""

    inventory: str
    key: Key
    cells: Row
    recreated: bool


@dataclass(frozen=True, slots=True)
class Removed:
    """An object is gone before the act."""

    inventory: str
    key: Key


@dataclass(frozen=True, slots=True)
class Added:
    """An object is there before the act that was not there before."""

    inventory: str
    row: Row


@dataclass(frozen=True, slots=True)
class Exempted:
    """An object stands on an exemption list before the act."""

    list_name: str
    key: Key


@dataclass(frozen=True, slots=True)
class Waited:
    """Time passes before the act, in microseconds."""

    duration: int


Before = Altered | Removed | Added | Exempted | Waited


@dataclass(frozen=True, slots=True)
class Planned:
    """Exactly these objects are proposed."""

    keys: tuple[Key, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Counted:
    """So many objects are proposed."""

    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class Refused:
    """The run is refused, for exactly these codes."""

    codes: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """An object, and what must be a part of the reason that is given for it."""

    key: Key
    because: str | None


@dataclass(frozen=True, slots=True)
class Undecided:
    """Exactly these objects are undecided."""

    objects: tuple[Named, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Kept:
    """These objects are kept, among others."""

    objects: tuple[Named, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Ended:
    """The act on one object ends so; `outcome` is one of `trial_tree.OUTCOMES`, `code` the reason of a `refused`."""

    key: Key
    outcome: str
    code: str | None
    span: Span


Expected = Planned | Counted | Refused | Undecided | Kept | Ended


@dataclass(frozen=True, slots=True)
class Trial:
    """One test of one proposal. `now` in microseconds since the epoch; `counts` by source and resource.

    `params` are those that the test gives; the others have their defaults. `span` is `test "name"`.
    """

    name: str
    workflow: str
    proposal: str
    now: int
    listings: Mapping[str, Listing]
    params: Mapping[str, Value]
    counts: Mapping[tuple[str, str], int]
    lists: Mapping[str, tuple[Key, ...]]
    befores: tuple[Before, ...]
    expects: tuple[Expected, ...]
    span: Span

    @property
    def acts(self) -> bool:
        """Whether the test goes on to the act."""
        return len(self.befores) > 0 or any(isinstance(each, Ended) for each in self.expects)
