"""The story of a compilation, top to bottom.

    text ─parse─► tree ─imports─► shared names ─names─► bound names ─types─► typed rules ─direction─► uses
         ─requirements─► uses with evidence ─approval, caps, schedule─► checked ─tests, warnings, allowances─► Program

Each phase is a function from values to values that adds findings to one sink and goes on, so that one run reports every
mistake. There is a program only if no phase reported an error. Nothing here does I/O or asks for the time: the text of
an imported file comes from a loader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler import program
from fullcount.compiler.approvals import check_approvals, check_irreversible, check_undo_approvals, unique_acts
from fullcount.compiler.automatic import check_automatic
from fullcount.compiler.bounded import check_bounded
from fullcount.compiler.canary import check_canary
from fullcount.compiler.caps import act_of, acted_on, check_limit, check_pace
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.check_library import check_definitions
from fullcount.compiler.check_types import check_act, check_inventory, check_params, check_proposal
from fullcount.compiler.direction import infer_uses
from fullcount.compiler.environment import Context
from fullcount.compiler.expressions import Checker
from fullcount.compiler.imports import Loader, gather, no_files
from fullcount.compiler.keeping import check_keeping
from fullcount.compiler.library import Library, read_library
from fullcount.compiler.lint import lint
from fullcount.compiler.lint.subject import Subject
from fullcount.compiler.list_files import gather_lists
from fullcount.compiler.names import resolve_names, said_in_two_files, unique
from fullcount.compiler.notifies import check_notifies
from fullcount.compiler.program import Workflow
from fullcount.compiler.promises import read_promises
from fullcount.compiler.protections import Protections, Shared, check_protections, protect_workflow, refuse_strays
from fullcount.compiler.rehearsing import Rehearsed, check_rehearsal
from fullcount.compiler.report import error
from fullcount.compiler.requirements import check_requirements
from fullcount.compiler.schedule import check_schedule
from fullcount.compiler.suppressions import allow
from fullcount.compiler.windows import check_windows
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

if TYPE_CHECKING:
    from fullcount.compiler.trials.model import Trial


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compilation gives: a program, or None if a finding is an error. `sources` are the texts by name.

    `declared` are the names of the file's workflows, checked or not, as they stand there. `trials` are the tests of
    its workflows, by the workflow's name; they are no part of the program. `partial` are the workflows as far as they
    checked, for an editor to show: only a `program` is ever run.
    """

    program: program.Program | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]
    declared: tuple[tree.Name, ...] = ()
    trials: Mapping[str, tuple[Trial, ...]] = field(default_factory=dict)
    partial: tuple[Workflow, ...] = ()


def compile_source(
    source: Source,
    catalog: Catalog,
    loader: Loader = no_files,
    *,
    protections: Protections | None = None,
    authors: frozenset[str] = frozenset(),
) -> Compiled:
    """Compile one file, with what it imports, against the sources of a workspace and under its protections.

    The program holds the workflows of this file alone. A file of shared names has none, and its program is empty.
    `protections` None: no workspace is known, and the protections of these files are all there are. With a mistake
    among the protections nothing compiles: nobody could say what is protected. `authors` (`uid:1000`): who is known to
    count as an author of what is planned from it.
    """
    file, sink = parse(source)
    sources = {source.name: source}
    if protections is not None and protections.diagnostics.has_errors:
        sources |= protections.sources
        for finding in protections.diagnostics:
            sink.add(finding)
    if file is None or sink.has_errors:
        return Compiled(None, sink, sources, () if file is None else _names(file.workflows))

    # shared names: what this file and the files it imports declare for every workflow
    files = gather(source, file, loader, sink)
    library = read_library(files, catalog, sink)
    lists = gather_lists(files, loader, sink)
    check_definitions(library, catalog, files.sources, lists, sink)

    declared = len(file.workflows) + len(file.protects) + len(file.records) + len(file.definitions)
    if declared == 0 and (protections is None or source.name not in protections.files):
        error(sink, "FC124", "this file declares nothing", file.span, help="write `workflow name { … }`")

    # protections: what no workflow may take
    if protections is None:
        names = Shared(library, files.sources)
        protections = check_protections(files.pairs(), catalog, sink, dict.fromkeys(files.sources, names))
    else:
        for imported, at in files.pairs():
            if at.name not in protections.files:
                refuse_strays(imported, sink)

    around = Surroundings(source, file.comments, files.sources, lists, library, catalog, authors)
    written = unique(file.workflows, "workflow", sink)
    made = [compile_workflow(workflow, around, sink) for workflow in written]

    # tests: what each workflow is tried on; they see what is protected and are no part of the program
    trials = {
        workflow.name: _tests(decl, workflow, around, protections, sink)
        for decl, workflow in zip(written, made, strict=True)
    }
    found = allow(source, file.comments, sink)
    whole = _program(made, protections, found)
    return Compiled(whole, found, files.sources, _names(file.workflows), trials, tuple(made))


