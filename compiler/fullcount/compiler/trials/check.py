"""The tests of one workflow, checked against what the workflow says.

It looks at a workflow that was checked before and changes nothing of it: what is wrong with a test is reported as any
mistake is, and the program is the same with and without its tests.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog, StaticCatalog
from fullcount.compiler.environment import Context
from fullcount.compiler.expressions import Checker
from fullcount.compiler.library import Library
from fullcount.compiler.names import Names, said_twice, unique
from fullcount.compiler.report import error, near
from fullcount.compiler.trials.expects import Expectations
from fullcount.compiler.trials.givens import Defaults, Gave, Place, read_givens
from fullcount.compiler.trials.model import DEFAULT_NOW, Trial
from fullcount.compiler.trials.samples import Samples
from fullcount.compiler.values import Cell
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Source
from fullcount.dsl.trial_tree import GivenFailed, GivenRows
from fullcount.dsl.trial_tree import Trial as Written


@dataclass(frozen=True, slots=True)
class Beside:
    """What tests are checked beside their workflow: its file, the texts of all files, and the workspace."""

    source: Source
    sources: Mapping[str, Source]
    catalog: Catalog


def check_trials(
    decl: tree.Workflow, workflow: program.Workflow, beside: Beside, sink: Diagnostics
) -> tuple[Trial, ...]:
    """Return the tests of a workflow that checked; report what is wrong with the others.

    `workflow` may lack parts that were reported; what a test says of these is not reported again.
    """
    if len(decl.trials) == 0 and len(decl.defaults) == 0:
        return ()
    checker = Checker(Context(Names(None, StaticCatalog({}), Library()), beside.source, sink, beside.sources))
    made = []
    told: set[tuple[str, ...]] = set()
    for written in unique(decl.trials, "test", sink):
        samples = Samples(checker, DEFAULT_NOW if written.now is None else written.now, told)
        trial = _trial(written, decl, workflow, beside.catalog, samples)
        if trial is not None:
            made.append(trial)
    if len(decl.trials) == 0:
        # nothing uses them, but they are read by people
        _defaults(decl, workflow, beside.catalog, Samples(checker, DEFAULT_NOW, told))
    return tuple(made)


def _trial(
    written: Written, decl: tree.Workflow, workflow: program.Workflow, catalog: Catalog, samples: Samples
) -> Trial | None:
    known, proposal = _proposal(written, decl, workflow, samples.sink)
    if not known:
        return None
    # `now` is another in each test, so the defaults are worked out for each
    defaults = _defaults(decl, workflow, catalog, samples)
    place = Place(decl, workflow, proposal, catalog, defaults)
    gave = read_givens(written.givens, place, samples)
    if proposal is None:
        return None
    _everything_is_given(written, place, gave, samples.sink)
    expectations = Expectations(place, samples, gave)
    befores = expectations.befores(written.befores)
    expects = expectations.expects(written.expects)
    if gave.failed or expectations.failed:
        return None
    return Trial(
        name=written.name.text,
        workflow=workflow.name,
        proposal=proposal.name,
        now=samples.now,
        listings=gave.listings,
        params=gave.params,
        counts=gave.counts,
        lists=gave.lists,
        befores=befores,
        expects=expects,
        span=written.head_span,
    )


def _proposal(
    written: Written, decl: tree.Workflow, workflow: program.Workflow, sink: Diagnostics
) -> tuple[bool, program.Proposal | None]:
    """Return whether it is known which proposal is tested, and that proposal; None if it failed to check."""
    declared = [each.name.text for each in decl.proposals]
    made = {each.name: each for each in workflow.proposals}
    if written.proposal is not None:
        name = written.proposal
        if name.text not in declared:
            error(
                sink,
                "FC112",
                f"there is no proposal `{name.text}` in this workflow",
                name.span,
                **near(name.text, name.span, declared, "proposals"),
            )
        return name.text in declared, made.get(name.text)
    if len(set(declared)) == 1:  # declared twice, it is reported there
        return True, made.get(declared[0])
    if len(declared) == 0:
        message, help_text = "this workflow proposes nothing, so there is nothing to test", "remove the test"
    else:
        message = "the workflow has several proposals, and this test does not say which one it is about"
        help_text = f'write `test "{written.name.text}" of {declared[0]} {{ … }}`'
    error(sink, "FC112", message, written.head_span, help=help_text)
    return False, None


def _defaults(decl: tree.Workflow, workflow: program.Workflow, catalog: Catalog, samples: Samples) -> Defaults:
    place = Place(decl, workflow, None, catalog, {})
    made: dict[str, dict[str, Cell] | None] = {}
    first: dict[str, tree.Name] = {}
    for each in decl.defaults:
        name = each.inventory
        if first.setdefault(name.text, name) is not name:
            said_twice("test defaults", name, first[name.text], samples.sink)
            continue
        inventory = place.inventory(name, samples.sink)
        made[name.text] = None if inventory is None else samples.cells(each.sample, inventory)
    return made


def _everything_is_given(written: Written, place: Place, gave: Gave, sink: Diagnostics) -> None:
    """Report what the proposal reads and the test says nothing of, and the other way round."""
    proposal = place.proposal
    if proposal is None or gave.failed:
        return
    silent = [
        (f"says nothing of `{name}`, which `{proposal.name}` reads", f"`given {name} [ … ]`, or `given {name} empty`")
        for name in place.used
        if name not in gave.listings
    ]
    silent += [
        (f"does not set `{param.name}`, which has no default", f"`given param {param.name} = …`")
        for param in place.workflow.params
        if param.default is None and param.name not in gave.params
    ]
    for message, clause in silent:
        error(
            sink,
            "FC174",
            f"the test {message}",
            written.head_span,
            why="what nobody thought of must not count as empty",
            help=f"add {clause}",
        )
    idle = [
        each
        for each in written.givens
        if isinstance(each, GivenRows | GivenFailed) and each.inventory.text not in place.used
    ]
    for each in idle:
        error(
            sink,
            "FC176",
            f"`{proposal.name}` never reads `{each.inventory.text}`",
            each.span,
            why="what is given and not used makes a test look as if it tested more than it does",
            help="remove it",
        )
    gave.failed = len(silent) + len(idle) > 0
