"""Whether the data bears out what a rule takes for granted: counted in the session of the plan, before a plan is made.

Guarantees: it can only refuse. It adds nothing to a rule and takes nothing from it, and what a plan lists is the same
with and without it. One statement counts, for each inventory, everything that is assumed of it, over the rows in its
scope: of how many rows it could be said (N) and of how many it is true. Nothing is concluded from rows that were not
read: an inventory that is not complete is not asked.

It applies from the first row on: N of 1 is enough to refuse. Where N is nothing (an empty inventory, no row with a
known value on the outside of a join), there is nothing to be wrong about, and no finding.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fullcount.compiler import ir, program
from fullcount.compiler.assumptions import BASE, Assumption, Taken, assumptions, sentences
from fullcount.compiler.lower.patterns import literal_pattern
from fullcount.compiler.lower.sql_expr import Lowering
from fullcount.compiler.lower.sql_frame import Relation, Statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import BOOL, TEXT
from fullcount.compiler.walk import nodes, rename_row
from fullcount.dsl.source import Source
from fullcount.runtime import format as fmt
from fullcount.runtime.evidence.refusal import Finding, Need
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.document import ExpectationDoc
from fullcount.runtime.plan.patterns import count_pattern, patterns_in
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.plan.summary import pattern_line


@dataclass(frozen=True, slots=True)
class Counted:
    """An assumption, of how many rows it could be said, and of how many of them it is true.

    `nearly`: what a pattern, or a text that occurs nowhere, nearly matched, in words.
    """

    assumption: Assumption
    rows: int
    true: int
    nearly: str | None = None

    @property
    def holds(self) -> bool:
        """Whether some row bears it out, or there is none that could."""
        return self.true > 0 or self.rows == 0


@dataclass(frozen=True, slots=True)
class Assumed:
    """What was found of all assumptions of a proposal."""

    proposal: program.Proposal
    counted: tuple[Counted, ...]

    @property
    def broken(self) -> tuple[Counted, ...]:
        """The assumptions that no row bears out and that the workflow does not lift.

        Where a value is missing for everyone, the cases that ask for it are not told as well.
        """
        said = {key for each in self.proposal.expects for key in sentences(each.sentence)}
        fallen = [each for each in self.counted if not each.holds]
        empty = {each.assumption.sentence.where for each in fallen if each.assumption.taken is Taken.VALUE}
        missing = {node for where in empty for node in nodes(where) if isinstance(node, ir.Field | ir.MapGet)}
        return tuple(
            each
            for each in fallen
            if each.assumption.said not in said
            and not (each.assumption.taken is Taken.CASE and missing & set(nodes(each.assumption.test)))
        )

    def expectations(self) -> tuple[ExpectationDoc, ...]:
        """Return what the workflow expects of no row, with how many there were all the same."""
        found = []
        for each in self.proposal.expects:
            said = set(sentences(each.sentence))
            met = [one.true for one in self.counted if one.assumption.said in said]
            found.append(ExpectationDoc(clause=each.text, because=each.because, found=sum(met)))
        return tuple(found)


def count_assumed(
    connection: duckdb.DuckDBPyConnection,
    workflow: program.Workflow,
    proposal: program.Proposal,
    relations: Mapping[str, Relation],
    bindings: Bindings,
) -> Assumed:
    """Count what a proposal takes for granted, one statement for each inventory that is complete."""
    by_inventory: dict[str, list[Assumption]] = {}
    act = next((each for each in workflow.acts if each.proposal == proposal.name), None)
    for each in assumptions(proposal, act):
        if all(relations[name].complete for name in (each.inventory, each.partner) if name is not None):
            by_inventory.setdefault(each.inventory, []).append(each)

    def nearly(assumption: Assumption) -> str | None:
        around = {assumption.row: assumption.inventory}
        said = _as_pattern(assumption.test) if assumption.taken is Taken.CASE else ir.TRUE
        pattern = next(patterns_in(said, around), None)
        if pattern is None:
            return None
        return pattern_line(count_pattern(connection, pattern, workflow, relations, bindings)).nearly

    counted: list[Counted] = []
    for name, taken in by_inventory.items():
        statement = _statement(workflow.inventories[name], taken, relations, bindings)
        numbers = tables.one(connection, statement)
        for i, each in enumerate(taken):
            found = Counted(each, numbers[2 * i], numbers[2 * i + 1])
            counted.append(found if found.holds else replace(found, nearly=nearly(each)))
    return Assumed(proposal, tuple(counted))


def _as_pattern(test: ir.Expr) -> ir.Expr:
    """Return an equality with a text as the pattern that says the same; any other test as it is."""
    match test:
        case ir.Compare(operator="==", left=read, right=ir.Const(value=str() as text)):
            pass
        case ir.Compare(operator="==", left=ir.Const(value=str() as text), right=read):
            pass
        case _:
            return test
    if read.type != TEXT:
        return test
    return ir.Call("matches", (read, ir.Const(literal_pattern(text), TEXT)), BOOL)


def _statement(
    inventory: program.Inventory,
    taken: Sequence[Assumption],
    relations: Mapping[str, Relation],
    bindings: Bindings,
) -> str:
    statement = Statement(relations, bindings)
    frame = statement.frame(inventory.name)
    scope = ir.TRUE if inventory.scope is None else inventory.scope
    in_scope = frame.hoist(Lowering(statement, frame, {ir.SELF: frame}).truth(scope))
    columns: list[str] = []
    for each in taken:
        row = Lowering(statement, frame, {each.row: frame})
        true = frame.hoist(row.truth(each.test))
        said = f"{true} IS NOT NULL" if each.among is None else f"({row.truth(each.among)}) IS TRUE"
        columns += [f"count(*) FILTER ({in_scope} AND {said})", f"count(*) FILTER ({in_scope} AND {said} AND {true})"]
    return f"{statement.with_clause()}SELECT {', '.join(columns)} FROM {frame.from_item()}"


# -- what is said of it ------------------------------------------------------------------------------------------------


def findings(assumed: Assumed, stage: str, sources: Mapping[str, Source]) -> Iterator[Finding]:
    """Yield a finding for each assumption that the data does not bear out."""
    for each in assumed.broken:
        yield _finding(each, assumed.proposal, stage, sources)


_CODES = {Taken.MATCH: "FC790", Taken.VALUE: "FC791", Taken.CASE: "FC792"}


def _finding(found: Counted, proposal: program.Proposal, stage: str, sources: Mapping[str, Source]) -> Finding:
    assumption = found.assumption
    of = fmt.count(found.rows)
    match assumption.taken:
        case Taken.MATCH:
            message = f"`{assumption.partner}` matches none of {of} `{assumption.inventory}`"
            pair = _written(assumption, proposal)
            why = f"`{pair}` is true of no pair, and ids that are spelled differently look just like that"
        case Taken.VALUE:
            what = assumption.sentence.where
            read = what.operand if isinstance(what, ir.IsState) else assumption.test
            named = phrase(next(n for n in nodes(read) if isinstance(n, ir.Field | ir.MapGet)))
            message = f"`{named}` is absent or empty for all {of} `{assumption.inventory}`"
            why = "a field that nobody has is more often one that was not delivered than one that nobody uses"
        case Taken.CASE:
            message = (
                f"no `{assumption.inventory}` of {of} satisfies `{phrase(assumption.test)}`, which the rule rules out"
            )
            if found.nearly is not None:
                message = f"{message}; {found.nearly}"
            why = "a condition that rules nobody out is more often a misspelt value than a wish"
    return Finding(
        code=_CODES[assumption.taken],
        message=f"{message}: {why}",
        inventory=assumption.partner or assumption.inventory,
        detail=f"{message}: {why}",
        needed_by=_place(assumption, stage, sources),
        ways_on=(
            "compare the rule with what was read   fullcount eval",
            f'if it is meant, say so in `propose`   {_sentence(assumption, proposal)} because "…"',
        ),
    )


def _place(assumption: Assumption, stage: str, sources: Mapping[str, Source]) -> tuple[Need, ...]:
    source = sources.get(assumption.place.source)
    if source is None:
        return ()
    line, column = source.position(assumption.place.start)
    text = " ".join(source.slice(assumption.place).split())
    return (Need(stage=stage, place=f"{source.name}:{line}:{column}  {text}", claims=(str(assumption.taken),)),)


def _named(where: ir.Expr, proposal: program.Proposal) -> ir.Expr:
    return rename_row(where, BASE, proposal.row)


def _written(assumption: Assumption, proposal: program.Proposal) -> str:
    where = assumption.sentence.where
    return phrase(_named(where.where if isinstance(where, ir.Some) else where, proposal))


def _sentence(assumption: Assumption, proposal: program.Proposal) -> str:
    said = assumption.sentence
    return f"expect no {said.inventory} as {said.row} where ({phrase(_named(said.where, proposal))})"
