"""What an approval is bound to: the plan's digest, and the Merkle tree over what the plan decided.

Guarantees: the digest covers every fact of the plan (rule, program, parameters, versions, target, act, authors,
certificates, caps, sums, and by the Merkle root every row, undecided object and kept group), and is the same for any
order of the rows. It must never depend on a clock or an identifier, so it leaves out `CLOCK_PARTS` and what is only
said *about* the facts at that instant (`ROW_COMMENTARY`, `COMMENTARY`: how near a threshold is, what another threshold
would select, what a pattern nearly matched). Those are covered by the hash of the whole stored document, which the
journal records.

The tree is that of RFC 6962: a leaf is `SHA-256(00 ‖ kind ‖ 00 ‖ canonical JSON)`, a node `SHA-256(01 ‖ left ‖ right)`,
so that no leaf can pass for a node, nor a row for an undecided object.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from decimal import InvalidOperation
from typing import Any, Final

import rfc8785
from pydantic import BaseModel

from fullcount.runtime.evidence.envelope import Wire
from fullcount.runtime.plan.caps import effective_cap, written_percent
from fullcount.runtime.plan.document import (
    CLOCK_PARTS,
    STRUCK,
    WAITS,
    KeptGroup,
    PlanDocument,
    PlanRow,
    UndecidedRow,
)

COMMENTARY: Final = frozenset({"patterns", "sensitivity", "since"})
"""Top-level parts that say something about the facts at one instant."""

ROW_COMMENTARY: Final = frozenset({"shown", "risk", "notes"})
"""The same within a row."""

_USUALLY: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)

_IN_TREE: Final = frozenset({"rows", "undecided", "kept", "merkle_root"})
_PREFIX: Final = "sha256:"
_PLAN_DOMAIN: Final = b"fullcount plan 1\x00"
_SAFE_INTEGER: Final = 2**53 - 1
_TAG: Final = "$int"


class CanonicalError(ValueError):
    """A value has no canonical JSON: a number that isn't finite, text that isn't Unicode, a foreign type."""


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of a wire format or a JSON value. Raises `CanonicalError`.

    RFC 8785 knows numbers up to 2^53 only; an integer beyond is written as `{"$int": "9007199254740993"}`, and a key
    that could be taken for this tag gets one more `$`, so that two values never have the same bytes.
    """
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    try:
        return _written(plain).encode()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        msg = f"this value can't be written in canonical form: {error}"
        raise CanonicalError(msg) from error


def _written(value: Any) -> str:
    """Return the text: what is usual in one go, what is not part by part, so that one odd number costs no more."""
    if _usual(value):
        # For such values the two agree byte for byte (a property test holds that), and this one is many times
        # faster; a plan has one leaf for each object.
        return _USUALLY.encode(value)
    kind = type(value)
    if kind is dict and _usual(dict.fromkeys(value)):
        parts = (f"{_written(key)}:{_written(value[key])}" for key in sorted(value))
        return "{" + ",".join(parts) + "}"
    if kind is list or kind is tuple:
        return "[" + ",".join(map(_written, value)) + "]"
    return rfc8785.dumps(_portable(value)).decode()


