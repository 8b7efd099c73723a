"""From the parser's tree of an expression to `tree.Expr`.

The grammar takes a little more than the language; what it takes too much is refused here, with a message that knows
what was meant. Recursion is bounded by `MAX_DEPTH`, so that no input can exhaust the stack here or in any later phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fullcount.dsl import literals, tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Edit, Fix, Label
from fullcount.dsl.keywords import NULL_WORDS, OPERATORS, RESERVED
from fullcount.dsl.parse_tree import Token, Tree
from fullcount.dsl.source import Source, Span

#: How many levels an expression or a type may have, parentheses and the terms of a chain included.
MAX_DEPTH: Final = 100

Node = Tree
Child = Node | Token


@dataclass(slots=True)
class Reporter:
    """Where builders write their findings, and how they turn the parser's positions into spans."""

    source: Source
    diagnostics: Diagnostics

    def span(self, node: Child) -> Span:
        """Return the span of a token or of a non-empty tree."""
        return self.source.span(node.start_pos, node.end_pos)

    def report(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        note: str = "",
        labels: tuple[Label, ...] = (),
        why: str = "",
        help: str = "",  # noqa: A002 - the name of the part of the message
        fix: Fix | None = None,
    ) -> None:
        """Add an error."""
        self.diagnostics.add(Diagnostic(code, message, span, note=note, labels=labels, why=why, help=help, fix=fix))

    def problem(self, problem: literals.Problem, span: Span) -> None:
        """Add the error that a literal's decoder found."""
        if problem.start is not None and problem.end is not None:
            span = Span(span.source, span.start + problem.start, span.start + problem.end)
        fix = None
        if problem.instead:
            fix = Fix(f"write `{problem.instead}`", (Edit(span, problem.instead),), safe=problem.certain)
        self.report(problem.code, problem.message, span, why=problem.why, help=problem.help, fix=fix)

    def literal(self, token: Token) -> tree.Literal:
        """Decode a literal token; after a finding the value is a placeholder that never leaves the parser."""
        span = self.span(token)
        if token.type == "STRING":
            value, problems = literals.text(str(token))
            for problem in problems:
                self.problem(problem, span)
            return tree.Literal(value.kind, value.value, span)
        decode = {"NUMBER": literals.number, "QUANTITY": literals.quantity, "MOMENT": literals.moment}[token.type]
        result = decode(str(token))
        if isinstance(result, literals.Problem):
            self.problem(result, span)
            return tree.Literal("unreadable", 0, span)
        return tree.Literal(result.kind, result.value, span)

    def name(self, token: Token) -> tree.Name:
        """Return a name as written."""
        return tree.Name(str(token), self.span(token))

    def binding(self, token: Token, what: str) -> tree.Name:
        """Return the name of a parameter or row, which must not be a word that stands for a value or operator."""
        name = self.name(token)
        if name.text in RESERVED:
            self.report(
                "FC021",
                f"`{name.text}` cannot be the name of a {what}",
                name.span,
                note="a word of the language",
                why=f"every later `{name.text}` would be read as the word, not as your name",
                help="choose another name",
            )
        return name


def tokens(node: Node, kind: str) -> list[Token]:
    """Return the direct children of `node` that are tokens of one kind."""
    return [child for child in node.children if isinstance(child, Token) and child.type == kind]


def token_at(node: Node, index: int) -> Token:
    """Return the child at `index`, which the grammar makes a token."""
    child = node.children[index]
    if not isinstance(child, Token):
        raise TypeError(f"the grammar puts a rule at {index} of {node.data}")
    return child


def subtrees(node: Node, *names: str) -> list[Node]:
    """Return the direct children of `node` that are trees with one of the names."""
    return [child for child in node.children if isinstance(child, Tree) and child.data in names]


def amounts(node: Node) -> list[Token]:
    """Return the direct children of `node` that are numbers, quantities or moments."""
    return [
        child for child in node.children if isinstance(child, Token) and child.type in {"NUMBER", "QUANTITY", "MOMENT"}
    ]


