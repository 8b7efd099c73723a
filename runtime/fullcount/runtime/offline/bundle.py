"""Checking an exported folder: every file against the journal, and the journal against itself.

What it can show alone: that nothing in the folder was changed after it was written, and that what the journal tells was
allowed. What takes something noted elsewhere: that the whole was not made up from the start. For that give an anchor (a
head that you noted) and your own `allowed_signers`; the one in the folder only says who was allowed by its own account.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fullcount.runtime.offline.attest import certificate_statement, open_envelope, plan_statement
from fullcount.runtime.offline.canonical import NotCanonical, canonical, read_canonical_text, sha256
from fullcount.runtime.offline.clocks import steps_wrong
from fullcount.runtime.offline.facts import UNTOLD, Facts
from fullcount.runtime.offline.files import NoFile, digest_of_own, files_below, lines_of, open_own, read_own
from fullcount.runtime.offline.journal import Chain, Fault
from fullcount.runtime.offline.kinds import shape_wrong
from fullcount.runtime.offline.notices import untold
from fullcount.runtime.offline.pace import too_fast
from fullcount.runtime.offline.plans import plan_wrong
from fullcount.runtime.offline.programs import act_of, canary_of, program_wrong, rate_of, to_rehearse
from fullcount.runtime.offline.rehearsals import still_to_rehearse
from fullcount.runtime.offline.replaying import replay_line
from fullcount.runtime.offline.signers import SignersWrong, read_signers, why_not_allowed
from fullcount.runtime.offline.sshsig import SignatureWrong, check_signature, read_signature
from fullcount.runtime.offline.statements import head_statement
from fullcount.runtime.offline.undos import undo_wrong

FORMAT: Final = "fullcount bundle 1"
MANIFEST: Final = "bundle.json"
JOURNAL: Final = "journal.jsonl"
VERIFIER: Final = "verify.py"


@dataclass(slots=True)
class Checked:
    """What came of a check. `said`: what was found, for people, line by line."""

    faults: list[Fault] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    entries: int = 0
    head: str = ""
    plan: dict[str, Any] | None = None
    run_id: str | None = None
    notes: list[str] = field(default_factory=list)
    unchecked: bool = False
    """Whether there is a signature, and nobody said whose key may sign."""

    def wrong(self, about: str, what: str) -> None:
        """Note what is wrong, where no journal entry is to be named."""
        self.faults.append(Fault(about, None, what))


def check_bundle(folder: Path, *, anchor: tuple[int, str] | None = None, signers_text: str | None = None) -> Checked:
    """Check a folder. `signers_text`: an `allowed_signers` of your own, instead of that in the folder."""
    checked = Checked()
    manifest = _manifest(folder, checked)
    if manifest is None:
        return checked
    files = _files(folder, manifest, checked)
    checked.run_id = manifest["run_id"]
    _signers(files, signers_text, checked)
    _heads(files, manifest, checked)
    _journal(folder, files, manifest, anchor, checked)
    _plan(files, manifest, checked)
    _evidence(files, manifest, checked)
    if manifest["plan_id"] is None or checked.plan is not None:
        _statements(files, checked)  # about a plan that is wrong itself, nothing more can be said
    _head(files, manifest, checked)
    signed = len(checked.facts.signatures) > 0 or any(name.endswith((".sig", ".dsse.json")) for name in files)
    checked.unchecked = signed and checked.facts.signers is None
    if checked.unchecked:
        checked.notes.append("whose the keys of its signatures are was not checked: say so with --allowed-signers FILE")
    checked.notes += [f"not judged: {what}" for what in UNTOLD]
    return checked


def expected_evidence(facts: Facts, run_id: str | None, plan_id: str | None) -> dict[str, tuple[str, str]]:
    """Return the ids of what belongs to a bundle, with the hash of its document, and `envelope` or `certificate`."""
    runs = {run_id} | ({facts.plans[plan_id]["run_id"]} if plan_id in facts.plans else set())
    return {name: (digest, kind) for name, (of, digest, kind) in facts.evidence.items() if of in runs}


_KINDS_OF_FILES: Final = (
    ("journal.jsonl", "the journal"),
    ("verify.py", "the program that checks the bundle"),
    ("bundle.json", "the list of the bundle's files"),
    ("allowed_signers", "the list of who may sign"),
    ("head.json.sig", "the signature over the head of the run"),
    ("head.json", "the head of the run"),
    ("plans/", "the plan"),
    ("evidence/", "evidence, an envelope or a certificate,"),
    ("statements/plan-", "the statement about the plan"),
    ("statements/certificate-", "the statement about a certificate"),
)


def kind_of_file(name: str) -> str:
    """Return what a file of a bundle is, for messages."""
    return next((kind for beginning, kind in _KINDS_OF_FILES if name.startswith(beginning)), "a file")


def _manifest(folder: Path, checked: Checked) -> dict[str, Any] | None:
    try:
        text = read_own(folder / MANIFEST).decode()
        said = read_canonical_text(text.removesuffix("\n"))
        shape = {"format": "text", "run_id": "text", "plan_id": "?text", "head": "{any}", "files": "{text}"}
        right = text.endswith("\n") and shape_wrong(said, shape) is None and said["format"] == FORMAT
    except (OSError, UnicodeDecodeError, NotCanonical) as error:
        checked.wrong("bundle", f"{kind_of_file(MANIFEST)} is missing, or can't be read: {MANIFEST}: {error}")
        return None
    if not right:
        checked.wrong("bundle", f"{MANIFEST} is not that of a `{FORMAT}`")
        return None
    return dict(said)


def _files(folder: Path, manifest: dict[str, Any], checked: Checked) -> dict[str, bytes]:
    """Return the files that fit the manifest, except the journal, which is read line by line."""
    try:
        found = files_below(folder)
    except OSError as error:
        checked.wrong("bundle", f"a folder in it can't be read: {error.strerror}")
        return {}
    found.pop(MANIFEST, None)
    caches = [name for name in found if "__pycache__" in name]
    for name in sorted(set(manifest["files"]) - set(found)):
        checked.wrong("bundle", f"{kind_of_file(name)} is missing: `{name}`")
    for name in sorted(set(found) - set(manifest["files"]) - set(caches)):
        what = f"{MANIFEST} has no entry of it, which is {kind_of_file(name)}"
        checked.wrong("bundle", f"`{name}` does not belong to the bundle: {what}")
    files = {}
    for name, path in found.items():
        if name not in manifest["files"]:
            continue
        try:
            data = b"" if name == JOURNAL else read_own(path)
            digest = digest_of_own(path) if name == JOURNAL else sha256(data)
        except NoFile as error:
            checked.wrong("bundle", f"`{name}` is no file of its own that is read here: {error}")
            continue
        except OSError as error:
            checked.wrong("bundle", f"`{name}` can't be read: {error.strerror}")
            continue
        if digest != manifest["files"][name]:
            checked.wrong("bundle", f"`{name}` was changed: it does not fit its hash in {MANIFEST}")
        files[name] = data
    for name in (JOURNAL, VERIFIER):
        if name not in manifest["files"]:
            checked.wrong("bundle", f"{kind_of_file(name)} is missing: `{name}` is not part of the bundle")
    return files


def _signers(files: dict[str, bytes], own: str | None, checked: Checked) -> None:
    kept = files.get("allowed_signers")
    if own is None and kept is None:
        return
    try:
        checked.facts.signers = read_signers((kept or b"").decode() if own is None else own)
    except (SignersWrong, UnicodeDecodeError) as error:
        checked.facts.signers = ()
        checked.wrong("approval", f"the allowed signers can't be used: {error}")
    if own is None:
        checked.notes.append("who may sign is taken from the bundle itself; give your own with --allowed-signers")


def _heads(files: dict[str, bytes], manifest: dict[str, Any], checked: Checked) -> None:
    """Ask for the hash of the entry that an undo was made over; what can't be read is said where the plan is read."""
    try:
        seq = read_canonical_text(files[f"plans/{manifest['plan_id']}.json"].decode())["undo"]["head"]["seq"]
        checked.facts.heads[seq] = ""
    except (KeyError, TypeError, UnicodeDecodeError, NotCanonical):
        return


