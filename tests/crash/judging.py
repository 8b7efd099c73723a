"""Carrying out a trial, and judging it by what the target says and what the record says.

What must hold at any time, also right after a kill: no object was changed twice, none that the plan does not list, and
none that was not meant first. And in the end, besides: each object has one outcome, `done` where it was changed and
nothing of the kind where it was not; the outcomes add up; the record verifies; to do it again does nothing.

`python -m tests.crash.judging SEED` carries out the trial of one seed and prints what it did.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.crash import preparing
from tests.crash.targets import OBJECTS, TARGETS, Effects, Kept, Target
from tests.crash.trials import Kill, Trial, trial_of
from tests.support.crash_driver import run_process

from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import ActKind
from fullcount.runtime.workspace import Workspace

_LEASE = 40
"""Seconds by which each process is later than the one before: a dead run's lease has ended by then."""
_RUNS = 20
"""How many further processes it may take at most until nothing is left to do."""
_NOT_DONE = frozenset({Outcome.CHANGED, Outcome.ALREADY_GONE, Outcome.REFUSED, Outcome.FAILED})


class WrongError(Exception):
    """Something that must hold does not."""


@dataclass
class Told:
    """What happened in a trial, for whoever must find out why. `kills`: how many processes were killed."""

    kills: int = 0
    effects: Effects | None = None
    """What the target had seen when the latest process ended, before anything else took effect."""
    lines: list[str] = field(default_factory=list)
    later: int = 0


def judged(trial: Trial, target: Target) -> Told:
    """Carry out a trial. Raises `WrongError` with everything that is needed to repeat it."""
    told = Told()
    target.anew(trial.seed)
    try:
        _phase(target, "apply", trial.kills, told)
        if trial.undo_kills is not None and target.reversible:
            later = timedelta(seconds=told.later)
            target.undo_id = asyncio.run(preparing.approved_undo(target.folder, target.plan_id, later=later))
            if target.undo_id is not None:
                _phase(target, "undo", trial.undo_kills, told)
        verified(target)
    except WrongError as error:
        history = "\n".join(told.lines)
        again = f"python -m tests.crash.judging {trial.seed}" if trial.target in TARGETS else "run this test again"
        msg = f"{error}\n{trial}\n{history}\nrepeat it: {again}"
        raise WrongError(msg) from None
    return told


def _phase(target: Target, verb: str, kills: tuple[Kill, ...], told: Told) -> None:
    for kill in kills:
        _process(target, verb, kill, told)
    before: dict[str, int] | None = None
    for _ in range(_RUNS):
        effects = target.effects()
        status, report = _process(target, verb, None, told)
        if status != 0 or report is None:
            raise WrongError(f"an {verb} that nobody killed ended with status {status}")
        counts = _counts(report)
        if report["repeated"]:
            _need(told.effects == effects, "doing it once more changed something")
            break
        stays = counts == before and told.effects == effects and not target.settle(everything=True)
        if stays and _only_unknown(target, verb):
            break
        before = counts
    else:
        raise WrongError(f"the {verb} did not come to an end in {_RUNS} runs")
    target.settle(everything=True)
    ended(target, verb)


def _only_unknown(target: Target, verb: str) -> bool:
    """Whether nothing is left but what nobody can ever tell."""
    with _opened(target) as store:
        entries = store.ledger(_plan(target, verb), kind=ActKind.ACT if verb == "apply" else ActKind.UNDO)
    left = [entry.object_key[0] for entry in entries if entry.outcome in (None, Outcome.UNKNOWN)]
    return all(map(target.may_stay_unknown, left))


def _plan(target: Target, verb: str) -> str:
    return target.plan_id if verb == "apply" or target.undo_id is None else target.undo_id


def _counts(report: dict[str, Any]) -> dict[str, int]:
    if "counts" not in report:
        raise WrongError(f"there is no report: {report}")
    _need(report["sums_hold"], f"the sums of the report do not hold: {report}")
    return report["counts"]


