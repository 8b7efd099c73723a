"""Whether stored snapshots answer the questions of another workflow than the one that they were read for.

Guarantees: a workflow is only evaluated over rows that it would have asked for as well: of the same resource, by the
same key, with fields of the same types, and with no row left out by the scope of then that its own scope would let in.
What does not fit is an error, with what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow.parquet as pq

from fullcount.compiler import ir, program
from fullcount.compiler.implication import refutes
from fullcount.compiler.lower import facts
from fullcount.compiler.types import FieldType
from fullcount.compiler.values import STATE_SUFFIX, Value
from fullcount.runtime.collect.coerce import arrow_type
from fullcount.runtime.collect.parts import written_parts
from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.understand.decision import rule_of
from fullcount.runtime.understand.edit import bound, constants
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.held import Held


def fitted(
    held: Held, workflow: program.Workflow, proposal: program.Proposal, params: Mapping[str, Value]
) -> program.Workflow:
    """Return the workflow with the inventories cut down to the fields that decide or are shown.

    Raises `NoAnswerError` (FC682) where the snapshots do not answer it.
    """
    read = _fields_read(workflow, proposal)
    cut: dict[str, program.Inventory] = dict(workflow.inventories)
    for name, names in read.items():
        inventory = workflow.inventories[name]
        wanted = {**dict.fromkeys(inventory.key), **dict.fromkeys(sorted(names))}
        used = replace(inventory, fields={n: inventory.fields[n] for n in wanted}, version=None, incarnation=None)
        _check(held, used, workflow, params)
        cut[name] = used
    return replace(workflow, inventories=cut)


def _fields_read(workflow: program.Workflow, proposal: program.Proposal) -> dict[str, set[str]]:
    """Return the fields by inventory, the proposal's own among them even if nothing of it is read."""
    rule = rule_of(workflow, proposal)
    found: dict[str, set[str]] = {proposal.inventory: set()}
    for expr in (*rule.expressions, *(shown.value for shown in proposal.show)):
        for name, names in facts.fields_read(expr).items():
            found.setdefault(name, set()).update(names)
    return found


def _check(held: Held, used: program.Inventory, workflow: program.Workflow, params: Mapping[str, Value]) -> None:
    envelope = held.envelope(used.name)
    then = f"{envelope.scope.source}.{envelope.scope.resource}"
    if then != f"{used.source}.{used.resource}":
        raise _misfit(
            f"`{used.name}` is `{used.source}.{used.resource}`, and {held.origin} read `{then}` as `{used.name}`"
        )
    asked = None if held.asked is None else held.asked[used.name]
    wrong = list(_stored(held, used) if asked is None else _declared(asked, used))
    if len(wrong) > 0:
        raise _misfit(f"{held.origin} did not read `{used.name}` as this workflow asks for it: {'; '.join(wrong)}")
    if not _scope_fits(held, asked, used, workflow, params):
        written = "no scope" if used.scope is None else f"`{expression_text(used.scope)}`"
        raise _misfit(
            f"`{used.name}` was read within `{envelope.scope.filter}`;"
            f" with {written} it could have rows that were not stored"
        )


def _misfit(message: str) -> NoAnswerError:
    return NoAnswerError("FC682", message, help="plan this workflow, and ask that plan")


def _declared(asked: program.Inventory, used: program.Inventory) -> Iterator[str]:
    """Yield what differs between how an inventory was asked for and how it is asked for now."""
    if asked.across != used.across:
        yield "the parts that it is read in were others"
    if asked.key != used.key:
        yield f"its key was {_named(asked.key)}, and is {_named(used.key)}"
    for name, field in used.fields.items():
        then = asked.fields.get(name)
        if then is None:
            yield f"`{name}` was not among its fields"
        elif then.type != field.type or (then.optional and not field.optional):
            yield f"`{name}` was `{then}`, and is `{field}`"


def _stored(held: Held, used: program.Inventory) -> Iterator[str]:
    """Yield what the stored columns do not have; types that are stored alike (`int`, `size`) can't be told apart."""
    then = {frozenset(part.values.items()) for part in held.envelope(used.name).scope.parts}
    now = None if any(across.values is None for across in used.across) else set(written_parts(used.across))
    if then != (set() if len(used.across) == 0 else now):
        yield "the parts that it is read in were others, or are not written out"
    schema = pq.read_schema(held.path(used.name))
    for name, field in used.fields.items():
        if name not in schema.names or name + STATE_SUFFIX not in schema.names:
            yield f"`{name}` was not among its fields"
        elif schema.field(name).type != arrow_type(field.type):
            yield f"`{name}` is not stored as `{FieldType(field.type)}`"


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _scope_fits(
    held: Held,
    asked: program.Inventory | None,
    used: program.Inventory,
    workflow: program.Workflow,
    params: Mapping[str, Value],
) -> bool:
    """Whether every row that was left out is out of the scope of now; rows are left out where a scope is false."""
    now = ir.TRUE if used.scope is None else used.scope
    if asked is None:
        written = held.envelope(used.name).scope.filter
        constant = not any(isinstance(node, ir.Param) for node in facts.walk(now))
        return written is None or (used.scope is not None and written == expression_text(used.scope) and constant)
    if asked.scope is None:
        return True
    then = bound(asked.scope, constants(held.bindings.params, held.params))
    return refutes(then, bound(now, constants(params, workflow.params)))
