"""FC408: an approval that the people of its roles could never give, one person counting once."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.compiler.seats import seat
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each approval with more seats than people who may take them.

    The authors are taken out where the clause bars them. A role whose people nobody knows is left alone.
    """
    authors = subject.authors
    for decl in subject.decl.approvals:
        people = {quorum.role: subject.names.catalog.people(quorum.role) for quorum in decl.quorums}
        seats = [
            (quorum.count, members - authors if quorum.not_by_author else members)
            for quorum in decl.quorums
            if (members := people[quorum.role]) is not None
        ]
        if len(seats) < len(decl.quorums) or any(count <= 0 for count, _ in seats) or frozenset() in people.values():
            continue  # unknown, or wrong in a way that was reported
        everybody = frozenset[str]().union(*(may for _, may in seats))
        wanted, found = sum(count for count, _ in seats), len(seat(seats, everybody))
        if found == wanted:
            continue
        asked = " and ".join(f'{quorum.count} of role "{quorum.role}"' for quorum in decl.quorums)
        barred = sorted(
            {who for q in decl.quorums if q.not_by_author for who in (people[q.role] or frozenset()) & authors}
        )
        without = f", not counting the author {' and '.join(f'`{who}`' for who in barred)}" if barred else ""
        yield finding(
            "FC408",
            f"`{asked}` can't be reached: {_how_many(found)} could fill it{without}",
            decl.quorums[0].span.to(decl.quorums[-1].span),
            why="every plan would wait for an approval that nobody can complete",
            way="add people to the role under `[roles]` in fullcount.toml, or ask for fewer",
        )


def _how_many(people: int) -> str:
    return "nobody" if people == 0 else "only 1 person" if people == 1 else f"only {people} people"
