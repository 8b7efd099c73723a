"""The folder that `fullcount export` writes: a run, everything it rests on, and the program that checks it offline.

Guarantees: what is written verifies by the very check that goes with it, or nothing is said to have been written; the
journal goes through line by line, so that a large one costs no memory; nothing but a folder that is empty, or that
this wrote before, is written into. An approval's key is never exported, nor what an undo needs: they are in the journal
as hashes.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.journal.export import line_of
from fullcount.runtime.journal.verify import entries
from fullcount.runtime.offline.assemble import verifier
from fullcount.runtime.offline.attest import certificate_statement, envelope_of, plan_statement, to_be_signed
from fullcount.runtime.offline.bundle import FORMAT, MANIFEST, VERIFIER, check_bundle
from fullcount.runtime.offline.canonical import canonical, read_canonical_text, sha256
from fullcount.runtime.offline.statements import head_statement
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import RunRow
from fullcount.runtime.workflow_files import UsageError

Sign = Callable[[bytes], str]
"""Returns the armoured signature over a message."""

_RUN_FINISHED: Final = "run_finished"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the journal's head, the run's, and how many files."""

    folder: Path
    head: Head
    run_head: Head
    files: int
    signed: bool


def export_run(
    store: Store, run: RunRow, folder: Path, *, signers: str | None, person: Person, sign: Sign | None
) -> Exported:
    """Write a run's bundle. `signers`: the text of the `allowed_signers`. Raises `UsageError`, `StoreError`."""
    _room_for(folder)
    made = _Folder(folder)
    plan_id = plan_of(run)
    signed_at = None if sign is None else to_micros(store.now())
    with store.reading() as session:
        head, run_head = _journal(session, run.run_id, made)
        plan = None if plan_id is None else _plan(session, plan_id, made)
        runs = {run.run_id} | ({plan["run_id"]} if plan is not None else set())
        certificates = _evidence(session, runs, made)
    if plan is not None:
        of_plan = plan_statement(plan, made.files[f"plans/{plan_id}.json"])
        _statement(made, f"statements/plan-{plan_id}", of_plan, sign)
        for ident, certificate in certificates.items():
            if certificate in plan["certificates"]:
                about = certificate_statement(ident, certificate)
                _statement(made, f"statements/certificate-{ident}", about, sign)
    if signers is not None:
        made.write("allowed_signers", signers.encode())
    by = None if sign is None else (person.uid, person.name)
    ended = head_statement(run.run_id, run_head.seq, run_head.hash, by, signed_at)
    made.write("head.json", ended)
    if sign is not None:
        made.write("head.json.sig", sign(ended).encode())
    made.write(VERIFIER, verifier().encode())
    manifest = {
        "format": FORMAT, "run_id": run.run_id, "plan_id": plan_id, "head": {"seq": head.seq, "hash": head.hash},
        "files": made.files,
    }  # fmt: skip
    (folder / MANIFEST).write_text(f"{canonical(manifest)}\n", encoding="utf-8")
    checked = check_bundle(folder)
    if len(checked.faults) > 0:
        raise StoreError(
            "FC773",
            f"what was exported does not verify: {checked.faults[0]}",
            help="keep the store as it is and see all of it with `fullcount verify`",
        )
    return Exported(folder, head, run_head, len(made.files) + 1, sign is not None)


def plan_of(run: RunRow) -> str | None:
    """Return the plan that a run made, applied or undid; None for one that made none."""
    made = (run.summary or {}).get("plan_id")
    return run.plan_id if run.plan_id is not None else made if isinstance(made, str) else None


class _Folder:
    """Files that were written, by their hashes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, str] = {}

    def write(self, name: str, data: bytes) -> None:
        """Write one file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.files[name] = sha256(data)


def _room_for(folder: Path) -> None:
    """Make the folder, or empty the one that an export wrote before."""
    try:
        if (folder / MANIFEST).is_file() and FORMAT in (folder / MANIFEST).read_text("utf-8", "replace"):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(
                "FC685",
                f"`{folder}` holds something that this command did not write; nothing was written",
                help="name a new or an empty folder",
            )
    except OSError as error:
        raise UsageError(
            "FC690", f"can't write to `{folder}`: {error.strerror}", help="name a folder that you may write to"
        ) from error


def _journal(session: Session, run_id: str, made: _Folder) -> tuple[Head, Head]:
    """Write every entry, and return the head of the journal and that of the run."""
    digest = hashlib.sha256()
    head = run_head = Head(seq=0, hash="")
    ended = False
    with (made.folder / "journal.jsonl").open("wb") as file:
        for entry in entries(session):
            data = f"{line_of(entry)}\n".encode()
            digest.update(data)
            file.write(data)
            head = Head(seq=entry.seq, hash=entry.hash)
            if entry.run_id == run_id and not ended:
                run_head, ended = head, entry.kind == _RUN_FINISHED
    made.files["journal.jsonl"] = f"sha256:{digest.hexdigest()}"
    return head, run_head


def _plan(session: Session, plan_id: str, made: _Folder) -> dict[str, Any]:
    text = session.scalar(select(tables.Plan.document).where(tables.Plan.plan_id == plan_id))
    if text is None:
        raise StoreError("FC733", f"the plan `{plan_id}` of the run is not in this store")
    made.write(f"plans/{plan_id}.json", text.encode())
    plan: dict[str, Any] = read_canonical_text(text)
    return plan


def _evidence(session: Session, runs: set[str], made: _Folder) -> dict[str, dict[str, Any]]:
    """Write the envelopes and certificates of these runs; return the certificates by their ids."""
    found: dict[str, dict[str, Any]] = {}
    envelopes = select(tables.Evidence.envelope_id, tables.Evidence.document).where(tables.Evidence.run_id.in_(runs))
    for ident, text in session.execute(envelopes):
        made.write(f"evidence/{ident}.json", text.encode())
    query = select(tables.Certificate.certificate_id, tables.Certificate.document)
    for ident, text in session.execute(query.where(tables.Certificate.run_id.in_(runs))):
        made.write(f"evidence/{ident}.json", text.encode())
        found[ident] = read_canonical_text(text)
    return found


def _statement(made: _Folder, stem: str, statement: bytes, sign: Sign | None) -> None:
    if sign is None:
        made.write(f"{stem}.intoto.json", statement)
    else:
        made.write(f"{stem}.dsse.json", envelope_of(statement, sign(to_be_signed(statement))))
