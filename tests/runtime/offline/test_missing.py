"""Whatever one thing is taken out of an exported folder: `verify.py` says which kind of thing is missing, and where."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runtime.offline.test_bundle import (
    CHANGED,
    copied,
    folder,  # noqa: F401 - a fixture
    mend,
    standalone,  # noqa: F401 - a fixture
)
from tests.support.records import relinked

from fullcount.runtime.offline.canonical import canonical, sha256

pytestmark = pytest.mark.requirement("R34")

SETTINGS = settings(
    max_examples=CHANGED,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = {
    "allowed_signers": "the list of who may sign",
    "bundle.json": "the list of the bundle's files",
    "head.json": "the head of the run",
    "head.json.sig": "the signature over the head of the run",
    "journal.jsonl": "the journal",
    "verify.py": "the program that checks the bundle",
}
"""What each file is, in the words of a verdict."""


def named(path: str, content: str) -> str:
    """Return the words that a verdict has to name a missing file with."""
    if path.startswith("evidence/"):
        return f"the {'certificate' if 'claims' in json.loads(content) else 'envelope'} `{Path(path).stem}` is missing"
    if path.startswith("statements/"):
        return f"the statement about {'the plan' if '/plan-' in path else 'a certificate'} is missing"
    return f"{NAMES.get(path, 'the plan')} is missing"


def told(standalone, at, **how):  # noqa: F811
    """Return what the assembled file prints of a folder, which must be a failure."""
    checked = standalone.check_bundle(at, **how)
    assert standalone.exit_code(checked) == 1
    return "\n".join(standalone.told(checked))


def place():
    """Return a folder that goes after the test."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def without(manifest: Path, name: str) -> None:
    """Take a file out of the list of files."""
    said = json.loads(manifest.read_text())
    del said["files"][name]
    manifest.write_text(canonical(said) + "\n")


@SETTINGS
@given(number=st.integers(0, 100), how=st.sampled_from(["the file", "both", "its entry in the list"]))
def test_a_file_that_is_taken_out_is_named_by_its_kind(folder, standalone, number, how):  # noqa: F811
    """Also by somebody who takes it out of the list of files; that of the signers alone may be left out by anybody."""
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    name = files[number % len(files)]
    with place() as where:
        copy = copied(folder, Path(where) / "b")
        content = (copy / name).read_bytes().decode()
        if how != "the file" and name != "bundle.json":
            without(copy / "bundle.json", name)
        if how != "its entry in the list" or name == "bundle.json":
            (copy / name).unlink()
        if name == "allowed_signers" and how == "both":
            checked = standalone.check_bundle(copy)
            assert (checked.faults, checked.unchecked) == ([], True)  # `WHO SIGNED WAS NOT CHECKED`, at the top
        elif how == "its entry in the list" and name != "bundle.json":
            assert f"`{name}` does not belong to the bundle: bundle.json has no entry of it" in told(standalone, copy)
        else:
            assert named(name, content) in told(standalone, copy)


@SETTINGS
@given(where=st.floats(0, 1, exclude_max=True))
def test_an_entry_that_is_taken_out_of_the_journal_is_named_by_its_place(folder, standalone, where):  # noqa: F811
    """Or, at the end, by what the list of files says that the journal ends with."""
    lines = (folder / "journal.jsonl").read_text().splitlines()
    number = int(where * len(lines))
    with place() as at:
        copy = cut(folder, Path(at) / "b", lines[:number] + lines[number + 1 :])
        said = told(standalone, copy)
    last = number == len(lines) - 1
    assert ("its last entries are missing" if last else f"entry {number + 1} of the journal is missing") in said


def cut(folder, to, lines):  # noqa: F811
    """Return a copy with another journal, of which only the hash was mended in the list of files."""
    copy = copied(folder, to)
    (copy / "journal.jsonl").write_text("\n".join(lines) + "\n")
    mend(copy, copy / "journal.jsonl")
    return copy


