"""From the parser's tree to the clauses that hold a clean-up back: protections, floors, canaries, windows.

A part of `builder.py`, with its ways of reading amounts and paths.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.expressions import ExpressionBuilder, Node, Reporter, amounts, subtrees, token_at, tokens
from fullcount.dsl.keywords import EXAMPLES
from fullcount.dsl.parse_tree import Token


@dataclass(frozen=True, slots=True)
class HoldingBuilder:
    """Builds these clauses. `integer` reads an amount: its token, the clause, the kind of literal, an example."""

    _at: Reporter
    _expressions: ExpressionBuilder
    _dotted: Callable[[Node], tree.Dotted]
    _integer: Callable[[Token, str, str, str], int]

    def protect(self, node: Node) -> tree.ProtectDecl:
        """Build `protect NAME from … as r where (…) because "…"`."""
        name, row = tokens(node, "NAME")
        because, reason = self._reason(
            node,
            f"protection `{name}`",
            "whoever finds an object kept must be able to tell why, and whom to ask",
            EXAMPLES["protect"],
        )
        return tree.ProtectDecl(
            self._at.name(name),
            self._dotted(subtrees(node, "dotted")[0]),
            self._at.binding(row, "row"),
            self._expressions.selector(node.children[8]),
            reason,
            self._at.span(node),
            self._at.span(node.children[0]).to(self._at.span(row)),
            self._at.span(because),
        )

    def expect_none(self, node: Node) -> tree.ExpectNoneDecl:
        """Build `expect no X as x where (…) because "…"`."""
        inventory, row = tokens(node, "NAME")
        because, reason = self._reason(
            node,
            f"`expect no {inventory}`",
            "whoever reviews the plan must be able to tell whether the reason still holds",
            'expect no people as p where (p.id == a.owner) because "service accounts have no person yet"',
        )
        return tree.ExpectNoneDecl(
            self._at.name(inventory),
            self._at.binding(row, "row"),
            self._expressions.selector(node.children[7]),
            reason,
            self._at.span(node),
            self._at.span(node.children[0]).to(self._at.span(row)),
            self._at.span(because),
        )

    def _reason(self, node: Node, what: str, why: str, example: str) -> tuple[Token, str]:
        """Return the token and the text behind `because`; an empty reason is reported."""
        (because,) = tokens(node, "STRING")
        reason = str(self._at.literal(because).value)
        if not reason.strip():
            self._at.report(
                "FC004",
                f"{what} has no reason",
                self._at.span(because),
                why=why,
                help=f"say it in words: `{example}`",
            )
        return because, reason

    def keep(self, node: Node) -> tree.KeepDecl:
        """Build `keep at least N [per …] newest|oldest by …`."""
        count = token_at(node, 3)
        per = self._expressions.expression(node.children[5]) if tokens(node, "PER") else None
        (order,) = tokens(node, "NEWEST") + tokens(node, "OLDEST")
        return tree.KeepDecl(
            self._integer(count, "keep at least", "int", "keep at least 3 newest by a.created"),
            per,
            str(order),
            self._expressions.expression(node.children[-1]),
            self._at.span(node),
            self._at.span(count),
        )

    def pick(self, node: Node) -> tree.PickDecl:
        """Build `pick oldest N [per …] by …` or `pick N at random seed "…" [, at most N] [per …]`."""
        (what,) = subtrees(node, "pick_first", "pick_random")
        first, *bound = amounts(what)
        random = what.data == "pick_random"
        example = EXAMPLES["pick"] if not random else 'pick 10% at random seed "2026-q4", at most 15'
        amount = self._at.literal(first)
        percent = amount.value if random and amount.kind == "percent" and isinstance(amount.value, Decimal) else None
        per = [self._expressions.expression(each.children[1]) for each in subtrees(what, "pick_per")]
        order = tokens(what, "NEWEST") + tokens(what, "OLDEST")
        return tree.PickDecl(
            None if percent is not None else self._integer(first, "pick", "int", example),
            percent,
            self._integer(bound[0], "at most", "int", example) if len(bound) > 0 else None,
            "random" if random else str(order[0]),
            per[0] if len(per) > 0 else None,
            None if random else self._expressions.expression(what.children[-1]),
            str(self._at.literal(tokens(what, "STRING")[0]).value) if random else None,
            self._at.span(node),
            self._at.span(first),
        )

    def canary(self, node: Node) -> tree.CanaryDecl:
        """Build `canary N then wait D [then at most N of source.resource]`."""
        count, wait, *most = amounts(node)
        return tree.CanaryDecl(
            self._integer(count, "canary", "int", EXAMPLES["canary"]),
            self._integer(wait, "then wait", "duration", EXAMPLES["canary"]),
            self._at.span(node),
            self._at_most(most[0], subtrees(node, "dotted")[0]) if len(most) > 0 else None,
        )

    def _at_most(self, most: Token, resource: Node) -> tree.AtMostDecl:
        example = f"{EXAMPLES['canary']} then at most 0 of monitoring.firing_alerts"
        return tree.AtMostDecl(self._integer(most, "at most", "int", example), self._dotted(resource))

    def backup(self, node: Node) -> tree.BackupDecl:
        """Build `backup kept for D`."""
        kept = self._integer(token_at(node, -1), "backup kept for", "duration", EXAMPLES["backup"])
        return tree.BackupDecl(kept, self._at.span(node))

    def window(self, node: Node) -> tree.WindowDecl:
        """Build `window "…" [timezone "…"]`."""
        text, *zone = tokens(node, "STRING")
        return tree.WindowDecl(
            str(self._at.literal(text).value),
            str(self._at.literal(zone[0]).value) if zone else None,
            self._at.span(node),
            self._at.span(text),
            self._at.span(zone[0]) if zone else None,
        )
