"""Which mistakes in a workflow its tests would notice: every mutant, compiled and tried until a test fails.

Nothing is parsed again: mutants go from the syntax tree through the compiler, which is told nothing of their being
mutants. One that it refuses is counted as such, one that means the same as the workflow is not counted, and the rest
are tried in this process on the engine, the quick tests first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from fullcount.compiler import program
from fullcount.compiler.document import program_digest
from fullcount.compiler.imports import gather
from fullcount.compiler.library import read_library
from fullcount.compiler.list_files import gather_lists
from fullcount.compiler.pipeline import Surroundings, compile_workflow
from fullcount.compiler.protections import protect_workflow
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Severity
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source
from fullcount.runtime.trials.mutants import Mutant, mutants
from fullcount.runtime.trials.rehearse import Theatre
from fullcount.runtime.trials.run import Case, try_out
from fullcount.runtime.workflow_files import ImportedFiles
from fullcount.runtime.workspace import Workspace


class Fate(StrEnum):
    """What became of a mutant."""

    NOTICED = "noticed"
    REFUSED = "refused"
    """The compiler refuses it."""
    SURVIVED = "survived"


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant and what became of it. `by` is the test that noticed it, or the code that refused it."""

    mutant: Mutant
    fate: Fate
    by: str = ""


class Mutator:
    """Compiles the mutants of the workflows in one file."""

    def __init__(self, path: Path, source: Source, real: Workspace) -> None:
        file, sink = parse(source)
        if file is None:
            msg = "a file with mistakes has no mutants"
            raise ValueError(msg)
        catalog = real.catalog()
        files = gather(source, file, ImportedFiles(real.root, path), sink)
        library = read_library(files, catalog, sink)
        lists = gather_lists(files, ImportedFiles(real.root, path), sink)
        self._around = Surroundings(source, file.comments, files.sources, lists, library, catalog)
        self._protections = real.protections.relied_on()
        self.workflows = {each.name.text: each for each in file.workflows}

    def compile(self, workflow: tree.Workflow) -> program.Workflow | str:
        """Return the checked workflow, or the first code for which the compiler refuses it."""
        sink = Diagnostics()
        made = compile_workflow(workflow, self._around, sink)
        if sink.has_errors:
            return next(each.code for each in sink if each.severity is Severity.ERROR)
        return protect_workflow(made, self._protections)


def try_mutants(
    mutator: Mutator,
    name: str,
    cases: Sequence[Case],
    real: Workspace,
    theatre: Theatre,
    progress: Callable[[Tried], None] | None = None,
) -> Iterator[Tried]:
    """Yield each mutant of a workflow with what became of it; `cases` are the tests of the workflow, which all pass."""
    original = mutator.compile(mutator.workflows[name])
    if isinstance(original, str):
        msg = f"a workflow that compiled before does not now: {original}"
        raise ValueError(msg)
    same = {program_digest(original)}
    queue = sorted(cases, key=lambda case: case.trial.acts)
    for mutant in mutants(mutator.workflows[name]):
        tried = _one(mutant, mutator, same, queue, real, theatre)
        if tried is None:
            continue
        if progress is not None:
            progress(tried)
        yield tried


def _one(
    mutant: Mutant, mutator: Mutator, same: set[str], queue: list[Case], real: Workspace, theatre: Theatre
) -> Tried | None:
    made = mutator.compile(mutant.workflow)
    if isinstance(made, str):
        return Tried(mutant, Fate.REFUSED, made)
    if mutant.emptied is None:
        digest = program_digest(made)
        if digest in same:
            return None  # it means what the workflow, or a mutant before it, means
        same.add(digest)
    for case in queue:
        tried = case if mutant.emptied is None else _emptied(case, mutant.emptied)
        if tried is None:
            continue
        _, misses = try_out(tried, made, real, theatre)
        if len(misses) > 0:
            queue.remove(case)  # what notices one mistake often notices the next
            queue.insert(0, case)
            return Tried(mutant, Fate.NOTICED, case.trial.name)
    return Tried(mutant, Fate.SURVIVED)


def _emptied(case: Case, inventory: str) -> Case | None:
    """Return the test with a complete and empty answer for an inventory; None where it makes no difference."""
    listing = case.trial.listings.get(inventory)
    if listing is None or len(listing.rows) + len(listing.more) == 0:
        return None
    empty = replace(listing, rows=(), more=(), reasons=(), failed=None)
    return replace(case, trial=replace(case.trial, listings={**case.trial.listings, inventory: empty}))
