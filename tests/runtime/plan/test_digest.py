"""The digest: what an approval is bound to."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.plans import certificate, document, plan_row

from fullcount.runtime.plan.digest import (
    CanonicalError,
    canonical_bytes,
    check_document,
    document_sha256,
    merkle_root,
    plan_digest,
    row_proof,
    sealed,
    short_digest,
    verify_proof,
)
from fullcount.runtime.plan.document import PlanDocument

names = st.text("abcdefgh-", min_size=1, max_size=6)
key_sets = st.lists(names, min_size=1, max_size=9, unique=True)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.text("$int0123 é\n\x1f\x7f\u2028\ue000\U0001f600", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('$intZ\x7f"\ue000\U0001f600', max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_a_value_without_canonical_form_is_an_error_and_never_written_as_something_else():
    """Not-a-number, half a surrogate pair and foreign types are refused."""
    for value in (float("nan"), float("inf"), "\ud800", {1: 2}, {"a": object()}, b"x"):
        with pytest.raises(CanonicalError):
            canonical_bytes(value)


@given(JSON, JSON)
def test_two_values_never_share_their_canonical_bytes(a: Any, b: Any):
    """Integers beyond 2^53 stay apart from their neighbours, and from anything that looks like their tag."""
    same = repr(a) == repr(b) or canonical_bytes(a) != canonical_bytes(b)
    assert same or _equal(a, b)
    assert canonical_bytes({"$int": str(2**60)}) != canonical_bytes(2**60)
    assert canonical_bytes(2**60) != canonical_bytes(2**60 + 1)


@given(JSON)
def test_canonical_bytes_are_those_of_rfc_8785(value: Any):
    """Wherever RFC 8785 has a form for a value, ours is that form, byte for byte."""
    try:
        expected = rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return
    assert "$int" in str(value) or canonical_bytes(value) == expected


def test_keys_are_ordered_as_rfc_8785_says_also_beyond_the_basic_plane():
    """By UTF-16 code units: an emoji sorts before a private character of the basic plane."""
    assert canonical_bytes({"\ue000": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ue000":1}'.encode()
    assert canonical_bytes({"b": "\x7f\x1f\u2028/<", "a": -0.0}) == b'{"a":0,"b":"\x7f\\u001f\xe2\x80\xa8/<"}'


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


# Each entry changes one fact; none may keep the digest.
CHANGES: dict[str, Any] = {
    "a changed field of a row": lambda d: _row(d, fields=d.rows[0].fields | {"team": d.rows[0].fields["owner"]}),
    "a changed argument": lambda d: _row(d, arguments={"id": "svc-x", "locked": False}),
    "another incarnation": lambda d: _row(d, incarnation="uuid-other"),
    "another version": lambda d: _row(d, version=None),
    "a struck row": lambda d: {"rows": d.rows[1:]},
    "an added row": lambda d: {"rows": (*d.rows, plan_row("zz-added"))},
    "a wider cap": lambda d: {"caps": d.caps.model_copy(update={"effective": d.caps.effective + 1})},
    "another limit": lambda d: {"caps": d.caps.model_copy(update={"percent": "6%"})},
    "another parameter": lambda d: {"parameters": {"idle": "91d"}},
    "another rule": lambda d: {"rule": "all"},
    "another program": lambda d: {"program": {"name": "other"}},
    "another target": lambda d: {"target": {"directory": {"target": "ldap://corp/test"}}},
    "another engine": lambda d: {"engine_version": "0.2.0"},
    "another connector version": lambda d: {"connector_versions": {"directory": "1.1"}},
    "another certificate": lambda d: {"certificates": (certificate("accounts", "directory", "accounts", 9),)},
    "a certificate less": lambda d: {"certificates": d.certificates[1:]},
    "an undecided object less": lambda d: {"undecided": ()},
    "another reason to be undecided": lambda d: {
        "undecided": (d.undecided[0].model_copy(update={"missing": ("owner: truncated",)}),)
    },
    "a kept group less": lambda d: {"kept": d.kept[1:]},
    "another act": lambda d: {"act": None},
    "other authors": lambda d: {"authors": ()},
    "other sums": lambda d: {"sums": d.sums.model_copy(update={"kept": 1})},
}


def _row(doc: PlanDocument, **update: Any) -> dict[str, Any]:
    return {"rows": (doc.rows[0].model_copy(update=update), *doc.rows[1:])}


@pytest.mark.requirement("R21", "R24")
@pytest.mark.parametrize("change", CHANGES, ids=str)
@given(keys=key_sets)
@settings(max_examples=10)
def test_any_changed_fact_gives_another_digest(change: str, keys: list[str]):
    """Whatever fact of a plan is changed, an approval of the old digest no longer fits."""
    doc = document(tuple(plan_row(key) for key in keys))
    changed = doc.model_copy(update=CHANGES[change](doc))
    assert plan_digest(changed) != doc.digest
    assert check_document(changed) != []


@given(keys=key_sets, minutes=st.integers(1, 10_000), name=names)
def test_a_clock_or_an_identifier_never_changes_the_digest(keys: list[str], minutes: int, name: str):
    """A plan that is made again over the same facts keeps its digest, whenever and by whomever it is made."""
    doc = document(tuple(plan_row(key) for key in keys))
    later = doc.now + timedelta(minutes=minutes)
    again = doc.model_copy(
        update={
            "plan_id": name,
            "run_id": name,
            "created_by": name,
            "created_at": later,
            "now": later,
            "digest": "",
            "sensitivity": (),
            "rows": tuple(
                row.model_copy(update={"risk": 3, "notes": ("2 days inside the threshold",), "shown": {"age": "91d"}})
                for row in doc.rows
            ),
        }
    )
    assert plan_digest(again) == doc.digest
    assert check_document(sealed(again)) == []
    assert document_sha256(again) != document_sha256(doc)


@given(st.permutations([f"svc-{n}" for n in range(7)]))
def test_the_order_of_rows_never_changes_root_or_digest(keys: list[str]):
    """Rows are a set: however they were read or sorted, root and digest are the same."""
    ordered = document(tuple(plan_row(key) for key in sorted(keys)))
    shuffled = document(tuple(plan_row(key) for key in keys))
    assert shuffled.merkle_root == ordered.merkle_root
    assert shuffled.digest == ordered.digest


@given(keys=key_sets, data=st.data())
@settings(max_examples=50)
def test_a_proof_holds_for_its_row_and_for_no_other(keys: list[str], data: st.DataObject):
    """A row can be shown to be part of the approved plan without the rest; a changed row or path can't."""
    doc = document(tuple(plan_row(key) for key in keys))
    index = data.draw(st.integers(0, len(keys) - 1))
    proof = row_proof(doc, index)
    assert verify_proof(doc.merkle_root, doc.rows[index], proof)
    assert not verify_proof(doc.merkle_root, plan_row("zz-other"), proof)
    for other in range(len(keys)):
        assert verify_proof(doc.merkle_root, doc.rows[other], proof) == (other == index)
    assert not verify_proof(doc.merkle_root, doc.rows[index], proof.model_copy(update={"path": (*proof.path, "00")}))
    if len(proof.path) > 0:
        short = proof.model_copy(update={"path": proof.path[1:]})
        assert not verify_proof(doc.merkle_root, doc.rows[index], short)
    far = proof.model_copy(update={"index": proof.size})
    assert not verify_proof(doc.merkle_root, doc.rows[index], far)
    not_hex = proof.model_copy(update={"path": ("not hex",) * len(proof.path)})
    assert len(proof.path) == 0 or not verify_proof(doc.merkle_root, doc.rows[index], not_hex)