def rewritten(folder, to, entries):  # noqa: F811
    """Return a copy whose journal was written anew by somebody who knows the rules of the chain, to its head."""
    lines = relinked(entries)
    copy, head = cut(folder, to, lines), json.loads(lines[-1])
    said = json.loads((copy / "bundle.json").read_text())
    said["head"] = {"seq": head["seq"], "hash": head["hash"]}
    (copy / "bundle.json").write_text(canonical(said) + "\n")
    return copy


@pytest.fixture(scope="module")
def entries(folder):  # noqa: F811
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_an_envelope_a_certificate_and_a_lease_are_named_also_in_a_journal_that_was_rewritten(
    folder,  # noqa: F811
    standalone,  # noqa: F811
    entries,
    tmp_path,
):
    """Of all that the bundle is about: who removes the entry and makes every link anew is told what is missing."""
    plan_id = json.loads((folder / "bundle.json").read_text())["plan_id"]
    found, found_lease = [], False
    for at, entry in enumerate(entries):
        payload, kind = entry["payload"], entry["kind"]
        ident = payload.get(f"{kind}_id")
        if kind in {"envelope", "certificate"} and (folder / "evidence" / f"{ident}.json").is_file():
            words = f"the journal's entry of the {kind} `{ident}` is missing"
        elif kind == "lease_claimed" and payload["name"] == f"plan/{plan_id}":
            words = (
                f"the lease on the plan `{plan_id}` to its run is missing" if found_lease else "nobody had the lease"
            )
            found_lease = True
        elif kind == "planned" and payload["plan_id"] == plan_id:
            words = f"the journal's entry of the plan `{plan_id}` is missing"
        else:
            continue
        copy = rewritten(folder, tmp_path / str(at), entries[:at] + entries[at + 1 :])
        checked = standalone.check_bundle(copy)
        assert any(words in fault.what for fault in checked.faults), (words, checked.faults)
        found.append(kind)
    assert sorted(set(found)) == ["certificate", "envelope", "lease_claimed", "planned"]


def test_a_certificate_is_missed_also_without_its_entry_its_document_and_its_statement(
    folder,  # noqa: F811
    standalone,  # noqa: F811
    entries,
    tmp_path,
):
    """The plan rests on it, and says so."""
    at = next(n for n, entry in enumerate(entries) if (folder / "evidence" / f"{ident_of(entry)}.json").is_file())
    ident = ident_of(entries[at])
    copy = rewritten(folder, tmp_path / "b", entries[:at] + entries[at + 1 :])
    for name in (f"evidence/{ident}.json", f"statements/certificate-{ident}.dsse.json"):
        (copy / name).unlink()
        without(copy / "bundle.json", name)
    checked = standalone.check_bundle(copy)
    assert any(
        "entry of a certificate of `accounts` is missing, on which the plan rests" in f.what for f in checked.faults
    )


def ident_of(entry):
    """Return the id of a certificate; of any other entry one that nothing has."""
    return entry["payload"].get("certificate_id", "none")


@SETTINGS
@given(where=st.floats(0, 1, exclude_max=True))
def test_whatever_is_taken_out_of_a_journal_that_is_rewritten_shows_by_a_head_noted_elsewhere(
    folder,  # noqa: F811
    standalone,  # noqa: F811
    entries,
    where,
):
    """Not by the journal alone, where what is gone left no trace in what follows: a halt, a note that a run ended."""
    at = int(where * len(entries))
    anchor = (entries[-1]["seq"], entries[-1]["hash"])
    with place() as to:
        copy = rewritten(folder, Path(to) / "b", entries[:at] + entries[at + 1 :])
        said = [fault.what for fault in standalone.check_bundle(copy, anchor=anchor).faults]
    assert any(f"entry {anchor[0]} was seen in it before" in each for each in said)
    assert sha256(canonical(entries)) != sha256(canonical(entries[:at] + entries[at + 1 :]))
