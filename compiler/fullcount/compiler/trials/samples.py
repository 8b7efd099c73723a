"""What a test says of an object, from the text to the cells of a row.

Nothing is guessed: every value is of its field's type, every state is one that the field can have, and a field that
neither the row nor `test defaults` speaks of is an error, because absent, forbidden and forgotten are three things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fullcount.compiler import ir, program
from fullcount.compiler.environment import Env, Place
from fullcount.compiler.expressions import Checker
from fullcount.compiler.names import said_twice
from fullcount.compiler.report import error, near
from fullcount.compiler.types import FieldType, ListOf, MapOf, RecordOf, Type
from fullcount.compiler.values import ABSENT, Cell, FieldState, Value, present
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Span
from fullcount.dsl.trial_tree import Key, MapLiteral, RecordLiteral, Sample, SampleField, SampleList, SampleValue, State

_STATES = {
    "absent": FieldState.ABSENT,
    "not_requested": FieldState.NOT_REQUESTED,
    "forbidden": FieldState.FORBIDDEN,
    "failed": FieldState.SOURCE_FAILED,
    "truncated": FieldState.TRUNCATED,
    "indeterminate": FieldState.INDETERMINATE,
}


@dataclass(frozen=True, slots=True)
class Samples:
    """Reads the samples of one test, in which `now` is this instant (microseconds)."""

    checker: Checker
    now: int
    told: set[tuple[str, ...]]
    """What was said of rows that leave a field unsaid, once for all rows of all tests that leave out the same."""

    @property
    def sink(self) -> Diagnostics:
        """Where findings go."""
        return self.checker.context.sink

    def cells(self, sample: Sample, inventory: program.Inventory) -> dict[str, Cell] | None:
        """Return the cells that a sample speaks of, or None with a finding."""
        found: dict[str, Cell] = {}
        first: dict[str, tree.Name] = {}
        failed = False
        for each in sample.fields:
            name = each.name
            if first.setdefault(name.text, name) is not name:
                said_twice("field", name, first[name.text], self.sink)
                failed = True
            elif name.text not in inventory.fields:
                error(
                    self.sink,
                    "FC110",
                    f"`{name.text}` is not among the fields of `{inventory.name}`",
                    name.span,
                    why="the workflow does not ask for it, so nothing in it can depend on it",
                    **near(name.text, name.span, inventory.fields, "fields"),
                )
                failed = True
            else:
                cell = self._cell(each, inventory)
                failed = failed or cell is None
                if cell is not None:
                    found[name.text] = cell
        return None if failed else found

    def row(
        self,
        sample: Sample,
        inventory: program.Inventory,
        defaults: Mapping[str, Cell] | None,
        *,
        keyless: bool = False,
    ) -> dict[str, Cell] | None:
        """Return a whole row, filled up from the defaults; `keyless`: its key is made up later.

        `defaults` None: they failed, and what they would have said is not missed.
        """
        own = self.cells(sample, inventory)
        if own is None or defaults is None:
            return None
        row = {**defaults, **own}
        identity = {*inventory.key, inventory.incarnation} if keyless else set()
        unsaid = [name for name in inventory.fields if name not in row and name not in identity]
        if len(unsaid) > 0:
            self._report_unsaid(sample.span, inventory, unsaid)
            return None
        return row

    def key(self, written: Key, inventory: program.Inventory) -> tuple[Value, ...] | None:
        """Return the key of an object of this inventory, or None with a finding."""
        types = [inventory.fields[name].type for name in inventory.key if name in inventory.fields]
        parts = written.items if isinstance(written, tree.ListLiteral) else (written,)
        if len(parts) != len(types) or (isinstance(written, tree.ListLiteral) and len(types) == 1):
            named = ", ".join(inventory.key)
            error(
                self.sink,
                "FC171",
                f"this is not a key of `{inventory.name}`, which is `{named}`",
                written.span,
                help="write its value" if len(types) == 1 else f"write a list of its parts: [{named}]",
            )
            return None
        values = [self.value(part, of, f"key of `{inventory.name}`") for part, of in zip(parts, types, strict=True)]
        found = [value for value in values if value is not None]
        return tuple(found) if len(found) == len(values) else None

    def value(self, node: tree.Expr, of: Type, what: str) -> Value | None:
        """Return a value that must be of a type, or None with a finding; `what` is it in a message."""
        match of, node:
            case ListOf(item=item), tree.ListLiteral(items=items):
                values = [self.value(each, item, f"item of the {what}") for each in items]
                known = [value for value in values if value is not None]
                return tuple(known) if len(known) == len(values) else None
            case _, tree.ListLiteral() | tree.All() | tree.Never() | tree.Unknown():
                self._not_of_type(node.span, of, what)
                return None
        fixed = _at(node, self.now)
        if fixed is None:
            error(
                self.sink,
                "FC171",
                f"the {what} is not a value written out",
                node.span,
                why="a test that worked its values out from the rule would follow every mistake in it",
                help="write a literal, or an instant from `now`, as `now - 91d`; texts stand in double quotes",
            )
            return None
        typed = self.checker.value(fixed, Env(Place.ARGUMENT))
        if typed is None:
            return None
        if typed.type != of or not isinstance(typed.expr, ir.Const):
            self._not_of_type(node.span, of, what, f"this is `{typed.type}`")
            return None
        return typed.expr.value

    # -- parts --------------------------------------------------------------------------------------------------------

    def _cell(self, each: SampleField, inventory: program.Inventory) -> Cell | None:
        name, declared = each.name.text, inventory.fields[each.name.text]
        if isinstance(each.value, State):
            return self._state(each.value.word, each.value.span, name, declared, inventory)
        value = self._whole(each.value, declared.type, f"field `{name}`")
        return None if value is None else present(value)

    def _whole(self, written: SampleValue, of: Type, what: str) -> Value | None:
        """Return a value with all that it holds, or None with a finding."""
        match of, written:
            case RecordOf(), RecordLiteral(fields=fields):
                return self._record(fields, of, what, written.span)
            case RecordOf(), MapLiteral(entries=()):
                return self._record((), of, what, written.span)
            case ListOf(item=item), SampleList(items=items):
                values = [self._whole(each, item, f"item of the {what}") for each in items]
                known = [value for value in values if value is not None]
                return tuple(known) if len(known) == len(values) else None
            case ListOf(), tree.ListLiteral(items=()):
                return ()
            case MapOf(), MapLiteral():
                return self._map(written, of)
            case _, State() | MapLiteral() | RecordLiteral() | SampleList():
                self._not_of_type(written.span, of, what)
                return None
            case _, expr:
                return self.value(expr, of, what)

    def _record(self, fields: tuple[SampleField, ...], of: RecordOf, what: str, span: Span) -> Value | None:
        """Return a record. A part with `?` that is left out is absent: of a part nothing else can be known."""
        found: dict[str, Value] = {}
        first: dict[str, tree.Name] = {}
        failed = False
        for each in fields:
            name, declared = each.name, of.part(each.name.text)
            if first.setdefault(name.text, name) is not name:
                said_twice("part", name, first[name.text], self.sink)
                failed = True
            elif declared is None:
                error(
                    self.sink,
                    "FC110",
                    f"`{name.text}` is not among the parts of the {what}",
                    name.span,
                    **near(name.text, name.span, [part.name for part in of.parts], "parts"),
                )
                failed = True
            elif not (isinstance(each.value, State) and each.value.word == "absent" and declared.optional):
                value = self._whole(each.value, declared.type, f"part `{name.text}`")
                failed = failed or value is None
                if value is not None:
                    found[name.text] = value
        unsaid = [f"`{part.name}`" for part in of.parts if not part.type.optional and part.name not in first]
        if len(unsaid) > 0:
            error(
                self.sink,
                "FC172",
                f"this record does not say {', '.join(unsaid)}",
                span,
                help="say it; only a part with `?` can be left out, which is then absent",
            )
            failed = True
        return None if failed else found

    def _state(
        self, word: str, span: Span, name: str, declared: FieldType, inventory: program.Inventory
    ) -> Cell | None:
        state = _STATES[word]
        if state is FieldState.ABSENT and not declared.optional:
            error(
                self.sink,
                "FC171",
                f"`{name}` is `{declared}`, so it is never absent",
                span,
                help=f"give it a value, or declare it as `{name}: {replace(declared, optional=True)}`",
            )
            return None
        if name in inventory.key:
            error(
                self.sink,
                "FC171",
                f"`{name}` is the key of `{inventory.name}`, and without it there is no object",
                span,
                help="give it a value",
            )
            return None
        return ABSENT if state is FieldState.ABSENT else Cell(state, None)

    def _map(self, written: MapLiteral, of: MapOf) -> Value | None:
        found: dict[str, Value] = {}
        failed = False
        for entry in written.entries:
            key = str(entry.key.value)
            if key in found:
                said_twice("key", tree.Name(key, entry.key.span), tree.Name(key, written.span), self.sink)
                failed = True
                continue
            value = self._whole(entry.value, of.value, f"value under `{key}`")
            failed = failed or value is None
            if value is not None:
                found[key] = value
        return None if failed else found

    def _not_of_type(self, span: Span, of: Type, what: str, note: str = "") -> None:
        error(
            self.sink,
            "FC171",
            f"the {what} must be `{of}`",
            span,
            note=note,
            help="nothing is converted on the way: write a value of that type",
        )

    def _report_unsaid(self, span: Span, inventory: program.Inventory, unsaid: list[str]) -> None:
        mark = (inventory.name, *unsaid)
        if mark in self.told:
            return
        self.told.add(mark)
        listed = ", ".join(f"`{name}`" for name in unsaid)
        said = ", ".join(f"{name}: …" for name in unsaid)
        error(
            self.sink,
            "FC172",
            f"this row of `{inventory.name}` does not say {listed}",
            span,
            why="absent, forbidden and forgotten are three things, and rules answer each in another way",
            help=f"say it here, or for every row: `test defaults {inventory.name} {{ {said} }}`",
        )


def _at(node: tree.Expr, now: int) -> tree.Expr | None:
    """Return a constant expression with `now` as the instant that it is; None for anything else."""
    match node:
        case tree.Now(span=span):
            return tree.Literal("timestamp", now, span)
        case tree.Literal():
            return node
        case tree.Unary(operator="-", operand=operand):
            inner = _at(operand, now)
            return None if inner is None else replace(node, operand=inner)
        case tree.Binary(operator="+" | "-" | "*" | "/", left=left, right=right):
            first, second = _at(left, now), _at(right, now)
            return None if first is None or second is None else replace(node, left=first, right=second)
        case _:
            return None