class ExpressionBuilder:
    """Builds expressions; one per file."""

    def __init__(self, reporter: Reporter) -> None:
        self._at = reporter
        self._too_deep = False
        self._rules: dict[str, Callable[[Node, int], tree.Expr]] = {
            "disjunction": self._chain,
            "conjunction": self._chain,
            "sum": self._chain,
            "product": self._chain,
            "negation": self._prefix,
            "negative": self._prefix,
            "comparison": self._comparison,
            "fallback": self._fallback,
            "index": self._index,
            "literal": self._literal,
            "reference": self._reference,
            "call": self._call,
            "list": self._list,
            "list_file": self._list_file,
            "group": self._group,
            "quantified": self._quantified,
            "list_test": self._list_test,
            "aggregate": self._aggregate,
        }

    def expression(self, node: Child, depth: int = 0) -> tree.Expr:
        """Build one expression that stands `depth` levels deep."""
        if isinstance(node, Token):  # `_amount` may be folded into the place of its literal
            return self._at.literal(node)
        self._too_deep = self._too_deep and depth > 0
        if depth >= MAX_DEPTH:
            self._report_depth(self._at.span(node))
            return tree.Literal("unreadable", 0, self._at.span(node))
        return self._rules[node.data](node, depth)

    def _report_depth(self, span: Span) -> None:
        """Report once for each whole expression, not for each of its ends."""
        if not self._too_deep:
            self._at.report(
                "FC019",
                f"this expression has more than {MAX_DEPTH} levels",
                span,
                help="compare with a list by `in [ … ]` instead of a long chain of `or`, or split the workflow",
            )
        self._too_deep = True

    def selector(self, node: Child, depth: int = 0) -> tree.Expr:
        """Build the whole condition of a `where`, the one place where `all` may stand."""
        inner, nested = node, depth
        while isinstance(inner, Tree) and inner.data == "group" and nested < MAX_DEPTH:
            inner, nested = inner.children[1], nested + 1
        word = _bare_word(inner)
        if word == "all" and inner is node:
            return tree.All(self._at.span(node))
        if word == "true":
            self._at.report(
                "FC006",
                "`where true` selects every object by accident",
                self._at.span(node),
                why="a selector that was left empty must not look like one that was meant",
                help="write `where all` if every object is meant",
                fix=Fix("select every object: `where all`", (Edit(self._at.span(node), "all"),), safe=False),
            )
        return self.expression(node, depth)

    def _chain(self, node: Node, depth: int) -> tree.Expr:
        operands, operators = node.children[::2], node.children[1::2]
        levels = depth + len(operators)
        left = self.expression(operands[0], levels)
        for index, (operator, operand) in enumerate(zip(operators, operands[1:], strict=True)):
            if levels - index >= MAX_DEPTH:
                continue  # the first operand has reported the depth
            right = self.expression(operand, levels - index)
            # the spans of the nodes, not of the operands, so that parentheses are under the carets
            span = self._at.span(operands[0]).to(self._at.span(operand))
            left = tree.Binary(str(operator), left, right, span, self._at.span(operator))
        return left

    def _prefix(self, node: Node, depth: int) -> tree.Expr:
        operator, operand = node.children
        return tree.Unary(str(operator), self.expression(operand, depth + 1), self._at.span(node))

    def _comparison(self, node: Node, depth: int) -> tree.Expr:
        tails = subtrees(node, "compare", "member", "state")
        if len(tails) > 1:
            self._report_chain(tails)
        left, tail, span = self.expression(node.children[0], depth + 1), tails[0], self._at.span(node)
        negated = bool(tokens(tail, "NOT"))
        if tail.data == "state":
            test = tree.StateTest(left, str(tail.children[-1]), span)
            return tree.Unary("not", test, span) if negated else test
        at = self._at.span(tail.children[0])
        right = self.expression(tail.children[-1], depth + 1)
        if tail.data == "member":
            return tree.Binary(
                "not in" if negated else "in", left, right, span, at.to(self._at.span(tail.children[-2]))
            )
        operator = str(tail.children[0])
        if operator == "=":
            fix = Fix("compare with `==`", (Edit(at, "=="),), safe=True)
            self._at.report("FC009", "a single `=` does not compare", at, help="write `==` to compare", fix=fix)
        return tree.Binary(operator, left, right, span, at)

    def _report_chain(self, tails: list[Node]) -> None:
        self._at.report(
            "FC008",
            "comparisons cannot be chained",
            self._at.span(token_at(tails[1], 0)),
            note="a second comparison",
            labels=(Label(self._at.span(token_at(tails[0], 0)), "the first one"),),
            why="`a < b < c` would compare the answer of `a < b` with `c`",
            help="join two comparisons with `and`, or use parentheses: `a < b and b < c`",
        )

    def _fallback(self, node: Node, depth: int) -> tree.Expr:
        operand = self.expression(node.children[0], depth + 1)
        last = _ungrouped(node.children[2])
        word, span = _bare_word(last), self._at.span(node.children[2])
        if word == "never":
            fallback: tree.Expr = tree.Never(span)
        elif word == "unknown":
            fallback = tree.Unknown(span)
        else:
            fallback = self.expression(node.children[2], depth + 1)
        return tree.Else(operand, fallback, self._at.span(node))

    def _index(self, node: Node, depth: int) -> tree.Expr:
        target = self.expression(node.children[0], depth + 1)
        return tree.Index(target, self.expression(node.children[2], depth + 1), self._at.span(node))

    def _literal(self, node: Node, depth: int) -> tree.Expr:
        return self._at.literal(token_at(node, 0))

    def _reference(self, node: Node, depth: int) -> tree.Expr:
        span = self._at.span(node)
        word = _bare_word(node)
        if word in {"true", "false"}:
            return tree.Literal("bool", word == "true", span)
        if word == "now":
            return tree.Now(span)
        if word in {"never", "unknown"}:
            self._at.report(
                "FC024",
                f"`{word}` can only stand after `else`",
                span,
                help=f"write `a.last_login else {word}`; to test for an absent value, `a.last_login is absent`",
            )
            return tree.Never(span) if word == "never" else tree.Unknown(span)
        if word == "all":
            self._at.report(
                "FC007",
                "`all` can only be the whole condition of a `where`",
                span,
                help="write `where all`, or leave `all` out",
            )
            return tree.All(span)
        if word in NULL_WORDS:
            self._at.report(
                "FC023",
                f"there is no `{word}` in this language",
                span,
                why="a value that is absent and a value that could not be read are different things",
                help="test with `is absent` or `is present`, or say what absent means with `else`",
            )
        self._refuse_operator(token_at(node, 0))
        return tree.Reference(tuple(self._at.name(token) for token in tokens(node, "NAME")), span)

    def _refuse_operator(self, token: Token) -> None:
        """`a and and b` reads the second `and` as a name, because fields may have any name."""
        if str(token) in OPERATORS:
            self._at.report("FC001", f"expected a value, found `{token}`", self._at.span(token))

    def _call(self, node: Node, depth: int) -> tree.Expr:
        self._refuse_operator(token_at(node, 0))
        return tree.Call(self._at.name(token_at(node, 0)), self._items(node, depth), self._at.span(node))

    def _list(self, node: Node, depth: int) -> tree.Expr:
        return tree.ListLiteral(self._items(node, depth), self._at.span(node))

    def _list_file(self, node: Node, depth: int) -> tree.Expr:
        path, *column = tokens(node, "STRING")
        return tree.ListFile(
            str(self._at.literal(path).value),
            str(self._at.literal(column[0]).value) if len(column) > 0 else None,
            len(tokens(node, "EMPTY")) > 0,
            self._at.span(node),
            self._at.span(path),
        )

    def _items(self, node: Node, depth: int) -> tuple[tree.Expr, ...]:
        return tuple(self.expression(child, depth + 1) for child in node.children if isinstance(child, Tree))

    def _group(self, node: Node, depth: int) -> tree.Expr:
        return self.expression(node.children[1], depth + 1)

    def _quantified(self, node: Node, depth: int) -> tree.Expr:
        quantifier, inventory, row, where = self._over(node, depth)
        return tree.Quantified(quantifier, inventory, row, where, self._at.span(node))

    def _list_test(self, node: Node, depth: int) -> tree.Expr:
        return tree.ListTest(
            str(node.children[0]),
            self.expression(node.children[1], depth + 1),
            self._at.binding(tokens(node, "NAME")[0], "list item"),
            self.expression(node.children[6], depth + 1),
            self._at.span(node),
        )

    def _aggregate(self, node: Node, depth: int) -> tree.Expr:
        function, inventory, row, where = self._over(node, depth)
        marks = tokens(node, "OF")
        # by identity: an inventory may be called `of`
        after = next((i + 1 for i, child in enumerate(node.children) if marks and child is marks[0]), None)
        of = self.expression(node.children[after], depth + 1) if after is not None else None
        if function == "count" and of is not None:
            self._at.report(
                "FC025",
                "`count` counts objects and takes no `of`",
                self._at.span(marks[0]),
                help="leave out `of …`, or put the condition into the parentheses after `where`",
            )
        if function != "count" and of is None:
            self._at.report(
                "FC025",
                f"`{function}` does not say of what",
                self._at.span(node),
                help=f"add the value after the parentheses: "
                f"`{function} {inventory.text} as {row.text} where (…) of {row.text}.at`",
            )
        return tree.AggregateExpr(function, inventory, row, where, of, self._at.span(node), self._needs(node, function))

    def _needs(self, node: Node, function: str) -> int | None:
        marks = tokens(node, "NEEDS")
        if not marks:
            return None
        amount = self._at.literal(token_at(node, -1))
        if function == "count":
            self._at.report(
                "FC025",
                "`count` takes no `needs`: how many rows there are is what it says",
                self._at.span(marks[0]),
                help="compare the count, as `count … >= 12`",
            )
        elif amount.kind != "unreadable" and not (
            isinstance(amount.value, int) and amount.kind == "int" and amount.value
        ):
            self._at.report(
                "FC022",
                "`needs` takes a number of rows, at least 1",
                amount.span,
                help=f"write it like `{function} … needs 12`",
            )
        return amount.value if isinstance(amount.value, int) else None

    def _over(self, node: Node, depth: int) -> tuple[str, tree.Name, tree.Name, tree.Expr]:
        inventory, row = tokens(node, "NAME")
        condition = node.children[6]
        return (
            str(node.children[0]),
            self._at.name(inventory),
            self._at.binding(row, "row"),
            self.selector(condition, depth + 1),
        )


def _ungrouped(node: Child) -> Child:
    while isinstance(node, Tree) and node.data == "group":
        node = node.children[1]
    return node


def _bare_word(node: Child) -> str | None:
    """Return the word if the node is a single name without a dot."""
    if isinstance(node, Tree) and node.data == "reference" and len(node.children) == 1:
        return str(node.children[0])
    return None
