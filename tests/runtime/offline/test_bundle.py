"""An exported folder: whatever is changed is found by its own `verify.py`, and judged as `fullcount verify` does."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.records import full_history, relinked
from tests.support.ssh_keys import Key, line
from tests.support.stores import ANA, BO, ROLES, Office, approval

from fullcount.runtime.approve.approvals import give
from fullcount.runtime.approve.signing import Signed, Signing
from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.chain import ChainCheck
from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.replay import replay
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.offline.assemble import verifier
from fullcount.runtime.offline.canonical import canonical, sha256
from fullcount.runtime.offline.facts import Facts
from fullcount.runtime.offline.journal import Chain
from fullcount.runtime.offline.replaying import replay_line
from fullcount.runtime.offline.signers import read_signers
from fullcount.runtime.offline.statements import approval_statement
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.workflow_files import UsageError

pytestmark = pytest.mark.requirement("R34")

KEY, CHANGED = Key("ana"), int(os.environ.get("FULLCOUNT_BUNDLE_EXAMPLES", "25"))
SIGNERS = line("ana,bo,uid:4001", KEY, 'namespaces="fullcount"')


@pytest.fixture(scope="module")
def standalone():
    """The assembled file, as a module: what is tested is what is written."""
    module = types.ModuleType("verify")
    sys.modules["verify"] = module  # dataclasses look their module up
    exec(compile(verifier(), "verify.py", "exec"), module.__dict__)
    yield module
    del sys.modules["verify"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bundle of a store in which everything has happened, signed votes among it; the export itself is signed."""
    place = tmp_path_factory.mktemp("bundle")
    with Office(place) as office:
        plan_id = full_history(office)
        office.store.resume(BO)
        plan = office.plan("s1", "s2")
        signing = Signing(required=True, signers=read_signers(SIGNERS))
        for person in (ANA, BO):
            at = to_micros(office.clock())
            said = approval_statement(plan.document.plan_id, plan.document.digest, person.uid, at)
            give(office.store, plan, approval(), ROLES, person, signing=signing, signed=Signed(KEY.sign(said), at))
        run = run_of(office.store, plan_id)
        export_run(office.store, run, place / "b", signers=SIGNERS, person=ANA, sign=KEY.sign)
    return place / "b"


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to))


# -- one byte ----------------------------------------------------------------------------------------------------------


