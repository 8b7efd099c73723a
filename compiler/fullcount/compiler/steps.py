"""Graduated acts: steps that follow each other by a clock, and the release of what no longer qualifies.

Guarantees of a graduated act that checked: every step has a name of its own; each but the first waits for a stated time
after the one before it; nothing follows a deletion; a release lets go and never deletes; and an object that was made
anew under the same key can be told from the one whose clock runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullcount.compiler import program
from fullcount.compiler.catalog import Effect, Resource
from fullcount.compiler.environment import Env
from fullcount.compiler.expressions import Checker
from fullcount.compiler.names import said_twice
from fullcount.compiler.operations import Target, check_calls
from fullcount.compiler.program import RELEASE
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label

WHY_A_CLOCK = "the next night would take the next step, whoever still needed the time between the two"


def check_steps(checker: Checker, decl: tree.ActDecl, target: Target, env: Env) -> program.Calls | None:
    """Check the steps of a graduated act and its release; None if one of them did not check."""
    sink, resource = checker.context.sink, target.inventory.resource
    steps = _named_once(decl.steps, sink)
    release = next((step for step in steps if step.label.text == RELEASE), None)
    graduated = [step for step in steps if step is not release]
    holds = [
        len(steps) == len(decl.steps),
        _begins(decl, graduated, release, sink),
        *(_clock(step, first=number == 0, sink=sink) for number, step in enumerate(graduated)),
        release is None or _release(release, sink),
        _recreation(decl, target, sink),
        _deletions(graduated, release, resource, sink),
    ]
    checked = [(step, check_calls(checker, step.operation, step.undo, target, env)) for step in graduated]
    let_go = None if release is None else check_calls(checker, release.operation, None, target, env)
    made = [
        program.Step(step.label.text, *calls, 0 if step.after is None else step.after)
        for step, calls in checked
        if calls is not None
    ]
    if not all(holds) or len(made) < len(graduated) or (release is not None and let_go is None):
        return None
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
    return True


def _release(release: tree.StepDecl, sink: Diagnostics) -> bool:
    if release.after is not None or release.undo is not None:
        error(
            sink,
            "FC553",
            "a release does not wait" if release.after is not None else "a release is not taken back",
            release.after_span or (release.undo.span if release.undo is not None else release.span),
            why="it is due as soon as an object no longer qualifies, and the object starts again from the first step "
            "if it ever does",
            help="remove it" if release.after is not None else "remove the `undo`",
        )
        return False
    return True


def _recreation(decl: tree.ActDecl, target: Target, sink: Diagnostics) -> bool:
    resource = target.inventory.resource
    if resource.incarnation is not None or target.inventory.decl.incarnation is not None:
        return True
    error(
        sink,
        "FC554",
        f"`{resource.source}.{resource.name}` can't tell an object from one made anew under the same key",
        decl.proposal.span,
        labels=(Label(target.inventory.decl.resource.span, "read here"),),
        why="the clock of the one that was warned would go on for the other",
        help="use an act with one operation, or read from a source that has an incarnation",
    )
    return False


def _deletions(
    steps: Sequence[tree.StepDecl], release: tree.StepDecl | None, resource: Resource, sink: Diagnostics
) -> bool:
    """Report what comes after a deletion, and a release that is one."""
    holds = True
    for number, step in enumerate(steps[:-1]):
        if _deletes(step, resource):
            after = steps[number + 1]
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
    if release is not None and _deletes(release, resource):
        error(
            sink,
            "FC555",
            "a release must not delete",
            release.operation.operation.span,
            why="it is for objects that no longer qualify: they are let go",
            help="write the operation that takes back what the steps had begun",
        )
        holds = False
    return holds


def _deletes(step: tree.StepDecl, resource: Resource) -> bool:
    operation = resource.operations.get(step.operation.operation.parts[-1].text)
    return operation is not None and operation.effect is Effect.DELETE
