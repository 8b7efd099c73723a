"""What an expression may see where it stands: rows, flow facts, polarity, and what its place allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from fullcount.compiler import ir
from fullcount.compiler.names import BoundInventory, Names
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.types import IdOf, Type
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Source, Span

MAX_QUOTED = 60


class Place(Enum):
    """Where an expression stands. Only a rule may look at other inventories."""

    RULE = "a rule"
    SCOPE = "a `scope`"
    EXPECT = "an `expect`"
    SHOW = "`show`"
    ARGUMENT = "an argument of an operation"
    PROTECT = "a protection"
    KEEP = "`keep`"
    PICK = "`pick`"
    ITEMS = "the condition of `any` and `all`"


@dataclass(frozen=True, slots=True)
class Env:
    """The surroundings of an expression.

    `bare`: the inventory whose fields are written without a row variable (in `scope` and `expect`). `facts`: the
    expressions that flow typing knows to be present here. `lenient` is set behind a part that failed, whose facts are
    not known: absence is then not reported. `items` are the items of lists, by their names.

    `locals` are the arguments of the definition whose body this is, by parameter; a body sees nothing else of the place
    where it is used. `variables` are the rows whose name in the program is not the written one, because a row around
    the definition is already called so; `around` holds the names that are taken there. `sayable`: an absent value needs
    no word here, because a test that it fails is only expected of nobody.
    """

    place: Place
    rows: Mapping[str, BoundInventory] = field(default_factory=dict)
    bare: BoundInventory | None = None
    facts: frozenset[ir.Expr] = frozenset()
    polarity: Polarity = Polarity.POSITIVE
    lenient: bool = False
    items: Mapping[str, Typed] = field(default_factory=dict)
    locals: Mapping[str, Typed] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    around: frozenset[str] = frozenset()
    sayable: bool = False

    def flipped(self) -> Env:
        """The surroundings under one more negation."""
        return replace(self, polarity=self.polarity.flipped())

    def at(self, polarity: Polarity) -> Env:
        """The same surroundings at another polarity."""
        return replace(self, polarity=polarity)

    def knowing(self, facts: frozenset[ir.Expr]) -> Env:
        """The same surroundings with more expressions known to be present."""
        return replace(self, facts=self.facts | facts)

    def with_row(self, row: str, inventory: BoundInventory) -> Env:
        """The surroundings inside a quantifier that binds `row`."""
        named = self.fresh(row)
        variables = self.variables if named == row else {**self.variables, row: named}
        return replace(self, rows={**self.rows, row: inventory}, variables=variables)

    def with_item(self, name: str, of_type: Type, names: IdOf | None) -> Env:
        """The surroundings inside a test of a list that calls each item `name`."""
        item = Typed(ir.Item(self.fresh(name), of_type), False, False, names)
        return replace(self, place=Place.ITEMS, items={**self.items, name: item})

    def item(self, name: str) -> str:
        """What an item of a list is called in the program."""
        (found,) = ir.open_items(self.items[name].expr)
        return found

    def variable(self, row: str) -> str:
        """What a row is called in the program."""
        return self.variables.get(row, row)

    @property
    def taken(self) -> frozenset[str]:
        """What rows and items are called in the program, here and around."""
        own = () if self.bare is None else (ir.SELF,)
        return self.around.union(map(self.variable, self.rows), map(self.item, self.items), own)

    def fresh(self, name: str) -> str:
        """Return a name that nothing here or around is called by: the one given, or that with a number."""
        taken, number, found = self.taken, 1, name
        while found in taken:
            number += 1
            found = f"{name}{number}"
        return found

    def body(self, arguments: Mapping[str, Typed]) -> Env:
        """The surroundings of the body of a definition that is used here."""
        return Env(self.place, polarity=self.polarity, locals=arguments, around=self.taken, sayable=self.sayable)


@dataclass(frozen=True, slots=True)
class Typed:
    """A checked value: the expression and whether it may be absent where it stands.

    `declared_optional` is what the declaration says before flow typing. `names`: which objects the value names, or the
    items of a list, where that is known. `normal`: the rules by which its expression spells it already.
    """

    expr: ir.Expr
    optional: bool
    declared_optional: bool
    names: IdOf | None = None
    normal: tuple[str, ...] = ()

    @property
    def type(self) -> Type:
        """The type of the value."""
        return self.expr.type


@dataclass(frozen=True, slots=True)
class Context:
    """What every check of one workflow shares."""

    names: Names
    source: Source
    sink: Diagnostics
    sources: Mapping[str, Source]
    lists: Mapping[tuple[str, str], Source] = field(default_factory=dict)
    """The list files that could be read, by the name of the file that names them and the path that it writes."""
    inlined: dict[Span, Label] = field(default_factory=dict)
    """Uses of definitions that look into inventories, each with the place of its definition."""

    def quote(self, span: Span) -> str:
        """Return the source text of a span on one line and not too long, for messages."""
        text = " ".join(self.sources[span.source].slice(span).split())
        return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…"
