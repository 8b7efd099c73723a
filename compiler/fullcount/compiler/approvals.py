"""Approval: no act without a decision by named roles that ends by itself (requirement R24)."""

from __future__ import annotations

from typing import TypeVar

from fullcount.compiler import program
from fullcount.compiler.automatic import read_automatic
from fullcount.compiler.names import Names, said_twice
from fullcount.compiler.report import did_you_mean, error, near, warning
from fullcount.compiler.seats import seat
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label

_Decl = TypeVar("_Decl", tree.ApproveDecl, tree.ActDecl)


def check_approvals(names: Names, sink: Diagnostics) -> tuple[program.Approval, ...]:
    """Check every `approve`, and that proposals have both an `approve` and an `act`, or neither."""
    approvals = _by_proposal(names.workflow.approvals, "approve", names, sink)
    acts = _by_proposal(names.workflow.acts, "act", names, sink)
    for proposal, act in acts.items():
        if proposal not in approvals:
            error(
                sink,
                "FC401",
                f"`act {proposal}` has no approval",
                act.proposal.span,
                note="nobody is asked before this runs",
                why="an act runs only on a plan that a person approved",
                help=f'add before it:  approve {proposal} {{ 2 of role "…" not by author, expires after 3d }}',
            )
    for proposal, approval in approvals.items():
        if proposal not in acts:
            error(
                sink,
                "FC406",
                f"`approve {proposal}` has no act",
                approval.proposal.span,
                note="nothing would follow from this approval",
                help=f"add `act {proposal} with …`, or remove the approval to make the proposal a report",
            )
    made = (_approval(approval, names, sink) for approval in approvals.values())
    return tuple(each for each in made if each is not None)


def unique_acts(names: Names) -> list[tree.ActDecl]:
    """Return the first `act` of each proposal that exists; the others are reported with the approvals."""
    first: dict[str, tree.ActDecl] = {}
    for act in names.workflow.acts:
        if act.proposal.text in names.proposals:
            first.setdefault(act.proposal.text, act)
    return list(first.values())


def _by_proposal(declarations: tuple[_Decl, ...], what: str, names: Names, sink: Diagnostics) -> dict[str, _Decl]:
    found: dict[str, _Decl] = {}
    for declaration in declarations:
        name = declaration.proposal
        if name.text in found:
            said_twice(what, name, found[name.text].proposal, sink)
        elif name.text in names.proposals:
            found[name.text] = declaration
        else:
            error(
                sink,
                "FC112",
                f"there is no proposal `{name.text}` in this workflow",
                name.span,
                **near(name.text, name.span, names.proposals, "proposals"),
            )
    return found


def _approval(decl: tree.ApproveDecl, names: Names, sink: Diagnostics) -> program.Approval | None:
    if len(decl.quorums) == 0:
        error(
            sink,
            "FC004",
            f"`approve {decl.proposal.text}` does not say who approves",
            decl.span,
            why="an approval by nobody in particular is no approval",
            help='add `2 of role "…" not by author`',
        )
    quorums = [_quorum(quorum, names, sink) for quorum in decl.quorums]
    _roles_once(decl, sink)
    if decl.expires is None or decl.expires <= 0:
        error(
            sink,
            "FC404",
            f"`approve {decl.proposal.text}` does not say how long an approval lives"
            if decl.expires is None
            else "this approval would be over before it began",
            decl.span,
            why="the world moves on: what was approved last month is not what would be approved tonight",
            help="add `expires after 3d`",
        )
        return None
    if len(quorums) == 0 or None in quorums:
        return None
    automatic = None
    if decl.automatic is not None:
        automatic = read_automatic(decl.automatic, names.catalog, sink)
        if automatic is None:
            return None
    return program.Approval(decl.proposal.text, tuple(q for q in quorums if q is not None), decl.expires, automatic)


def _quorum(decl: tree.QuorumDecl, names: Names, sink: Diagnostics) -> program.Quorum | None:
    roles = names.catalog.roles()
    if decl.count <= 0:
        error(
            sink,
            "FC403",
            f"`{decl.count} of role` is an approval by nobody",
            decl.span,
            why="zero means none at all, never `not needed`",
            help="ask for at least one person",
        )
        return None
    if decl.role not in roles:
        error(
            sink,
            "FC120",
            f"there is no role `{decl.role}` in this workspace",
            decl.span,
            why="nobody could ever give this approval",
            help=did_you_mean(decl.role, roles, "roles"),
        )
        return None
    if names.catalog.people(decl.role) == frozenset():
        error(
            sink,
            "FC409",
            f"there is nobody in the role `{decl.role}`",
            decl.span,
            why="nobody could ever give this approval; an empty role is never everybody",
            help="name its people under `[roles]` in fullcount.toml",
        )
        return None
    return program.Quorum(decl.count, decl.role, decl.not_by_author)


def _roles_once(decl: tree.ApproveDecl, sink: Diagnostics) -> None:
    first: dict[str, tree.QuorumDecl] = {}
    for quorum in decl.quorums:
        if quorum.role in first:
            error(
                sink,
                "FC407",
                f"role `{quorum.role}` is asked for twice",
                quorum.span,
                labels=(Label(first[quorum.role].span, "first asked for here"),),
                why="it is not clear whether the same person may count for both",
                help="say once how many people of the role must agree",
            )
        first.setdefault(quorum.role, quorum)


def warn_too_few_people(names: Names, authors: frozenset[str], sink: Diagnostics) -> None:
    """Warn of an approval that the people of its roles could never give, one person counting once.

    `authors` are taken out where the clause bars them. A role whose people nobody knows is left alone.
    """
    for decl in names.workflow.approvals:
        people = {quorum.role: names.catalog.people(quorum.role) for quorum in decl.quorums}
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
        warning(
            sink,
            "FC408",
            f"`{asked}` can't be reached: {_how_many(found)} could fill it{without}",
            decl.quorums[0].span.to(decl.quorums[-1].span),
            why="every plan would wait for an approval that nobody can complete",
            help="add people to the role under `[roles]` in fullcount.toml, or ask for fewer",
        )


def _how_many(people: int) -> str:
    return "nobody" if people == 0 else "only 1 person" if people == 1 else f"only {people} people"


def warn_one_approver(
    act: program.Act, approvals: tuple[program.Approval, ...], names: Names, sink: Diagnostics
) -> None:
    """Warn of an act that can't be taken back and that one person alone may approve."""
    decl = next(each for each in names.workflow.acts if each.proposal.text == act.proposal)
    asked = sum(q.count for a in approvals if a.proposal == act.proposal for q in a.quorums)
    if act.reversible or asked != 1:
        return
    name, final = next((n, call) for n, call in act.calls.items() if n != program.RELEASE and not call.reversible)
    step = next((each for each in decl.steps if each.label.text == name), None)
    place = decl.operation if step is None else step.operation
    said = f"`{final.operation}`" if step is None else f"step `{step.label.text}`"
    warning(
        sink,
        "FC405",
        f"{said} can't be taken back here, and one person alone may approve it",
        decl.span if place is None else place.span,
        note="no `undo`",
        why="a mistake of one person would then be final",
        help="add an `undo` if the operation has one, or ask for two people",
    )
