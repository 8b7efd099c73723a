"""Tree to typed program: every expression of a workflow checked in its place.

It makes the parts of the program that checked and reports the others; evidence, approval and caps are checked by later
phases over what this one made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fullcount.compiler import ir, program
from fullcount.compiler.environment import Context, Env, Place
from fullcount.compiler.expectations import check_expectations
from fullcount.compiler.expressions import Checker
from fullcount.compiler.floors import check_keep
from fullcount.compiler.inventories import check_recreation
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.operations import Target, check_calls
from fullcount.compiler.partitions import check_partitions, check_place, consistency_of
from fullcount.compiler.picks import check_pick, refuse_picked_steps
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.presence import facts_when
from fullcount.compiler.report import error, near
from fullcount.compiler.steps import check_steps, refuse_strays
from fullcount.compiler.types import BOOL
from fullcount.compiler.values import Value
from fullcount.compiler.walk import conjunction, mentions_row
from fullcount.dsl import tree
from fullcount.dsl.source import Source, Span


def check_params(checker: Checker) -> tuple[program.Param, ...]:
    """Check the defaults of parameters: constants of the declared type."""
    made: list[program.Param] = []
    for name, bound in checker.context.names.params.items():
        if bound is None:
            continue
        default: Value | None = None
        if bound.decl.default is not None:
            typed = checker.value(bound.decl.default, Env(Place.ARGUMENT))
            if typed is None:
                continue
            if not isinstance(typed.expr, ir.Const) or typed.type != bound.type:
                error(
                    checker.context.sink,
                    "FC216",
                    f"the default of `{name}` must be a `{bound.type}` written out",
                    bound.decl.default.span,
                    note=f"this is `{typed.type}`" if typed.type != bound.type else "this is not a constant",
                    help=f"give a constant of type `{bound.type}`",
                )
                continue
            default = typed.expr.value
        made.append(program.Param(name, bound.type, default))
    return tuple(made)


def check_inventory(checker: Checker, bound: BoundInventory) -> program.Inventory:
    """Check the scope and the canaries of an inventory, remember them in `bound`, and make its part of the program."""
    decl, resource = bound.decl, bound.resource
    if decl.scope is not None:
        env = Env(Place.SCOPE, bare=bound, polarity=Polarity.MIXED)
        bound.scope = _own_condition(checker, decl.scope, env, bound)
    expects = (_own_condition(checker, each, Env(Place.EXPECT, bare=bound), bound) for each in decl.expects)
    bound.expects = tuple(each for each in expects if each is not None)
    if decl.deadline is not None and decl.deadline <= 0:
        error(
            checker.context.sink,
            "FC308",
            "a deadline of nothing leaves no time to read",
            decl.head_span,
            help="write `deadline 10m`, or remove it",
        )
    across = check_partitions(decl, resource, checker.context)
    return program.Inventory(
        name=bound.name,
        source=resource.source,
        resource=resource.name,
        key=resource.key,
        incarnation=None if decl.incarnation is None else decl.incarnation.text,
        version=resource.version,
        fields=dict(bound.fields),
        scope=bound.scope,
        deadline=decl.deadline,
        expects=bound.expects,
        consistency=consistency_of(decl, resource),
        lookup_fields=resource.lookup_fields,
        span=decl.span,
        across=across,
        normalized=dict(bound.normal),
    )


def _own_condition(checker: Checker, node: tree.Expr, env: Env, bound: BoundInventory) -> ir.Expr | None:
    condition = checker.condition(node, env)
    if condition is not None and not mentions_row(condition, ir.SELF):
        error(
            checker.context.sink,
            "FC217",
            f"this never looks at an object of `{bound.name}`",
            node.span,
            help="name one of its fields",
        )
        return None
    return condition


def check_proposal(
    checker: Checker, decl: tree.ProposeDecl, comments: Sequence[tree.Comment]
) -> program.Proposal | None:
    """Check the rule, the exemptions and the shown values of a proposal."""
    context = checker.context
    base = context.names.inventory(decl.inventory, context.sink)
    if base is None:
        return None
    row = decl.row.text
    if row in context.names.params:
        error(
            context.sink,
            "FC111",
            f"`{row}` is already the name of a parameter",
            decl.row.span,
            help="give the row another name",
        )
        return None
    env = Env(Place.RULE, rows={row: base})
    where = _rule(checker, decl, env)
    doubts = [_doubt(checker, each, env, comments) for each in decl.doubts]
    excepts = [_exemption(checker, each, env) for each in decl.excepts]
    keeps = [check_keep(checker, each, row, env, _keep_text(context, each, comments)) for each in decl.keeps]
    selected = env.knowing(facts_when(where, True)) if where is not None else replace(env, lenient=True)
    picks = [check_pick(checker, each, row, selected, _keep_text(context, each, comments)) for each in decl.picks]
    shown = [_shown(checker, each, replace(selected, place=Place.SHOW), comments) for each in decl.show]
    if where is None or any(None in found for found in (doubts, excepts, keeps, picks, shown)):
        return None
    made = program.Proposal(
        name=decl.name.text,
        inventory=base.name,
        row=row,
        where=conjunction(where, *(each for each in doubts if each is not None)),
        excepts=tuple(each for each in excepts if each is not None),
        limit=None if decl.limit is None else program.Limit(decl.limit.count, decl.limit.percent),
        show=tuple(each for each in shown if each is not None),
        uses=(),
        where_text="; ".join(
            _full_text(context, span, (part,), comments)
            for span, part in ((decl.where.span, decl.where), *((each.span, each.condition) for each in decl.doubts))
        ),
        span=decl.span,
        keeps=tuple(each for each in keeps if each is not None),
        bounded=decl.bounded is not None,
        picks=tuple(each for each in picks if each is not None),
    )
    return check_expectations(checker, decl, base, made)


def _rule(checker: Checker, decl: tree.ProposeDecl, env: Env) -> ir.Expr | None:
    if isinstance(decl.where, tree.All):
        return ir.TRUE
    return checker.condition(decl.where, env)


def _doubt(checker: Checker, decl: tree.DoubtDecl, env: Env, comments: Sequence[tree.Comment]) -> ir.Expr | None:
    """Return what `undecided when` adds to a rule: true where the condition is proven false, else unknown."""
    condition = checker.condition(decl.condition, env.flipped())
    if condition is None:
        return None
    unknown = ir.Unknown(BOOL, text_of(checker.context.source, decl.span, comments), span=decl.span)
    return ir.Or((ir.Not(condition, span=condition.span), unknown), span=decl.span)


def _exemption(checker: Checker, decl: tree.ExceptDecl, env: Env) -> program.Exemption | None:
    if decl.list_name is not None:
        lists = checker.context.names.catalog.exemption_lists()
        if decl.list_name.text in lists:
            return program.Exemption(decl.list_name.text, None)
        error(
            checker.context.sink,
            "FC119",
            f"there is no exemption list `{decl.list_name.text}` in this workspace",
            decl.list_name.span,
            why="without the list nobody on it would be kept",
            **near(decl.list_name.text, decl.list_name.span, lists, "exemption lists"),
        )
        return None
    if decl.condition is None:
        return None
    # an object is kept unless the condition is proven false: it stands as if negated
    condition = checker.condition(decl.condition, env.flipped())
    return None if condition is None else program.Exemption(None, condition)


def _shown(checker: Checker, node: tree.Expr, env: Env, comments: Sequence[tree.Comment]) -> program.Shown | None:
    typed = checker.value(node, env)
    return None if typed is None else program.Shown(text_of(checker.context.source, node.span, comments), typed.expr)


def check_act(checker: Checker, decl: tree.ActDecl, proposal: program.Proposal | None) -> program.Calls | None:
    """Check the operation of an act and its undo, or its steps, over the base row of its proposal.

    `proposal` is None if it did not check; the operation is then checked without knowing what its rule says.
    """
    names = checker.context.names
    declared = names.proposals.get(decl.proposal.text)
    base = None if declared is None else names.inventories.get(declared.inventory.text)
    if declared is None or base is None:
        return None
    check_recreation(base.decl, base.resource, decl, checker.context.sink)
    check_place(base.decl, base.resource, decl, checker.context.sink)
    env = Env(Place.ARGUMENT, rows={declared.row.text: base}, polarity=Polarity.MIXED)
    if proposal is None:
        env = released = replace(env, lenient=True)
    else:
        # what is released no longer qualifies, so the rule tells nothing of it
        env, released = env.knowing(facts_when(proposal.where, True)), env
    target = Target(base, declared.row.text)
    if decl.operation is None:
        stands = refuse_picked_steps(declared, decl, checker.context.sink)
        checked = check_steps(checker, decl, proposal, target, (env, released))
        return None if stands else checked
    strays = refuse_strays(decl, checker.context.sink)
    calls = check_calls(checker, decl.operation, decl.undo, target, env)
    return None if calls is None or strays else program.Calls(*calls)


_QUOTED_OR_SPACE = re.compile(r'("(?:[^"\\\n]|\\[^\n])*")|\s+')


def _keep_text(context: Context, keep: tree.KeepDecl | tree.PickDecl, comments: Sequence[tree.Comment]) -> str:
    parts = tuple(part for part in (keep.per, keep.by) if part is not None)
    return _full_text(context, keep.span, parts, comments)


def _full_text(context: Context, span: Span, parts: Sequence[tree.Expr], comments: Sequence[tree.Comment]) -> str:
    """Return a clause as written, followed by the definitions its parts use: a reviewer sees all that decides."""
    used = {each.name: each for part in parts for each in context.names.library.used_by(part)}.values()
    return "; ".join(
        (text_of(context.source, span, comments), *(text_of(d.source, d.decl.span, d.comments) for d in used))
    )


def text_of(source: Source, span: Span, comments: Sequence[tree.Comment]) -> str:
    """Return the text of a span as written, on one line and without comments; texts in quotes stay as they are."""
    pieces: list[str] = []
    at = span.start
    for comment in comments:
        if span.start <= comment.span.start and comment.span.end <= span.end:
            pieces.append(source.text[at : comment.span.start])
            at = comment.span.end
    pieces.append(source.text[at : span.end])
    return _QUOTED_OR_SPACE.sub(lambda match: match.group(1) or " ", "".join(pieces)).strip()
