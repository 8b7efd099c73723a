"""`fullcount apply` that is told to end: what is under way is finished and recorded, and the plan is gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.crash import preparing
from tests.crash.test_kill9 import Prepared, problems

from fullcount.runtime.exit_codes import Exit

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R32", "R34")]

OBJECTS = 24
ROOT = Path(__file__).parents[2]
VERB = "from fullcount.runtime.cli.main import main; main()"


def a_slow_one(folder: Path, objects: int) -> None:
    """Make the database, and let the act begin at most two calls a second."""
    preparing.prepare_sql(folder, objects)
    workflow = folder / "workflow.fcw"
    workflow.write_text(workflow.read_text().replace("concurrency 4", "concurrency 4\n    rate 2 per second"))


def test_an_apply_that_is_told_to_end_records_what_is_under_way_and_is_gone_on_with(tmp_path):
    """Some rows are done and the others were not started; none is unknown, and the record verifies."""
    prepared = Prepared(tmp_path, a_slow_one, OBJECTS)
    environment = {**os.environ, "PYTHONPATH": ":".join(str(ROOT / part) for part in ("dsl", "compiler", "runtime"))}
    command = [sys.executable, "-c", VERB, "apply", prepared.plan_id, "--json"]
    process = subprocess.Popen(
        command, cwd=prepared.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    for _ in range(3_000):
        if len(preparing.sql_changes(prepared.folder)) > 0:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    report = json.loads(process.communicate(timeout=60)[0])["report"]
    assert process.returncode == Exit.ERROR
    counts = {outcome: number for outcome, number in report["counts"].items() if number > 0}
    assert set(counts) == {"done", "not_started"}
    assert counts["done"] == len(preparing.sql_changes(prepared.folder))
    assert (report["stopped_by"]["code"], report["sums_hold"]) == ("FC765", True)
    assert problems(prepared.folder) == []
