"""The command line answers at once: what most calls don't need is not loaded."""

import json
import subprocess
import sys

import pytest
from tests.support.workspaces import WORKFLOW, environment

from fullcount.dsl.editions import CURRENT
from fullcount.runtime import __version__

HEAVY = {
    "sqlalchemy", "alembic", "duckdb", "pyarrow", "networkx", "apscheduler", "rich", "httpx", "re2", "rfc8785",
    "aiohttp", "structlog", "jinja2", "asyncio",
}  # fmt: skip

PROGRAM = """
import json, os, sys
sys.argv = ["fullcount", *sys.argv[1:]]
from fullcount.runtime.cli.main import main
try:
    with open(os.devnull, "w") as sys.stdout:
        main()
except SystemExit as ended:
    sys.stderr.write(json.dumps([ended.code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["--help"], 0),
        (["plan", "--help"], 0),
        (["explain", "FC301"], 0),
        (["check"], 0),
        (["fmt"], 0),
        ([], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_light_commands_load_nothing_heavy(bench, arguments, code):
    """`--version`, `--help`, `explain`, `check` and `fmt` load neither a database nor a scheduler nor an event loop."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=bench.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    ended, modules = json.loads(done.stderr)
    assert ended == code
    assert HEAVY & set(modules) == set()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], []], ids=lambda words: " ".join(words))
def test_what_the_program_says_of_itself_needs_no_verb_and_no_library(bench, arguments):
    """`--version` and `--help` are answered from a table: neither the verbs nor what they are made with is loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    assert {"click", "lark", "inspect"} & set(json.loads(done.stderr)[1]) == set()


@pytest.mark.parametrize("verb", ["check", "fmt"])
def test_a_workspace_that_was_found_right_is_not_checked_again(bench, verb):
    """The second `check` of the same configuration loads neither what checks configurations nor what makes parsers."""
    arguments = [verb, f"workflows/{WORKFLOW}.fcw"]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=bench.root,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
    ended, modules = json.loads(done.stderr)
    assert ended == 0
    assert {*HEAVY, "pydantic", "lark"} & set(modules) == set()


def test_check_connects_to_nothing_and_makes_no_store(bench):
    """`check` needs fullcount.toml and the files, not the databases that they speak of."""
    for name in ("directory.db", "hr.db"):
        (bench.root / name).unlink()
    assert bench.run("check").exit == 0
    assert not bench.state.exists()
    assert not (bench.root / "directory.db").exists()


def test_version_names_the_program_and_the_language_apart(bench):
    """The language has versions of its own, so that a file can say which one it was written in."""
    ended = bench.run("--version")
    assert ended.exit == 0
    assert f"fullcount {__version__} (language {CURRENT})" in ended.out