def _tests(
    decl: tree.Workflow,
    workflow: program.Workflow,
    around: Surroundings,
    protections: Protections,
    sink: Diagnostics,
) -> tuple[Trial, ...]:
    """Check the tests of a workflow; where it has mistakes, as far as it was made."""
    if len(decl.trials) + len(decl.defaults) == 0:
        return ()
    from fullcount.compiler.trials.check import Beside, check_trials  # a file without tests does not pay for it

    tried = workflow if sink.has_errors else protect_workflow(workflow, protections)
    return check_trials(decl, tried, Beside(around.source, around.sources, around.catalog), sink)


def compiled_together(files: Sequence[Compiled]) -> list[Compiled]:
    """Return the files of one workspace with what is wrong between them: each workflow has a name of its own."""
    first: dict[str, tuple[tree.Name, Compiled]] = {}
    together: list[Compiled] = []
    for each in files:
        for name in each.declared:
            there, other = first.setdefault(name.text, (name, each))
            if other is not each:
                said_in_two_files(name, there, each.diagnostics)
                each = replace(each, program=None, sources={**other.sources, **each.sources})
        together.append(each)
    return together


def _names(workflows: Sequence[tree.Workflow]) -> tuple[tree.Name, ...]:
    return tuple(workflow.name for workflow in workflows)


def _program(
    workflows: Sequence[program.Workflow], protections: Protections, sink: Diagnostics
) -> program.Program | None:
    """Make the program of workflows that all checked; from here on the protections are part of each."""
    if sink.has_errors:
        return None
    return program.Program(tuple(protect_workflow(workflow, protections) for workflow in workflows))


def _rehearsed_upon(proposal: program.Proposal | None, inventories: Mapping[str, program.Inventory]) -> Rehearsed:
    return Rehearsed(proposal, None if proposal is None else inventories.get(proposal.inventory))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a workflow stands: its file, the texts of all files and lists, the names they share, the workspace, its
    authors."""

    source: Source
    comments: Sequence[tree.Comment]
    sources: Mapping[str, Source]
    lists: Mapping[tuple[str, str], Source]
    library: Library
    catalog: Catalog
    authors: frozenset[str] = frozenset()


def compile_workflow(workflow: tree.Workflow, around: Surroundings, sink: Diagnostics) -> program.Workflow:
    """Compile one workflow; what did not check is missing from the result, and an error in the sink says so."""
    # names: what each name stands for
    names = resolve_names(workflow, around.catalog, around.library, sink)
    context = Context(names, around.source, sink, around.sources, around.lists)
    checker = Checker(context)

    # types: every expression in its place
    params = check_params(checker)
    bound = [each for each in names.inventories.values() if each is not None]
    inventories = {each.name: check_inventory(checker, each) for each in bound}
    proposals = {
        name: proposal
        for name, decl in names.proposals.items()
        if (proposal := check_proposal(checker, decl, around.comments)) is not None
    }

    # direction: which way each use of an inventory concludes
    proposals = {
        name: infer_uses(proposal, names.proposals[name].inventory.span, inventories)
        for name, proposal in proposals.items()
    }

    # requirements against promises: what each conclusion rests on
    promises = read_promises(names, sink)
    for name, proposal in proposals.items():
        check_requirements(proposal, promises, context)
        check_bounded(names.proposals[name], proposal, promises, context)

    # approval, blast radius, schedule
    approvals = check_approvals(names, sink)
    check_undo_approvals(names, sink)
    for name, decl in names.proposals.items():
        check_limit(decl, acted_on(names, name), sink)
    acts: list[program.Act] = []
    for act_decl in unique_acts(names):
        check_pace(act_decl, sink)
        windows = check_windows(act_decl.windows, sink)
        canary = None
        if act_decl.canary is not None:
            name = act_decl.proposal.text
            approval = next((each for each in approvals if each.proposal == name), None)
            canary = check_canary(act_decl.canary, proposals.get(name), promises, approval, names.catalog, sink)
        calls = check_act(checker, act_decl, proposals.get(act_decl.proposal.text))
        kept = None if calls is None else check_keeping(act_decl, calls, names.catalog, sink)
        upon = _rehearsed_upon(proposals.get(act_decl.proposal.text), inventories)
        rehearsed = kept is None or check_rehearsal(act_decl, kept, upon, names.catalog, sink)
        if kept is not None and windows is not None and rehearsed:
            acts.append(act_of(act_decl, kept, windows, canary))
    schedule = None if workflow.schedule is None else check_schedule(workflow.schedule, sink)
    notifies = check_notifies(names, sink)

    for act in acts:
        check_automatic(act, proposals.get(act.proposal), names, sink)
        check_irreversible(act, names, sink)

    made = program.Workflow(
        name=workflow.name.text,
        describe="" if workflow.describe is None else workflow.describe,
        owner="" if workflow.owner is None else workflow.owner,
        schedule=schedule,
        params=params,
        inventories=inventories,
        verifies=promises.claims(),
        proposals=tuple(proposals.values()),
        approvals=approvals,
        acts=tuple(acts),
        notifies=notifies,
    )

    # lint; behind an error, what looks unused may only not have been looked at
    if not sink.has_errors:
        lint(Subject(made, workflow, context, around.authors), sink)
    return made
