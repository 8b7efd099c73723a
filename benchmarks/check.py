"""Start-up: the command line against a bare interpreter, as whole processes.

    python benchmarks/check.py [--rounds 15]

The floor is `python -c pass` of the same interpreter in the same run (goals: `--version` and `--help` at most 5x,
`check` of one small file at most 15x, and `check` within 0.3 s). Best of the rounds, which alternate.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from workflows.demo.story import CONFIGURATION, HERE

FULLCOUNT = [sys.executable, "-m", "fullcount.runtime.cli.main"]


def once(command: list[str], folder: Path) -> float:
    """Return the seconds that one whole process takes."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "fullcount.toml").write_text(CONFIGURATION.format(uid=0, hr_limit=""), encoding="utf-8")
        shutil.copy(HERE / "orphaned_accounts" / "orphaned_accounts.fcw", folder / "one.fcw")
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--version": [*FULLCOUNT, "--version"],
            "--help": [*FULLCOUNT, "--help"],
            "check one.fcw": [*FULLCOUNT, "check", "one.fcw"],
        }
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(rounds):
            for name, command in commands.items():
                best[name] = min(best[name], once(command, folder))
    floor = best["python -c pass"]
    print(f"start of a process, best of {rounds}")
    for name, seconds in best.items():
        print(f"  {name:<15} {seconds * 1000:7.1f} ms   {seconds / floor:5.1f} x")


if __name__ == "__main__":
    main()
