"""Inventories that are read in parts: `across region in ["eu-west-1", "us-east-1"], account in accounts.id`.

A source that is split has no listing of everything: each part is one scan, and a part that nobody names is not read.
So an inventory of such a source names every way in which it is split, by values that are written out or by a field of
another inventory, which then must be complete itself.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.environment import Context
from fullcount.compiler.names import said_twice
from fullcount.compiler.report import error, near
from fullcount.compiler.types import TEXT
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label


def consistency_of(decl: tree.InventoryDecl, resource: Resource) -> Consistency:
    """Return how well the rows of an inventory can belong together: parts are read one by one, not at one instant."""
    if len(decl.across) == 0 or not resource.consistency.at_least(Consistency.INTERVAL):
        return resource.consistency
    return Consistency.INTERVAL


def check_partitions(decl: tree.InventoryDecl, resource: Resource, context: Context) -> tuple[program.Across, ...]:
    """Check the parts that an inventory is read in against those that its source is split into."""
    first: dict[str, tree.PartitionDecl] = {}
    made: list[program.Across] = []
    for partition in decl.across:
        name = partition.name
        if name.text in first:
            said_twice("partition", name, first[name.text].name, context.sink)
            continue
        first[name.text] = partition
        if name.text not in resource.partitions:
            _unknown(name, resource, context.sink)
            continue
        across = _written_out(partition, context) if partition.values is not None else _listed(partition, decl, context)
        if across is not None:
            made.append(across)
    lacking = [name for name in resource.partitions if name not in first]
    if len(lacking) > 0:
        example = ", ".join(f'{name} in ["…"]' for name in lacking)
        error(
            context.sink,
            "FC331",
            f"`{resource.source}.{resource.name}` is split by {', '.join(f'`{name}`' for name in lacking)},"
            " and nothing says which are meant",
            decl.resource.span,
            why="there is no listing of all parts: one that is not named is not read",
            help=f"write `inventory {decl.name.text} from {decl.resource.text} across {example} {{ … }}`",
        )
    return tuple(made)


def _unknown(name: tree.Name, resource: Resource, sink: Diagnostics) -> None:
    full = f"{resource.source}.{resource.name}"
    if len(resource.partitions) == 0:
        error(
            sink,
            "FC330",
            f"`{full}` is not split by `{name.text}`, nor by anything else",
            name.span,
            why="it is one listing, and is read whole",
            help=f"remove `across …`; to take a part of it, write  scope {name.text} == …",
        )
        return
    error(
        sink,
        "FC330",
        f"`{full}` is not split by `{name.text}`",
        name.span,
        **near(name.text, name.span, resource.partitions, "partitions"),
    )


def _written_out(partition: tree.PartitionDecl, context: Context) -> program.Across | None:
    listed = partition.values
    if listed is None:
        return None
    values: list[str] = []
    for item in listed.items:
        if not isinstance(item, tree.Literal) or not isinstance(item.value, str):
            error(
                context.sink,
                "FC332",
                f"a value of `{partition.name.text}` is a text that is written out",
                item.span,
                help='write it in quotes, as `["eu-west-1", "us-east-1"]`',
            )
            return None
        if item.value in values:
            error(
                context.sink,
                "FC332",
                f"`{item.value}` is named twice",
                item.span,
                why="one part read twice would count twice, and another one may have been meant",
                help="remove one of them, or name the part that was meant",
            )
            return None
        values.append(item.value)
    if len(values) == 0:
        error(
            context.sink,
            "FC332",
            f"no `{partition.name.text}` is named",
            listed.span,
            why="an empty list means nothing at all, never all there are",
            help='name each part: `["eu-west-1", "us-east-1"]`',
        )
        return None
    return program.Across(partition.name.text, tuple(values), None, None, span=partition.span)


def _listed(partition: tree.PartitionDecl, decl: tree.InventoryDecl, context: Context) -> program.Across | None:
    path = partition.listed
    if path is None:
        return None
    if len(path.parts) != 2:
        error(
            context.sink,
            "FC332",
            f"`{path.text}` is not a field of an inventory",
            path.span,
            help='write `account in accounts.id`, or the values themselves: `account in ["…", "…"]`',
        )
        return None
    inventory, field = path.parts
    bound = context.names.inventory(inventory, context.sink)
    if bound is None or field.text in bound.failed:
        return None
    if field.text not in bound.fields:
        error(
            context.sink,
            "FC110",
            f"`{field.text}` is not among the declared fields of `{bound.name}`",
            field.span,
            **near(field.text, field.span, bound.fields, "declared fields"),
        )
        return None
    declared = bound.fields[field.text]
    if declared.type != TEXT or declared.optional:
        error(
            context.sink,
            "FC332",
            f"`{path.text}` is `{declared}`, and a part is named by a `text` that is always there",
            path.span,
            why="a part without a name could not be read, and would be left out without a word",
            help="use a field that every row has",
        )
        return None
    if decl.name.text in _named_by(bound.decl, context):
        error(
            context.sink,
            "FC333",
            f"`{decl.name.text}` would have to be read before itself",
            path.span,
            labels=(Label(bound.decl.name.span, "read in parts as well"),),
            help="name the parts of one of the two by values that are written out",
        )
        return None
    return program.Across(partition.name.text, None, bound.name, field.text, span=partition.span)


def _named_by(decl: tree.InventoryDecl, context: Context) -> frozenset[str]:
    """Return the inventories that must be read before this one, itself among them."""
    found: set[str] = set()
    waiting = [decl]
    while waiting:
        each = waiting.pop()
        if each.name.text in found:
            continue
        found.add(each.name.text)
        for partition in each.across:
            bound = None if partition.listed is None else context.names.inventories.get(partition.listed.parts[0].text)
            if bound is not None:
                waiting.append(bound.decl)
    return frozenset(found)


def check_place(decl: tree.InventoryDecl, resource: Resource, act: tree.ActDecl, sink: Diagnostics) -> None:
    """Report an act on objects of which nobody could say in which part they are."""
    lacking = [name for name in resource.partitions if name not in resource.key]
    if len(lacking) == 0:
        return
    error(
        sink,
        "FC334",
        f"`{decl.name.text}` is acted on, but its key does not say in which `{lacking[0]}` an object is",
        decl.name.span,
        labels=(Label(act.proposal.span, "acted on here"),),
        why="right before the act the object is read again, and the same key may stand in several parts",
        help=f"declare `{lacking[0]}` as a field of `{resource.source}.{resource.name}` and a part of its `key`"
        " in fullcount.toml",
    )
