"""Who may approve a plan, and when enough of them have.

Guarantees: a role's members are user names or `uid:N`, resolved by the system's user database; a name that the system
does not know is a finding, never nobody and never everybody. One person counts once, and for one quorum only, so that
"2 of `iam-admin`, 1 of `security`" always means three people. Authors never count where `not by author` is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullcount.compiler.program import Quorum
from fullcount.compiler.seats import seat
from fullcount.runtime.approve.identity import Person, name_of, uid_of
from fullcount.runtime.approve.signing import UNSIGNED, Signing
from fullcount.runtime.journal.payloads import QuorumRule, SeatTaken
from fullcount.runtime.store.errors import ApprovalRefused
from fullcount.runtime.store.rounds import Tally
from fullcount.runtime.store.views import Vote

_WORKSPACE = "see `[roles]` in fullcount.toml"


@dataclass(frozen=True, slots=True)
class Seat:
    """One quorum with the people who may fill it. `members` are all of the role, `eligible` those who count."""

    quorum: Quorum
    members: frozenset[int]
    eligible: frozenset[int]


@dataclass(frozen=True, slots=True)
class Electorate:
    """The quorums of one plan, with the people resolved, and what is asked for of signatures."""

    seats: tuple[Seat, ...]
    signing: Signing = UNSIGNED

    @property
    def signed(self) -> bool:
        """Whether only signed votes count."""
        return self.signing.required

    def stands(self, vote: Vote, digest: str) -> bool:
        """Whether a vote over a digest counts, as far as signatures go."""
        return self.signing.why_not(vote.plan_id, digest, vote.person, vote.signed) is None

    def unsigned(self, votes: Sequence[Vote], digest: str) -> str | None:
        """Return why a vote does not count for its signature; None while none of them lacks what is asked for."""
        for vote in votes:
            why = self.signing.why_not(vote.plan_id, digest, vote.person, vote.signed)
            if why is not None:
                return why
        return None

    @property
    def rule(self) -> tuple[QuorumRule, ...]:
        """The quorums as the journal records them."""
        return tuple(
            QuorumRule(role=each.quorum.role, count=each.quorum.count, not_by_author=each.quorum.not_by_author)
            for each in self.seats
        )

    def check(self, person: Person) -> None:
        """Raise `ApprovalRefused` unless this person's yes can count for some quorum."""
        if any(person.uid in each.eligible for each in self.seats):
            return
        if any(person.uid in each.members for each in self.seats):
            raise ApprovalRefused(
                "FC702",
                f"{person} wrote the rule or made the plan, and this approval says `not by author`",
                help=f"it can be approved by {self.who()}",
            )
        roles = ", ".join(f"`{each.quorum.role}`" for each in self.seats)
        raise ApprovalRefused(
            "FC701",
            f"{person} is not a member of {roles}",
            help=f"it can be approved by {self.who()}; {_WORKSPACE}",
        )

    def check_member(self, person: Person) -> None:
        """Raise `ApprovalRefused` unless this person has one of the roles, author or not."""
        if not any(person.uid in seat.members for seat in self.seats):
            roles = ", ".join(f"`{seat.quorum.role}`" for seat in self.seats)
            raise ApprovalRefused(
                "FC701", f"{person} is not a member of {roles}, so they can't strike rows either", help=_WORKSPACE
            )

    def tally(self, uids: frozenset[int]) -> Tally:
        """Return whether these people fill every seat of every quorum, and which of them were needed."""
        filled = self.fill(uids)
        wanted = sum(each.quorum.count for each in self.seats)
        seats = tuple(SeatTaken(quorum=index, uid=uid) for (index, _), uid in sorted(filled.items()))
        return Tally(reached=len(filled) == wanted, seats=seats)

    def count(self, people: Sequence[Person]) -> int:
        """Return how many of these are people who may approve, each once."""
        return len({person.uid for person in people if any(person.uid in seat.eligible for seat in self.seats)})

    def no_longer(self, people: Sequence[Person]) -> str | None:
        """Return why the yes of these people no longer fills every seat, and whose is missing; None while it does."""
        if self.tally(frozenset(person.uid for person in people)).reached:
            return None
        wanted = " and ".join(f"{each.quorum.count} of `{each.quorum.role}`" for each in self.seats)
        gone = [person for person in people if not any(person.uid in each.eligible for each in self.seats)]
        if len(gone) == 0:
            names = ", ".join(str(person) for person in people) or "nobody"
            return f"those who approved it ({names}) are no longer {wanted}"
        who = " and ".join(str(person) for person in gone)
        verb = "is" if len(gone) == 1 else "are"
        return f"{who} approved it and {verb} no longer among those who may: {wanted}"

    def fill(self, uids: frozenset[int]) -> dict[tuple[int, int], int]:
        """Seat as many of these people as can be: (quorum, place) to uid."""
        return seat([(each.quorum.count, each.eligible) for each in self.seats], uids)

    def unreachable(self, agreed: frozenset[int]) -> str | None:
        """Return why even all who may approve could not fill every seat, for people; None when they could.

        `agreed` are those who did so already.
        """
        all_ = agreed.union(*(each.eligible for each in self.seats))
        wanted = sum(each.quorum.count for each in self.seats)
        found = len(self.fill(all_))
        if found == wanted:
            return None
        asked = " and ".join(f"{each.quorum.count} of `{each.quorum.role}`" for each in self.seats)
        barred = any(each.members - each.eligible for each in self.seats)
        rest = ", not counting authors" if barred else ""
        people = "nobody" if found == 0 else f"only {found} of the people"
        return f"it asks for {asked}, and {people} in the role can fill that{rest}"

    def who(self, without: frozenset[int] = frozenset()) -> str:
        """Return who can still approve, for people: `any 2 of iam-admin (ana, bo)`."""
        parts = []
        for each in self.seats:
            names = sorted(name_of(uid) for uid in each.eligible - without)
            parts.append(f"any {each.quorum.count} of `{each.quorum.role}` ({', '.join(names) or 'nobody'})")
        return " and ".join(parts)


