"""FC408: an approval that the people of its roles could never give, one person counting once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullcount.compiler.catalog import UndoQuorum
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.compiler.seats import seat
from fullcount.dsl.diagnostics import Diagnostic
from fullcount.dsl.tree import QuorumDecl

Quorum = QuorumDecl | UndoQuorum


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each approval with more seats than people who may take them, and of that of an undo.

    The authors are taken out where the clause bars them. A role whose people nobody knows is left alone.
    """
    for decl in subject.decl.approvals:
        wrong = _wrong(subject, decl.quorums)
        if wrong is not None:
            yield finding(
                "FC408",
                wrong,
                decl.quorums[0].span.to(decl.quorums[-1].span),
                why="every plan would wait for an approval that nobody can complete",
                way="add people to the role under `[roles]` in fullcount.toml, or ask for fewer",
            )
    wrong = _wrong(subject, subject.names.catalog.undo_approvals())
    if wrong is not None and len(subject.decl.acts) > 0:
        yield finding(
            "FC408",
            f"of an undo, {wrong}",
            subject.decl.acts[0].proposal.span,
            why="`[policy] undo_approvals` in fullcount.toml asks for it, so that nobody could take anything back",
            way="add people to the role under `[roles]`, or ask for fewer there",
        )


def _wrong(subject: Subject, quorums: Sequence[Quorum]) -> str | None:
    """Return in what way these quorums can't be filled; None if they can be, or if nobody knows."""
    authors = subject.authors
    people = {quorum.role: subject.names.catalog.people(quorum.role) for quorum in quorums}
    seats = [
        (quorum.count, members - authors if quorum.not_by_author else members)
        for quorum in quorums
        if (members := people[quorum.role]) is not None
    ]
    if len(seats) < len(quorums) or any(count <= 0 for count, _ in seats) or frozenset() in people.values():
        return None  # unknown, or wrong in a way that was reported
    everybody = frozenset[str]().union(*(may for _, may in seats))
    wanted, found = sum(count for count, _ in seats), len(seat(seats, everybody))
    if found == wanted:
        return None
    asked = " and ".join(f'{quorum.count} of role "{quorum.role}"' for quorum in quorums)
    barred = sorted({who for q in quorums if q.not_by_author for who in (people[q.role] or frozenset()) & authors})
    without = f", not counting the author {' and '.join(f'`{who}`' for who in barred)}" if barred else ""
    return f"`{asked}` can't be reached: {_how_many(found)} could fill it{without}"


def _how_many(people: int) -> str:
    return "nobody" if people == 0 else "only 1 person" if people == 1 else f"only {people} people"
