"""The exported journal can be checked by anyone, with nothing but the lines."""

from __future__ import annotations

import hashlib
import io
import json

import pytest
import rfc8785
from tests.support.stores import ANA, WORKFLOW

from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.journal.export import export_jsonl, verify_jsonl
from fullcount.runtime.store.store import Store


@pytest.fixture
def lines(file):
    stream = io.StringIO()
    with Store.open(f"sqlite:///{file}") as store:
        head = export_jsonl(store, stream)
        assert head == store.head()
    return stream.getvalue().splitlines()


@pytest.mark.requirement("R34")
def test_a_third_party_needs_nothing_but_sha256_and_canonical_json(lines):
    """The rule of the format, written out again without any code of the product."""
    prev = "sha256:" + "0" * 64
    for number, line in enumerate(lines, start=1):
        entry = json.loads(line)
        claimed = entry.pop("hash")
        assert entry["seq"] == number
        assert entry["prev"] == prev
        assert claimed == "sha256:" + hashlib.sha256(rfc8785.dumps(entry)).hexdigest()
        prev = claimed


@pytest.mark.requirement("R34")
@pytest.mark.parametrize("what", ["changed", "removed", "moved", "cut", "not JSON", "another field", "spaced"])
def test_lines_that_were_tampered_with_do_not_verify(lines, what):
    """A cut tail needs a head that was noted elsewhere; everything else shows by itself."""
    whole = verify_jsonl(lines)
    assert whole.ok
    match what:
        case "changed":
            lines[7] = lines[7].replace("2", "3", 1)
        case "removed":
            del lines[7]
        case "moved":
            lines[7], lines[8] = lines[8], lines[7]
        case "cut":
            del lines[-1]
            assert verify_jsonl(lines).ok
        case "not JSON":
            lines[7] = "{"
        case "another field":
            lines[7] = lines[7].replace("{", '{"a":1,', 1)
        case "spaced":
            lines[7] = lines[7].replace(",", ", ", 1)
    report = verify_jsonl(lines, anchor=whole.head)
    assert not report.ok
    assert report.exit is Exit.ERROR


def test_any_text_and_any_integer_survive_the_export(office):
    """Line breaks, controls, characters beyond the basic plane, and integers beyond those of JSON."""
    run_id = office.store.begin_run(WORKFLOW, "plan", ANA)
    nasty = {'\n\u2028\x1b\x00"\\': "\U0001f600\uffff é", "n": 2**62, "$int": "5", "\U0001f600": 1, "\uffff": 2}
    office.store.finish_run(run_id, "done", Exit.DONE, nasty)
    stream = io.StringIO()
    export_jsonl(office.store, stream)
    lines = stream.getvalue().split("\n")
    assert len(lines) == 3
    assert verify_jsonl(lines[:-1]).ok


def test_an_empty_journal_verifies(office):
    """Nothing has happened, and nothing is wrong."""
    assert verify_jsonl([]).head == office.store.head() == Head(seq=0, hash="sha256:" + "0" * 64)
