"""The story of a compilation, top to bottom.

    text ─parse─► tree ─names─► bound names ─types─► typed rules ─direction─► uses
         ─requirements─► uses with evidence ─approval, caps, schedule─► checked ─warnings, allowances─► Program

Each phase is a function from values to values that adds findings to one sink and goes on, so that one run reports every
mistake. There is a program only if no phase reported an error. Nothing here does I/O or asks for the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fullcount.compiler import program
from fullcount.compiler.approvals import check_approvals, unique_acts, warn_one_approver
from fullcount.compiler.caps import act_of, acted_on, check_limit, check_pace
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.check_types import check_act, check_inventory, check_params, check_proposal
from fullcount.compiler.direction import infer_uses
from fullcount.compiler.environment import Context
from fullcount.compiler.expressions import Checker
from fullcount.compiler.names import resolve_names, said_in_two_files, unique
from fullcount.compiler.promises import read_promises
from fullcount.compiler.report import error
from fullcount.compiler.requirements import check_requirements
from fullcount.compiler.schedule import check_schedule
from fullcount.compiler.suppressions import allow
from fullcount.compiler.unused import warn_unused
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compilation gives: a program, or None if a finding is an error. `sources` are the texts by name.

    `declared` are the names of the file's workflows, checked or not, as they stand there.
    """

    program: program.Program | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]
    declared: tuple[tree.Name, ...] = ()


def compile_source(source: Source, catalog: Catalog) -> Compiled:
    """Compile one file against the sources of a workspace."""
    file, sink = parse(source)
    sources = {source.name: source}
    if file is None or sink.has_errors:
        return Compiled(None, sink, sources, () if file is None else _names(file.workflows))
    if len(file.workflows) == 0:
        error(sink, "FC124", "this file declares no workflow", file.span, help="write `workflow name { … }`")
    made = [
        compile_workflow(workflow, source, file.comments, catalog, sink)
        for workflow in unique(file.workflows, "workflow", sink)
    ]
    found = allow(source, file.comments, sink)
    return Compiled(_program(made, found), found, sources, _names(file.workflows))


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


def _program(workflows: Sequence[program.Workflow], sink: Diagnostics) -> program.Program | None:
    return None if sink.has_errors else program.Program(tuple(workflows))


def compile_workflow(
    workflow: tree.Workflow,
    source: Source,
    comments: Sequence[tree.Comment],
    catalog: Catalog,
    sink: Diagnostics,
) -> program.Workflow:
    """Compile one workflow; what did not check is missing from the result, and an error in the sink says so."""
    # names: what each name stands for
    names = resolve_names(workflow, catalog, sink)
    context = Context(names, source, sink)
    checker = Checker(context)

    # types: every expression in its place
    params = check_params(checker)
    bound = [each for each in names.inventories.values() if each is not None]
    inventories = {each.name: check_inventory(checker, each) for each in bound}
    proposals = {
        name: proposal
        for name, decl in names.proposals.items()
        if (proposal := check_proposal(checker, decl, comments)) is not None
    }

    # direction: which way each use of an inventory concludes
    proposals = {
        name: infer_uses(proposal, names.proposals[name].inventory.span) for name, proposal in proposals.items()
    }

    # requirements against promises: what each conclusion rests on
    promises = read_promises(names, sink)
    for proposal in proposals.values():
        check_requirements(proposal, promises, context)

    # approval, blast radius, schedule
    approvals = check_approvals(names, sink)
    for name, decl in names.proposals.items():
        check_limit(decl, acted_on(names, name), sink)
    acts: list[program.Act] = []
    for act_decl in unique_acts(names):
        check_pace(act_decl, sink)
        calls = check_act(checker, act_decl, proposals.get(act_decl.proposal.text))
        if calls is not None:
            acts.append(act_of(act_decl, *calls))
    schedule = None if workflow.schedule is None else check_schedule(workflow.schedule, sink)

    # warnings; behind an error, what looks unused may only not have been looked at
    for act in acts:
        warn_one_approver(act, approvals, names, sink)
    if not sink.has_errors:
        warn_unused(names, sink)

    return program.Workflow(
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
    )
