"""Warnings about workflows that mean what they say and may not say what is meant: one rule in each file.

A rule is a function from a checked workflow to findings, all of its one code, all warnings. It runs only where nothing
is an error, so that it need not doubt what it looks at. It never changes what is compiled, and it is silenced only by a
comment with a reason (`# allow FC122: because …`, see `suppressions.py`). A new rule is a file here, a line in `RULES`,
and a code with a wrong and a right example.

It must be rare that a rule is wrong: a warning that is usually ignored teaches people to ignore the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from fullcount.compiler.lint import (
    canary_of_all,
    catch_up,
    half_undo,
    idle_percent,
    length_below_zero,
    limit_of_nothing,
    limit_without_percent,
    missing_undo,
    needless_part,
    never_looks,
    one_approver,
    opposite_parts,
    parts_by_hand,
    plain_pattern,
    said_twice,
    too_few_people,
    unused_inventory,
    unused_param,
    void_exemption,
)
from fullcount.compiler.lint.subject import Subject
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics

Rule = Callable[[Subject], Iterator[Diagnostic]]

RULES: Final[dict[str, Rule]] = {
    "FC122": unused_inventory.check,
    "FC123": unused_param.check,
    "FC218": never_looks.check,
    "FC260": said_twice.check,
    "FC261": opposite_parts.check,
    "FC262": needless_part.check,
    "FC263": plain_pattern.check,
    "FC264": void_exemption.check,
    "FC265": length_below_zero.check,
    "FC335": parts_by_hand.check,
    "FC405": one_approver.check,
    "FC408": too_few_people.check,
    "FC502": limit_of_nothing.check,
    "FC560": limit_without_percent.check,
    "FC561": missing_undo.check,
    "FC562": catch_up.check,
    "FC563": canary_of_all.check,
    "FC564": half_undo.check,
    "FC565": idle_percent.check,
}
"""Each rule by the code that it reports."""


def lint(subject: Subject, sink: Diagnostics) -> None:
    """Run every rule over a workflow that checked."""
    for rule in RULES.values():
        for finding in rule(subject):
            sink.add(finding)