def test_an_undecided_object_never_passes_for_a_row():
    """Rows, undecided objects and kept groups are apart in the tree, even where their JSON is the same."""
    doc = document()
    assert merkle_root(doc.rows, doc.undecided, doc.kept) != merkle_root(doc.rows, (), doc.kept)
    assert merkle_root(()) == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(keys=key_sets)
def test_a_plan_keeps_its_digest_through_its_file(keys: list[str]):
    """Written as JSON and read again, the document is the same and checks out."""
    doc = document(tuple(plan_row(key) for key in keys), limit=(50, Decimal("12.5")))
    again = PlanDocument.model_validate_json(doc.model_dump_json())
    assert again == doc
    assert check_document(again) == []


def test_sums_that_do_not_hold_are_found_in_a_document():
    """An object that was lost between inventory and plan is found by the check, even under a digest that fits."""
    doc = document()
    lost = sealed(doc.model_copy(update={"sums": doc.sums.model_copy(update={"inventory": doc.sums.inventory + 1})}))
    assert any("sums do not hold" in text for text in check_document(lost))
    twice = sealed(doc.model_copy(update={"rows": (doc.rows[0], doc.rows[0])}))
    assert any("listed twice" in text for text in check_document(twice))
    wide = sealed(doc.model_copy(update={"caps": doc.caps.model_copy(update={"effective": 99, "exceeded": True})}))
    assert len(check_document(wide)) == 2
    odd = sealed(doc.model_copy(update={"caps": doc.caps.model_copy(update={"percent": "many"})}))
    assert check_document(odd) == ["the limit of `many` is not a percentage"]


def test_the_short_form_is_eight_digits():
    """People compare `7f3a-91c2`."""
    assert short_digest("sha256:7f3a91c2" + "0" * 56) == "7f3a-91c2"
