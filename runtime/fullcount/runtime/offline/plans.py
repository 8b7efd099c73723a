"""A plan's document by itself: its digest, the Merkle tree over its rows, its sums and its caps.

The tree is that of RFC 6962: a leaf is `SHA-256(00 ‖ kind ‖ 00 ‖ canonical JSON)`, a node `SHA-256(01 ‖ left ‖ right)`,
over the leaves in the order of their hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fullcount.runtime.offline.canonical import NotCanonical, canonical, sha256

LEFT_OUT: Final = frozenset({
    "plan_id", "run_id", "created_at", "now", "created_by", "digest", "envelopes", "measurements", "clocks",
    "patterns", "sensitivity", "since", "rows", "undecided", "kept", "merkle_root",
})  # fmt: skip
"""The parts of a plan that its digest leaves out, or covers by the Merkle root."""

ROW_LEFT_OUT: Final = frozenset({"shown", "risk", "notes"})
_DOMAIN: Final = b"fullcount plan 1\x00"


def plan_wrong(plan: dict[str, Any]) -> list[str]:
    """Return what does not fit in a plan's document; empty when digest, root, sums and caps all hold."""
    try:
        root = _hex_root(plan)
        wrong = [] if plan["merkle_root"] == root else ["the rows do not fit the Merkle root of the plan"]
        if plan["digest"] != _digest(plan, root):
            wrong.append("the content does not fit the digest of the plan")
        return wrong + _sums_wrong(plan) + _caps_wrong(plan)
    except (KeyError, TypeError, AttributeError, NotCanonical) as error:
        return [f"it is not a plan: {type(error).__name__} {error}"]


def row_proof(plan: dict[str, Any], row: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Return the proof that a row is in the tree: its place, the size of the tree, the hashes beside its path."""
    leaves = sorted(_leaves(plan))
    place = leaves.index(_row_leaf(row))
    return place, len(leaves), [each.hex() for each in _path(place, leaves)]


def row_proven(root: str, row: dict[str, Any], place: int, size: int, path: Sequence[str]) -> bool:
    """Whether a row is part of the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= place < size:
        return False
    last, found = size - 1, _row_leaf(row)
    for text in path:
        if last == 0:
            return False
        beside = bytes.fromhex(text)
        if place % 2 == 1 or place == last:
            found = _node(beside, found)
            while place % 2 == 0 and place != 0:
                place, last = place >> 1, last >> 1
        else:
            found = _node(found, beside)
        place, last = place >> 1, last >> 1
    return last == 0 and f"sha256:{found.hex()}" == root


def _digest(plan: dict[str, Any], root: str) -> str:
    left_out = LEFT_OUT | ({"steps"} if plan["steps"] is None else set())
    body = {name: part for name, part in plan.items() if name not in left_out} | {"merkle_root": root}
    return sha256(_DOMAIN + canonical(body).encode())


def _hex_root(plan: dict[str, Any]) -> str:
    return f"sha256:{_root(sorted(_leaves(plan))).hex()}"


def _leaves(plan: dict[str, Any]) -> list[bytes]:
    return [
        *map(_row_leaf, plan["rows"]),
        *(_leaf(b"undecided", _unless_none(row, "step")) for row in plan["undecided"]),
        *(_leaf(b"kept", group) for group in plan["kept"]),
    ]


def _row_leaf(row: dict[str, Any]) -> bytes:
    said = {name: part for name, part in row.items() if name not in ROW_LEFT_OUT}
    return _leaf(b"row", _unless_none(said, "step", "closure"))


def _unless_none(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """A part that a plan can be without was never said of the plans that are without it."""
    return {name: part for name, part in row.items() if name not in names or part is not None}


def _leaf(kind: bytes, value: Any) -> bytes:
    return hashlib.sha256(b"\x00" + kind + b"\x00" + canonical(value).encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) < 2:
        return leaves[0] if len(leaves) == 1 else hashlib.sha256(b"").digest()
    at = _split(len(leaves))
    return _node(_root(leaves[:at]), _root(leaves[at:]))


def _path(place: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    at = _split(len(leaves))
    if place < at:
        return [*_path(place, leaves[:at]), _root(leaves[at:])]
    return [*_path(place - at, leaves[at:]), _root(leaves[:at])]


def _sums_wrong(plan: dict[str, Any]) -> list[str]:
    sums, wrong = plan["sums"], list[str]()
    if sums["inventory"] != sums["candidates"] + sums["kept"] + sums["undecided"]:
        wrong.append(f"the sums do not hold: {sums['inventory']} objects are not candidates + kept + undecided")
    kept = sum(group["count"] for group in plan["kept"])
    for name, found in (("candidates", len(plan["rows"])), ("undecided", len(plan["undecided"])), ("kept", kept)):
        if sums[name] != found:
            wrong.append(f"the sums speak of {sums[name]} {name}, the plan lists {found}")
    keys = [canonical(row["key"]) for row in (*plan["rows"], *plan["undecided"])]
    if len(set(keys)) != len(keys):
        wrong.append("an object is listed twice")
    return wrong


def _caps_wrong(plan: dict[str, Any]) -> list[str]:
    caps, sums = plan["caps"], plan["sums"]
    limits = [sums["inventory"]] if caps["count"] is None else [sums["inventory"], caps["count"]]
    if caps["percent"] is not None:
        try:
            share = Decimal(caps["percent"].removesuffix("%"))
        except InvalidOperation:
            share = Decimal("NaN")
        if not share.is_finite():
            return [f"the limit of `{caps['percent']}` is not a percentage"]
        limits.append(int(share * sums["inventory"] // 100))
    effective = max(0, min(limits))
    if caps["effective"] != effective:
        return [f"the plan names a cap of {caps['effective']}, its limits give {effective}"]
    if caps["exceeded"] != (sums["candidates"] > effective):
        return [f"the plan says wrongly whether it is over its cap of {effective}"]
    return []
