"""Approval: no act without a decision by named roles that ends by itself (requirement R24)."""

from __future__ import annotations

from typing import TypeVar

from fullcount.compiler import program
from fullcount.compiler.automatic import read_automatic
from fullcount.compiler.names import Names, said_twice
from fullcount.compiler.report import did_you_mean, error, near
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label

_Decl = TypeVar("_Decl", tree.ApproveDecl, tree.ActDecl)


def check_approvals(names: Names, sink: Diagnostics) -> tuple[program.Approval, ...]:
    """Check every `approve`, and that proposals have both an `approve` and an `act`, or neither."""
    approvals = _by_proposal(names.workflow.approvals, "approve", names, sink)
    acts = _by_proposal(names.workflow.acts, "act", names, sink)
    # an `approve` or `act` of a proposal that is not there was meant for one of these, and is reported already
    named = [each.proposal.text for each in names.workflow.approvals] + [
        each.proposal.text for each in names.workflow.acts
    ]
    lost = any(each not in names.proposals for each in named)
    for proposal, act in acts.items():
        if proposal not in approvals and not lost:
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
        if proposal not in acts and not lost:
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
            if isinstance(declaration, tree.ApproveDecl):
                _approval(declaration, names, sink)  # whatever else is wrong in it is said in the same run
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


def check_irreversible(act: program.Act, names: Names, sink: Diagnostics) -> None:
    """Report an act that can't be taken back and that fewer people approve than the workspace asks for then."""
    needed = names.catalog.irreversible_approvals()
    decl = next((each for each in names.workflow.approvals if each.proposal.text == act.proposal), None)
    if decl is None or len(act.final) == 0:
        return
    asked = sum(quorum.count for quorum in decl.quorums)  # nobody counts for two quorums
    if asked >= needed:
        return
    error(
        sink,
        "FC415",
        f"`{act.final[0].operation}` can't be taken back here, and {asked} may approve it",
        decl.span,
        note=f"this workspace asks for {needed}",
        why="a mistake is final, so that more people have to look",
        help=f"ask for {needed} people, or take it back: by an `undo`, or a `backup` where the operation has one;"
        " the number stands in `[policy] irreversible_approvals` in fullcount.toml",
    )


def check_undo_approvals(names: Names, sink: Diagnostics) -> None:
    """Report roles of the workspace's own quorums for an undo that are not there or empty: nothing could be undone.

    It is said at the act that could not be taken back; a workflow without one is not concerned.
    """
    acts = unique_acts(names)
    if len(acts) == 0:
        return
    at, roles = acts[0].proposal.span, names.catalog.roles()
    for role in dict.fromkeys(quorum.role for quorum in names.catalog.undo_approvals()):
        why = "nobody could ever approve an undo, of this workflow or any other"
        note = "asked for by `[policy] undo_approvals` in fullcount.toml"
        if role not in roles:
            message = f"an undo is to be approved by the role `{role}`, which is not in this workspace"
            near_by = did_you_mean(role, roles, "roles")
            error(sink, "FC120", message, at, note=note, why=why, help=near_by or "name a role of `[roles]` there")
        elif names.catalog.people(role) == frozenset():
            message = f"an undo is to be approved by the role `{role}`, and there is nobody in it"
            error(sink, "FC409", message, at, note=note, why=why, help="name its people under `[roles]`")


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
