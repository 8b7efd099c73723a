"""From the parser's tree to fields and their types: in a `fields` clause, a `record`, a type.

What is written is kept as written: that a name is spread, or said twice, is judged where names have a meaning.
"""

from __future__ import annotations

from collections.abc import Callable

from fullcount.dsl import tree
from fullcount.dsl.expressions import MAX_DEPTH, Node, Reporter, subtrees, tokens
from fullcount.dsl.keywords import EXAMPLES


class FieldBuilder:
    """Builds fields and types; `is_damaged` says of a node that a part of it could not be read."""

    def __init__(self, reporter: Reporter, is_damaged: Callable[[Node], bool]) -> None:
        self._at = reporter
        self._is_damaged = is_damaged

    def clause(self, node: Node, what: str) -> tuple[tree.FieldDecl | tree.FieldSpread, ...]:
        """Build a `fields` clause; `what` names it in a message."""
        named = tokens(node, "NAME")
        if named:
            record = self._at.name(named[0])
            return (tree.FieldSpread(record, record.span),)
        return self.entries(node, what)

    def entries(self, node: Node, what: str) -> tuple[tree.FieldDecl | tree.FieldSpread, ...]:
        """Build the entries between the braces of `fields` or `record`, of which there must be one."""
        entries = tuple(self._entry(child) for child in subtrees(node, "field", "spread"))
        if not entries and not self._is_damaged(node):
            self._at.report(
                "FC004",
                f"{what} {'are' if what.startswith('the') else 'is'} empty",
                self._at.span(node),
                why="an object without fields can be neither selected nor recognised again",
                help=f"list the fields to read: `{EXAMPLES['fields']}`",
            )
        return entries

    def _entry(self, node: Node) -> tree.FieldDecl | tree.FieldSpread:
        if node.data == "spread":
            return tree.FieldSpread(self._at.name(tokens(node, "NAME")[0]), self._at.span(node))
        return self._field(node, 0)

    def _field_list(self, node: Node, depth: int = 0) -> tuple[tree.FieldDecl, ...]:
        return tuple(self._field(child, depth) for child in subtrees(node, "field"))

    def _field(self, node: Node, depth: int) -> tree.FieldDecl:
        declared = self.type(subtrees(node, "type")[0], depth + 1)
        return tree.FieldDecl(self._at.name(tokens(node, "NAME")[0]), declared, self._at.span(node))

    def type(self, node: Node, depth: int = 0) -> tree.TypeName:
        """Build a type as written."""
        span = self._at.span(node)
        name = str(node.children[0])
        optional = bool(tokens(node, "OPTIONAL"))
        for named in subtrees(node, "dotted"):
            parts = tuple(self._at.name(token) for token in tokens(named, "NAME"))
            return tree.TypeName(name, (), (), optional, span, of=tree.Dotted(parts, self._at.span(named)))
        if depth >= MAX_DEPTH:
            self._at.report("FC019", f"this type has more than {MAX_DEPTH} levels", span, help="use fewer levels")
            return tree.TypeName(name, (), (), optional, span)
        arguments = tuple(
            self.type(child, depth + 1) for part in subtrees(node, "type_arguments") for child in subtrees(part, "type")
        )
        records = subtrees(node, "record_fields")
        fields = self._field_list(records[0], depth + 1) if records else ()
        if records and name != "record":
            self._at.report(
                "FC001",
                f"`{name}` has no fields",
                self._at.span(records[0]),
                help="only `record { name: type, … }` has fields",
            )
        if name == "record" and not fields and not self._is_damaged(node):
            self._at.report("FC004", "this `record` has no fields", span, help="write `record { name: type, … }`")
        return tree.TypeName(name, arguments, fields, optional, span)
