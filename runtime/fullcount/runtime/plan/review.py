"""What the screens are told besides the plan itself: plain values, filled by whoever knows the store.

The screens (`text.py`, `html.py`) render these and look nothing up, so that a terminal, an offline file and a served
page say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fullcount.runtime.connectors.base import Outcome


@dataclass(frozen=True, slots=True)
class QuorumView:
    """One role's part of an approval: how many are needed, who agreed, who may still."""

    needed: int
    role: str
    given: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    not_by_author: bool = False


@dataclass(frozen=True, slots=True)
class Standstill:
    """How a plan that was begun came to stand still. `cut_off`: its run did not come to an end of its own."""

    cut_off: bool
    why: str


@dataclass(frozen=True, slots=True)
class ReviewStatus:
    """Where a plan stands. `state` is the store's word for it; `report` is a plan without an act.

    `authors` are the names of those who never count; `viewer_is_author` whether the person looking is one of them.
    """

    state: str
    quorums: tuple[QuorumView, ...] = ()
    authors: tuple[str, ...] = ()
    viewer_is_author: bool = False
    expires_at: datetime | None = None
    approved_at: datetime | None = None
    automatic: str | None = None
    """The workflow's own rule, where it approved the plan and nobody was asked."""
    asked_because: str | None = None
    """Why that rule does not approve the plan, where there is one."""
    broken: str | None = None
    """Why an approval that was complete no longer holds."""
    unreachable: str | None = None
    """Why it can't be completed as the roles are now, whoever agrees."""
    resumes_at: datetime | None = None
    """From when on an apply of it that is paused can be gone on with."""
    taken_back: int = 0
    """How many of its objects undos took back."""
    standstill: Standstill | None = None
    """Why nobody is at work on it although it was begun; None: somebody is, or it was not."""

    @property
    def needed(self) -> int:
        """How many approvals the plan needs in all."""
        return sum(quorum.needed for quorum in self.quorums)

    @property
    def given(self) -> int:
        """How many of these it has; one role's surplus never stands in for another's."""
        return sum(min(quorum.needed, len(quorum.given)) for quorum in self.quorums)


@dataclass(frozen=True, slots=True)
class AppliedView:
    """How an apply or undo ended. `changed` splits the outcome `changed` by what had changed."""

    verb: str
    """`done`, or `undone`."""
    plan_id: str
    planned: int
    counts: Mapping[Outcome, int]
    changed: Mapping[str, int] = field(default_factory=dict)
    stopped_by: str | None = None
    stopped_code: str | None = None
    """The code of what stopped it: `fullcount explain` tells more of it."""
    next_steps: tuple[str, ...] = ()
    resumes: str | None = None
    """When it can be gone on with, if it is only paused."""
    undo_command: str | None = None
    taken_back: int = 0
    """How many of the objects that are done undos took back."""
    journal_head: str | None = None
    journal_verified: bool | None = None
    attention: tuple[tuple[str, Outcome, str], ...] = ()
    """Objects that a person should look at: key, outcome, what happened."""
    moved: tuple[tuple[str, str], ...] = ()
    """Objects that were acted on although they had changed since the plan: key, what changed. The first few."""
    moved_in_all: int = 0

    @property
    def accounted(self) -> int:
        """How many planned objects have an outcome."""
        return sum(self.counts.values())

    @property
    def sums_hold(self) -> bool:
        """Whether each planned object has exactly one outcome."""
        return self.accounted == self.planned