def _usual(value: Any) -> bool:
    """Whether a value has no number but safe integers, and only keys that sort the same by code point and UTF-16."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-_SAFE_INTEGER <= value <= _SAFE_INTEGER)
    if kind is list or kind is tuple:
        return all(map(_usual, value))
    if kind is dict:
        return all(type(key) is str and key.isascii() and _TAG not in key for key in value) and all(
            map(_usual, value.values())
        )
    return False


def _portable(value: Any) -> Any:
    match value:
        case bool() | None | str() | float():
            return value
        case int():
            return value if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else {_TAG: str(value)}
        case Mapping():
            return {_escaped(key): _portable(item) for key, item in value.items()}
        case list() | tuple():
            return [_portable(item) for item in value]
    msg = f"this value can't be written in canonical form: {type(value).__name__}"
    raise CanonicalError(msg)


def _escaped(key: Any) -> str:
    if not isinstance(key, str):
        msg = f"this key can't be written in canonical form: {key!r}"
        raise CanonicalError(msg)
    return f"${key}" if key.endswith(_TAG) and set(key[: -len(_TAG)]) <= {"$"} else key


def sha256_text(data: bytes) -> str:
    """Return `sha256:…` over the bytes."""
    return _PREFIX + hashlib.sha256(data).hexdigest()


def document_sha256(doc: PlanDocument) -> str:
    """Return the hash of the whole document, clocks and commentary too: what the journal records."""
    return sha256_text(canonical_bytes(doc))


def short_digest(digest: str) -> str:
    """Return the form for people, `7f3a-91c2`. Never enough to decide by."""
    hexadecimal = digest.removeprefix(_PREFIX)
    return f"{hexadecimal[:4]}-{hexadecimal[4:8]}"


SHORTEST: Final = 8
"""How many characters of a digest name it, when a person gives it: as many as `short_digest` shows."""


def digest_begins(given: str) -> str | None:
    """Return the hexadecimal beginning that a person gave, in any form in which digests are shown; None for others."""
    begins = given.strip().lower().removeprefix(_PREFIX).replace("-", "", 1)
    return begins if re.fullmatch(r"[0-9a-f]{1,64}", begins) else None


def plan_digest(doc: PlanDocument) -> str:
    """Return the digest that approvals are bound to; computed from the parts, never read from the document."""
    return _digest(doc, merkle_root(doc.rows, doc.undecided, doc.kept))


def _digest(doc: PlanDocument, root: str) -> str:
    left_out = CLOCK_PARTS | COMMENTARY | _IN_TREE | ({"steps"} if doc.steps is None else frozenset())
    body = doc.model_dump(mode="json", exclude=set(left_out))
    return sha256_text(_PLAN_DOMAIN + canonical_bytes(body | {"merkle_root": root}))


def sealed(doc: PlanDocument) -> PlanDocument:
    """Return the document with the Merkle root and digest of its content."""
    root = merkle_root(doc.rows, doc.undecided, doc.kept)
    return doc.model_copy(update={"merkle_root": root, "digest": _digest(doc, root)})


# -- the tree ---------------------------------------------------------------------------------------------------------


class RowProof(Wire):
    """That a row is part of the tree: its place, the size of the tree, and the hashes beside its path (hex)."""

    index: int
    size: int
    path: tuple[str, ...]


def merkle_root(rows: Sequence[PlanRow], undecided: Sequence[UndecidedRow] = (), kept: Sequence[KeptGroup] = ()) -> str:
    """Return `sha256:…` over rows, undecided objects and kept groups, whatever order they stand in."""
    return _PREFIX + _root(sorted(_leaves(rows, undecided, kept))).hex()


def row_proof(doc: PlanDocument, index: int) -> RowProof:
    """Return the proof for `doc.rows[index]`. Raises `IndexError`."""
    leaves = sorted(_leaves(doc.rows, doc.undecided, doc.kept))
    place = leaves.index(_row_leaf(doc.rows[index]))
    return RowProof(index=place, size=len(leaves), path=tuple(h.hex() for h in _path(place, leaves)))


def verify_proof(root: str, row: PlanRow, proof: RowProof) -> bool:
    """Whether `row` is part of the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= proof.index < proof.size:
        return False
    place, last = proof.index, proof.size - 1
    found = _row_leaf(row)
    for text in proof.path:
        if last == 0:
            return False
        try:
            beside = bytes.fromhex(text)
        except ValueError:
            return False
        if place % 2 == 1 or place == last:
            found = _node(beside, found)
            while place % 2 == 0 and place != 0:
                place, last = place >> 1, last >> 1
        else:
            found = _node(found, beside)
        place, last = place >> 1, last >> 1
    return last == 0 and _PREFIX + found.hex() == root


def _leaves(rows: Sequence[PlanRow], undecided: Sequence[UndecidedRow], kept: Sequence[KeptGroup]) -> list[bytes]:
    return [
        *(_row_leaf(row) for row in rows),
        *(_leaf(b"undecided", row.model_dump(mode="json", exclude=_no_step(row))) for row in undecided),
        *(_leaf(b"kept", group.model_dump(mode="json")) for group in kept),
    ]


def _row_leaf(row: PlanRow) -> bytes:
    alone = {"closure"} if row.closure is None else set[str]()
    return _leaf(b"row", row.model_dump(mode="json", exclude=set(ROW_COMMENTARY) | _no_step(row) | alone))


def _no_step(row: PlanRow | UndecidedRow) -> set[str]:
    """A row of an act with one operation has no step, and says nothing of it: its digest is what it always was."""
    return {"step"} if row.step is None else set()


def _leaf(kind: bytes, value: Any) -> bytes:
    return hashlib.sha256(b"\x00" + kind + b"\x00" + canonical_bytes(value)).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) == 0:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    at = _split(len(leaves))
    return _node(_root(leaves[:at]), _root(leaves[at:]))


