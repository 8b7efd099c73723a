"""Picks: what `pick oldest N per … by …` and `pick P% at random seed "…"` take of the selected objects, checked.

A pick only ever takes away: it is applied last, to what the rule selects and nothing keeps. Which objects come first
depends on all of them, so every inventory that the rule looks into is then used in absence as well (`direction.py`).
"""

from __future__ import annotations

from dataclasses import replace

from fullcount.compiler import program
from fullcount.compiler.environment import Env, Place
from fullcount.compiler.expressions import Checker
from fullcount.compiler.floors import can_order, part_of_row
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label


def check_pick(checker: Checker, decl: tree.PickDecl, row: str, env: Env, text: str) -> program.Pick | None:
    """Check one `pick`; `env` knows what is true of a selected object, `text` is the clause as written, for people."""
    place = replace(env, place=Place.PICK)
    right = _takes_a_part(checker, decl)
    per = None if decl.per is None else part_of_row(checker, decl.per, row, place, "group", "pick")
    by = None if decl.by is None else part_of_row(checker, decl.by, row, place, decl.order, "pick")
    if not right or (decl.per is not None and per is None) or (decl.by is not None and by is None):
        return None
    if by is not None and decl.by is not None and not can_order(checker, by, decl.by, decl.order):
        return None
    return program.Pick(
        count=decl.count,
        percent=decl.percent,
        at_most=decl.at_most,
        order=decl.order,
        per=None if per is None else per.expr,
        by=None if by is None else by.expr,
        seed=decl.seed,
        text=text,
        span=decl.span,
    )


def refuse_picked_steps(proposal: tree.ProposeDecl | None, act: tree.ActDecl, sink: Diagnostics) -> bool:
    """Report a graduated act on objects that a pick takes; True if it is one."""
    if proposal is None or len(proposal.picks) == 0:
        return False
    error(
        sink,
        "FC513",
        f"`act {act.proposal.text}` has steps, and a `pick` says which objects come first",
        act.proposal.span,
        labels=(Label(proposal.picks[0].span, "taken by a pick"),),
        why="who comes first changes from night to night, so clocks would stop, start and release for what others did",
        help="remove the `pick`: `limit` bounds how many objects one night takes",
    )
    return True


def _takes_a_part(checker: Checker, decl: tree.PickDecl) -> bool:
    """Whether a pick takes something, and not all."""
    sink = checker.context.sink
    if 0 in (decl.count, decl.percent, decl.at_most):
        error(
            sink,
            "FC511",
            "this `pick` takes nothing",
            decl.amount_span,
            why="zero means none, so the proposal would never propose anything",
            help="take at least 1, or remove the clause",
        )
        return False
    if decl.percent is not None and decl.percent >= 100:
        error(
            sink,
            "FC512",
            f"`pick {decl.percent.normalize():f}%` passes nothing over",
            decl.amount_span,
            why="it reads like a sample and is none",
            help="take less than 100%, or remove the clause",
        )
        return False
    if decl.seed is not None and decl.seed.strip() == "":
        error(
            sink,
            "FC512",
            "a random order without a seed can't be made again",
            decl.span,
            why="a plan that is made again must take the same objects",
            help='give it any text:  seed "2026-q4"',
        )
        return False
    return True
