"""`expect no X as x where (…) because "…"`: what a proposal need not find in the data, checked.

It lifts one of the assumptions of the rule (`assumptions.py`) and nothing else: a sentence about something that the
rule does not ask is an error, since whoever wrote it believed that it would be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullcount.compiler import ir, program
from fullcount.compiler.assumptions import BASE, Assumption, assumptions, sentences
from fullcount.compiler.environment import Env, Place
from fullcount.compiler.expressions import Checker
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.report import error
from fullcount.compiler.walk import mentions_row, rename_row
from fullcount.dsl import tree
from fullcount.dsl.source import Span


def check_expectations(
    checker: Checker, decl: tree.ProposeDecl, base: BoundInventory, made: program.Proposal
) -> program.Proposal | None:
    """Return the proposal with what it expects of no row; None if one of them did not check."""
    if len(decl.expects) == 0:
        return made
    taken = assumptions(made, None)  # what the act brings about may be said all the same
    bare = _without_scopes(checker)
    found = [_expectation(bare, each, decl.row.text, base, taken) for each in decl.expects]
    if None in found:
        return None
    return replace(made, expects=tuple(each for each in found if each is not None))


def _expectation(
    checker: Checker, decl: tree.ExpectNoneDecl, outer: str, base: BoundInventory, taken: Sequence[Assumption]
) -> program.Expectation | None:
    context = checker.context
    inventory = context.names.inventory(decl.inventory, context.sink)
    row = decl.row.text
    if inventory is None:
        return None
    if row in context.names.params or (row == outer and inventory.name != base.name):
        error(
            context.sink,
            "FC111",
            f"`{row}` is already the name of {'a parameter' if row in context.names.params else 'the object'}",
            decl.row.span,
            help="give this row another name",
        )
        return None
    env = Env(Place.RULE, rows={outer: base}, sayable=True)
    where = None
    if not isinstance(decl.where, tree.All):
        where = checker.condition(decl.where, env if row == outer else env.with_row(row, inventory))
        if where is None:
            return None
    if where is None or not mentions_row(where, row):
        error(
            context.sink,
            "FC217",
            f"this never looks at `{row}`, so it is the same for every row of `{inventory.name}`",
            decl.where.span,
            help=f"name a field of `{row}`",
        )
        return None
    sentence = ir.Some(inventory.name, row, where if row == outer else rename_row(where, outer, BASE), span=decl.span)
    said = set(sentences(sentence))
    if not any(each.said in said for each in taken):
        _nothing_like_it(checker, decl, taken)
        return None
    return program.Expectation(sentence, decl.because, _written(checker, decl), decl.span)


def _without_scopes(checker: Checker) -> Checker:
    """Return a checker for which no inventory has a scope: what is expected is said of rows in scope anyway."""
    names = checker.context.names
    bare = {name: None if bound is None else replace(bound, scope=None) for name, bound in names.inventories.items()}
    return replace(checker, context=replace(checker.context, names=replace(names, inventories=bare)))


def _written(checker: Checker, decl: tree.ExpectNoneDecl) -> str:
    """Return the clause as written, on one line and without its reason."""
    span = Span(decl.span.source, decl.span.start, decl.because_span.start)
    return " ".join(checker.context.sources[span.source].slice(span).split()).removesuffix("because").rstrip()


def _asked(checker: Checker, assumption: Assumption) -> str:
    text = checker.context.quote(assumption.place)
    return f"{text} is present" if isinstance(assumption.sentence.where, ir.IsState) else text


def _nothing_like_it(checker: Checker, decl: tree.ExpectNoneDecl, taken: Sequence[Assumption]) -> None:
    name = decl.inventory.text
    asked = list(dict.fromkeys(_asked(checker, each) for each in taken if each.sentence.inventory == name))
    error(
        checker.context.sink,
        "FC350",
        f"the rule asks nothing like this of `{name}`",
        decl.where.span,
        why="it would excuse something that no run ever refuses for, and what was meant stays unexcused",
        help=f"write the test as the rule does: {', '.join(f'`{text}`' for text in asked)}"
        if len(asked) > 0
        else "remove it, or name the inventory that the rule looks into",
    )