def _path(place: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    at = _split(len(leaves))
    if place < at:
        return [*_path(place, leaves[:at]), _root(leaves[at:])]
    return [*_path(place - at, leaves[at:]), _root(leaves[:at])]


# -- checking a document ----------------------------------------------------------------------------------------------


def check_document(doc: PlanDocument) -> list[str]:
    """Return what does not fit in a document, in words; empty when digest, root, sums and caps all hold."""
    wrong: list[str] = []
    root = merkle_root(doc.rows, doc.undecided, doc.kept)
    if doc.merkle_root != root:
        wrong.append("the rows do not fit the Merkle root of the plan")
    if doc.digest != _digest(doc, root):
        wrong.append("the content does not fit the digest of the plan")
    return wrong + check_sums(doc)


def check_sums(doc: PlanDocument) -> list[str]:
    """Return what does not fit among sums, lists and caps, in words; the part that needs no hash."""
    wrong: list[str] = []
    if not doc.sums.hold:
        sums = doc.sums
        wrong.append(
            f"the sums do not hold: {sums.inventory} objects are not {sums.candidates} candidates"
            f" + {sums.kept} kept + {sums.undecided} undecided"
        )
    wrong += _listed(doc)
    wrong += _steps(doc)
    wrong += _caps(doc)
    return wrong


def _steps(doc: PlanDocument) -> list[str]:
    """Return what does not fit in the steps of a graduated act: each row has one, and what waits is kept."""
    if doc.undo is not None:
        return _undone(doc)
    with_step = sum(1 for row in doc.rows if row.step is not None)
    if any(row.undo is not None for row in doc.rows):
        return ["a row takes something back, and the plan is no undo"]
    if doc.steps is None:
        return [] if with_step == 0 else [f"{with_step} rows have a step, and the plan is of no graduated act"]
    wrong = []
    if with_step != len(doc.rows) or doc.clocks is None:
        wrong.append("an object is listed without the step that is due for it")
    kept = sum(group.count for group in doc.kept if group.reason.startswith(WAITS))
    if kept != len(doc.steps.waiting):
        wrong.append(f"{len(doc.steps.waiting)} objects wait for a step, and {kept} are kept for that")
    elsewhere = {canonical_bytes(key) for key in (*(r.key for r in doc.rows), *(r.key for r in doc.undecided))}
    if any(canonical_bytes(row.key) in elsewhere for row in doc.steps.waiting):
        wrong.append("an object waits for a step and is listed as well")
    return wrong


def _undone(doc: PlanDocument) -> list[str]:
    """Return what does not fit in an undo: each row names its act, and it rests on no evidence of its own."""
    wrong = [] if all(row.undo is not None for row in doc.rows) else ["an object is listed without what is taken back"]
    if doc.steps is not None or doc.clocks is not None or len(doc.certificates) > 0:
        wrong.append("it is an undo, and has parts of a plan that acts")
    return wrong


def _listed(doc: PlanDocument) -> list[str]:
    wrong: list[str] = []
    listed = (
        ("candidates", doc.sums.candidates, len(doc.rows)),
        ("undecided", doc.sums.undecided, len(doc.undecided)),
        ("kept", doc.sums.kept, sum(group.count for group in doc.kept)),
    )
    for name, said, found in listed:
        if said != found:
            wrong.append(f"the sums speak of {said} {name}, the plan lists {found}")
    seen: set[bytes] = set()
    struck = [group for group in doc.kept if group.reason.startswith(STRUCK)]
    wrong += [f"not every object is named that was {g.reason}" for g in struck if g.count != len(g.examples)]
    named = (key for group in struck for key in group.examples)
    for key in (*(row.key for row in doc.rows), *(row.key for row in doc.undecided), *named):
        name_bytes = canonical_bytes(key)
        if name_bytes in seen:
            wrong.append(f"the object `{', '.join(map(str, key))}` is listed twice")
        seen.add(name_bytes)
    return wrong


def _caps(doc: PlanDocument) -> list[str]:
    caps, wrong = doc.caps, list[str]()
    try:
        effective = effective_cap(caps.count, written_percent(caps), doc.sums.inventory)
    except InvalidOperation:
        return [f"the limit of `{caps.percent}` is not a percentage"]
    if caps.effective != effective:
        wrong.append(f"the plan names a cap of {caps.effective}, its limits give {effective}")
    if caps.exceeded != (doc.taken > effective):
        said = "over" if caps.exceeded else "within"
        wrong.append(f"the plan says that it is {said} its cap of {effective}, which {doc.taken} is not")
    return wrong
