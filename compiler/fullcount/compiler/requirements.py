"""Requirements against promises: every use of an inventory has the evidence its direction needs, or is refused here.

The finding stands at the place of use, because that is where the conclusion is drawn, and names the clause to add.
"""

from __future__ import annotations

from fullcount.compiler.catalog import Visibility
from fullcount.compiler.claims import Complete, Consistency, Direction, Fresh
from fullcount.compiler.environment import Context
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.program import Proposal, Use
from fullcount.compiler.promises import Promise, Promises, covered
from fullcount.compiler.report import Advice, error
from fullcount.dsl.diagnostics import Edit, Fix, Label
from fullcount.dsl.source import Span

USUAL_AGE = "24h"


def check_requirements(proposal: Proposal, promises: Promises, context: Context) -> None:
    """Report every use whose evidence nothing promises, or that its source can't give."""
    for use in proposal.uses:
        bound = context.names.inventories.get(use.inventory)
        if bound is None:
            continue
        _check_source(use, bound, proposal, context)
        if use.inventory not in promises.failed:
            _check_promise(use, bound, promises.by_inventory.get(use.inventory), proposal, context)


def _check_promise(
    use: Use, bound: BoundInventory, promise: Promise | None, proposal: Proposal, context: Context
) -> None:
    missing = [claim for claim in use.claims if not covered(claim, () if promise is None else promise.claims)]
    if len(missing) == 0:
        return
    lacks_age = any(isinstance(claim, Fresh) for claim in missing)
    clauses = (
        [] if use.direction in {Direction.WITNESS, Direction.BOUNDED} or missing == [Fresh(None)] else ["complete"]
    )
    if lacks_age:
        clauses.append(f"fresh within {USUAL_AGE}")
    advice = _where_to_write(bound, promise, clauses, context, names_age=lacks_age)
    inlined = context.inlined.get(use.head)
    read_here = (Label(bound.decl.name.span, "read here"), *(() if inlined is None else (inlined,)))
    name = bound.name
    if use.direction is Direction.ABSENCE and Complete() in missing:
        error(
            context.sink,
            "FC301",
            f"`{name}` is used to conclude absence, but nothing verifies that it is complete",
            use.head,
            note=_absence_note(context.quote(use.head), name),
            labels=read_here,
            why=f"a page that was cut off would make every missing record of `{name}` look as if it did not exist",
            **advice,
        )
    elif use.direction is Direction.BASE and Complete() in missing:
        error(
            context.sink,
            "FC302",
            f"`{name}` is what `{proposal.name}` acts on, but nothing verifies that it is complete",
            use.head,
            note="the population of the caps, and of every percentage",
            labels=read_here,
            why="an act may only take objects that a complete reading selected, bound to its snapshot",
            **advice,
        )
    else:
        error(
            context.sink,
            "FC303",
            f"`{name}` is used, but nothing says how old it may be",
            use.head,
            labels=read_here,
            why="a row that was true last week is no evidence for an act tonight",
            **advice,
        )


def _absence_note(head: str, name: str) -> str:
    if head.startswith(("no ", "some ")):
        return (
            "true for everyone whose record was not returned"
            if head.startswith("no ")
            else ("under a negation: a record that was not returned turns the test around")
        )
    return f"rows of `{name}` that were not returned would change this value"


def _where_to_write(
    bound: BoundInventory, promise: Promise | None, clauses: list[str], context: Context, *, names_age: bool
) -> Advice:
    """Return which clause to add and where: into the `verify` there is, or as a new one before the others.

    A claim only ever refuses more. But how old evidence may be is for a person to say, so a fix that names an age is
    not one to be made unseen.
    """
    name, added = bound.name, ", ".join(clauses)
    if promise is not None:
        line, _ = context.source.position(promise.decl.span.start)
        edit = _insertion(promise.decl.claims[-1].span, f", {added}")
        title = f"add `{added}` to the claims of `{name}`"
        return Advice(help=f"add to the claims of line {line}:  {added}", fix=Fix(title, (edit,), safe=not names_age))
    clause = f"verify {name} {{ {added} }}"
    verifies = [decl.span for decl in context.names.workflow.verifies]
    first_verify = min(verifies, default=None)
    if first_verify is not None and first_verify.start > bound.decl.span.end:
        line, column = context.source.position(first_verify.start)
        edit = Edit(
            Span(first_verify.source, first_verify.start, first_verify.start), f"{clause}\n{' ' * (column - 1)}"
        )
        line -= 1
    else:
        line = context.source.position(bound.decl.span.end - 1)[0]
        _, column = context.source.position(bound.decl.span.start)
        edit = _insertion(bound.decl.span, f"\n\n{' ' * (column - 1)}{clause}")
    return Advice(help=f"add after line {line}:  {clause}", fix=Fix(f"add `{clause}`", (edit,), safe=not names_age))


def _insertion(after: Span, text: str) -> Edit:
    return Edit(Span(after.source, after.end, after.end), text)


def _check_source(use: Use, bound: BoundInventory, proposal: Proposal, context: Context) -> None:
    """Report a source that can never give what the direction of the use needs."""
    if use.direction in {Direction.WITNESS, Direction.BOUNDED}:
        return
    resource = bound.resource
    full = f"{resource.source}.{resource.name}"
    purpose = "conclude absence" if use.direction is Direction.ABSENCE else f"act in `{proposal.name}`"
    if resource.consistency is Consistency.UNSTABLE:
        error(
            context.sink,
            "FC305",
            f"`{bound.name}` is used to {purpose}, but `{full}` can't be read completely",
            use.head,
            labels=(Label(bound.decl.resource.span, "read here"),),
            why="its pages shift while they are read: an object that moves between two pages is returned by neither",
            help="read it from a source with stable pages, or use it only in `some … where (…)`",
        )
    if resource.visibility is Visibility.UNKNOWN and len(bound.decl.expects) == 0:
        key = resource.key[0] if len(resource.key) > 0 else "id"
        error(
            context.sink,
            "FC306",
            f"`{bound.name}` is used to {purpose}, but `{full}` hides objects without a word",
            use.head,
            labels=(Label(bound.decl.name.span, "no `expect` here"),),
            why="a permission that was taken away looks exactly like objects that do not exist",
            help=f'add a canary to the inventory, an object that must always be seen:  expect {key} == "…"',
        )
