"""Why an object could not be decided: which field in which state, of the object itself or of another inventory.

The rule is followed down to the tests that are unknown for the object; what these rest on and is not known is the
missing evidence. It is never guessed: a test that is unknown for another reason is named itself.
"""

# ruff: noqa: S608 - names enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import duckdb

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts, sql_text
from fullcount.compiler.lower.closure import NOWHERE, TruthOf, compile_truth
from fullcount.compiler.lower.sql import RULE, Relation, select_statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import STATE_ORDER, FieldState, Row, Truth
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.phrase import phrase

Key = tuple[object, ...]
_KNOWN = frozenset({FieldState.PRESENT, FieldState.ABSENT})


class Explainer:
    """Explains undecided objects of one evaluation; their keys stand in the table `keys`."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        workflow: program.Workflow,
        proposal: program.Proposal,
        relations: Mapping[str, Relation],
        bindings: Bindings,
        keys: str,
    ) -> None:
        self._connection = connection
        self._workflow = workflow
        self._proposal = proposal
        self._relations = relations
        self._bindings = bindings
        self._keys = keys
        self._own: dict[ir.Expr, TruthOf] = {}
        self._related: dict[ir.Expr, dict[Key, Truth]] = {}
        self._unknown: dict[tuple[str, str], tuple[str, ...]] = {}

    def missing(self, expr: ir.Expr, row: str, key: Key, cells: Row) -> tuple[str, ...]:
        """Return what is missing to decide `expr` for the object bound to `row`; nothing if it is decided."""

        def truth(leaf: ir.Expr) -> Truth:
            return self._truth(leaf, row, key, cells)

        found: dict[str, None] = {}
        for leaf in _undecided(expr, truth):
            found.update(dict.fromkeys(self._lacks(leaf, row, cells)))
        return tuple(sorted(found))

    def _truth(self, leaf: ir.Expr, row: str, key: Key, cells: Row) -> Truth:
        if facts.is_relational(leaf):
            if leaf not in self._related:
                self._related[leaf] = self._evaluate(leaf)
            return self._related[leaf][key]
        if leaf not in self._own:
            self._own[leaf] = compile_truth(leaf, self._bindings)
        return self._own[leaf]({row: cells}, NOWHERE)

    def _evaluate(self, leaf: ir.Expr) -> dict[Key, Truth]:
        """Decide one test that looks into another inventory, for all undecided objects at once."""
        inventory = self._workflow.inventories[self._proposal.inventory]
        alone = replace(self._proposal, where=leaf, excepts=(), protections=(), keeps=(), picks=())
        statement = select_statement(self._workflow, alone, self._relations, self._bindings)
        names = [sql_text.identifier(name) for name in inventory.key]
        join = " AND ".join(f"a.{name} = k.{name}" for name in names)
        columns = ", ".join(f"a.{name}" for name in [*names, sql_text.identifier(RULE)])
        answer = f"SELECT {columns} FROM ({statement}) AS a JOIN {self._keys} AS k ON {join}"
        return {values[:-1]: values[-1] for values in tables.batches(self._connection, answer)}

    def _lacks(self, leaf: ir.Expr, row: str, cells: Row) -> Iterator[str]:
        said = False
        for node in facts.walk(leaf):
            match node:
                case ir.Unknown(said=clause) if clause != "":
                    said = True
                    yield clause
                case ir.Else(operand=ir.Field(row=owner, name=name), fallback=ir.Unknown()) if owner == row:
                    if cells[name].state is FieldState.ABSENT:
                        said = True
                        yield f"{name}: absent, which the rule calls unknown"
                case ir.Field(row=owner, name=name) if owner == row and cells[name].state not in _KNOWN:
                    said = True
                    yield f"{name}: {_words(cells[name].state)}"
                case ir.Some(inventory=inventory) | ir.Aggregate(inventory=inventory):
                    for text in self._lacks_of(inventory, node):
                        said = True
                        yield text
                case _:
                    pass
        if not said:
            needed = sorted(
                {
                    (n.inventory, n.needs)
                    for n in facts.walk(leaf)
                    if isinstance(n, ir.Aggregate) and n.needs is not None
                }
            )
            for inventory, least in needed:
                said = True
                yield f"{inventory}: fewer than {least:,} rows with a known value"
        if not said:
            yield f"`{phrase(leaf)}` can't be decided from what was read"

    def _lacks_of(self, inventory: str, use: ir.Some | ir.Aggregate) -> Iterator[str]:
        if not self._relations[inventory].complete:
            yield f"{inventory}: not all rows were returned"
        mentioned = (node for part in ir.children(use) for node in facts.walk(part))
        names = {node.name for node in mentioned if isinstance(node, ir.Field) and node.row == use.row}
        for name in sorted(names):
            yield from self._unknown_cells(inventory, name)

    def _unknown_cells(self, inventory: str, name: str) -> tuple[str, ...]:
        known = self._unknown.get((inventory, name))
        if known is None:
            state = sql_text.state("t", name)
            counts = f"SELECT {state}, count(*) FROM {self._relations[inventory].sql} AS t GROUP BY ALL ORDER BY ALL"
            known = tuple(
                f"{inventory}: {number:,} {'row' if number == 1 else 'rows'} without known {name}"
                f" ({_words(STATE_ORDER[code])})"
                for code, number in self._connection.execute(counts).fetchall()
                if STATE_ORDER[code] not in _KNOWN
            )
            self._unknown[inventory, name] = known
        return known


def _undecided(expr: ir.Expr, truth: Callable[[ir.Expr], Truth]) -> Iterator[ir.Expr]:
    """Yield the innermost tests that are unknown and make the whole unknown."""
    match expr:
        case ir.Not(operand=operand):
            yield from _undecided(operand, truth)
        case ir.And(items=items):
            if all(_kleene(item, truth) is not False for item in items):
                for item in items:
                    yield from _undecided(item, truth)
        case ir.Or(items=items):
            if all(_kleene(item, truth) is not True for item in items):
                for item in items:
                    yield from _undecided(item, truth)
        case _:
            if truth(expr) is None:
                yield expr


def _kleene(expr: ir.Expr, truth: Callable[[ir.Expr], Truth]) -> Truth:
    match expr:
        case ir.Not(operand=operand):
            inner = _kleene(operand, truth)
            return None if inner is None else not inner
        case ir.And(items=items):
            return _junction([_kleene(item, truth) for item in items], decisive=False)
        case ir.Or(items=items):
            return _junction([_kleene(item, truth) for item in items], decisive=True)
        case _:
            return truth(expr)


def _junction(answers: list[Truth], *, decisive: bool) -> Truth:
    if decisive in answers:
        return decisive
    return None if None in answers else not decisive


def _words(state: FieldState) -> str:
    return state.value.replace("_", " ")
