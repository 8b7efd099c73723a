"""The test bed: a connector over a source whose contents the test knows and may change.

It is the one thing that whoever tests a connector has to give. What is optional and left out makes the checks that
need it skip, by name; `faults` is not optional, because a connector that was never cut short has shown nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias
from unittest import SkipTest

from pydantic import BaseModel

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import Connector
from fullcount.runtime.evidence.codes import Reason

Key: TypeAlias = tuple[Value, ...]
Rows: TypeAlias = Mapping[Key, Mapping[str, Value | None]]
"""By key, the fields that the test knows, as canonical values: timestamps in microseconds since the epoch (see
`fullcount.compiler.values`). None: the source says that there is none."""
Break: TypeAlias = Callable[[], AbstractContextManager[object]]


class Nonconformity(AssertionError):  # noqa: N818 - it is the finding of a check, not an error in it
    """A connector does not keep what its contract asks. The text says what was seen, and what had to be."""


def require(holds: bool, message: str) -> None:
    """Raise `Nonconformity` unless it holds."""
    if not holds:
        raise Nonconformity(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way in which a list goes wrong: `begin(n)` breaks its n-th page, from 1, within a `with` block.

    `reasons`: the codes of which a read must then give one at least. `by_page` False: it breaks the list as a whole.
    """

    name: str
    begin: Callable[[int], AbstractContextManager[object]]
    reasons: frozenset[Reason]
    by_page: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An operation to try: it must change its object's row in `Bed.rows`, or remove it.

    `lose_reply`: within its block a write happens, and its answer is lost.
    """

    operation: str
    arguments: Callable[[Key], Mapping[str, Value]]
    lose_reply: Break | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """A connector, a source with at least five objects, and what a test can do to them behind the connector's back."""

    connector: Connector
    config: BaseModel
    resource: str
    rows: Callable[[], Rows]
    """What is there now."""
    put: Callable[[], Key]
    """Add an object with a key that was never used; return the key."""
    remove: Callable[[Key], object]
    change: Callable[[Key], object]
    """Change a field of an object, as another user of the source would."""
    faults: Sequence[Fault]
    source: str = "under_test"
    page_rows: Sequence[int] = (1, 2, 5_000)
    """Page sizes to ask for. A source that does not let itself be told may disregard them."""
    empty: Callable[[], object] | None = None
    """Remove every object."""
    recreate: Callable[[Key], object] | None = None
    """Remove an object, and make another one of the same key."""
    hang: Break | None = None
    """Within its block the source says nothing."""
    outage: Break | None = None
    """Within its block single reads, look-ups and counts fail."""
    unfit: Break | None = None
    """Within its block the operation of `act` can't be done at all, and a reader that foresees so much can see it."""
    hide: Break | None = None
    """Within its block the reader is not allowed to see some of the objects."""
    nothing_hides: str = ""
    """Why a source whose visibility is vouched for can't hide anything; without it, `hide` is asked for."""
    capped: BaseModel | None = None
    """A configuration with a limit of the connector's own, below the number of objects."""
    act: Act | None = None
    secrets: Sequence[str] = ()
    """What must never be shown: passwords and tokens in the configuration."""

    def declared(self) -> Resource:
        """Return the resource under test. Raises `Nonconformity` if it is not declared."""
        resources = self.connector.resources(self.source, self.config)
        require(self.resource in resources, f"`{self.resource}` is not among the declared resources")
        return resources[self.resource]

    def some_key(self) -> Key:
        """Return the key of an object in the middle."""
        keys = sorted(self.rows(), key=str)
        require(len(keys) >= 5, "the bed has fewer than five objects, too few to tell pages apart")
        return keys[len(keys) // 2]


def needed(given: object, name: str) -> None:
    """Skip a check for which the bed lacks something."""
    if given is None:
        msg = f"the bed has no `{name}`"
        raise SkipTest(msg)