@settings(
    max_examples=CHANGED,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(where=st.floats(0, 1, exclude_max=True), file=st.integers(0, 100), bit=st.integers(0, 7))
def test_a_flipped_bit_of_any_file_is_found(folder, standalone, where, file, bit):
    """In the journal, the plan, the evidence, statements, signatures, signers, the manifest and the checker itself."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        copy = copied(folder, Path(place) / "b")
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        path = files[file % len(files)]
        data = bytearray(path.read_bytes())
        data[int(where * len(data))] ^= 1 << bit
        path.write_bytes(bytes(data))
        assert standalone.check_bundle(copy).faults != [], path


def leaves(value, place=()):
    """The places of all values in a JSON document."""
    match value:
        case dict():
            for name, part in value.items():
                yield from leaves(part, (*place, name))
        case list():
            for number, part in enumerate(value):
                yield from leaves(part, (*place, number))
        case _:
            yield place


def changed(document, place, value):
    """The document with another value in a place."""
    if not place:
        return value
    copy = document.copy()
    copy[place[0]] = changed(document[place[0]], place[1:], value) if len(place) > 1 else value
    return copy


OTHER = st.one_of(st.none(), st.booleans(), st.integers(-5, 2**40), st.text(max_size=5), st.just([]), st.just({}))


@settings(
    max_examples=CHANGED,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_another_value_of_any_field_is_found_also_with_the_manifest_mended(folder, standalone, data):
    """Whoever changes a field and writes the new hash into the manifest is found by what the journal recorded."""
    documents = [path for path in sorted(folder.rglob("*.json")) if path.name not in {"bundle.json"}]
    path = data.draw(st.sampled_from([*documents, folder / "journal.jsonl"]))
    lines = path.read_text().splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    document = json.loads(lines[number])
    place = data.draw(st.sampled_from(sorted(leaves(document), key=str)))
    value = data.draw(OTHER)
    lines[number] = canonical(changed(document, place, value))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as where:
        copy = copied(folder, Path(where) / "b")
        target = copy / path.relative_to(folder)
        ending = "\n" if path.read_text().endswith("\n") else ""
        target.write_text("\n".join(lines) + ending)
        if target.read_bytes() == path.read_bytes():
            return
        mend(copy, target)
        assert standalone.check_bundle(copy).faults != [], (path.name, place, value)


def mend(copy: Path, target: Path) -> None:
    """Let the manifest say the hash that a file has now."""
    manifest = json.loads((copy / "bundle.json").read_text())
    manifest["files"][target.relative_to(copy).as_posix()] = sha256(target.read_bytes())
    (copy / "bundle.json").write_text(canonical(manifest) + "\n")


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (lambda at: (at / "journal.jsonl").unlink(), "bundle"),
        (lambda at: (at / "more.txt").write_text("x"), "bundle"),
        (lambda at: (at / "head.json.sig").unlink(), "bundle"),
        (lambda at: (at / "bundle.json").unlink(), "bundle"),
        (lambda at: (at / "bundle.json").write_text("{}\n"), "bundle"),
    ],
    ids=["no journal", "a file more", "no signature", "no manifest", "an empty manifest"],
)
def test_a_file_that_is_missing_or_too_many_is_found(folder, standalone, tmp_path, change, about):
    """What is not listed does not belong there, and what is listed must be there."""
    copy = copied(folder, tmp_path / "b")
    change(copy)
    assert standalone.check_bundle(copy).faults[0].about == about


def _socket(at: Path) -> None:
    here = Path.cwd()
    os.chdir(at.parent)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(at.name)
    finally:
        os.chdir(here)


def _huge(at: Path) -> None:
    with at.open("wb") as file:
        file.truncate((1 << 36) + 1)  # of a sparse file nothing is on the disk


def _link_to_a_pipe(at: Path) -> None:
    pipe = at.parent.with_name(f"pipe-{at.parent.name}")
    os.mkfifo(pipe)
    at.symlink_to(pipe)


NO_FILES = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a folder": Path.mkdir,
    "a link": lambda at: at.symlink_to("verify.py"),
    "a link to nothing": lambda at: at.symlink_to("nothing"),
    "a link to a folder": lambda at: at.symlink_to("plans"),
    "a link to a device": lambda at: at.symlink_to("/dev/zero"),
    "a link to a pipe": _link_to_a_pipe,
    "a file without an end": _huge,
}


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
@pytest.mark.parametrize("name", ["head.json", "journal.jsonl", "bundle.json"])
def test_what_is_no_file_of_the_folder_is_a_fault_and_keeps_nobody_waiting(folder, standalone, tmp_path, name, make):
    """Whatever stands where a file belongs is not opened; nor is it where nothing belongs."""
    copy = copied(folder, tmp_path / "b")
    (copy / name).unlink()
    make(copy / name)
    assert any(name in fault.what for fault in standalone.check_bundle(copy).faults)
    beside = copied(folder, tmp_path / "c")
    make(beside / "more")
    whole = make is Path.mkdir  # an empty folder holds nothing that could belong or not
    assert (standalone.check_bundle(beside).faults == []) is whole


def test_a_pipe_keeps_the_file_itself_from_nothing(folder, tmp_path):
    """Also where it is named on the command line; a link to a file may be named there."""
    copy = copied(folder, tmp_path / "b")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "signers").symlink_to(copy / "allowed_signers")

    def ran(*more):
        command = [sys.executable, "-I", "-S", str(copy / "verify.py"), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert ran("--allowed-signers", str(tmp_path / "pipe")).returncode == 2
    assert ran("--row", str(tmp_path / "pipe")).returncode == 1
    assert ran("--allowed-signers", str(tmp_path / "signers")).returncode == 0
    (copy / "head.json").unlink()
    os.mkfifo(copy / "head.json")
    ended = ran()
    assert (ended.returncode, "`head.json` is no file of its own" in ended.stdout) == (1, True), ended.stdout
    assert "a pipe" in ended.stdout


NO_DOCUMENT = {
    "empty": b"",
    "no text": b"\xff\xfe\x00",
    "no canonical form": b'{ "a": 1 }',
    "a number": b"1",
    "a list": b"[]",
    "an object of nothing": b"{}",
    "a number of too many digits": b"9" * 5000,
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("content", NO_DOCUMENT.values(), ids=NO_DOCUMENT)
def test_a_file_with_anything_in_it_is_a_fault_of_that_file_never_a_traceback(folder, standalone, tmp_path, content):
    """Whatever file of the bundle it is, with the manifest mended and not."""
    for number, path in enumerate(sorted(each for each in folder.rglob("*") if each.is_file())):
        copy = copied(folder, tmp_path / f"b{number}")
        target = copy / path.relative_to(folder)
        target.write_bytes(content)
        as_it_is = standalone.check_bundle(copy)
        name = path.name.removesuffix(".json") if path.parent.name == "plans" else path.name
        assert any(name in fault.what for fault in as_it_is.faults), name
        if path.name not in {"bundle.json", "verify.py"}:
            mend(copy, target)
            mended = standalone.check_bundle(copy).faults
            # nobody has to give signers of their own, and the journal's own hashes are of what it says
            assert mended != [] or (path.name == "allowed_signers" and content == b""), path
        shutil.rmtree(copy)


def test_signatures_that_nobody_checked_are_said_at_the_top(folder, standalone, tmp_path):
    """Without signers the export holds together, and whose key it was is not known."""
    copy = copied(folder, tmp_path / "b")
    (copy / "allowed_signers").unlink()
    manifest = json.loads((copy / "bundle.json").read_text())
    del manifest["files"]["allowed_signers"]
    (copy / "bundle.json").write_text(canonical(manifest) + "\n")
    checked = standalone.check_bundle(copy)
    assert checked.faults == []
    first, run, *rest = standalone.told(checked)
    assert first.startswith("VERIFIED")
    assert first.endswith("; WHO SIGNED WAS NOT CHECKED")
    assert any("--allowed-signers" in each for each in rest)
    assert "ended as ended" not in run
    assert "NOT CHECKED" not in standalone.told(standalone.check_bundle(folder))[0]


def test_a_signer_who_is_not_trusted_is_not_a_change(folder, standalone):
    """The reader is sent to ask who signed, not to look for who changed it."""
    told = standalone.told(standalone.check_bundle(folder, signers_text=line("ana", Key("another"))))
    assert "changed after it was written" not in told[-1]
    assert "by the signers that were given" in told[-1]


def test_who_may_sign_is_asked_of_the_one_who_checks(folder, standalone):
    """By their own file a key that the bundle vouches for itself counts for nothing."""
    assert standalone.check_bundle(folder).faults == []
    found = standalone.check_bundle(folder, signers_text=line("ana", Key("another")))
    assert {fault.about for fault in found.faults} >= {"approval", "run", "statement"}
    assert all("not among the allowed signers" in fault.what for fault in found.faults)


def test_a_journal_that_was_made_up_shows_only_by_a_head_noted_elsewhere(folder, standalone):
    """The anchor must be in it, at its place."""
    head = json.loads((folder / "bundle.json").read_text())["head"]
    assert standalone.check_bundle(folder, anchor=(head["seq"], head["hash"])).faults == []
    rewritten = standalone.check_bundle(folder, anchor=(5, "sha256:" + "1" * 64)).faults
    assert "the journal was rewritten" in rewritten[0].what
    cut = standalone.check_bundle(folder, anchor=(head["seq"] + 3, head["hash"])).faults
    assert "was seen in it before" in cut[0].what


def test_the_file_runs_alone_and_says_what_holds(folder, tmp_path):
    """Isolated, without site packages; the sums of the run are in what it says, and a failure ends with 1."""
    copy = copied(folder, tmp_path / "b")

    def ran(*more):
        command = [sys.executable, "-I", "-S", str(copy / "verify.py"), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")

    good = ran()
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("VERIFIED  ")
    assert "5 candidates = 4 done + 1 changed" in good.stdout
    proof = ran("--prove", "a").stdout
    (tmp_path / "row.json").write_text(proof)
    assert ran("--row", str(tmp_path / "row.json")).returncode == 0
    (tmp_path / "row.json").write_text(proof.replace('"locked":true', '"locked":false'))
    assert ran("--row", str(tmp_path / "row.json")).returncode == 1
    none = ran("--prove", "nosuch")
    assert (none.returncode, none.stdout) == (1, "")
    assert "there is no row `nosuch`" in none.stderr
    (tmp_path / "row.json").write_text('{"row":[],"index":0,"size":1,"path":[]}')
    assert (ran("--row", str(tmp_path / "row.json")).returncode, ran("--allowed-signers", "/no").returncode) == (1, 2)
    journal = copy / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"uid":4001', '"uid":4009', 1))
    bad = ran()
    assert (bad.returncode, bad.stderr) == (1, "")
    assert "DOES NOT VERIFY" in bad.stdout
    assert ran("--nonsense").returncode == 2


def test_a_folder_that_holds_something_else_is_not_written_to(folder, tmp_path, office):
    """A slip of a path costs nothing; what an export wrote is replaced."""
    run = run_of(office.store, office.store.begin_run("w", "plan", ANA))
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="holds something") as found:
        export_run(office.store, run, tmp_path / "x", signers=None, person=ANA, sign=None)
    assert found.value.code == "FC685"
    copy = copied(folder, tmp_path / "b")
    made = export_run(office.store, run, copy, signers=None, person=ANA, sign=None)
    assert (made.files, (copy / "plans").exists()) == (4, False)


@pytest.fixture
def office(tmp_path):
    (tmp_path / "store").mkdir()
    with Office(tmp_path / "store") as made:
        yield made


# -- judged the same by both -------------------------------------------------------------------------------------------


def by_the_program(lines: list[str]) -> set[str]:
    """What `fullcount verify` finds in the entries, by what it is about."""
    chain, state = ChainCheck(), State(signers=read_signers(SIGNERS))
    for text in lines:
        raw = json.loads(text)
        entry = Entry(**raw | {"payload": canonical(raw["payload"])})
        if chain.feed(entry):
            replay(state, entry)
    return {str(each.about) for each in (*chain.problems, *state.problems)}


def by_the_file(standalone, lines: list[str]) -> set[str]:
    """What the stand-alone file finds in them."""
    facts, chain = standalone.Facts(signers=standalone.read_signers(SIGNERS)), standalone.Chain()
    for entry in chain.read(lines):
        standalone.replay_line(facts, entry)
    return {each.about for each in (*chain.faults, *facts.faults)}


@pytest.fixture(scope="module")
def entries(folder):
    return [json.loads(text) for text in (folder / "journal.jsonl").read_text().splitlines()]


def nth(entries, kind, number=0):
    return [place for place, entry in enumerate(entries) if entry["kind"] == kind][number]


def put(kind, *place, value, number=0):
    """Change a field of the n-th entry of a kind."""

    def change(entries):
        at = nth(entries, kind, number)
        entries[at] = changed(entries[at], ("payload", *place), value)

    return change


def dropped(kind, number=0):
    return lambda entries: entries.pop(nth(entries, kind, number))


def doubled(kind, number=0):
    return lambda entries: entries.insert(nth(entries, kind, number), entries[nth(entries, kind, number)])


def later(kind, number=0, *, days=4):
    def change(entries):
        at = nth(entries, kind, number)
        entries[at] = entries[at] | {"at": entries[at]["at"] + days * 86_400 * 10**6}

    return change


OTHER_DIGEST = "sha256:" + "7" * 64
TAMPERINGS = {
    "nothing": lambda _entries: None,
    "a vote for another digest": put("approved", "digest", value=OTHER_DIGEST),
    "a vote for another plan": put("approved", "plan_id", value="0" * 26),
    "a vote of another person": put("approved", "by", "uid", value=4099, number=3),
    "a vote is missing": dropped("approved", 4),
    "a vote is counted twice": doubled("approved", 3),
    "a signature is taken away": put("approved", "signature", value=None, number=-1),
    "a signature of another vote": lambda entries: put(
        "approved", "signature", value=entries[nth(entries, "approved", -2)]["payload"]["signature"], number=-1
    )(entries),
    "the instant of a signature": put("approved", "signed_at", value=1, number=-1),
    "signatures are said not to be asked for": lambda entries: (
        put("approval_opened", "signed", value=False, number=-1)(entries),
        put("approved", "signature", value="no signature", number=-1)(entries),
    ),
    "a quorum of nobody": put("approval_opened", "rule", value=[]),
    "a seat for somebody who did not vote": put("approval_complete", "seats", 0, "uid", value=4009),
    "no seats": put("approval_complete", "seats", value=[]),
    "an approval that lasts longer": put("approval_complete", "expires_at", value=2**50),
    "an approval that was never opened": dropped("approval_opened", 1),
    "an apply without approval": dropped("approval_complete", 1),
    "an apply under another approval": put("apply_began", "round_id", value="0" * 26),
    "an act without an apply": dropped("apply_began"),
    "an act without an intent": dropped("intents"),
    "an act after the approval ran out": later("intents"),
    "an object acted on twice": doubled("intents"),
    "an object that is another": put("intents", "acts", 0, "key", value=["z"]),
    "an act again whose outcome was known": lambda entries: (
        entries.append(entries[nth(entries, "meant_again")]),
        entries.insert(nth(entries, "apply_ended"), entries.pop()),
    ),
    "an act again that had never been": put("meant_again", "acts", 0, "key", value=["z"]),
    "an act again under no approval": put("meant_again", "acts", 0, "round_id", value="0" * 26),
    "an act again by another token": put("meant_again", "fence", value=7),
    "two outcomes": doubled("outcomes", 1),
    "an outcome without an act": put("outcomes", "outcomes", 0, "key", value=["z"], number=1),
    "an outcome of another act": put("outcomes", "outcomes", 0, "act_id", value="0" * 26, number=1),
    "a better outcome": put("outcomes", "outcomes", 1, "outcome", value="failed"),
    "counts that do not add up": put("apply_ended", "counts", "done", value=5),
    "an end that comes too early": put("apply_ended", "applied", value=False),
    "more candidates": put("planned", "candidates", value=9, number=2),
    "a plan that supersedes nothing": put("planned", "supersedes", value=[], number=2),
    "a plan is missing": dropped("planned", 2),
    "a plan twice": doubled("planned", 2),
    "a run that was begun twice": doubled("run_began", 1),
    "a run that was never begun": dropped("run_began", 4),
    "a run that ends twice": doubled("run_finished"),
    "an undo of what was not done": put("outcomes", "outcomes", 0, "outcome", value="refused"),
    "a canary that passed too early": put("canary_waits", "until", value=2**52),
    "a canary that never waited": dropped("canary_waits"),
    "a canary of other objects": put("canary_waits", "keys", value=[["z"]]),
    "a rehearsal with what was not done": put("intents", "acts", 0, "key", value=["d"], number=1),
    "a rehearsal with a second object": lambda entries: entries.insert(
        nth(entries, "canary_passed"),
        changed(
            changed(entries[nth(entries, "intents", 1)], ("payload", "acts", 0, "key"), ["c"]),
            ("payload", "acts", 0, "idempotency_key"),
            "9" * 64,
        ),
    ),
    "a rehearsal in the middle of which the canary passed": lambda entries: (
        dropped("outcomes", 3)(entries),
        dropped("intents", 2)(entries),
    ),
    "a second act on what was not restored": put("outcomes", "outcomes", 0, "outcome", value="failed", number=2),
    "an act of a kind that is not known": put("intents", "kind", value="gift", number=1),
    "acts while halted": dropped("resumed"),
    "acts while paused": dropped("pause_lifted"),
    "a strike from a plan that never was": put("struck", "of", value="0" * 26),
    "a strike twice": doubled("struck"),
    "an unknown kind": lambda entries: entries[3].update(kind="gift"),
    "an unknown field": put("run_finished", "more", value=1),
    "a missing field": lambda entries: entries[nth(entries, "planned")]["payload"].pop("digest"),
    "a field of another type": put("planned", "candidates", value="many"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_breaks_a_rule_is_judged_the_same_by_the_program_and_by_the_file(entries, standalone, name):
    """The chain of each is mended, so that only the rule speaks: both find it, or neither."""
    mine = json.loads(json.dumps(entries))
    TAMPERINGS[name](mine)
    lines = relinked(mine)
    found = by_the_program(lines)
    assert (found == set()) == (name == "nothing")
    assert by_the_file(standalone, lines) == found, name


def test_the_room_and_the_file_are_one(folder):
    """The modules that the program itself uses find what the assembled file finds."""
    facts, chain = Facts(), Chain()
    for entry in chain.read((folder / "journal.jsonl").read_text().splitlines()):
        replay_line(facts, entry)
    assert (chain.faults, facts.faults) == ([], [])
