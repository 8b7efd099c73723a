"""Every test of some compiled files, tried one after another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fullcount.compiler import program
from fullcount.compiler.pipeline import Compiled
from fullcount.compiler.trials.model import Trial
from fullcount.dsl.source import Source
from fullcount.runtime.trials.judge import Miss, judge
from fullcount.runtime.trials.rehearse import Came, Theatre, rehearse
from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Case:
    """A test with the workflow that it tries and the texts that both came from."""

    path: Path
    trial: Trial
    workflow: program.Workflow
    sources: Mapping[str, Source] = field(repr=False)

    def place(self, start: int) -> str:
        """Return where something of the test's file stands, as `orphans.fcw:27:3`."""
        source = self.sources[self.trial.span.source]
        line, column = source.position(start)
        return f"{source.name}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a test came out: passed without a miss."""

    case: Case
    misses: tuple[Miss, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether everything came as expected."""
        return len(self.misses) == 0


def cases_of(path: Path, compiled: Compiled, chosen: Callable[[str], bool] = lambda _: True) -> list[Case]:
    """Return the tests of a file that compiled, in its order. Raises ValueError for one that did not."""
    if compiled.program is None:
        msg = "a file with mistakes has no tests to try"
        raise ValueError(msg)
    return [
        Case(path, trial, workflow, compiled.sources)
        for workflow in compiled.program.workflows
        for trial in compiled.trials.get(workflow.name, ())
        if chosen(trial.name)
    ]


def try_out(case: Case, workflow: program.Workflow, real: Workspace, theatre: Theatre) -> tuple[Came, tuple[Miss, ...]]:
    """Try one test on a workflow: its own, or a mutant of it. What came stands until the next one is tried."""
    came = asyncio.run(rehearse(case.trial, workflow, real, theatre, case.sources))
    return came, judge(came)


def run_cases(
    cases: Sequence[Case], real: Workspace, theatre: Theatre, seen: Callable[[Case, Came], None] | None = None
) -> Iterator[Result]:
    """Yield the result of each test as it is known; `seen` looks at what came of it."""
    for case in cases:
        begun = time.perf_counter()
        came, misses = try_out(case, case.workflow, real, theatre)
        if seen is not None:
            seen(case, came)
        yield Result(case, misses, time.perf_counter() - begun)
