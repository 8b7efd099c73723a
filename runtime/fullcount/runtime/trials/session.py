"""One call of `fullcount test`: files compiled, their tests tried, coverage and mutants where these are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fullcount.compiler.pipeline import Compiled
from fullcount.dsl.source import Source
from fullcount.runtime.trials.coverage import Coverage, Part
from fullcount.runtime.trials.mutate import Fate, Mutator, Tried, try_mutants
from fullcount.runtime.trials.rehearse import Came, Theatre
from fullcount.runtime.trials.run import Case, Result, cases_of, run_cases
from fullcount.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for. `name`: only tests with this in their name."""

    name: str | None = None
    coverage: bool = False
    mutate: bool = False

    def chooses(self, test: str) -> bool:
        """Whether a test is to be tried."""
        return self.name is None or self.name.lower() in test.lower()


@dataclass(slots=True)
class Outcome:
    """What came of it all. `coverage` and `mutants` are by workflow, in the order of the files."""

    results: list[Result] = field(default_factory=list)
    coverage: dict[str, Sequence[Part]] = field(default_factory=dict)
    mutants: dict[str, list[Tried]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return all(result.passed for result in self.results)

    @property
    def survivors(self) -> int:
        """How many mutants no test noticed."""
        return sum(each.fate is Fate.SURVIVED for tried in self.mutants.values() for each in tried)


def run_tests(
    files: Sequence[tuple[Path, Compiled]], real: Workspace, asked: Asked, told: Callable[[Result], None]
) -> Outcome:
    """Try the tests of compiled files; mutants are only made once every test has passed."""
    outcome = Outcome()
    with Theatre() as theatre:
        mutable: list[tuple[Path, Source, dict[str, list[Case]]]] = []
        for path, compiled in files:
            outcome.sources |= compiled.sources
            cases = cases_of(path, compiled, asked.chooses)
            if len(cases) == 0:
                continue
            source = compiled.sources[cases[0].trial.span.source]
            by_workflow: dict[str, list[Case]] = {}
            for case in cases:
                by_workflow.setdefault(case.trial.workflow, []).append(case)
            mutable.append((path, source, by_workflow))
            _try(path, source, by_workflow, real, theatre, asked, outcome, told)
        if asked.mutate and outcome.passed:
            for path, source, by_workflow in mutable:
                mutator = Mutator(path, source, real)
                for name, own in by_workflow.items():
                    outcome.mutants[name] = list(try_mutants(mutator, name, own, real, theatre))
    return outcome


def _try(
    path: Path,
    source: Source,
    by_workflow: dict[str, list[Case]],
    real: Workspace,
    theatre: Theatre,
    asked: Asked,
    outcome: Outcome,
    told: Callable[[Result], None],
) -> None:
    written = Mutator(path, source, real).workflows if asked.coverage else {}
    for name, cases in by_workflow.items():
        coverage = Coverage(written[name], cases[0].workflow) if asked.coverage else None

        def seen(_case: Case, came: Came, coverage: Coverage | None = coverage) -> None:
            if coverage is not None:
                coverage.saw(came)

        for result in run_cases(cases, real, theatre, seen):
            outcome.results.append(result)
            told(result)
        if coverage is not None:
            outcome.coverage[name] = coverage.parts