def _journal(
    folder: Path,
    files: dict[str, bytes],
    manifest: dict[str, Any],
    anchor: tuple[int, str] | None,
    checked: Checked,
) -> None:
    chain = Chain()
    if JOURNAL in files:
        for line in chain.read(_lines(folder / JOURNAL, checked)):
            replay_line(checked.facts, line)
            if line.seq in checked.facts.heads:
                checked.facts.heads[line.seq] = line.hash
            if anchor is not None and line.seq == anchor[0] and line.hash != anchor[1]:
                what = "it is not the entry that was seen in this place before: the journal was rewritten"
                checked.facts.wrong("chain", line, what)
    checked.entries, checked.head = chain.seq, chain.hash
    checked.faults += chain.faults + checked.facts.faults
    if manifest["head"] != {"seq": chain.seq, "hash": chain.hash}:
        ends = f"the journal ends with entry {chain.seq}, and {MANIFEST} names another head"
        checked.wrong("chain", f"{ends}: its last entries are missing, or it was rewritten")
    if anchor is not None and anchor[0] > chain.seq:
        checked.wrong("chain", f"the journal ends with entry {chain.seq}, but entry {anchor[0]} was seen in it before")


def _lines(path: Path, checked: Checked) -> Iterator[str]:
    with open_own(path) as file:
        for data in lines_of(file):
            if not data.endswith(b"\n"):
                checked.wrong("chain", "the journal's last line is not whole")
            yield data.decode("utf-8", "surrogateescape")


