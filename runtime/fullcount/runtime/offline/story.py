"""Check a folder that `fullcount export` wrote: offline, with nothing but Python 3.11 or newer.

    python -I -S verify.py                     the folder that this file stands in
    python -I -S verify.py FOLDER              another one
      --anchor 120:sha256:…                    a head of the journal that you noted: it must be in it
      --allowed-signers FILE                   who may sign, by your own account (OpenSSH's format)
      --prove KEY                              print the proof that an object is in the plan, to be given to others
      --row FILE                               check such a proof against the plan

It ends with 0 if everything holds, 1 if not, 7 if nothing is wrong but the sums. `bundle.py` says what can't be shown.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from fullcount.runtime.offline.acts import ends_of, plan_counts
from fullcount.runtime.offline.bundle import Checked, check_bundle
from fullcount.runtime.offline.canonical import canonical
from fullcount.runtime.offline.files import read_given
from fullcount.runtime.offline.plans import row_proof, row_proven
from fullcount.runtime.offline.rehearsals import AGAIN, RESTORE
from fullcount.runtime.offline.signers import is_about_trust

USAGE = "usage: python -I -S verify.py [FOLDER] [--anchor SEQ:HASH] [--allowed-signers FILE] [--prove KEY | --row FILE]"


_CHANGED: Final = "something was changed after it was written; do not rely on what it says"
_UNTRUSTED: Final = (
    "it fits together, and whoever signed it may not, by the signers that were given: ask who they are, and for what"
)


def main(arguments: list[str]) -> int:
    """Check, print what was found, and return the exit code."""
    given = dict[str, str]()
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word in {"--anchor", "--allowed-signers", "--prove", "--row"} and words and word not in given:
            given[word] = words.pop(0)
        elif not word.startswith("-") and "" not in given:
            given[""] = word
        else:
            print(USAGE, file=sys.stderr)  # noqa: T201 - a program of its own
            return 2
    anchor: tuple[int, str] | None = None
    if "--anchor" in given:
        seq, _, digest = given["--anchor"].partition(":")
        if not seq.isdecimal():
            print(USAGE, file=sys.stderr)  # noqa: T201
            return 2
        anchor = (int(seq), digest)
    folder = Path(given.get("", str(Path(__file__).parent)))
    try:
        own = read_given(Path(given["--allowed-signers"])).decode() if "--allowed-signers" in given else None
    except (OSError, UnicodeDecodeError) as error:
        print(harmless(f"--allowed-signers can't be read: {error}"), file=sys.stderr)  # noqa: T201
        return 2
    checked = check_bundle(folder, anchor=anchor, signers_text=own)
    lines = told(checked)
    if "--prove" in given and not checked.faults:
        proof = _proof(checked, given["--prove"])
        if proof is None:
            print(harmless(f"there is no row `{given['--prove']}` in the plan"), file=sys.stderr)  # noqa: T201
            return 1
        lines = [proof]
    elif "--row" in given and not checked.faults:
        holds = _row_holds(checked, Path(given["--row"]))
        print("the object is a row of the plan" if holds else "NO: it is no row of this plan")  # noqa: T201
        return 0 if holds else 1
    into = sys.stderr if "--prove" in given and checked.faults else sys.stdout  # a proof, or nothing
    print("\n".join(map(harmless, lines)), file=into)
    return exit_code(checked)


def exit_code(checked: Checked) -> int:
    """Return 0, 1, or 7 where nothing but sums is wrong."""
    if not checked.faults:
        return 0
    return 7 if all(fault.about == "sums" for fault in checked.faults) else 1


def told(checked: Checked) -> list[str]:
    """Return what was found, for people."""
    if checked.faults:
        shown = [f"  {fault.about:<10} {fault}" for fault in checked.faults[:20]]
        more = len(checked.faults) - len(shown)
        found = len(checked.faults)
        trust = all(is_about_trust(fault.what) for fault in checked.faults)
        return [
            f"DOES NOT VERIFY  {found} problem{'s' if found > 1 else ''}",
            *shown,
            *([f"  …          {more} more"] if more else []),
            f"  = why: {_UNTRUSTED if trust else _CHANGED}",
        ]
    facts, plan = checked.facts, checked.plan
    run = facts.runs[checked.run_id or ""]
    ended = "ended" if run["state"] == "ended" else f"ended as {run['state']}"
    lines = [
        f"VERIFIED  {checked.entries} entries: every hash, link, approval, act and sum holds"
        + ("; WHO SIGNED WAS NOT CHECKED" if checked.unchecked else ""),
        f"  run       {run['kind']} of {run['workflow']}, {ended}, exit {run['exit']}",
    ]
    if plan is not None:
        sums = plan["sums"]
        counts = {name: count for name, count in plan_counts(facts, plan["plan_id"]).items() if count}
        parts = " + ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
        signed = sum(1 for each in facts.rounds.values() if each["digest"] == plan["digest"] for _ in each["votes"])
        kept = f"{sums['kept']} kept + {sums['undecided']} undecided"
        lines += [
            f"  plan      {plan['plan_id']}, digest {plan['digest']}",
            f"            {sums['inventory']} objects = {sums['candidates']} candidates + {kept}",
            f"            {sums['candidates']} candidates = {parts}",
            *_told_of_rehearsal(checked, plan["plan_id"]),
            f"            {signed} votes, {len(facts.signatures)} signatures in the journal",
        ]
    return [*lines, *(f"  note      {note}" for note in checked.notes), f"  head      {checked.entries}:{checked.head}"]


def _told_of_rehearsal(checked: Checked, plan_id: str) -> list[str]:
    """Return how far the rehearsal of a restore came, if there was one."""
    keys = [key for kind, key in checked.facts.acts.get(plan_id, {}) if kind == RESTORE]
    lines = []
    for key in keys:
        ends = ends_of(checked.facts, plan_id, key)
        again = f"acted on again: {ends[AGAIN] or 'unknown'}" if AGAIN in ends else "not acted on again"
        lines.append(f"            a restore was rehearsed with {key}: restored: {ends[RESTORE] or 'unknown'}, {again}")
    return lines


def harmless(text: str) -> str:
    """Return a line that does nothing to a terminal: what is no plain printable text is written out."""
    return "".join(c if (c.isprintable() and c.isascii()) or c == "…" else ascii(c)[1:-1] for c in text)


def _proof(checked: Checked, key: str) -> str | None:
    plan: dict[str, Any] = checked.plan or {"rows": []}
    for row in plan["rows"]:
        if key in {" / ".join(map(str, row["key"])), canonical(row["key"])}:
            place, size, path = row_proof(plan, row)
            return canonical({"root": plan["merkle_root"], "row": row, "index": place, "size": size, "path": path})
    return None


def _row_holds(checked: Checked, path: Path) -> bool:
    try:
        said = json.loads(read_given(path).decode())
        root = (checked.plan or {})["merkle_root"]
        proven = row_proven(root, said["row"], said["index"], said["size"], said["path"])
        return bool(proven) and bool(said["root"] == root)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
