"""The rule as one DuckDB statement over snapshots: what a plan is made of.

The statement answers for each row of the base inventory, in no particular order, five truths: whether the row is in
the inventory's scope, whether the rule selects it, whether a condition of the rule keeps it, whether a protection of
the workspace does, and whether a floor does. NULL is unknown. An object is selected if and only if the first two are
true and the others are *false*, and the picks of the proposal, which compare all of these objects, take it. Semantics
are those of `ir.py`, equal to `closure.py`. The statement raises no error on any data, and depends on no setting of the
session.
"""

# ruff: noqa: S608 - this module exists to build SQL; names and values enter it through `sql_text` alone

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts, sql_floor, sql_pick, sql_text
from fullcount.compiler.lower.sql_expr import Lowering
from fullcount.compiler.lower.sql_frame import Frame, Relation, Statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import BOOL
from fullcount.compiler.values import STATE_SUFFIX

__all__ = [
    "EXCEPTED",
    "FLOOR",
    "IN_SCOPE",
    "PROTECTED",
    "RULE",
    "SELECTED",
    "TRUTH",
    "Relation",
    "filter_statement",
    "select_statement",
]

IN_SCOPE, RULE, EXCEPTED, PROTECTED, FLOOR = "$in_scope", "$rule", "$excepted", "$protected", "$floor"
"""Output columns of `select_statement`, after the key's; no field can have these names."""

SELECTED = f'("{IN_SCOPE}" AND "{RULE}" AND NOT "{PROTECTED}" AND NOT "{EXCEPTED}" AND NOT "{FLOOR}")'
"""Over the columns of `select_statement`: whether a row is selected before any pick; unknown where one of them is."""

GROUP, PLACE = "$group", "$place"
"""Output columns of `places_statement`, after the key's and `IN_SCOPE`."""

TRUTH = "$truth"
"""Output column of `filter_statement`, after the key's."""


def select_statement(
    workflow: program.Workflow,
    proposal: program.Proposal,
    relations: Mapping[str, Relation],
    bindings: Bindings,
) -> str:
    """Return a SELECT of the base inventory's key fields (canonical values) and the truths of each row.

    `EXCEPTED` is about `except when` conditions; a configured list of exemptions is the runtime's. With picks, the
    group and the place of the row follow for each of them; what they take is `sql_pick.with_picks`'s. Raises ValueError
    if a snapshot is missing, or if two fields of an inventory differ in the case of letters only; KeyError for a
    parameter that is not bound.
    """
    inventory = workflow.inventories[proposal.inventory]
    for name in {inventory.name, *facts.fields_read(ir.And(proposal.deciding))}:
        _check_names(workflow.inventories[name])
    statement = Statement(relations, bindings)
    frame = statement.frame(inventory.name)
    own, row = Lowering(statement, frame, {ir.SELF: frame}), Lowering(statement, frame, {proposal.row: frame})
    in_scope = own.truth(ir.TRUE if inventory.scope is None else inventory.scope)
    floor = "FALSE"
    if len(proposal.keeps) > 0:
        in_scope = frame.hoist(in_scope)
        complete = relations[inventory.name].complete
        floors = [sql_floor.kept(row, frame, keep, in_scope, complete=complete) for keep in proposal.keeps]
        floor = f"({' OR '.join(floors)})"
    truths = {
        IN_SCOPE: in_scope,
        RULE: row.truth(proposal.where),
        EXCEPTED: row.truth(_any_of(proposal.exemptions)),
        PROTECTED: row.truth(_any_of(tuple(each.condition for each in proposal.protections))),
        FLOOR: floor,
    }
    return _select(inventory, statement, frame, {**truths, **_ranks(proposal, inventory, frame, row)})


def _ranks(proposal: program.Proposal, inventory: program.Inventory, frame: Frame, row: Lowering) -> dict[str, str]:
    """Return the group and the place of each row, as each pick sees them. NULL: not known."""
    columns: dict[str, str] = {}
    for number, pick in enumerate(proposal.picks):
        columns[sql_pick.group_column(number)] = "TRUE" if pick.per is None else row.known(pick.per).value
        if pick.by is not None:
            place = row.known(pick.by).value
        else:
            key = [sql_text.column(frame.alias, name, inventory.fields[name].type) for name in inventory.key]
            place = sql_pick.random_place(pick.seed or "", key)
        columns[sql_pick.place_column(number)] = place
    return columns


def places_statement(
    workflow: program.Workflow,
    proposal: program.Proposal,
    keep: program.Keep,
    relation: Relation,
    bindings: Bindings,
) -> str:
    """Return a SELECT of the key fields, `IN_SCOPE`, `GROUP` and `PLACE` of each row, as a floor sees them.

    Without `per` every row has the same group. NULL: not known.
    """
    inventory = workflow.inventories[proposal.inventory]
    _check_names(inventory)
    statement = Statement({inventory.name: relation}, bindings)
    frame = statement.frame(inventory.name)
    own, row = Lowering(statement, frame, {ir.SELF: frame}), Lowering(statement, frame, {proposal.row: frame})
    columns = {
        IN_SCOPE: own.truth(ir.TRUE if inventory.scope is None else inventory.scope),
        GROUP: "TRUE" if keep.per is None else row.known(keep.per).value,
        PLACE: row.known(keep.by).value,
    }
    return _select(inventory, statement, frame, columns)


def _any_of(conditions: tuple[ir.Expr, ...]) -> ir.Expr:
    """Return the test that some condition holds; false for none."""
    if len(conditions) == 0:
        return ir.Const(False, BOOL)
    return conditions[0] if len(conditions) == 1 else ir.Or(conditions)


def filter_statement(expr: ir.Expr, inventory: program.Inventory, relation: Relation, bindings: Bindings) -> str:
    """Return a SELECT of the key fields and `TRUTH`, a test about `ir.SELF` (scope, expect), for each row."""
    _check_names(inventory)
    statement = Statement({inventory.name: relation}, bindings)
    frame = statement.frame(inventory.name)
    truth = Lowering(statement, frame, {ir.SELF: frame}).truth(expr)
    return _select(inventory, statement, frame, {TRUTH: truth})


def _select(inventory: program.Inventory, statement: Statement, frame: Frame, lowered: Mapping[str, str]) -> str:
    columns = [
        f"{sql_text.column(frame.alias, key, inventory.fields[key].type)} AS {sql_text.identifier(key)}"
        for key in inventory.key
    ]
    columns += [f"{sql} AS {sql_text.identifier(name)}" for name, sql in lowered.items()]
    return f"{statement.with_clause()}SELECT {', '.join(columns)} FROM {frame.from_item()}"


def _check_names(inventory: program.Inventory) -> None:
    """DuckDB takes names that differ in case only for the same: refuse to read one field for another."""
    taken: dict[str, str] = {}
    for name in (column for field in inventory.fields for column in (field, field + STATE_SUFFIX)):
        other = taken.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(f"`{inventory.name}` has fields `{other}` and `{name}`, which differ in case only")