def _plan(files: dict[str, bytes], manifest: dict[str, Any], checked: Checked) -> None:
    plan_id, facts = manifest["plan_id"], checked.facts
    wanted = set() if plan_id is None else {f"plans/{plan_id}.json"}
    found = {name for name in files if name.startswith("plans/")}
    for name in sorted(wanted - found):
        checked.wrong("plan", f"the plan is missing: `{name}`")
    for name in sorted(found - wanted):
        checked.wrong("plan", f"`{name}` is a plan that the bundle is not of")
    told = facts.plans.get(plan_id or "")
    data = files.get(f"plans/{plan_id}.json")
    if plan_id is None or data is None:
        return
    if told is None:
        checked.wrong("plan", f"the journal's entry of the plan `{plan_id}` is missing")
        return
    try:
        plan = read_canonical_text(data.decode())
        wrong = plan_wrong(plan)
        if sha256(data) != told["sha256"]:
            wrong.append("it is not the document that the journal recorded")
        authors = sorted({*plan["authors"], plan["created_by"]})
        facts_of = ("plan_id", "run_id", "workflow", "proposal", "digest")
        if [plan[name] for name in facts_of] != [told[name] for name in facts_of] or authors != told["authors"]:
            wrong.append("it says something else of itself than the journal does")
        if len(plan["rows"]) != told["candidates"] or plan["caps"]["exceeded"] != told["over_cap"]:
            wrong.append("it lists another number of objects than the journal says")
        unread = program_wrong(plan)
        wrong += [unread] if unread is not None else _acted_on(facts, plan)
        wrong += undo_wrong(facts, plan, told.get("undoes"))
        if not wrong:
            checked.faults += _out_of_turn(facts, plan)
            checked.plan = plan  # nothing rests on one that is wrong, not even on its having every part
    except (NotCanonical, UnicodeDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        wrong = [f"it can't be read: {error}"]
    for what in wrong:
        checked.faults.append(Fault("plan", told["seq"], f"the plan `{plan_id}`: {what}"))


def _out_of_turn(facts: Facts, plan: dict[str, Any]) -> list[Fault]:
    """Return what the plan says should have come earlier, later or at all: steps, their pace, and who is told."""
    acts = facts.acts.get(plan["plan_id"], {})
    found = steps_wrong(facts.clocks, plan)
    act = act_of(plan)
    rate = None if act is None else rate_of(act)
    found += too_fast(facts.pace, plan["plan_id"], rate, lambda kind, key: acts[kind, key]["outcome"])
    told = untold(facts.notices, plan)
    return [Fault("act", seq, what) for seq, what in found] + [Fault("run", seq, what) for seq, what in told]


def _acted_on(facts: Facts, plan: dict[str, Any]) -> list[str]:
    listed = {canonical(row["key"]) for row in plan["rows"]}
    acts = facts.acts.get(plan["plan_id"], {})
    wrong = [f"the object {key} was acted on, which it does not list" for _, key in acts if key not in listed]
    act = act_of(plan)
    if act is None:
        return [*wrong, *(["it was acted on, and its program only proposes"] if len(acts) > 0 else [])]
    canary = canary_of(act)
    if canary is not None and facts.early.get(plan["plan_id"], 0) > canary[0]:
        wrong.append(f"more objects were acted on before its canary of {canary[0]} passed")
    passed = facts.passed.get(plan["plan_id"])
    if passed is not None:
        steps = {canonical(row["key"]): (row.get("step") or {}).get("label") for row in plan["rows"]}
        for step in still_to_rehearse(to_rehearse(act), steps, passed):
            of = "" if step is None else f" of step `{step}`"
            wrong.append(f"its canary passed although no restore{of} had been rehearsed")
    then = None if canary is None else canary[1]
    if then is not None and plan["plan_id"] in facts.counted:
        there, (most, address) = facts.counted[plan["plan_id"]], then
        if there is None or there > most:
            wrong.append(f"its canary passed although at most {most} of `{address}` may be")
    return wrong


def _evidence(files: dict[str, bytes], manifest: dict[str, Any], checked: Checked) -> None:
    wanted = expected_evidence(checked.facts, manifest["run_id"], manifest["plan_id"])
    for name, (digest, kind) in wanted.items():
        data = files.get(f"evidence/{name}.json")
        if data is None:
            checked.wrong("evidence", f"the {kind} `{name}` is missing: `evidence/{name}.json`")
        elif sha256(data) != digest:
            checked.wrong("evidence", f"the {kind} `evidence/{name}.json` is not what the journal recorded")
    for path, data in files.items():
        name = path.removeprefix("evidence/").removesuffix(".json")
        if path.startswith("evidence/") and name not in wanted:
            what = f"the journal's entry of {_evidence_in(data)} `{name}` is missing"
            checked.wrong("evidence", f"{what}, or `{path}` does not belong to the bundle")
    if checked.plan is None:
        return
    recorded = {digest for _, digest, kind in checked.facts.evidence.values() if kind == "certificate"}
    for certificate in checked.plan["certificates"]:
        if sha256(canonical(certificate)) not in recorded:
            what = f"the journal's entry of a certificate of `{certificate['inventory']}` is missing"
            checked.wrong("evidence", f"{what}, on which the plan rests")


def _evidence_in(data: bytes) -> str:
    """Return what a document of evidence is, by what it says of itself."""
    try:
        said = read_canonical_text(data.decode())
    except (NotCanonical, UnicodeDecodeError):
        return "something unreadable,"
    return "the certificate" if isinstance(said, dict) and "claims" in said else "the envelope"


def _statements(files: dict[str, bytes], checked: Checked) -> None:
    """Compare the in-toto statements with what they are about; each may stand in a signed envelope instead."""
    wanted: dict[str, bytes] = {}
    if checked.plan is not None:
        plan = checked.plan
        name = f"plans/{plan.get('plan_id')}.json"
        wanted[f"statements/plan-{plan.get('plan_id')}"] = plan_statement(plan, sha256(files[name]))
        for path, data in files.items():
            if path.startswith("evidence/"):
                try:
                    found = read_canonical_text(data.decode())
                except (NotCanonical, UnicodeDecodeError) as error:
                    checked.wrong("evidence", f"`{path}` can't be read: {error}")
                    continue
                if isinstance(found, dict) and found in plan["certificates"] and "claims" in found:
                    ident = path.removeprefix("evidence/").removesuffix(".json")
                    wanted[f"statements/certificate-{ident}"] = certificate_statement(ident, found)
    for path in files:
        if path.startswith("statements/") and path.rsplit(".", 2)[0] not in wanted:
            checked.wrong("statement", f"`{path}` is a statement about something else")
    for stem, statement in wanted.items():
        plain, signed = files.get(f"{stem}.intoto.json"), files.get(f"{stem}.dsse.json")
        if plain is None and signed is None:
            checked.wrong("statement", f"{kind_of_file(stem)} is missing: `{stem}.intoto.json`, or signed `.dsse.json`")
        elif plain is not None and signed is not None:
            checked.wrong("statement", f"`{stem}` is there twice, signed and not")
        elif plain is not None and plain != statement:
            checked.wrong("statement", f"`{stem}.intoto.json` says something else than the record")
        elif signed is not None:
            _envelope_fits(f"{stem}.dsse.json", signed, statement, files, checked)


def _envelope_fits(name: str, data: bytes, statement: bytes, files: dict[str, bytes], checked: Checked) -> None:
    try:
        found, signature = open_envelope(data)
        head = _read_head(files["head.json"])
        by, at = head["by"], head["at"]
        if found != statement:
            checked.wrong("statement", f"`{name}` says something else than the record")
        if checked.facts.signers is not None:
            why = why_not_allowed(checked.facts.signers, signature, (by["name"], f"uid:{by['uid']}"), at)
            if why is not None:
                checked.wrong("statement", f"`{name}`: {why}")
    except SignatureWrong as error:
        checked.wrong("statement", f"`{name}`: the signature {error}")
    except (KeyError, TypeError, NotCanonical, UnicodeDecodeError):
        checked.wrong("statement", f"`{name}` is signed, and head.json does not say by whom")


def _read_head(data: bytes) -> dict[str, Any]:
    """Return what head.json says. Raises `NotCanonical`, `UnicodeDecodeError`, `KeyError`, `TypeError`."""
    said = read_canonical_text(data.decode().removesuffix("\n"))
    by, at = said["by"], said["at"]
    if by is not None and not (type(by["uid"]) is int and isinstance(by["name"], str)):
        raise NotCanonical("it does not say who signed it")
    if at is not None and type(at) is not int:
        raise NotCanonical("it does not say when it was signed")
    return dict(said)


def _head(files: dict[str, bytes], manifest: dict[str, Any], checked: Checked) -> None:
    """Check the head of the run: its last entry, and the signature over it."""
    run = checked.facts.runs.get(manifest["run_id"] or "")
    data = files.get("head.json")
    if run is None:
        checked.wrong("run", f"the beginning of the run `{manifest['run_id']}` is missing in the journal")
    if data is None:
        checked.wrong("run", f"{kind_of_file('head.json')} is missing: `head.json`")
    if run is None or data is None:
        return
    try:
        said = _read_head(data)
        by = None if said["by"] is None else (said["by"]["uid"], said["by"]["name"])
        seq, last = run["last"]
        again = head_statement(manifest["run_id"], seq, last, by, said["at"])
    except (NotCanonical, UnicodeDecodeError, KeyError, TypeError) as error:
        checked.wrong("run", f"head.json can't be read: {error}")
        return
    if again != data:
        checked.wrong("run", "head.json does not name the last entry of its run")
    signature = files.get("head.json.sig")
    if signature is None and by is not None:
        checked.wrong("run", f"{kind_of_file('head.json.sig')} is missing: head.json says who signed it")
    elif (signature is None) != (by is None) or (by is None) != (said["at"] is None):
        checked.wrong("run", "head.json says that it is signed and is not, or the other way round")
    elif signature is not None and by is not None:
        try:
            found = read_signature(signature.decode("ascii", "replace"))
            check_signature(found, data)
        except SignatureWrong as error:
            checked.wrong("run", f"head.json.sig: the signature {error}")
            return
        if checked.facts.signers is not None:
            why = why_not_allowed(checked.facts.signers, found, (by[1], f"uid:{by[0]}"), said["at"])
            if why is not None:
                checked.wrong("run", f"head.json.sig: {why}")
    if said["by"] is None:
        checked.notes.append("the run's head is not signed")
