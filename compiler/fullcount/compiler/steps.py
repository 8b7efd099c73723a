"""Graduated acts: steps that follow each other by a clock, and the release of what no longer qualifies.

Guarantees of a graduated act that checked: every step has a name of its own; each but the first waits for a stated time
after the one before it; nothing follows a deletion; a release lets go and never deletes; no step takes its object out
of the rule by which the next one, or the release, is judged; and an object that was made anew under the same key can be
told from the one whose clock runs: by its incarnation, or by its version where no step changes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from fullcount.compiler import ir, program
from fullcount.compiler.deeds import labels_of
from fullcount.compiler.environment import Env
from fullcount.compiler.expressions import Checker
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.names import said_twice
from fullcount.compiler.operations import Target, check_calls
from fullcount.compiler.program import RELEASE
from fullcount.compiler.report import error
from fullcount.compiler.values import Cell, FieldState, present
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label

MOST_TIMES: Final = 100
"""How often one step may be repeated; whoever is told more often than that will not listen."""
WHY_A_CLOCK = "the next night would take the next step, whoever still needed the time between the two"


def check_steps(
    checker: Checker, decl: tree.ActDecl, proposal: program.Proposal | None, target: Target, envs: tuple[Env, Env]
) -> program.Calls | None:
    """Check the steps of a graduated act and its release; None if one of them did not check.

    `envs`: what is known of an object that qualifies, and of one that is released.
    """
    sink = checker.context.sink
    steps = _named_once(decl.steps, sink)
    release = next((step for step in steps if step.label.text == RELEASE), None)
    graduated = [step for step in steps if step is not release]
    holds = [
        len(steps) == len(decl.steps),
        _begins(decl, graduated, release, sink),
        *(_clock(step, first=number == 0, sink=sink) for number, step in enumerate(graduated)),
        release is None or _release(release, sink),
    ]
    calls = [check_calls(checker, step.operation, step.undo, target, envs[0]) for step in graduated]
    let_go = None if release is None else check_calls(checker, release.operation, None, target, envs[1])
    checked = [(step, call[0]) for step, call in zip(graduated, calls, strict=True) if call is not None]
    holds += [
        _recreation(decl, checked, target, sink),
        _deletions(graduated, checked, None if release is None or let_go is None else (release, let_go[0]), sink),
        *(
            _stays_in(step, call, proposal, sink)
            for step, call in checked
            if proposal is not None and (step is not graduated[-1] or release is not None)
        ),
    ]
    if not all(holds) or len(checked) < len(graduated) or (release is not None and let_go is None):
        return None
    made = [
        program.Step(label, *each, 0 if step.after is None else step.after)
        for step, each in zip(graduated, calls, strict=True)
        if each is not None
        for label in labels_of(step)
    ]
    return program.Calls(steps=tuple(made), release=None if let_go is None else let_go[0])


def refuse_strays(decl: tree.ActDecl, sink: Diagnostics) -> bool:
    """Report steps beside the one operation of an act; True if there are some."""
    if decl.operation is None or len(decl.steps) == 0:
        return False
    step = decl.steps[0]
    error(
        sink,
        "FC556",
        f"`act {decl.proposal.text}` has one operation and steps as well",
        step.label.span.to(step.span),
        note="a step",
        labels=(Label(decl.operation.span, "the one operation"),),
        why="nobody can say which of them an approved object would get",
        help=f"write `act {decl.proposal.text} with steps {{ … }}`, or remove the step",
    )
    return True


def _named_once(steps: Sequence[tree.StepDecl], sink: Diagnostics) -> list[tree.StepDecl]:
    first: dict[str, tree.StepDecl] = {}
    for step in steps:
        name = step.label.text
        if name in first:
            said_twice("release" if name == RELEASE else "step", step.label, first[name].label, sink)
        else:
            first[name] = step
    return list(first.values())


def _begins(
    decl: tree.ActDecl, steps: Sequence[tree.StepDecl], release: tree.StepDecl | None, sink: Diagnostics
) -> bool:
    if len(steps) > 0:
        return True
    error(
        sink,
        "FC551",
        f"`act {decl.proposal.text}` has no step",
        decl.proposal.span if release is None else release.label.span,
        why="nothing would ever be done"
        if release is None
        else "a release lets go of what a step has begun, and here nothing ever begins",
        help="add a step, such as `warn: source.operation(id: a.id)`",
    )
    return False


def _clock(step: tree.StepDecl, *, first: bool, sink: Diagnostics) -> bool:
    if step.after is None and not first:
        error(
            sink,
            "FC552",
            f"step `{step.label.text}` does not say how long after the step before it comes",
            step.label.span,
            why=WHY_A_CLOCK,
            help="add a time to its end: `after 14d`",
        )
        return False
    if step.after is not None and step.after <= 0:
        error(
            sink,
            "FC552",
            f"step `{step.label.text}` waits for no time at all",
            step.after_span if step.after_span is not None else step.span,
            why="zero means none, and " + WHY_A_CLOCK,
            help="leave `after` out of the first step" if first else "write how long: `after 14d`",
        )
        return False
    if step.times is not None and not 2 <= step.times <= MOST_TIMES:
        error(
            sink,
            "FC558",
            f"step `{step.label.text}` is repeated {step.times} times",
            step.after_span if step.after_span is not None else step.span,
            why="a step that comes once is said by `after`"
            if step.times < 2
            else f"more than {MOST_TIMES} times are a schedule, and no step on the way to another one",
            help="write `after` and the time" if step.times < 2 else "let it come less often",
        )
        return False
    return True


def _release(release: tree.StepDecl, sink: Diagnostics) -> bool:
    """Whether a release says nothing but what is called; the first thing too much is reported."""
    said = (
        ("does not wait", "it", release.after_span),
        ("is not taken back", "the `undo`", None if release.undo is None else release.undo.span),
        ("keeps no backup", "the `backup`", None if release.backup is None else release.backup.span),
        ("takes nothing along", "the `cascades`", None if release.cascades is None else release.cascades.span),
        ("is not rehearsed", "the `rehearse`", None if release.rehearse is None else release.rehearse.span),
    )
    for what, clause, span in said:
        if span is not None:
            error(
                sink,
                "FC553",
                f"a release {what}",
                span,
                why="it is due as soon as an object no longer qualifies, and the object starts again from the first "
                "step if it ever does",
                help=f"remove {clause}",
            )
            return False
    return True


Checked = tuple[tree.StepDecl, program.OperationCall]


def _recreation(decl: tree.ActDecl, steps: Sequence[Checked], target: Target, sink: Diagnostics) -> bool:
    resource = target.inventory.resource
    if resource.incarnation is not None or target.inventory.decl.incarnation is not None:
        return True
    place = f"`{resource.source}.{resource.name}`"
    if resource.version is None:
        error(
            sink,
            "FC554",
            f"{place} can't tell an object from one made anew under the same key",
            decl.proposal.span,
            labels=(Label(target.inventory.decl.resource.span, "read here"),),
            why="the clock of the one that was warned would go on for the other",
            help="use an act with one operation, or read from a source that has an incarnation or a version",
        )
        return False
    changes = [(step, call) for step, call in steps if call.own and not call.deletes]
    for step, call in changes:
        error(
            sink,
            "FC554",
            f"step `{step.label.text}` changes the version that its own clock is bound to",
            step.operation.operation.span,
            labels=(Label(target.inventory.decl.resource.span, "read here"),),
            why=f"{place} has no incarnation, so only `{resource.version}` tells an object from one made anew under "
            f"the same key, and after `{call.operation}` it would pass for another one",
            help="let the steps before the last tell somebody or make something, and the last one delete",
        )
    return len(changes) == 0


def _deletions(
    steps: Sequence[tree.StepDecl], checked: Sequence[Checked], release: Checked | None, sink: Diagnostics
) -> bool:
    """Report what comes after a deletion, and a release that is one."""
    holds = True
    deleting = [step for step, call in checked if call.deletes]
    in_turn = [each for written in steps for each in [written] * (1 if written.times is None else 2)]
    for step, after in pairwise(in_turn):
        if step in deleting:
            error(
                sink,
                "FC555",
                f"nothing is left for step `{after.label.text}`",
                after.label.span,
                labels=(Label(step.operation.operation.span, "the object is deleted here"),),
                why="the clean-up would end earlier than it reads",
                help="move the deletion to the end",
            )
            holds = False
    if release is not None and release[1].deletes:
        error(
            sink,
            "FC555",
            "a release must not delete",
            release[0].operation.operation.span,
            why="it is for objects that no longer qualify: they are let go",
            help="write the operation that takes back what the steps had begun",
        )
        holds = False
    return holds


def _stays_in(
    step: tree.StepDecl, call: program.OperationCall, proposal: program.Proposal | None, sink: Diagnostics
) -> bool:
    """Whether an object still qualifies by what the step itself sets, as far as that can be said."""
    if proposal is None or not call.own:
        return True
    name = taken_out_by(
        proposal, {name: value for name, value in call.arguments.items() if isinstance(value, ir.Const)}
    )
    if name is None:
        return True
    argument = next(each for each in step.operation.arguments if each.name.text == name)
    error(
        sink,
        "FC557",
        f"step `{step.label.text}` takes its object out of the rule",
        argument.name.span.to(argument.value.span),
        note="the rule is surely false by this",
        why="the object no longer qualifies the night after: no further step comes, and a `release` takes back at once "
        "what was done",
        help=f"leave `{name}` out of the rule, or let another field tell what the step has done",
    )
    return False


def taken_out_by(proposal: program.Proposal, written: Mapping[str, ir.Const]) -> str | None:
    """Return a field by whose new value the rule is surely false, whatever else there is to the object."""
    from fullcount.compiler.lower.closure import NOWHERE, compile_truth  # only graduated acts need it

    read = facts.fields_read(proposal.where).get(proposal.inventory, frozenset())
    unknown = Cell(FieldState.NOT_REQUESTED, None)
    for name, value in written.items():
        row = dict.fromkeys(read, unknown) | {name: present(value.value)}
        for part in facts.conjuncts(proposal.where):
            if _is_of_the_object(part) and compile_truth(part, Bindings({}, 0))({proposal.row: row}, NOWHERE) is False:
                return name
    return None


def _is_of_the_object(expr: ir.Expr) -> bool:
    if isinstance(expr, ir.Some | ir.Aggregate | ir.Param | ir.Now):
        return False
    return all(_is_of_the_object(part) for part in ir.children(expr))
