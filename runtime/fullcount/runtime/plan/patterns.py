"""What the patterns of a rule matched, and what they nearly matched: counted over everything that was read.

A pattern is matched from beginning to end and letter by letter, so one that is slightly wrong is silent: it protects
nobody, or selects fewer than it was meant to. Here each `matches` and `glob` is counted, and so are the values that it
leaves out for capitals, for space around them, or because only a part of them is like it. Guarantees: it says, and
decides nothing. Time is linear in the text, as for the rule itself. A pattern over values of two objects at once is
left out: it has no values of its own.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import duckdb

from fullcount.compiler import ir, program
from fullcount.compiler.assumptions import BASE
from fullcount.compiler.functions import TRIM_CHARACTERS
from fullcount.compiler.lower import facts, patterns, sql_text
from fullcount.compiler.lower.closure import literal_text
from fullcount.compiler.lower.sql_expr import Lowering
from fullcount.compiler.lower.sql_frame import Relation, Statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.walk import rename_row
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.plan.document import NearMatch, PatternDoc
from fullcount.runtime.plan.phrase import phrase

SHOWN: Final = 3
"""How many values are named that a pattern nearly matched; all of them are counted."""
_LONGEST: Final = 200
"""Of a longer value only so much stands in a plan."""
PATTERNS: Final = frozenset({"matches", "glob"})
"""The functions that match a pattern."""


class Near(StrEnum):
    """Why a value is not matched that nearly is, the nearest first."""

    CAPITALS = "other capitals"
    SPACE = "space around it"
    BOTH = "other capitals, and space around it"
    PART = "only a part of it"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A `matches` or `glob` over values of one inventory's rows.

    `listed`: over the items of that list, called `item`. `in_scope`: of rows in the scope of the inventory alone; the
    patterns of the scope itself are over all rows that were read.
    """

    inventory: str
    row: str
    call: ir.Call
    listed: ir.Expr | None = None
    item: str = ""
    in_scope: bool = True

    @property
    def written(self) -> str:
        """RE2's way of writing it."""
        given = literal_text(self.call.arguments[1])
        return patterns.glob_pattern(given) if self.call.function == "glob" else given

    @property
    def said(self) -> object:
        """What tells one pattern from another, whatever the row is called."""
        listed = None if self.listed is None else rename_row(self.listed, self.row, BASE)
        return self.inventory, rename_row(self.call, self.row, BASE), listed


def patterns_of(workflow: program.Workflow, proposal: program.Proposal) -> tuple[Pattern, ...]:
    """Return the patterns that decide about a proposal, each once: of scopes, the rule, exemptions, protections."""
    found: dict[object, Pattern] = {}
    conditions = (proposal.where, *proposal.exemptions, *(each.condition for each in proposal.protections))
    read = {proposal.inventory: None} | {
        node.inventory: None for each in conditions for node in facts.walk(each) if isinstance(node, _USES)
    }
    for name in read:
        scope = workflow.inventories[name].scope
        for each in patterns_in(scope, {ir.SELF: name}, in_scope=False) if scope is not None else ():
            found.setdefault(each.said, each)
    for condition in conditions:
        for each in patterns_in(condition, {proposal.row: proposal.inventory}):
            found.setdefault(each.said, each)
    return tuple(found.values())


_USES: Final = (ir.Some, ir.Aggregate)


def patterns_in(expr: ir.Expr, around: Mapping[str, str], *, in_scope: bool = True) -> Iterator[Pattern]:
    """Yield the patterns of a condition; `around` says of which inventory each row variable is."""
    match expr:
        case ir.Call(function=name, arguments=(value, *_)) if name in PATTERNS and not ir.open_items(value):
            yield from _over(expr, value, around, None, "", in_scope)
        case ir.AnyItem(collection=collection, item=item, where=where):
            for node in facts.walk(where):
                if isinstance(node, ir.Call) and node.function in PATTERNS and ir.open_items(node) == {item}:
                    yield from _over(node, collection, around, collection, item, in_scope)
        case ir.Some() | ir.Aggregate():
            around = {**around, expr.row: expr.inventory}
    for part in ir.children(expr):
        yield from patterns_in(part, around, in_scope=in_scope)


def _over(
    call: ir.Call, value: ir.Expr, around: Mapping[str, str], listed: ir.Expr | None, item: str, in_scope: bool
) -> Iterator[Pattern]:
    rows = facts.free_rows(value) | facts.free_rows(call)
    if len(rows) == 1 and not facts.is_relational(value):
        (row,) = rows
        yield Pattern(around[row], row, call, listed, item, in_scope)


# -- counted ----------------------------------------------------------------------------------------------------------


def count_patterns(
    connection: duckdb.DuckDBPyConnection,
    workflow: program.Workflow,
    proposal: program.Proposal,
    relations: Mapping[str, Relation],
    bindings: Bindings,
) -> tuple[PatternDoc, ...]:
    """Count what the patterns of a proposal matched and nearly matched, over the rows that were read."""
    return tuple(
        count_pattern(connection, each, workflow, relations, bindings) for each in patterns_of(workflow, proposal)
    )


