"""What a test gives: answers of sources, parameters, independent counts, exemption lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fullcount.compiler import program
from fullcount.compiler.catalog import Catalog
from fullcount.compiler.claims import Agrees
from fullcount.compiler.names import said_twice
from fullcount.compiler.report import error, near
from fullcount.compiler.resources import find_resource
from fullcount.compiler.trials import codes
from fullcount.compiler.trials.model import Filler, Key, Listing
from fullcount.compiler.trials.samples import Samples
from fullcount.compiler.types import INT, TEXT
from fullcount.compiler.values import Cell, Row, Value
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.trial_tree import Given, GivenCount, GivenFailed, GivenList, GivenParam, GivenRows, More

MOST: Final = 1_000_000
"""How many objects `and … more` makes up at most."""

Defaults = Mapping[str, "dict[str, Cell] | None"]
"""The cells of `test defaults`, by inventory; None for one that failed."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test stands: its workflow as it was written and as it was checked, and the workspace.

    `declared` are the inventories of the workflow as written; one that is not among the checked ones failed.
    """

    decl: tree.Workflow
    workflow: program.Workflow
    proposal: program.Proposal | None
    catalog: Catalog
    defaults: Defaults

    def inventory(self, name: tree.Name, sink: Diagnostics) -> program.Inventory | None:
        """Return an inventory of the workflow; an unknown one is reported, one that failed is not."""
        if name.text in self.workflow.inventories:
            return self.workflow.inventories[name.text]
        declared = [each.name.text for each in self.decl.inventories]
        if name.text not in declared:
            error(
                sink,
                "FC108",
                f"there is no inventory `{name.text}` in this workflow",
                name.span,
                **near(name.text, name.span, declared, "inventories"),
            )
        return None

    @property
    def used(self) -> Sequence[str]:
        """The inventories that the proposal reads."""
        return [] if self.proposal is None else list(dict.fromkeys(use.inventory for use in self.proposal.uses))


@dataclass(slots=True)
class Gave:
    """Everything that a test gives. `failed`: a part of it was reported, so that what is missing may be that part."""

    listings: dict[str, Listing] = field(default_factory=dict)
    keys: dict[str, dict[Key, Row]] = field(default_factory=dict)
    """The objects that the test names, by inventory."""
    params: dict[str, Value] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    lists: dict[str, tuple[Key, ...]] = field(default_factory=dict)
    failed: bool = False


def read_givens(givens: Sequence[Given], place: Place, samples: Samples) -> Gave:
    """Check everything that a test gives; what did not check is left out and `failed` is set."""
    gave = Gave()
    first: dict[object, tree.Name] = {}
    for given in givens:
        name, what = _name_of(given)
        if first.setdefault((what, name.text), name) is not name:
            said_twice(what, name, first[what, name.text], samples.sink)
            gave.failed = True
        elif not _read(given, place, samples, gave):
            gave.failed = True
    if not gave.failed:
        _same_objects_alike(place, gave, first, samples)
    return gave


def _name_of(given: Given) -> tuple[tree.Name, str]:
    match given:
        case GivenRows(inventory=name) | GivenFailed(inventory=name):
            return name, "what is given of"
        case GivenParam(name=name):
            return name, "parameter"
        case GivenList(name=name):
            return name, "list"
        case GivenCount(resource=resource):
            return tree.Name(resource.text, resource.span), "count"


def _read(given: Given, place: Place, samples: Samples, gave: Gave) -> bool:
    match given:
        case GivenRows():
            return _rows(given, place, samples, gave)
        case GivenFailed():
            return _no_answer(given, place, samples, gave)
        case GivenParam():
            return _param(given, place, samples, gave)
        case GivenCount():
            return _count(given, place, samples, gave)
        case GivenList():
            return _list(given, place, samples, gave)


# -- answers -----------------------------------------------------------------------------------------------------------


def _rows(given: GivenRows, place: Place, samples: Samples, gave: Gave) -> bool:
    inventory = place.inventory(given.inventory, samples.sink)
    if inventory is None:
        return False
    defaults = place.defaults.get(inventory.name, {})
    named: dict[Key, Row] = {}
    good = True
    for sample in given.samples:
        row = samples.row(sample, inventory, defaults)
        if row is None:
            good = False
            continue
        key = key_of(row, inventory)
        if key in named:
            error(
                samples.sink,
                "FC101",
                f"this object of `{inventory.name}` is given twice",
                sample.span,
                why="a source that returns one object twice is another test than the one that is meant here",
                help=f"give it another `{', '.join(inventory.key)}`, or remove it",
            )
            good = False
        named[key] = row
    reasons = [codes.reason(name, samples.sink) for name in given.reasons]
    warnings = [codes.warning(name, samples.sink) for name in given.warnings]
    fillers = [_filler(more, inventory, defaults, samples) for more in given.more]
    if not good or None in fillers or None in reasons or None in warnings:
        return False
    gave.keys[inventory.name] = named
    gave.listings[inventory.name] = Listing(
        rows=tuple(named.values()),
        more=tuple(each for each in fillers if each is not None),
        reasons=tuple(each for each in reasons if each is not None),
        warnings=tuple(each for each in warnings if each is not None),
        stale=0 if given.stale is None else given.stale,
        previous_rows=given.previously,
    )
    return True


def key_of(row: Row, inventory: program.Inventory) -> Key:
    """Return the key of a row, all of whose parts are there."""
    return tuple(cell.value for name in inventory.key if (cell := row[name]).value is not None)


def _filler(
    more: More, inventory: program.Inventory, defaults: dict[str, Cell] | None, samples: Samples
) -> Filler | None:
    """Return what is the same of all further objects; their identity is made up later."""
    from fullcount.dsl.trial_tree import Sample

    if more.count > MOST:
        error(samples.sink, "FC171", f"a test makes up {MOST:,} objects at most", more.span, help="give fewer")
        return None
    made_up = [name for name in (*inventory.key, inventory.incarnation) if name is not None]
    odd = [name for name in made_up if name in inventory.fields and inventory.fields[name].type not in (TEXT, INT)]
    if len(odd) > 0:
        error(
            samples.sink,
            "FC171",
            f"no `{odd[0]}` can be made up: it is `{inventory.fields[odd[0]]}`",
            more.span,
            help="objects are only made up where a `text` or an `int` tells them apart; give them one by one",
        )
        return None
    sample = Sample((), more.span) if more.sample is None else more.sample
    row = samples.row(sample, inventory, defaults, keyless=True)
    return None if row is None else Filler(more.count, row)


def _no_answer(given: GivenFailed, place: Place, samples: Samples, gave: Gave) -> bool:
    inventory = place.inventory(given.inventory, samples.sink)
    reason = codes.reason(given.reason, samples.sink)
    if inventory is None or reason is None:
        return False
    gave.keys[inventory.name] = {}
    gave.listings[inventory.name] = Listing(failed=reason)
    return True


def _same_objects_alike(place: Place, gave: Gave, first: Mapping[object, tree.Name], samples: Samples) -> None:
    """Report an object that two inventories over one resource give differently: at the source it is one object."""
    seen: dict[tuple[str, str, Key], tuple[str, Row]] = {}
    for name, rows in gave.keys.items():
        inventory = place.workflow.inventories[name]
        for key, row in rows.items():
            other, before = seen.setdefault((inventory.source, inventory.resource, key), (name, row))
            differing = [field for field in row if field in before and before[field] != row[field]]
            if other == name or len(differing) == 0:
                continue
            at = first["what is given of", name]
            error(
                samples.sink,
                "FC176",
                f"`{name}` and `{other}` read the same objects and differ in `{differing[0]}` of one of them",
                at.span,
                labels=(Label(first["what is given of", other].span, "given here as well"),),
                help="give the object alike in both",
            )
            gave.failed = True


# -- the rest ----------------------------------------------------------------------------------------------------------


def _param(given: GivenParam, place: Place, samples: Samples, gave: Gave) -> bool:
    params = {param.name: param for param in place.workflow.params}
    name = given.name
    if name.text not in params:
        declared = [each.name.text for each in place.decl.params]
        if name.text not in declared:
            error(
                samples.sink,
                "FC109",
                f"there is no parameter `{name.text}` in this workflow",
                name.span,
                **near(name.text, name.span, declared, "parameters"),
            )
        return False
    value = samples.value(given.value, params[name.text].type, f"parameter `{name.text}`")
    if value is not None:
        gave.params[name.text] = value
    return value is not None


def _count(given: GivenCount, place: Place, samples: Samples, gave: Gave) -> bool:
    resource = find_resource(given.resource, place.catalog, samples.sink)
    if resource is None:
        return False
    wanted = Agrees(resource.source, resource.name)
    claimed = any(wanted in claims for claims in place.workflow.verifies.values())
    if not claimed and (resource.source, resource.name) not in _after_canary(place):
        error(
            samples.sink,
            "FC176",
            f"no `verify` compares anything with the count of `{given.resource.text}`, and no `canary` asks for it",
            given.resource.span,
            why="what is given and not used makes a test look as if it tested more than it does",
            help=f"remove it, or claim `count agrees with {given.resource.text}`",
        )
        return False
    gave.counts[resource.source, resource.name] = given.count
    return True


def _after_canary(place: Place) -> list[tuple[str, str]]:
    """Return what the act of the proposal has counted after its canary."""
    proposal = None if place.proposal is None else place.proposal.name
    canaries = [act.canary for act in place.workflow.acts if act.proposal == proposal]
    thens = [canary.then for canary in canaries if canary is not None]
    return [(then.source, then.resource) for then in thens if then is not None]


def _list(given: GivenList, place: Place, samples: Samples, gave: Gave) -> bool:
    if place.proposal is None:
        return False
    base = exemption_base(given.name, place, samples.sink)
    if base is None:
        return False
    keys = [samples.key(key, base) for key in given.keys]
    good = tuple(key for key in keys if key is not None)
    if len(good) < len(keys):
        return False
    gave.lists[given.name.text] = good
    return True


def exemption_base(name: tree.Name, place: Place, sink: Diagnostics) -> program.Inventory | None:
    """Return the inventory whose objects a list of the proposal exempts, or None, reported, if it has no such list."""
    proposal = place.proposal
    if proposal is None or proposal.inventory not in place.workflow.inventories:
        return None
    lists = [each.list_name for each in proposal.excepts if each.list_name is not None]
    if name.text in lists:
        return place.workflow.inventories[proposal.inventory]
    error(
        sink,
        "FC119",
        f"`{proposal.name}` does not except anything in `{name.text}`",
        name.span,
        **near(name.text, name.span, lists, "exemption lists"),
    )
    return None
