"""What the compiler may know of a source: its declared resources and operations.

Connectors declare these values (each fact about a connector stands in one declaration), the workspace's configuration
completes them, and the compiler reads them through the `Catalog` protocol. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import FieldType
from fullcount.dsl.dataclass import dataclass, field


class Visibility(StrEnum):
    """What a connector can say of objects that its identity may not see."""

    VOUCHED = "vouched"
    """The connector checks at each read that nothing was hidden, and says so or reports a restriction."""
    UNKNOWN = "unknown"
    """The source hides objects without a word: only an `expect` canary can show that visibility was lost."""


class Effect(StrEnum):
    """What an operation does to its object."""

    UPDATE = "update"
    DELETE = "delete"
    CREATE = "create"


LEAST_KEY_LIFE = 24 * 3_600 * 10**6
"""How long a target must know a key again, at least, for a run to rest on it, in microseconds (R31)."""


class Idempotency(StrEnum):
    """What makes a repeated call harmless."""

    NATURAL = "natural"
    KEY = "key"
    PRECONDITION = "precondition"
    NONE = "none"


class Closure(StrEnum):
    """What is known of all else that goes, or is changed, when an object is deleted."""

    NONE = "none"
    """Nothing does: the source's declaration says so."""
    COMPUTED = "computed"
    """The connector looks it up for each object, when the plan is made and in the very state that the act changes."""
    UNKNOWN = "unknown"
    """Nobody has said."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation. `key` is set when it must be given that key field of the object acted on.

    `among`: the only texts that it may be given, written out; empty: any value of its type.
    """

    type: FieldType
    required: bool = True
    key: str | None = None
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One narrow, named write on one object."""

    name: str
    parameters: Mapping[str, Parameter]
    effect: Effect
    idempotency: Idempotency
    reversible: bool
    """Whether `undo` can bring the object back to what it was."""
    undoes: frozenset[str] = frozenset()
    """Operations of the same resource that this one can take back."""
    closure: Closure = Closure.UNKNOWN
    """What else goes with the object; asked of deletions alone."""
    backup: bool = False
    """Whether the connector can store the whole object right before this operation."""
    restores: bool = False
    """Whether it brings back an object whole, from a backup: only an undo calls it, with nothing but the key."""
    escalates: bool = False
    """Whether doing it again does more than doing it once: a second delete that destroys. It is never repeated."""
    key_life: int | None = None
    """How long the target knows an idempotency key again, in microseconds; None: nobody says so."""
    sets_anew: frozenset[str] = frozenset()
    """Fields that an object restored by it does not have back: the source sets them of itself. Neither compared nor
    relied upon."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """What an update sets whatever it is given: by field, the value as a reader of the source would be handed it."""
    given: Mapping[str, str] = field(default_factory=dict)
    """The fields that an update sets to a parameter of another name; one that is named like a field sets that field."""
    sets_more: bool = False
    """Whether an update may set fields that nothing of this names: nobody can tell its doing from somebody else's."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of object that a source lists.

    `lookup_fields`: fields by which the source can be asked for the matching objects at once, so that absence can be
    confirmed at the moment of the act. `counted`: whether `count agrees with` may name this resource. `ids`: the fields
    that hold keys of other resources, with the path of that resource (`hr.employees`) or of its key field.
    """

    source: str
    name: str
    fields: Mapping[str, FieldType]
    key: tuple[str, ...]
    consistency: Consistency
    visibility: Visibility
    incarnation: str | None = None
    version: str | None = None
    lookup_fields: frozenset[str] = frozenset()
    operations: Mapping[str, Operation] = field(default_factory=dict)
    counted: bool = False
    partitions: Mapping[str, FieldType] = field(default_factory=dict)
    """The parts that the source is read in, one scan each: `region`, `account`. Such a source has no other listing."""
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UndoQuorum:
    """So many people of a role who must approve an undo, by the workspace."""

    count: int
    role: str
    not_by_author: bool = True


class Catalog(Protocol):
    """The sources of a workspace, as far as a compiler needs them."""

    def sources(self) -> Sequence[str]:
        """Return the names of the configured sources."""
        ...

    def resources(self, source: str) -> Mapping[str, Resource]:
        """Return the declared resources of a source by name; empty for a source that is not configured."""
        ...

    def exemption_lists(self) -> Sequence[str]:
        """Return the names of the configured exemption lists."""
        ...

    def roles(self) -> Sequence[str]:
        """Return the names of the configured roles."""
        ...

    def automatic_approval(self) -> int:
        """Return how many objects a plan may have at most to be approved automatically; 0: no plan is."""
        ...

    def irreversible_approvals(self) -> int:
        """Return how many people at least must approve an act that can't be taken back; 1: as many as any other."""
        ...

    def undo_approvals(self) -> Sequence[UndoQuorum]:
        """Return who must approve an undo of any workflow; empty: as many of the same roles as its act asks for."""
        ...

    def notifiers(self) -> Sequence[str]:
        """Return the names of the configured notifiers."""
        ...

    def people(self, role: str) -> frozenset[str] | None:
        """Return who is in a role, each person once, as `uid:1000` where that is known; None when nobody can tell."""
        ...


@dataclass(frozen=True, slots=True)
class StaticCatalog:
    """A catalog made of values: what tests use and what a workspace's configuration becomes."""

    by_source: Mapping[str, Mapping[str, Resource]]
    lists: tuple[str, ...] = ()
    role_names: tuple[str, ...] = ()
    automatic: int = 0
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notifier_names: tuple[str, ...] = ()
    irreversible: int = 1
    undo: tuple[UndoQuorum, ...] = ()

    def sources(self) -> Sequence[str]:
        """See `Catalog.sources`."""
        return tuple(self.by_source)

    def resources(self, source: str) -> Mapping[str, Resource]:
        """See `Catalog.resources`."""
        return self.by_source.get(source, {})

    def exemption_lists(self) -> Sequence[str]:
        """See `Catalog.exemption_lists`."""
        return self.lists

    def roles(self) -> Sequence[str]:
        """See `Catalog.roles`."""
        return self.role_names

    def automatic_approval(self) -> int:
        """See `Catalog.automatic_approval`."""
        return self.automatic

    def irreversible_approvals(self) -> int:
        """See `Catalog.irreversible_approvals`."""
        return self.irreversible

    def undo_approvals(self) -> Sequence[UndoQuorum]:
        """See `Catalog.undo_approvals`."""
        return self.undo

    def notifiers(self) -> Sequence[str]:
        """See `Catalog.notifiers`."""
        return self.notifier_names

    def people(self, role: str) -> frozenset[str] | None:
        """See `Catalog.people`."""
        return self.members.get(role)
