"""What stands between a person and an answer: the start of the command line, and `check` of much.

    python benchmarks/check.py [--rounds 15] [--without-custodian]

- Start: whole processes, as the installed `fullcount` runs them, against `python -c pass` of the same interpreter.
  Goals: `--version` and `--help` at most 5x, `check` of one small file at most 15x.
- `check` of 100 mixed workflows in one run, against `custodian validate` (Cloud Custodian 0.9.53) of 100 mixed
  policies. Goal: at most a tenth. Cloud Custodian is put into an environment of its own in `benchmarks/.cache`; where
  that can't be done, this says so.
- A file of 5,000 lines, against Lark's bare parse of it with the same grammar. Goal: at most 3x.

CPU time, best of the rounds, which alternate: nothing here waits, and the ratios stand stiller on a busy machine. Byte
code and the kept catalogue are there from the first round on, as on any machine where a command was run before.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import mixed
from workflows.demo.story import CONFIGURATION
from workflows.demo.story import HERE as WORKFLOWS

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl import tables
from fullcount.dsl.source import Source
from fullcount.runtime.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "benchmarks" / ".cache"
CUSTODIAN = "0.9.53"
FULLCOUNT = [sys.executable, "-c", "from fullcount.runtime.cli.main import main; main()"]
MANY = 100
LINES = 5_000


def environment(cache: Path) -> dict[str, str]:
    """This tree's code, byte code and caches of this run's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(str(ROOT / room) for room in ("dsl", "compiler", "runtime")),
        "PYTHONPYCACHEPREFIX": str(cache / "bytecode"),
        "XDG_CACHE_HOME": str(cache / "kept"),
    }


def cpu_time() -> float:
    """Seconds that this process and the ones that it waited for have computed."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds(act: Callable[[], object]) -> float:
    """How long something computes."""
    began = cpu_time()
    act()
    return cpu_time() - began


def best_of(acts: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The best time of each, taken in turn; one round before the first is not counted."""
    for act in acts.values():
        act()
    best = dict.fromkeys(acts, float("inf"))
    for _ in range(rounds):
        for name, act in acts.items():
            best[name] = min(best[name], seconds(act))
    return best


def show(title: str, best: Mapping[str, float], goals: Mapping[str, float]) -> None:
    """Print each time with its ratio to the first, which is the floor."""
    floor = next(iter(best.values()))
    print(title)
    for name, taken in best.items():
        goal = f"   goal <= {goals[name]:g} x" if name in goals else ""
        print(f"  {name:<30} {taken * 1000:9.1f} ms   {taken / floor:6.2f} x{goal}", flush=True)


def start(folder: Path, env: Mapping[str, str], rounds: int) -> None:
    """Measure the start of a process."""
    (folder / "fullcount.toml").write_text(CONFIGURATION.format(uid=0, hr_limit=""), encoding="utf-8")
    shutil.copy(WORKFLOWS / "orphaned_accounts" / "orphaned_accounts.fcw", folder / "one.fcw")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "--version": [*FULLCOUNT, "--version"],
        "--help": [*FULLCOUNT, "--help"],
        "check one.fcw": [*FULLCOUNT, "check", "one.fcw"],
    }
    acts = {name: _process(command, folder, env) for name, command in commands.items()}
    goals = {"--version": 5, "--help": 5, "check one.fcw": 15}
    show(f"start of a process, best of {rounds}", best_of(acts, rounds), goals)


def many(folder: Path, env: Mapping[str, str], rounds: int) -> None:
    """Measure `check` of many workflows against `validate` of as many policies."""
    (folder / "fullcount.toml").write_text(mixed.CONFIGURATION, encoding="utf-8")
    (folder / "workflows").mkdir()
    for number in range(MANY):
        (folder / "workflows" / f"{number:03}.fcw").write_text(mixed.workflow(number), encoding="utf-8")
    (folder / "policies.yml").write_text(mixed.policies(MANY), encoding="utf-8")
    ours = _process([*FULLCOUNT, "check"], folder, env)
    title = f"{MANY} mixed clean-ups in one run, best of {rounds}"
    try:
        custodian = [str(installed_custodian()), "validate", "policies.yml"]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"Cloud Custodian {CUSTODIAN} can't be installed, so there is no floor here: {error}")
        show(title, best_of({"fullcount check": ours}, rounds), {})
        return
    acts = {"custodian validate": _process(custodian, folder, env), "fullcount check": ours}
    show(title, best_of(acts, rounds), {"fullcount check": 0.1})


def long(folder: Path, rounds: int) -> None:
    """Measure one long file, in this process, against Lark's bare parse of it."""
    text = ""
    for number in range(LINES):
        text += mixed.workflow(number)
        if text.count("\n") >= LINES:
            break
    source = Source("long.fcw", text)
    catalog = Workspace.load(folder).catalog()
    lark = tables.build(tables.GRAMMAR.read_text("utf-8"))
    if compile_source(source, catalog).program is None:
        sys.exit("the long file has mistakes")
    acts = {
        "Lark, bare parse": lambda: lark.parse(text),
        "our parse": lambda: tables.parser().parse(text),
        "check": lambda: compile_source(source, catalog),
    }
    show(f"one file of {text.count(chr(10)):,} lines, best of {rounds}", best_of(acts, rounds), {"check": 3})


def installed_custodian() -> Path:
    """Return the command, in an environment of its own. Raises `OSError`, `CalledProcessError`."""
    place = CACHE / f"custodian-{CUSTODIAN}"
    command = place / "bin" / "custodian"
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"c7n=={CUSTODIAN}"], check=True)
    return command


def _process(command: list[str], folder: Path, env: Mapping[str, str]) -> Callable[[], object]:
    return lambda: subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)


def main() -> None:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--without-custodian", action="store_true", help="leave out what needs Cloud Custodian")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        env = environment(Path(made))
        for name in ("one", "many"):
            (Path(made) / name).mkdir()
        start(Path(made) / "one", env, given.rounds)
        if not given.without_custodian:
            many(Path(made) / "many", env, max(1, given.rounds // 5))
        (Path(made) / "one" / "fullcount.toml").write_text(mixed.CONFIGURATION, encoding="utf-8")
        long(Path(made) / "one", max(1, given.rounds // 3))


if __name__ == "__main__":
    main()
