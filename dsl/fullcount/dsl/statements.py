"""From the parser's tree to the statements that stand beside workflows: `edition`, `import`, `record`, `define`."""

from __future__ import annotations

from fullcount.dsl import tree
from fullcount.dsl.editions import EDITIONS
from fullcount.dsl.expressions import ExpressionBuilder, Node, Reporter, subtrees, tokens
from fullcount.dsl.fields import FieldBuilder


class StatementBuilder:
    """Builds the statements of one file."""

    def __init__(self, reporter: Reporter, expressions: ExpressionBuilder, fields: FieldBuilder) -> None:
        self._at = reporter
        self._expressions = expressions
        self._fields = fields

    def edition(self, node: Node | None, root: Node) -> tree.Edition | None:
        """Build the `edition` of a file; `node` is its first one."""
        if node is None:
            return None
        made = tree.Edition(self._text(node), self._at.span(node))
        if root.children[0] is not node:
            self._at.report(
                "FC031",
                "`edition` is not the first statement of the file",
                made.span,
                why="it says how everything in the file is to be read",
                help="move it to the top",
            )
        if made.value not in EDITIONS:
            known = " or ".join(f'`edition "{edition}"`' for edition in EDITIONS)
            self._at.report(
                "FC030",
                f"`{made.value}` is not an edition of the language",
                self._at.span(tokens(node, "STRING")[0]),
                why="a file is never read in another edition than the one it was written in",
                help=f"write {known}, or use a version of Fullcount that knows this edition",
            )
        return made

    def imported(self, node: Node) -> tree.Import:
        """Build an `import`."""
        return tree.Import(self._text(node), self._at.span(node), self._at.span(tokens(node, "STRING")[0]))

    def record(self, node: Node) -> tree.RecordDecl:
        """Build a `record`."""
        name = self._at.name(tokens(node, "NAME")[0])
        return tree.RecordDecl(name, self._fields.entries(node, f"record `{name.text}`"), self._at.span(node))

    def definition(self, node: Node) -> tree.Definition:
        """Build a `define`."""
        name = self._at.binding(tokens(node, "NAME")[0], "definition")
        parameters = tuple(
            tree.Parameter(
                self._at.binding(tokens(child, "NAME")[0], "parameter"),
                self._fields.type(subtrees(child, "type")[0]),
                self._at.span(child),
            )
            for child in subtrees(node, "parameter")
        )
        body = self._expressions.expression(node.children[-1])
        return tree.Definition(name, parameters, body, self._at.span(node))

    def _text(self, node: Node) -> str:
        return str(self._at.literal(tokens(node, "STRING")[0]).value)
