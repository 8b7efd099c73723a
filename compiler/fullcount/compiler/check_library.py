"""Definitions checked by themselves, so that each of their mistakes is told once, and in its place.

A definition that looks into an inventory is left to the places where it is used: only a workflow has inventories.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler import ir
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.comparisons import COMPARISONS
from fullcount.compiler.environment import Context, Env, Place, Typed
from fullcount.compiler.expressions import Checker
from fullcount.compiler.library import Definition, Library
from fullcount.compiler.names import Names
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Source

_TESTS = frozenset({"and", "or", "in", "not in", *COMPARISONS})


def check_definitions(
    library: Library,
    catalog: Catalog,
    sources: Mapping[str, Source],
    lists: Mapping[tuple[str, str], Source],
    sink: Diagnostics,
) -> None:
    """Check every definition that can be checked without a workflow; one with an error is remembered as failed."""
    names = Names(None, catalog, library)
    for definition in library.in_order():
        if definition.failed or definition.looks:
            continue
        found = Diagnostics()
        _check(definition, Checker(Context(names, definition.source, found, sources, lists)))
        definition.failed = found.has_errors
        for finding in found:
            sink.add(finding)


def _check(definition: Definition, checker: Checker) -> None:
    arguments = {
        name: Typed(
            ir.Field(definition.name, "", name, each.type, each.optional), each.optional, each.optional, each.names
        )
        for name, each in definition.parameters.items()
        if each is not None
    }
    env = Env(Place.RULE).body(arguments)
    if _is_test(definition.decl.body, checker.context.names.library):
        checker.condition(definition.decl.body, env)
    else:
        checker.value(definition.decl.body, env)


def _is_test(expr: tree.Expr, library: Library) -> bool:
    """Whether an expression reads as a test wherever it stands, itself or behind definitions."""
    while (called := library.definition(expr)) is not None:
        expr = called.decl.body
    match expr:
        case tree.Binary(operator=operator):
            return operator in _TESTS
        case tree.Unary(operator=operator):
            return operator == "not"
        case _:
            return isinstance(expr, tree.StateTest | tree.Quantified | tree.ListTest)
