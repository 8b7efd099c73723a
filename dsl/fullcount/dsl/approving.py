"""From the parser's tree to `approve`: who must agree, and when nobody is asked.

A part of `builder.py`, with its ways of reading amounts and of finding what is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.expressions import Node, Reporter, amounts, subtrees, token_at, tokens
from fullcount.dsl.keywords import EXAMPLES
from fullcount.dsl.parse_tree import Token


@dataclass(frozen=True, slots=True)
class ApprovalBuilder:
    """Builds approvals. `integer` and `percent` read an amount, `once` finds a clause that may stand once."""

    _at: Reporter
    _integer: Callable[[Token, str, str, str], int]
    _percent: Callable[[Token, str, str], Decimal]
    _once: Callable[[Node, str, str], Node | None]
    _report_repeats: Callable[[Sequence[Node], str, list[str]], None]
    _is_damaged: Callable[[Node], bool]

    def approve(self, node: Node) -> tree.ApproveDecl:
        """Build `approve PROPOSAL { … }`."""
        proposal = self._at.name(tokens(node, "NAME")[0])
        block = f"approve `{proposal.text}`"
        expires = self._once(node, block, "expires")
        automatic = self._once(node, block, "automatic")
        self._otherwise(node, block)
        quorums = tuple(self._quorum(child) for child in subtrees(node, "quorum"))
        if not quorums and not self._is_damaged(node):
            self._at.report(
                "FC004",
                f"{block} does not say who approves",
                self._at.span(node),
                why="an approval that nobody has to give is no approval",
                help='add a quorum: `1 of role "iam-admin"`'
                if automatic is None
                else f"say who is asked otherwise: `{EXAMPLES['automatically']}`",
            )
        return tree.ApproveDecl(
            proposal,
            quorums,
            self._integer(token_at(expires, -1), "expires after", "duration", "3d") if expires is not None else None,
            self._at.span(node),
            self._automatic(automatic, block) if automatic is not None else None,
        )

    def _quorum(self, node: Node) -> tree.QuorumDecl:
        count = self._integer(amounts(node)[0], "a quorum", "int", "2")
        role = str(self._at.literal(tokens(node, "STRING")[0]).value)
        return tree.QuorumDecl(count, role, bool(subtrees(node, "not_by_author")), self._at.span(node))

    def _automatic(self, node: Node, block: str) -> tree.AutomaticDecl:
        tests = subtrees(node, "automatic_count", "automatic_percent", "automatic_reversible")
        self._report_repeats(tests, block, [str(token_at(test, 0)) for test in tests])
        count = next((test for test in tests if test.data == "automatic_count"), None)
        percent = next((test for test in tests if test.data == "automatic_percent"), None)
        example = EXAMPLES["automatically"]
        return tree.AutomaticDecl(
            None if count is None else self._integer(token_at(count, -1), "count <=", "int", example),
            None if percent is None else self._percent(token_at(percent, -1), "percent <=", example),
            any(test.data == "automatic_reversible" for test in tests),
            self._at.span(node),
        )

    def _otherwise(self, node: Node, block: str) -> None:
        """Hold the quorum right behind `automatically`, and no other, to say that it is what holds otherwise."""
        rules = subtrees(node, "automatic", "quorum")
        for index, rule in enumerate(rules):
            if rule.data != "quorum":
                asked = index + 1 < len(rules) and rules[index + 1].data == "quorum"
                if not asked and bool(subtrees(node, "quorum")):
                    self._at.report(
                        "FC026",
                        f"{block} does not say who is asked otherwise",
                        self._at.span(rule),
                        why="who is asked must not depend on how the rules are read",
                        help=f"write `{EXAMPLES['automatically']}`",
                    )
                continue
            wanted = index > 0 and rules[index - 1].data == "automatic"
            if bool(tokens(rule, "OTHERWISE")) is wanted:
                continue
            self._at.report(
                "FC026",
                f"{block} does not say who is asked otherwise"
                if wanted
                else f"in {block} nothing stands before this `otherwise` that it could be meant against",
                self._at.span(rule),
                why="who is asked must not depend on how the rules are read",
                help=f"write `{EXAMPLES['automatically']}`",
            )
