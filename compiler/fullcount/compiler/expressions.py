"""From an expression as written to a typed one: the dispatch, and the rules that every value obeys.

Guarantee: whatever comes out has one meaning in both lowerings, compares only like with like, and never lets an absent
value pass unsaid. What cannot be checked comes out as None, with exactly one finding for its cause.
"""

from __future__ import annotations

from fullcount.compiler import ir
from fullcount.compiler.arithmetic import arithmetic, negate
from fullcount.compiler.calls import call
from fullcount.compiler.comparisons import COMPARISONS, comparison
from fullcount.compiler.conditions import conjunction_or_disjunction, member, negation, state_test, truth_of
from fullcount.compiler.constants import literal
from fullcount.compiler.definitions import inlined_condition, inlined_value
from fullcount.compiler.environment import Context, Env, Place, Typed
from fullcount.compiler.ids import may_meet
from fullcount.compiler.lists import list_test
from fullcount.compiler.membership import field_of_inventory, in_inventory
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.quantifiers import aggregate, quantified
from fullcount.compiler.references import index, reference
from fullcount.compiler.report import error
from fullcount.compiler.spellings import alike
from fullcount.compiler.walk import is_condition
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks expressions of one workflow. `condition` and `value` are the two ways in."""

    context: Context

    def condition(self, node: tree.Expr, env: Env) -> ir.Expr | None:
        """Check an expression that must be a test: true, false or unknown."""
        match node:
            case tree.Call() if (definition := self.context.names.library.definition(node)) is not None:
                return inlined_condition(self, node, definition, env)
            case tree.Binary(operator="and" | "or"):
                return conjunction_or_disjunction(self, node, env)
            case tree.Unary(operator="not"):
                return negation(self, node, env)
            case tree.Binary(operator="in" | "not in"):
                listed = field_of_inventory(self, node.right, env)
                return member(self, node, env) if listed is None else in_inventory(self, node, listed, env)
            case tree.Binary(operator=operator) if operator in COMPARISONS:
                return comparison(self, node, env)
            case tree.StateTest():
                return state_test(self, node, env)
            case tree.Quantified():
                return quantified(self, node, env)
            case tree.ListTest():
                return list_test(self, node, env)
            case _:
                return truth_of(self, node, env)

    def value(self, node: tree.Expr, env: Env, *, aggregates: Polarity | None = None) -> Typed | None:
        """Check an expression that stands for a value, which may be absent.

        An aggregate is legal only where `aggregates` says at which polarity its rows then stand.
        """
        match node:
            case tree.Literal():
                constant = literal(node, self.context.sink)
                return None if constant is None else Typed(constant, False, False)
            case tree.Now():
                return Typed(ir.Now(span=node.span), False, False)
            case tree.Reference():
                return reference(self, node, env)
            case tree.Index():
                return index(self, node, env)
            case tree.Call() if (definition := self.context.names.library.definition(node)) is not None:
                return inlined_value(self, node, definition, env, aggregates)
            case tree.Call():
                return call(self, node, env)
            case tree.Else():
                return self._else(node, env, aggregates)
            case tree.AggregateExpr():
                return aggregate(self, node, env, aggregates)
            case tree.Unary(operator="-"):
                return negate(self, node, env)
            case tree.Binary(operator="+" | "-" | "*" | "/"):
                return arithmetic(self, node, env)
            case tree.Never() | tree.Unknown() | tree.All() | tree.ListLiteral() | tree.ListFile():
                _misplaced(self.context, node)
                return None
            case _:
                test = self.condition(node, env.at(Polarity.MIXED))
                return None if test is None else Typed(test, False, False)

    def required(self, node: tree.Expr, env: Env, user: str, *, aggregates: Polarity | None = None) -> Typed | None:
        """Check a value that must be there, because `user` ("this comparison") does not say what absent would mean."""
        typed = self.value(node, env, aggregates=aggregates)
        if typed is None or not self.said_absent(typed, node, env, user):
            return None
        return typed

    def said_absent(self, typed: Typed, node: tree.Expr, env: Env, user: str) -> bool:
        """Whether the rule has said what an absent value means; if not, that is reported."""
        if not typed.optional or env.sayable:
            return True
        if env.lenient:
            return False
        text = self.context.quote(node.span)
        subject = f"`{text}` may be absent"
        if isinstance(typed.expr, ir.Aggregate):
            subject = f"there may be no row for this `{typed.expr.function}`"
        error(
            self.context.sink,
            "FC202",
            f"{subject}, and {user} does not say what that means",
            node.span,
            note=f"`{typed.type}?`",
            why="an absent value is neither more nor less than any other, and guessing would select by accident",
            # a value to group or to order by stands by itself: there is no condition to say it in
            help=f"write `({text} else …)`"
            if env.place in {Place.KEEP, Place.PICK}
            else f"write `{text} is present and …`, `{text} is absent or …`, or `{text} else …`",
        )
        return False

    def _else(self, node: tree.Else, env: Env, aggregates: Polarity | None) -> Typed | None:
        inner = None if aggregates is None else Polarity.MIXED
        operand = self.value(node.operand, env, aggregates=inner)
        if isinstance(node.fallback, tree.Never):
            _misplaced(self.context, node.fallback)
            return None
        if isinstance(node.fallback, tree.Unknown):
            return None if operand is None else self._else_unknown(node, operand)
        fallback = self.value(node.fallback, env)
        if operand is None or fallback is None:
            return None
        if not operand.declared_optional:
            never_absent(self.context, node)
            return None
        if operand.type != fallback.type:
            error(
                self.context.sink,
                "FC201",
                f"`{operand.type}` can't fall back to `{fallback.type}`",
                node.fallback.span,
                help=f"give an `{operand.type}` here"
                if str(operand.type)[0] in "aeiou"
                else f"give a `{operand.type}` here",
            )
            return None
        if is_condition(fallback.expr):
            error(
                self.context.sink,
                "FC220",
                "a test can't stand in for a value",
                node.fallback.span,
                help="write `true` or `false`, or join the tests with `and` and `or`",
            )
            return None
        if not may_meet(self.context, operand, fallback, node.span, "this replaces"):
            return None
        spelled = alike(self.context, operand, fallback, node.span)
        if spelled is None:
            return None
        operand, fallback = spelled
        made = ir.Else(operand.expr, fallback.expr, operand.type, fallback.optional, span=node.span)
        names = operand.names or fallback.names
        return Typed(made, fallback.optional and made not in env.facts, fallback.optional, names, fallback.normal)

    def _else_unknown(self, node: tree.Else, operand: Typed) -> Typed | None:
        """Check `x else unknown`: an absent value is no answer here, so what rests on it is undecided."""
        if not operand.declared_optional:
            never_absent(self.context, node)
            return None
        made = ir.Else(
            operand.expr, ir.Unknown(operand.type, span=node.fallback.span), operand.type, False, span=node.span
        )
        return Typed(made, False, False, operand.names, operand.normal)


def never_absent(context: Context, node: tree.Else) -> None:
    """Report an `else` behind a value that is always there."""
    error(
        context.sink,
        "FC203",
        f"`{context.quote(node.operand.span)}` is never absent, so this `else` can't apply",
        node.fallback.span,
        help="remove the `else`, or declare the field with `?` if its values may be absent",
    )


_Misplaced = tree.Never | tree.Unknown | tree.All | tree.ListLiteral | tree.ListFile


def _misplaced(context: Context, node: _Misplaced) -> None:
    match node:
        case tree.Never():
            error(
                context.sink,
                "FC207",
                "`never` is only the last fallback of an instant that is compared with `<`, `<=`, `>` or `>=`",
                node.span,
                help="write `(a.last_login else never) < now - 90d`",
            )
        case tree.Unknown():
            error(
                context.sink,
                "FC207",
                "`unknown` is only the fallback of a value that may be absent",
                node.span,
                help="write `(a.last_login else unknown) < now - 90d`",
            )
        case tree.All():
            error(
                context.sink,
                "FC007",
                "`all` stands alone: it is the whole rule or no part of it",
                node.span,
                help="remove `all`, or remove everything else",
            )
        case tree.ListLiteral() | tree.ListFile():
            error(
                context.sink,
                "FC221",
                "a list can only stand behind `in`, or be handed to a function",
                node.span,
                help='write `a.environment in ["test", "staging"]`',
            )