def count_pattern(
    connection: duckdb.DuckDBPyConnection,
    pattern: Pattern,
    workflow: program.Workflow,
    relations: Mapping[str, Relation],
    bindings: Bindings,
) -> PatternDoc:
    """Count what one pattern matched and nearly matched."""
    inventory = workflow.inventories[pattern.inventory]
    judged = _judged(pattern, inventory, relations, bindings)
    numbers: dict[int, int] = dict(
        connection.execute(f"{judged} SELECT how, count(*) FROM judged WHERE how IS NOT NULL GROUP BY how").fetchall()
    )
    nearly = sum(count for how, count in numbers.items() if how >= 1)
    return PatternDoc(
        written=phrase(pattern.call),
        inventory=pattern.inventory,
        values=sum(numbers.values()),
        matched=numbers.get(_MATCHED, 0),
        nearly=nearly,
        near=_named(connection, judged, inventory) if nearly > 0 else (),
    )


_MATCHED: Final = 0
_FAR: Final = -1


def _named(connection: duckdb.DuckDBPyConnection, judged: str, inventory: program.Inventory) -> tuple[NearMatch, ...]:
    rows = connection.execute(
        f"{judged} SELECT * FROM judged WHERE how >= 1 ORDER BY how, key, value LIMIT {SHOWN}"
    ).fetchall()
    return tuple(
        NearMatch(key=_key(key.values(), inventory), value=value[:_LONGEST], because=list(Near)[how - 1])
        for key, value, how in rows
    )


def _key(parts: Any, inventory: program.Inventory) -> tuple[Any, ...]:
    named = zip(inventory.key, parts, strict=True)
    return tuple(to_json(part, inventory.fields[name].type) for name, part in named)


def _judged(
    pattern: Pattern, inventory: program.Inventory, relations: Mapping[str, Relation], bindings: Bindings
) -> str:
    """Return a table `judged`: the key of each value, the value, and how near it is (0: matched, -1: not near)."""
    statement = Statement(relations, bindings)
    frame = statement.frame(inventory.name)
    value = _value(pattern, statement, Lowering(statement, frame, {pattern.row: frame}))
    inside = "TRUE"
    if pattern.in_scope and inventory.scope is not None:
        inside = frame.hoist(Lowering(statement, frame, {ir.SELF: frame}).truth(inventory.scope))
    named = zip(inventory.key, tables.key_columns(frame.alias, inventory), strict=True)
    key = ", ".join(f"{sql_text.identifier(name)} := {column}" for name, column in named)
    values = f"SELECT struct_pack({key}) AS key, {value} AS value FROM {frame.from_item()} WHERE {inside}"
    judged = f"judged AS (SELECT key, value, {how_sql(pattern)} AS how FROM ({values}))"
    before = statement.with_clause()
    return f"WITH {judged}" if before == "" else f"{before.rstrip()}, {judged}"


def _value(pattern: Pattern, statement: Statement, lowering: Lowering) -> str:
    text = pattern.call.arguments[0]
    if pattern.listed is None:
        return lowering.known(text).value
    held, variable = lowering.known(pattern.listed).value, statement.variable()
    inner = Lowering(statement, lowering.frame, lowering.scope, {pattern.item: variable})
    return f"unnest(list_transform({held}, lambda {variable}: {inner.known(text).value}))"


def how_sql(pattern: Pattern) -> str:
    """Return SQL for how near a `value` is: 0 if it is matched, -1 if it is not near, else the place of its `Near`."""
    exact, any_case = pattern.written, patterns.in_any_case(pattern.written)
    trimmed = f"trim(value, {sql_text.text(TRIM_CHARACTERS)})"
    tests = [
        _full("value", exact),
        _full("value", any_case),
        _full(trimmed, exact),
        _full(trimmed, any_case),
        f"NOT {_full(sql_text.text(''), exact)} AND regexp_matches(value, {sql_text.text(exact)})",
    ]
    cases = " ".join(f"WHEN {test} THEN {number}" for number, test in enumerate(tests))
    return f"CASE WHEN value IS NULL THEN NULL {cases} ELSE {_FAR} END"


def _full(value: str, pattern: str | None) -> str:
    return "FALSE" if pattern is None else f"regexp_full_match({value}, {sql_text.text(pattern)})"


# -- one value --------------------------------------------------------------------------------------------------------


def how_near(call: ir.Call, text: str) -> Near | None:
    """Return why a pattern does not match a text that it nearly matches; None if it matches, or is not near."""
    given = literal_text(call.arguments[1])
    written = patterns.glob_pattern(given) if call.function == "glob" else given
    exact, any_case = patterns.full_match(written), patterns.in_any_case(written)
    if exact(text):
        return None
    loose = (lambda _: False) if any_case is None else patterns.full_match(any_case)
    trimmed = text.strip(TRIM_CHARACTERS)
    if loose(text):
        return Near.CAPITALS
    if exact(trimmed):
        return Near.SPACE
    if loose(trimmed):
        return Near.BOTH
    return Near.PART if not exact("") and patterns.found_in(written)(text) else None
