"""What a test lets happen before the act, and what it expects to come of everything.

An object that is expected must be one that the test gives: an expectation about an object that is not there would hold,
or fail, whatever the rule says.
"""

from __future__ import annotations

from collections.abc import Sequence

from fullcount.compiler import program
from fullcount.compiler.names import said_twice
from fullcount.compiler.report import error, near
from fullcount.compiler.trials import codes, model
from fullcount.compiler.trials.givens import Gave, Place, exemption_base, key_of
from fullcount.compiler.trials.model import Key
from fullcount.compiler.trials.samples import Samples
from fullcount.compiler.values import Row
from fullcount.dsl import tree, trial_tree
from fullcount.dsl.dataclass import dataclass, field


@dataclass(slots=True)
class Expectations:
    """Checks one test's `before act` and `expect`; `failed` once anything was reported."""

    place: Place
    samples: Samples
    gave: Gave
    failed: bool = False
    _there: dict[str, set[Key]] = field(init=False)
    """The objects that are there, by inventory, as the changes before the act go on."""

    def __post_init__(self) -> None:
        self._there = {name: set(rows) for name, rows in self.gave.keys.items()}

    def befores(self, written: Sequence[trial_tree.Before]) -> tuple[model.Before, ...]:
        """Return what happens before the act, in order."""
        found = [self._before(each) for each in written]
        return tuple(each for each in found if each is not None)

    def expects(self, written: Sequence[trial_tree.Expectation]) -> tuple[model.Expected, ...]:
        """Return what is expected."""
        found = [self._expected(each) for each in written]
        self._one_outcome_each(written)
        return tuple(each for each in found if each is not None)

    # -- before the act -----------------------------------------------------------------------------------------------

    def _before(self, each: trial_tree.Before) -> model.Before | None:
        match each:
            case trial_tree.Waited(duration=duration):
                return model.Waited(duration)
            case trial_tree.Exempted():
                return self._exempted(each)
            case trial_tree.Added():
                return self._added(each)
        inventory = self.place.inventory(each.inventory, self.samples.sink)
        key = None if inventory is None else self._object(each.key, inventory)
        if inventory is None or key is None:
            self.failed = True
            return None
        if isinstance(each, trial_tree.Removed):
            self._there[inventory.name].discard(key)
            return model.Removed(inventory.name, key)
        cells = self.samples.cells(each.sample, inventory)
        if (
            cells is None
            or not self._keeps_its_key(each, cells, inventory)
            or not self._recreates(each, cells, inventory, key)
        ):
            self.failed = True
            return None
        return model.Altered(inventory.name, key, cells, each.recreated)

    def _keeps_its_key(self, each: trial_tree.Changed, cells: Row, inventory: program.Inventory) -> bool:
        named = next((part for part in each.sample.fields if part.name.text in inventory.key), None)
        if named is None:
            return True
        error(
            self.samples.sink,
            "FC176",
            f"`{named.name.text}` is the key of `{inventory.name}`: with another one it would be another object",
            named.span,
            help="leave it out; to test another object, `remove` this one and `add` that one",
        )
        return False

    def _recreates(self, each: trial_tree.Changed, cells: Row, inventory: program.Inventory, key: Key) -> bool:
        """Whether a recreated object is told from the old one by what the workflow asks for."""
        if not each.recreated:
            return True
        name = inventory.incarnation
        if name is None:
            error(
                self.samples.sink,
                "FC176",
                f"`{inventory.name}` has no `incarnation`, so a recreated object can't be told from the old one",
                each.span,
                help="use `change`, or declare what tells a recreated object",
            )
            return False
        before = self.gave.keys.get(inventory.name, {}).get(key, {}).get(name)
        if name in cells and cells[name] != before:
            return True
        error(
            self.samples.sink,
            "FC176",
            f"a recreated object has another `{name}`",
            each.span,
            help=f"give it: `recreate {inventory.name} … {{ {name}: … }}`",
        )
        return False

    def _added(self, each: trial_tree.Added) -> model.Added | None:
        inventory = self.place.inventory(each.inventory, self.samples.sink)
        if inventory is None:
            self.failed = True
            return None
        row = self.samples.row(each.sample, inventory, self.place.defaults.get(inventory.name, {}))
        there = self._there.setdefault(inventory.name, set())
        if row is not None and key_of(row, inventory) in there:
            error(
                self.samples.sink,
                "FC176",
                f"this object of `{inventory.name}` is there already",
                each.sample.span,
                help="use `change`, or give it another key",
            )
            row = None
        if row is None:
            self.failed = True
            return None
        there.add(key_of(row, inventory))
        return model.Added(inventory.name, row)

    def _exempted(self, each: trial_tree.Exempted) -> model.Exempted | None:
        base = exemption_base(each.list_name, self.place, self.samples.sink)
        key = None if base is None else self.samples.key(each.key, base)
        if key is None:
            self.failed = True
            return None
        return model.Exempted(each.list_name.text, key)

    # -- expectations -------------------------------------------------------------------------------------------------

    def _expected(self, each: trial_tree.Expectation) -> model.Expected | None:
        match each:
            case trial_tree.ExpectCount(count=count, span=span):
                return model.Counted(count, span)
            case trial_tree.ExpectPlan(keys=keys, span=span):
                found = [self._of_base(key) for key in keys]
                return model.Planned(tuple(key for key in found if key is not None), span)
            case trial_tree.ExpectUndecided(keys=named, span=span):
                return model.Undecided(self._named(named), span)
            case trial_tree.ExpectKept(keys=named, span=span):
                return model.Kept(self._named(named), span)
            case trial_tree.ExpectRefused(codes=names, span=span):
                known = [codes.refusal(name, self.samples.sink) for name in names]
                self.failed = self.failed or None in known
                return model.Refused(tuple(code for code in known if code is not None), span)
            case trial_tree.ExpectOutcome():
                return self._ended(each)

    def _named(self, named: Sequence[trial_tree.KnownKey]) -> tuple[model.Named, ...]:
        found = [(self._of_base(each.key), each.because) for each in named]
        return tuple(model.Named(key, because) for key, because in found if key is not None)

    def _ended(self, each: trial_tree.ExpectOutcome) -> model.Ended | None:
        proposal = self.place.proposal
        if proposal is not None and not any(act.proposal.text == proposal.name for act in self.place.decl.acts):
            error(
                self.samples.sink,
                "FC176",
                f"`{proposal.name}` has no act, so nothing comes of any object",
                each.span,
                help="expect a plan, or declare an act",
            )
            self.failed = True
            return None
        key = self._of_base(each.key)
        code = None if each.code is None else codes.refusal(each.code, self.samples.sink)
        if each.code is not None and code is None:
            self.failed = True
        return None if key is None else model.Ended(key, each.outcome.text, code, each.span)

    def _one_outcome_each(self, written: Sequence[trial_tree.Expectation]) -> None:
        first: dict[object, trial_tree.Key] = {}
        for each in written:
            if not isinstance(each, trial_tree.ExpectOutcome):
                continue
            parts = each.key.items if isinstance(each.key, tree.ListLiteral) else (each.key,)
            mark = tuple(part.value for part in parts if isinstance(part, tree.Literal))
            if first.setdefault(mark, each.key) is not each.key:
                name = tree.Name(" / ".join(map(str, mark)), each.key.span)
                said_twice("outcome of", name, tree.Name(name.text, first[mark].span), self.samples.sink)
                self.failed = True

    def _of_base(self, key: trial_tree.Key) -> Key | None:
        proposal = self.place.proposal
        if proposal is None or proposal.inventory not in self.place.workflow.inventories:
            return None
        found = self._object(key, self.place.workflow.inventories[proposal.inventory], ever=True)
        self.failed = self.failed or found is None
        return found

    def _object(self, written: trial_tree.Key, inventory: program.Inventory, *, ever: bool = False) -> Key | None:
        """Return the key of an object that is there (`ever`: or was given); one that is not is reported."""
        key = self.samples.key(written, inventory)
        there = set(self.gave.keys.get(inventory.name, {})) if ever else self._there.get(inventory.name, set())
        if key is None or key in there or (self.gave.failed and inventory.name not in self.gave.keys):
            return key
        said = " / ".join(map(str, key))
        known = [" / ".join(map(str, each)) for each in there]
        advice = near(said, written.span, known, "objects")
        advice["fix"] = None  # a key is a value, and not a name that could be written there
        error(
            self.samples.sink,
            "FC173",
            f"the test gives no `{said}` in `{inventory.name}`",
            written.span,
            why="what is expected of an object that is not there holds whatever the rule says",
            **advice,
        )
        return None
