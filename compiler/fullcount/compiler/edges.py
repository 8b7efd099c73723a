"""What an edge of the graph requires: typed, serialisable, and closed to what it does not know.

A requirement says which evidence the tail must have produced before the head may start. The runtime compares; it never
decides what is required.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fullcount.compiler import claims
from fullcount.compiler.claims import Consistency, Direction
from fullcount.compiler.program import Event


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CompleteClaim(_Closed):
    """See `claims.Complete`."""

    kind: Literal["complete"] = "complete"

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Complete()

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return "complete"


class SnapshotClaim(_Closed):
    """See `claims.Snapshot`."""

    kind: Literal["snapshot"] = "snapshot"
    consistency: Consistency

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Snapshot(self.consistency)

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return f"snapshot {self.consistency}"


class VisibleClaim(_Closed):
    """See `claims.Visible`."""

    kind: Literal["visible"] = "visible"

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Visible()

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return "visibility all"


class FreshClaim(_Closed):
    """See `claims.Fresh`; in a requirement the age is always stated. Microseconds."""

    kind: Literal["fresh"] = "fresh"
    max_age: int = Field(gt=0)

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Fresh(self.max_age)

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return f"fresh within {duration_text(self.max_age)}"


class RowsClaim(_Closed):
    """See `claims.Rows`."""

    kind: Literal["rows"] = "rows"
    minimum: int

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Rows(self.minimum)

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return f"rows at least {self.minimum}"


class ChangeClaim(_Closed):
    """See `claims.Change`."""

    kind: Literal["change"] = "change"
    percent: Decimal

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Change(self.percent)

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return f"change at most {self.percent}%"


class AgreesClaim(_Closed):
    """See `claims.Agrees`."""

    kind: Literal["agrees"] = "agrees"
    source: str
    resource: str

    def value(self) -> claims.Claim:
        """The claim as the program has it."""
        return claims.Agrees(self.source, self.resource)

    def text(self) -> str:
        """The claim in the words of `verify`."""
        return f"count agrees with {self.source}.{self.resource}"


ClaimModel = Annotated[
    CompleteClaim | SnapshotClaim | VisibleClaim | FreshClaim | RowsClaim | ChangeClaim | AgreesClaim,
    Field(discriminator="kind"),
]


def claim_model(claim: claims.Claim) -> ClaimModel:
    """Return a claim of a program in its serialisable form."""
    match claim:
        case claims.Complete():
            return CompleteClaim()
        case claims.Snapshot(consistency=consistency):
            return SnapshotClaim(consistency=consistency)
        case claims.Visible():
            return VisibleClaim()
        case claims.Fresh(max_age=age):
            if age is None:
                raise ValueError("an edge needs a stated age")
            return FreshClaim(max_age=age)
        case claims.Rows(minimum=minimum):
            return RowsClaim(minimum=minimum)
        case claims.Change(percent=percent):
            return ChangeClaim(percent=percent)
        case claims.Agrees(source=source, resource=resource):
            return AgreesClaim(source=source, resource=resource)


class Collected(_Closed):
    """inventory -> verify: the inventory was read, whatever came of it."""

    kind: Literal["collected"] = "collected"
    inventory: str

    def text(self) -> str:
        """The requirement on one line."""
        return "an envelope"


class Evidence(_Closed):
    """verify -> propose, and again verify -> act at the moment of the act: the claims that must hold for the inventory.

    `directions` say how the proposal uses it, `uses` where (file:line:column and the rule's text, for people).
    `max_age` in microseconds: how old the reading may be when the head starts.
    """

    kind: Literal["evidence"] = "evidence"
    inventory: str
    directions: tuple[Direction, ...]
    claims: tuple[ClaimModel, ...]
    max_age: int
    uses: tuple[str, ...] = ()

    def text(self) -> str:
        """The requirement on one line."""
        used = ", ".join(self.directions)
        return f"{used}: " + ", ".join(claim.text() for claim in self.claims)


class Planned(_Closed):
    """propose -> approve: there is a plan, with its digest."""

    kind: Literal["planned"] = "planned"
    proposal: str

    def text(self) -> str:
        """The requirement on one line."""
        return "a plan with its digest"


class QuorumModel(_Closed):
    """How many people of which role."""

    count: int = Field(gt=0)
    role: str
    not_by_author: bool


class AutomaticModel(_Closed):
    """When nobody is asked. A percentage is of the base inventory."""

    count: int = Field(gt=0)
    percent: Decimal | None
    reversible: bool
    words: str

    def holds(self, candidates: int, population: int) -> bool:
        """Whether so many objects of so many may be approved automatically."""
        if not 0 < candidates <= self.count:
            return False
        return self.percent is None or candidates * 100 <= self.percent * population


class Approved(_Closed):
    """approve -> act: the plan with this digest was approved by these people, and the approval has not expired.

    `expires` in microseconds after the approval. With `automatic`, the workflow's own rule may have approved it.
    """

    kind: Literal["approved"] = "approved"
    proposal: str
    quorums: tuple[QuorumModel, ...] = Field(min_length=1)
    expires: int = Field(gt=0)
    automatic: AutomaticModel | None = None

    def text(self) -> str:
        """The requirement on one line."""
        people = [f"{q.count} of {q.role}{' not by author' if q.not_by_author else ''}" for q in self.quorums]
        alone = "" if self.automatic is None else f"automatically when {self.automatic.words}, otherwise "
        return f"approved {alone}by {', '.join(people)}, within {duration_text(self.expires)}"


class Ended(_Closed):
    """propose -> notify, act -> notify: a run ended in one of these ways."""

    kind: Literal["ended"] = "ended"
    events: tuple[Event, ...] = Field(min_length=1)

    def text(self) -> str:
        """The requirement on one line."""
        return f"ended: {' or '.join(self.events)}"


Requirement = Annotated[Collected | Evidence | Planned | Approved | Ended, Field(discriminator="kind")]

_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"))


def duration_text(microseconds: int) -> str:
    """Return a duration as the language writes it, in the largest exact unit; one day is 24 hours."""
    for size, unit in _UNITS:
        if microseconds % size == 0 and (unit != "d" or microseconds > size):
            return f"{microseconds // size}{unit}"
    return f"{microseconds}us"
