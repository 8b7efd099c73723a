"""What `verify.py` has of its own is held equal to what the program uses."""

from __future__ import annotations

import ast
import types
import typing
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.plans import document, plan_row

from fullcount.runtime.journal.payloads import PAYLOADS
from fullcount.runtime.offline import votes
from fullcount.runtime.offline.assemble import verifier
from fullcount.runtime.offline.canonical import canonical, read_canonical_text
from fullcount.runtime.offline.kinds import KINDS
from fullcount.runtime.offline.plans import LEFT_OUT, ROW_LEFT_OUT, plan_wrong, row_proof, row_proven
from fullcount.runtime.plan import digest
from fullcount.runtime.plan.digest import canonical_bytes, check_document
from fullcount.runtime.plan.digest import row_proof as proof_of
from fullcount.runtime.plan.document import CLOCK_PARTS

SAFE = st.integers(-(2**53) + 1, 2**53 - 1)
NUMBERS = st.floats(-(2**53) + 1, 2**53 - 1)  # what is larger is written without a point, and read as no safe integer
SCALARS = st.none() | st.booleans() | SAFE | NUMBERS | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@settings(max_examples=100, deadline=None)
@given(value=JSON)
def test_canonical_json_is_that_of_the_library(value):
    """RFC 8785: order of names by UTF-16, numbers as ECMAScript writes them, the fewest escapes."""
    try:
        expected = rfc8785.dumps(value).decode()
    except rfc8785.CanonicalizationError:
        with pytest.raises(ValueError, match=r".+"):
            canonical(value)
        return
    assert canonical(value) == expected
    assert canonical(read_canonical_text(expected)) == expected


def shape(of: Any) -> Any:
    """The shape of an annotation, in the words of `kinds.py`."""
    if of in {str, int, bool, Any}:
        return {str: "text", int: "int", bool: "bool", Any: "any"}[of]
    origin, arguments = typing.get_origin(of), typing.get_args(of)
    if origin is types.UnionType:
        return f"?{shape(next(each for each in arguments if each is not type(None)))}"
    if origin is tuple:
        inner = shape(arguments[0])
        return [inner] if isinstance(inner, dict) or inner == "[any]" else f"[{inner}]"
    if origin is dict:
        return f"{{{shape(arguments[1])}}}"
    fields = of.model_fields.items()
    return {name if each.is_required() else f"{name}=": shape(each.annotation) for name, each in fields}


def test_the_kinds_of_entries_are_those_that_the_journal_is_written_with():
    """Whoever adds a kind or a field adds it to the stand-alone check."""
    assert {kind: shape(payload) for kind, payload in PAYLOADS.items()} == KINDS


def test_what_the_digest_leaves_out_is_the_same():
    """The parts of clocks and commentary, and those that the tree covers."""
    assert CLOCK_PARTS | digest.COMMENTARY | {"rows", "undecided", "kept", "merkle_root"} == LEFT_OUT
    assert ROW_LEFT_OUT == digest.ROW_COMMENTARY


@settings(max_examples=25, deadline=None)
@given(keys=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, max_size=9), data=st.data())
def test_plans_and_row_proofs_are_judged_the_same(keys, data):
    """A plan that holds, one with a changed field, and the proof of each of its rows."""
    made = document(tuple(plan_row(key) for key in keys))
    plan = read_canonical_text(canonical_bytes(made).decode())
    assert (plan_wrong(plan), check_document(made)) == ([], [])
    for number, row in enumerate(plan["rows"]):
        proof = row_proof(plan, row)
        theirs = proof_of(made, number)
        assert proof == (theirs.index, theirs.size, list(theirs.path))
        assert row_proven(plan["merkle_root"], row, *proof)
        assert not row_proven(plan["merkle_root"], row | {"version": "8"}, *proof)
    name = data.draw(st.sampled_from(sorted(set(plan) - LEFT_OUT)))
    assert plan_wrong(plan | {name: "another"}) != []
    if plan["rows"]:
        struck = plan | {"rows": plan["rows"][1:]}
        assert "the rows do not fit the Merkle root of the plan" in plan_wrong(struck)


def test_the_file_imports_nothing_but_the_standard_library_and_runs_no_other_code():
    """It is read by people who don't trust us: no dynamic code, no network, no subprocess."""
    tree = ast.parse(verifier())
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert imported == {
        "__future__", "base64", "binascii", "collections", "collections.abc", "dataclasses", "datetime", "decimal",
        "hashlib", "json", "os", "pathlib", "re", "stat", "sys", "typing",
    }  # fmt: skip
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"eval", "exec", "compile", "__import__"}


def test_signatures_are_as_fresh_here_as_there():
    """One number for both."""
    from fullcount.runtime.store import rounds

    assert rounds.SIGNED_WITHIN is votes.SIGNED_WITHIN
