"""What `verify` promises of each inventory, as claims.

`complete` promises three things at once: every object of the scope, in one consistent reading, with nothing hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from fullcount.compiler.claims import (
    Agrees,
    Change,
    Claim,
    Complete,
    Consistency,
    Fresh,
    Rows,
    Snapshot,
    Visible,
)
from fullcount.compiler.names import BoundInventory, Names, said_twice
from fullcount.compiler.partitions import consistency_of
from fullcount.compiler.report import error
from fullcount.compiler.resources import find_counted
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label


@dataclass(frozen=True, slots=True)
class Promise:
    """The claims of one `verify`, with the declaration they come from."""

    decl: tree.VerifyDecl
    claims: tuple[Claim, ...]


def covered(required: Claim, promised: tuple[Claim, ...]) -> bool:
    """Whether promised claims cover a required one; `Fresh(None)` is covered by any stated age."""
    match required:
        case Snapshot(consistency=wanted):
            return any(isinstance(claim, Snapshot) and claim.consistency.at_least(wanted) for claim in promised)
        case Fresh(max_age=None):
            return any(isinstance(claim, Fresh) and claim.max_age is not None for claim in promised)
        case _:
            return required in promised


@dataclass(slots=True)
class Promises:
    """The promise of each inventory that has one; `failed` are those whose clause was reported."""

    by_inventory: dict[str, Promise] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def claims(self) -> Mapping[str, tuple[Claim, ...]]:
        """The claims by inventory, as the program has them."""
        return {name: promise.claims for name, promise in self.by_inventory.items()}


def read_promises(names: Names, sink: Diagnostics) -> Promises:
    """Check every `verify` clause and turn it into claims."""
    promises = Promises()
    first: dict[str, tree.Name] = {}
    for decl in names.workflow.verifies:
        name = decl.inventory
        if name.text in first:
            said_twice("verify", name, first[name.text], sink)
            continue
        first[name.text] = name
        if name.text not in names.inventories:
            names.inventory(name, sink)
            continue
        claims = _claims(decl, names.inventories[name.text], names, sink)
        if claims is None:
            promises.failed.add(name.text)
        else:
            promises.by_inventory[name.text] = Promise(decl, claims)
    return promises


def _claims(
    decl: tree.VerifyDecl, bound: BoundInventory | None, names: Names, sink: Diagnostics
) -> tuple[Claim, ...] | None:
    said: dict[str, tree.ClaimDecl] = {}
    claims: list[Claim] = []
    failed = False
    for claim in decl.claims:
        if claim.kind in said:
            failed = True
            error(
                sink,
                "FC003",
                f"`{claim.kind}` is said twice of `{decl.inventory.text}`",
                claim.span,
                labels=(Label(said[claim.kind].span, "first said here"),),
                why="with two values nobody can say which one holds",
                help="keep the stricter one",
            )
            continue
        said[claim.kind] = claim
        made = _claim(claim, bound, names, sink)
        if made is None:
            failed = True
        else:
            claims.extend(made)
    return None if failed else _strongest(claims)


def _strongest(claims: list[Claim]) -> tuple[Claim, ...]:
    """Return the claims once each; of several snapshots only the strongest."""
    snapshots = [claim for claim in claims if isinstance(claim, Snapshot)]
    best = max(snapshots, key=lambda s: s.consistency is Consistency.PINNED, default=None)
    kept = [claim for claim in claims if not isinstance(claim, Snapshot) or claim == best]
    return tuple(dict.fromkeys(kept))


def _claim(
    claim: tree.ClaimDecl, bound: BoundInventory | None, names: Names, sink: Diagnostics
) -> tuple[Claim, ...] | None:
    match claim.kind, claim.value:
        case "complete", _:
            return (Complete(), Snapshot(), Visible())
        case "visibility", _:
            return (Visible(),)
        case "snapshot", str(value):
            return _snapshot(claim, Consistency(value), bound, sink)
        case "fresh", int(age) if age > 0:
            return (Fresh(age),)
        case "rows", int(minimum) if minimum > 0:
            return (Rows(minimum),)
        case "change", Decimal() as percent if percent > 0:
            return (Change(percent),)
        case "count", _ if claim.agrees is not None:
            return _agrees(claim.agrees, names, sink)
        case kind, _:
            _meaningless(kind, claim, sink)
            return None


def _snapshot(
    claim: tree.ClaimDecl, wanted: Consistency, bound: BoundInventory | None, sink: Diagnostics
) -> tuple[Claim, ...] | None:
    if bound is None or consistency_of(bound.decl, bound.resource).at_least(wanted):
        return (Snapshot(wanted),)
    resource = bound.resource
    if resource.consistency.at_least(wanted):
        error(
            sink,
            "FC304",
            f"`{bound.name}` is read in parts, and these are not one `{wanted}` snapshot",
            claim.span,
            labels=(Label(bound.decl.across[0].span, "read in parts"),),
            why="each part is one state of its own, and no instant is common to all of them",
            help="write `snapshot interval`, or leave the claim out: `complete` asks for that much in any case",
        )
        return None
    error(
        sink,
        "FC304",
        f"`{resource.source}.{resource.name}` can't give a `{wanted}` snapshot, only `{resource.consistency}`",
        claim.span,
        labels=(Label(bound.decl.resource.span, "read here"),),
        why=_GUARANTEE[resource.consistency],
        help="remove the claim, or read from a source that pins its snapshots",
    )
    return None


_GUARANTEE = {
    Consistency.PINNED: "all pages come from one state of the collection",
    Consistency.INTERVAL: "its pages hold every object that was there all through the reading, not one instant",
    Consistency.UNSTABLE: "its pages shift while they are read, so an object can slip between two of them",
}


def _agrees(path: tree.Dotted, names: Names, sink: Diagnostics) -> tuple[Claim, ...] | None:
    why = "a count taken from the same listing agrees with it even when both were cut short"
    resource = find_counted(path, names.catalog, sink, why, "use `rows at least` instead")
    return None if resource is None else (Agrees(resource.source, resource.name),)


def _meaningless(kind: str, claim: tree.ClaimDecl, sink: Diagnostics) -> None:
    advice = {
        "fresh": ("nothing is ever read and used in the same instant", "write `fresh within 1h`"),
        "rows": ("every reading has that many rows, so this proves nothing", "write `rows at least 1` or more"),
        "change": ("no reading could ever differ from the one before", "write `change at most 20%`"),
    }
    why, help_text = advice.get(kind, ("", "remove the claim"))
    error(sink, "FC308", f"`{kind}` is given a value that means nothing", claim.span, why=why, help=help_text)