def resolve(
    quorums: Sequence[Quorum],
    roles: Mapping[str, Sequence[str]],
    authors: Sequence[str],
    signing: Signing = UNSIGNED,
) -> Electorate:
    """Return who may approve. Raises `ApprovalRefused` when that can't be told for certain."""
    if len(quorums) == 0 or any(quorum.count < 1 for quorum in quorums):
        raise ApprovalRefused("FC706", "the workflow does not say who must approve, so nobody can")
    barred = _authors(authors) if any(quorum.not_by_author for quorum in quorums) else frozenset[int]()
    seats = []
    for quorum in quorums:
        members = _members(quorum.role, roles)
        seats.append(Seat(quorum, members, members - barred if quorum.not_by_author else members))
    return Electorate(tuple(seats), signing)


def _members(role: str, roles: Mapping[str, Sequence[str]]) -> frozenset[int]:
    if role not in roles:
        raise ApprovalRefused("FC705", f"the role `{role}` is not configured, so nobody can approve", help=_WORKSPACE)
    found = {member: uid_of(member) for member in roles[role]}
    unknown = [member for member, uid in found.items() if uid is None]
    if unknown:
        raise ApprovalRefused(
            "FC705",
            f"the role `{role}` names {', '.join(f'`{member}`' for member in unknown)}, whom this system does not know",
            help=f"mend the name, remove it, or write it as `uid:1000`; {_WORKSPACE}",
        )
    return frozenset(uid for uid in found.values() if uid is not None)


def _authors(authors: Sequence[str]) -> frozenset[int]:
    found = {author: uid_of(author) for author in authors}
    unknown = [author for author, uid in found.items() if uid is None]
    if unknown or not authors:
        names = ", ".join(f"`{author}`" for author in unknown) or "nobody"
        raise ApprovalRefused(
            "FC702",
            f"the plan names {names} as its author, whom this system does not know, so `not by author` can't be told",
            help="make the plan again on this system",
        )
    return frozenset(uid for uid in found.values() if uid is not None)