def _process(target: Target, verb: str, kill: Kill | None, told: Told) -> tuple[int | None, dict[str, Any] | None]:
    settings = {} if kill is None else {"nth": kill.nth, "after": kill.after}
    point = "none" if kill is None or kill.after is not None else kill.point
    status, report = run_process(target.folder, _plan(target, verb), point, later=told.later, **settings)
    told.later += _LEASE
    killed = status == -signal.SIGKILL
    told.kills += killed
    told.lines.append(f"  {verb:5} {'' if kill is None else kill!s:24} status {status}  {report or ''}")
    told.effects = target.effects()
    _need(killed or status == 0, f"the process ended with status {status}")
    target.settle()
    at_any_time(target)
    return status, report


def at_any_time(target: Target) -> None:
    """Raise `WrongError` unless what must hold after every process holds."""
    effects = target.effects()
    _need(set(effects.done.values()) <= {1}, f"changed more than once: {_repeated(effects.done)}")
    _need(set(effects.undone.values()) <= {1}, f"taken back more than once: {_repeated(effects.undone)}")
    _need(set(effects.undone) <= set(effects.done), "something was taken back that was not done")
    with _opened(target) as store:
        for kind, changed in ((ActKind.ACT, effects.done), (ActKind.UNDO, effects.undone)):
            entries = store.ledger(_plan(target, "apply" if kind is ActKind.ACT else "undo"), kind=kind)
            meant = {entry.object_key[0] for entry in entries if entry.intent_at is not None}
            _need(set(changed) <= meant, f"changed without having been meant: {sorted(set(changed) - meant)}")


def _repeated(changes: Counter[str]) -> dict[str, int]:
    return {key: number for key, number in changes.items() if number > 1}


def ended(target: Target, verb: str) -> None:
    """Hold the ledger against the target."""
    effects = target.effects()
    kind, changes = (ActKind.ACT, effects.done) if verb == "apply" else (ActKind.UNDO, effects.undone)
    with _opened(target) as store:
        entries = store.ledger(_plan(target, verb), kind=kind)
        done = [e for e in store.ledger(target.plan_id) if e.outcome is Outcome.DONE]
        wanted = store.load_plan(_plan(target, verb)).document.sums.candidates  # of an undo: what could be read then
        _need(wanted <= (OBJECTS if verb == "apply" else len(done)), "more was to be taken back than was done")
        _need(len(entries) == len({e.object_key for e in entries}) == wanted, f"{len(entries)} entries of {wanted}")
        counts = store.counts(_plan(target, verb))
    _need(sum(counts.values()) == wanted, f"the counts do not add up: {counts}")
    for entry in entries:
        (key,) = entry.object_key
        changed, outcome = changes[key], entry.outcome
        _need(outcome is not None, f"{key} has no outcome")
        if outcome is Outcome.DONE:
            _need(changed == 1, f"{key} is said to be done and was changed {changed} times: {entry.detail}")
        elif outcome in _NOT_DONE:
            _need(changed == 0, f"{key} was changed and is said to be {outcome}: {entry.reason} {entry.detail}")
        else:
            _need(target.may_stay_unknown(key), f"{key} ended as {outcome}: {entry.reason} {entry.detail}")
    _need(target.changed() == set(effects.done) - set(effects.undone), "the target is not as its effects say")


def verified(target: Target) -> None:
    """Raise `WrongError` unless the record verifies."""
    workspace = Workspace.load(target.folder)
    with _opened(target) as store:
        problems = verify(store, SnapshotStore(workspace.snapshot_dir)).problems
    _need(len(problems) == 0, f"the record does not verify: {[str(problem) for problem in problems]}")


def _opened(target: Target) -> Store:
    return Store.open_to_read(Workspace.load(target.folder).store_url)


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise WrongError(otherwise)


def block(number: int, of: int, kills: int, kept: Kept, names: tuple[str, ...] | None = None) -> Iterator[Told]:
    """Carry out the trials of one of `of` blocks of seeds until so many processes were killed."""
    seed, killed = number, 0
    while killed < kills:
        trial = trial_of(seed, names)
        told = judged(trial, kept.of(trial.target))
        killed += told.kills
        seed += of
        yield told


def main() -> None:
    """Carry out the trials of the seeds that are named."""
    with tempfile.TemporaryDirectory(prefix="fullcount-crash-") as folder:
        kept = Kept(Path(folder))
        for seed in map(int, sys.argv[1:]):
            trial = trial_of(seed)
            print(trial)  # noqa: T201
            print("\n".join(judged(trial, kept.of(trial.target)).lines))  # noqa: T201
        kept.close()


if __name__ == "__main__":
    main()
