"""`fullcount check` starts fast because compiling imports nothing heavy."""

import subprocess
import sys
from pathlib import Path

HEAVY = {"pydantic", "networkx", "re2", "duckdb", "pyarrow", "sqlalchemy", "alembic", "apscheduler", "rich", "difflib"}
ROOT = Path(__file__).resolve().parents[2]


def test_compiling_a_clean_file_imports_nothing_heavy():
    """A fresh process that compiles a workflow without patterns has none of the heavy libraries loaded."""
    program = (
        "import sys; from tests.support.compiling import compiled, with_rule;"
        "assert compiled(with_rule('a.locked')).program is not None; print(' '.join(sys.modules))"
    )
    paths = [str(ROOT / room) for room in ("dsl", "compiler", ".")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert HEAVY & set(done.stdout.split()) == set()
